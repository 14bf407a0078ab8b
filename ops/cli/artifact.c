/*
 * Artifacts: pushed and pulled in parts that may be cut and go on, their digest checked at the end.
 */
#include "ops/cli/cli.h"

#include "base/core/file.h"
#include "base/crypto/crypto.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#define PART_SIZE    (INT64_C(64) << 20) /* bytes of one request */
#define READ_SIZE    (256 * 1024)
#define TRIES_MAX    8 /* parts that fail one after the other */
#define TRY_AGAIN_NS INT64_C(500000000)

static void close_fd(const int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

static enum cr_status hash_file(struct cr_call *call, int fd, const char *file, int64_t *ret_size,
                                const char **ret_sha256)
{
    struct base_crypto_sha256 hash;
    unsigned char digest[BASE_CRYPTO_SHA256_SIZE];
    static unsigned char part[READ_SIZE];
    ssize_t got;
    *ret_size = 0;
    base_crypto_sha256_init(&hash);
    while ((got = pread(fd, part, sizeof part, *ret_size)) > 0) {
        base_crypto_sha256_add(&hash, part, (size_t)got);
        *ret_size += got;
    }
    if (got < 0)
        return cr_fail(call, CR_UNAVAILABLE, "%s: %s", file, strerror(errno));
    base_crypto_sha256_done(&hash, digest);
    *ret_sha256 = cr_hex(call, digest, sizeof digest);
    return CR_OK;
}

static enum cr_status begin(struct cr_call *call, struct cli *cli, const char *file, int64_t size,
                            const char *sha256, const struct json_value **ret_artifact)
{
    struct cr_text body = cr_text_open(call);
    const char *kind = cli_flag(cli, "kind"), *name = cli_flag(cli, "name"), *slash;
    slash = strrchr(file, '/');
    cr_text_add_format(&body, "{\"sha256\":\"%s\",\"size\":%" PRId64 ",\"kind\":", sha256, size);
    json_add_text(&body, kind ? kind : "dataset");
    cr_text_add(&body, ",\"name\":");
    json_add_text(&body, name ? name : slash ? slash + 1 : file);
    cr_text_add(&body, "}");
    const struct cli_request request = {
        .method = "POST", .path = "/v1/artifacts", .body = body.data, .once = cli_once(call)};
    return cli_ask_json(call, cli, &request, ret_artifact);
}

static enum cr_status send_part(struct cr_call *call, struct cli *cli, int fd, const char *id,
                                int64_t offset, int64_t size, struct fetch_answer *ret_answer)
{
    int64_t length = size - offset < PART_SIZE ? size - offset : PART_SIZE;
    struct fetch_request transfer = {
        .body_fd = fd, .has_body_fd = true, .body_offset = offset, .body_size = (size_t)length};
    const struct cli_request request = {
        .method = "PUT",
        .path = cr_format(call, "/v1/artifacts/%s/content", id),
        .transfer = &transfer,
        .no_retry = true,
        .content_range = cr_format(call, "bytes %" PRId64 "-%" PRId64 "/%" PRId64, offset,
                                   offset + length - 1, size),
    };
    return cli_ask(call, cli, &request, ret_answer);
}

static int64_t offset_of(const struct json_value *value)
{
    const struct json_value *offset = json_member(value, "offset");
    return offset && offset->kind == JSON_KIND_INTEGER ? offset->integer : -1;
}

static bool is_held(const struct json_value *artifact)
{
    const char *state = json_member_text(artifact, "state");
    return state && strcmp(state, "held") == 0;
}

static enum cr_status read_artifact(struct cr_call *call, struct cli *cli, const char *id,
                                    const struct json_value **ret_artifact)
{
    const struct cli_request request = {.method = "GET",
                                        .path = cr_format(call, "/v1/artifacts/%s", id)};
    return cli_ask_json(call, cli, &request, ret_artifact);
}

/* Sends what is missing. After a fault the server is asked from where to go on. */
static enum cr_status send_all(struct cr_call *call, struct cli *cli, int fd, int64_t size,
                               const struct json_value **artifact)
{
    const char *id = json_member_text(*artifact, "artifact");
    int failed = 0;
    if (!id)
        return cr_fail(call, CR_UNAVAILABLE, "the answer names no artifact");
    while (!is_held(*artifact)) {
        struct fetch_answer answer = {0};
        int64_t offset = offset_of(*artifact);
        if (offset < 0 || offset > size || (offset == size && size > 0))
            return cr_fail(call, CR_CONFLICT,
                           "the server holds %" PRId64 " of %" PRId64
                           " bytes, and does not say that it is all",
                           offset, size);
        enum cr_status status = send_part(call, cli, fd, id, offset, size, &answer);
        bool again = status == CR_UNAVAILABLE || status == CR_TIMEOUT || status == CR_CONFLICT;
        if (status != CR_OK && (!again || ++failed == TRIES_MAX || cr_expired(call)))
            return status;
        if (status != CR_OK) {
            cr_forgive(call);
            cli->problem = NULL;
            call->env->sleep_until(call->env->context, cr_now_ns(call) + TRY_AGAIN_NS * failed);
        } else {
            failed = 0;
        }
        CR_TRY(read_artifact(call, cli, id, artifact));
        if (!cli->quiet && size > PART_SIZE)
            fprintf(stderr, "%s  %" PRId64 " of %" PRId64 " bytes\n", id,
                    is_held(*artifact) ? size : offset_of(*artifact), size);
    }
    return CR_OK;
}

static enum cr_status push(struct cr_call *call, struct cli *cli, const char *file,
                           const struct json_value **ret_artifact)
{
    CR_SCOPED(close_fd) int fd = open(file, O_RDONLY | O_CLOEXEC);
    struct stat about;
    int64_t size;
    const char *sha256;
    if (fd < 0 || fstat(fd, &about) != 0)
        return cr_fail(call, CR_NOT_FOUND, "%s: %s", file, strerror(errno));
    if (!S_ISREG(about.st_mode))
        return cr_fail(call, CR_INVALID, "%s is no regular file", file);
    CR_TRY(hash_file(call, fd, file, &size, &sha256));
    CR_TRY(begin(call, cli, file, size, sha256, ret_artifact));
    return send_all(call, cli, fd, size, ret_artifact);
}

enum cr_status cli_artifact_push(struct cr_call *call, struct cli *cli)
{
    const struct json_value *pushed[CLI_ARGUMENTS_MAX];
    if (cli->argument_count > 1 && cli_flag(cli, "name"))
        return cr_fail(call, CR_INVALID, "--name is for one file alone");
    for (size_t i = 0; i < cli->argument_count; i++)
        CR_TRY(push(call, cli, cli->arguments[i], &pushed[i]));
    if (cli->argument_count == 1 && cli->format != CLI_TABLE && cli->format != CLI_WIDE)
        cli_show(call, cli, pushed[0]);
    else
        cli_show_rows(call, cli, pushed, cli->argument_count, NULL);
    return call->status;
}

/* Pull -------------------------------------------------------------------------------------------
 */

/* Fills FILE.part from where it ends, checks the digest, and only then names it FILE. */
static enum cr_status fetch_content(struct cr_call *call, struct cli *cli, const char *id,
                                    const char *part, int64_t size, const char *sha256)
{
    CR_SCOPED(close_fd) int fd = open(part, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    struct stat about;
    int failed = 0;
    if (fd < 0 || fstat(fd, &about) != 0)
        return cr_fail(call, CR_UNAVAILABLE, "%s: %s", part, strerror(errno));
    int64_t have = about.st_size > size ? 0 : about.st_size;
    while (have < size) {
        int64_t end = size - have < PART_SIZE ? size : have + PART_SIZE;
        struct fetch_answer answer = {0};
        struct fetch_request transfer = {
            .has_sink_fd = true, .sink_fd = fd, .sink_offset = have, .sink_max = end};
        const struct cli_request request = {
            .method = "GET",
            .path = cr_format(call, "/v1/artifacts/%s/content", id),
            .range = cr_format(call, "bytes=%" PRId64 "-%" PRId64, have, end - 1),
            .transfer = &transfer,
            .no_retry = true,
        };
        enum cr_status status = cli_ask(call, cli, &request, &answer);
        if (status != CR_OK && (status != CR_UNAVAILABLE || ++failed == TRIES_MAX))
            return status;
        if (status == CR_OK)
            have = end;
        else
            cr_forgive(call);
    }
    int64_t read_size;
    const char *read_sha256;
    if (ftruncate(fd, size) != 0)
        return cr_fail(call, CR_UNAVAILABLE, "%s: %s", part, strerror(errno));
    CR_TRY(hash_file(call, fd, part, &read_size, &read_sha256));
    if (strcmp(read_sha256, sha256) == 0)
        return CR_OK;
    unlink(part);
    return cr_fail(call, CR_CONFLICT, "the bytes of %s have another digest than it says", id);
}

enum cr_status cli_artifact_pull(struct cr_call *call, struct cli *cli)
{
    const struct json_value *artifact;
    CR_TRY(read_artifact(call, cli, cr_percent_print(call, cli->arguments[0]), &artifact));
    const char *id = json_member_text(artifact, "artifact");
    const char *sha256 = json_member_text(artifact, "sha256");
    const char *name = json_member_text(artifact, "name");
    const struct json_value *size = json_member(artifact, "size");
    if (!id || !sha256 || !size)
        return cr_fail(call, CR_UNAVAILABLE, "the answer does not say what the artifact is");
    /* The name was given by whoever pushed it: it may not lead out of this folder. */
    bool usable = name && *name && *name != '.' && !strchr(name, '/') && cr_printable(name);
    const char *file = cli_flag(cli, "file");
    if (!file)
        file = usable ? name : id;
    if (access(file, F_OK) == 0 && !cli_has(cli, "force"))
        return cr_fail(call, CR_CONFLICT, "%s is there already; --force replaces it", file);
    const char *part = cr_format(call, "%s.part", file);
    CR_TRY(fetch_content(call, cli, id, part, size->integer, sha256));
    CR_TRY(cr_file_rename(call, part, file));
    if (!cli->quiet)
        fprintf(stderr, "%s  sha256:%s\n", file, sha256);
    return CR_OK;
}
