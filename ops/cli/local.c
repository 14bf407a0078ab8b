/* Commands that look at this program, its settings, or any path of the server. */
#include "ops/cli/cli.h"

#include "base/core/file.h"
#include "base/crypto/credential.h"

#include <inttypes.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEY_FILE_MAX 4096

enum cr_status cli_version(struct cr_call *call, struct cli *cli)
{
    const struct json_value *value;
    const char *text = "{\"version\":\"" CLI_VERSION "\",\"api\":\"v1\"}";
    CR_TRY(json_parse(call, NULL, text, strlen(text), &value));
    cli_show(call, cli, value);
    return call->status;
}

/* api METHOD PATH: any request, its answer as it is. */
enum cr_status cli_api(struct cr_call *call, struct cli *cli)
{
    const char *method = cli->arguments[0], *path = cli->arguments[1],
               *data = cli_flag(cli, "data");
    bool changes = strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0;
    const char *once = cli_flag(cli, "idempotency-key");
    struct fetch_answer answer;
    if (data && data[0] == '@') {
        struct cr_bytes bytes;
        CR_TRY(cr_file_read(call, data + 1, CLI_FILE_MAX, &bytes));
        data = (const char *)bytes.data;
    }
    if (path[0] != '/')
        return cr_fail(call, CR_INVALID, "a path begins with /, as in /v1/jobs, not '%s'", path);
    cli->reason = cli_flag(cli, "reason");
    const struct cli_request request = {
        .method = method,
        .path = path,
        .body = data,
        .once = once      ? once
                : changes ? cli_once(call)
                          : NULL,
        .if_match = cli_flag(cli, "if-match"),
        .as_operator = cli_has(cli, "operator"),
    };
    enum cr_status status = cli_ask(call, cli, &request, &answer);
    if (cli_has(cli, "include") && answer.http) {
        printf("HTTP/1.1 %d\n", answer.http);
        for (size_t i = 0; i < answer.header_count; i++)
            printf("%s: %s\n", answer.headers[i].name, answer.headers[i].value);
        puts("");
    }
    CR_TRY(status);
    fwrite(answer.body, 1, answer.body_size, stdout);
    if (answer.body_size && answer.body[answer.body_size - 1] != '\n')
        puts("");
    return CR_OK;
}

/* open [ID]: the console's page of a thing. */
enum cr_status cli_open(struct cr_call *call, struct cli *cli)
{
    static const struct {
        const char *prefix, *page;
    } pages[] = {
        {"job_", "jobs"}, {"art_", "artifacts"}, {"inv_", "invoices"}, {"node_", "ops/nodes"}};
    const char *id = cli->argument_count ? cli->arguments[0] : "", *page = "";
    if (!cli->settings.server)
        return cr_fail(call, CR_INVALID, "no server is known; try: %s dev up", cli->program);
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
        if (strncmp(id, pages[i].prefix, strlen(pages[i].prefix)) == 0)
            page = cr_format(call, "%s/", pages[i].page);
    if (*id && !*page)
        return cr_fail(call, CR_INVALID, "the console has no page for '%s'", id);
    printf("%s/%s%s\n", cli->settings.server, page, id);
    return CR_OK;
}

/* Login ------------------------------------------------------------------------------------------
 */

/* The key comes from a file or from standard input, never from the command line. */
static enum cr_status read_key(struct cr_call *call, const char *file, const char **ret_key)
{
    char line[KEY_FILE_MAX];
    struct cr_bytes bytes = {0};
    if (strcmp(file, "-") == 0) {
        if (isatty(STDIN_FILENO))
            fputs("Key: ", stderr);
        if (!fgets(line, sizeof line, stdin))
            line[0] = 0;
        bytes = (struct cr_bytes){(const unsigned char *)line, strlen(line)};
    } else {
        CR_TRY(cr_file_read(call, file, KEY_FILE_MAX, &bytes));
    }
    struct base_crypto_credential credential;
    *ret_key = cr_copy(call, bytes.data, strcspn((const char *)bytes.data, " \r\n"));
    if (!base_crypto_credential_parse(*ret_key, strlen(*ret_key), &credential))
        return cr_fail(call, CR_INVALID,
                       "that is no key: it begins with crs_ and its last letters "
                       "are a check sum of it");
    return CR_OK;
}

enum cr_status cli_login(struct cr_call *call, struct cli *cli)
{
    const char *server = cli_flag(cli, "server"), *name = cli_flag(cli, "name"), *key;
    const char *file = cli_flag(cli, "key-file");
    if (!server)
        server = cli->settings.server;
    if (!server)
        return cr_fail(call, CR_INVALID, "--server is missing: the address of the region");
    CR_TRY(read_key(call, file ? file : "-", &key));
    bool is_operator = strncmp(key, "crs_opr_", 8) == 0;
    cli->settings.server = server;
    cli->settings.key = key;
    cli->settings.operator_key = key;
    const struct json_value *me;
    const struct cli_request request = {
        .method = "GET", .path = "/v1/me", .as_operator = is_operator};
    CR_TRY(cli_ask_json(call, cli, &request, &me));
    CR_TRY(cli_save_context(call, cli, name ? name : "default", server, key));
    cli_show(call, cli, me);
    return call->status;
}

/* Doctor -----------------------------------------------------------------------------------------
 */

struct finding {
    const char *check, *state, *detail;
};

static struct finding check_settings(const struct cli *cli)
{
    if (!cli->settings.server)
        return (struct finding){"settings", "wrong", "no server is known"};
    return (struct finding){"settings", "ok", cli->settings.server};
}

static struct finding check_key(const char *what, const char *key)
{
    struct base_crypto_credential credential;
    if (!key)
        return (struct finding){what, "none", "no key is known"};
    if (!base_crypto_credential_parse(key, strlen(key), &credential))
        return (struct finding){what, "wrong", "the key's check sum is wrong"};
    return (struct finding){what, "ok", "well-formed"};
}

/* Asks, and says what came of it in one word and one sentence. */
static struct finding check_path(struct cr_call *call, struct cli *cli, const char *what,
                                 const struct cli_request *request)
{
    struct fetch_answer answer = {0};
    enum cr_status status = cli_ask(call, cli, request, &answer);
    struct finding finding = {what, "ok", request->path};
    if (status != CR_OK)
        finding = (struct finding){what, "wrong", cr_format(call, "%s", call->reason)};
    cr_forgive(call);
    cli->problem = NULL;
    return finding;
}

enum cr_status cli_doctor(struct cr_call *call, struct cli *cli)
{
    struct finding findings[8];
    size_t count = 0;
    struct cr_text text = cr_text_open(call);
    findings[count++] = check_settings(cli);
    findings[count++] = check_key("tenant key", cli->settings.key);
    findings[count++] = check_key("operator key", cli->settings.operator_key);
    if (cli->settings.server)
        findings[count++] = check_path(
            call, cli, "server",
            &(struct cli_request){
                .method = "GET", .path = "/v1/auth", .is_public = true, .no_retry = true});
    if (cli->settings.server && cli->settings.key)
        findings[count++] =
            check_path(call, cli, "tenant",
                       &(struct cli_request){.method = "GET", .path = "/v1/me", .no_retry = true});
    if (cli->settings.server && cli->settings.operator_key)
        findings[count++] = check_path(
            call, cli, "operator",
            &(struct cli_request){
                .method = "GET", .path = "/v1/ops/status", .as_operator = true, .no_retry = true});
    cr_text_add(&text, "{\"data\":[");
    for (size_t i = 0; i < count; i++) {
        cr_text_add(&text, i ? ",{\"check\":" : "{\"check\":");
        json_add_text(&text, findings[i].check);
        cr_text_add(&text, ",\"state\":");
        json_add_text(&text, findings[i].state);
        cr_text_add(&text, ",\"detail\":");
        json_add_text(&text, findings[i].detail);
        cr_text_add(&text, "}");
        if (strcmp(findings[i].state, "wrong") == 0)
            cli->exit = CLI_EXIT_FAILED;
    }
    cr_text_add(&text, "]}");
    const struct json_value *value;
    CR_TRY(json_parse(call, NULL, text.data, text.length, &value));
    cli_show(call, cli, value);
    return call->status;
}
