/* identity: the node's key, the id that the region gave it, and the number of this start. */
#include "compute/node/node.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define STATE_SIZE_MAX 4096

/* What is kept beside the key, in DIR/node.json, which its owner alone may read. */
struct kept {
    const char *node, *key;
};
/* clang-format off */
static const struct cr_member kept_members[] = {
    CR_ID(struct kept, node, "node"),
    CR_MEMBER(struct kept, key, 0, 128),
};
/* clang-format on */
static const struct cr_shape kept_shape = CR_SHAPE(struct kept, kept_members);

/* One agent a folder: the lock is held as long as the process lives. */
static enum cr_status lock(struct cr_call *call, const char *path)
{
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0)
        return cr_fail(call, CR_UNAVAILABLE, "%s cannot be opened: %s", path, strerror(errno));
    if (flock(file, LOCK_EX | LOCK_NB) != 0) {
        close(file);
        return cr_fail(call, CR_CONFLICT, "another agent runs on this state: %s is locked", path);
    }
    return CR_OK;
}

static enum cr_status open_key(struct cr_call *call, struct agent *agent, const char *path)
{
    enum cr_status made = base_crypto_secret_make(call, path, BASE_CRYPTO_SEED_SIZE);
    if (made != CR_OK && made != CR_CONFLICT)
        return made;
    if (made == CR_CONFLICT)
        cr_forgive(call);
    unsigned char *seed;
    CR_TRY(base_crypto_secret_read(call, path, BASE_CRYPTO_SEED_SIZE, &seed));
    agent->signer = base_crypto_signer_open(seed);
    base_crypto_secret_close(seed);
    return CR_OK;
}

static enum cr_status read_kept(struct cr_call *call, struct agent *agent, const char *path)
{
    struct cr_bytes bytes;
    struct kept kept;
    enum cr_status status = cr_file_read(call, path, STATE_SIZE_MAX, &bytes);
    if (status == CR_NOT_FOUND) {
        cr_forgive(call); /* not enrolled yet */
        return CR_OK;
    }
    CR_TRY(status);
    CR_TRY(json_read(call, &kept_shape, (const char *)bytes.data, bytes.size, &kept));
    agent->node = kept.node;
    agent->credential = *kept.key ? cr_format(call, "Bearer %s", kept.key) : NULL;
    return CR_OK;
}

static void make_boot(struct agent *agent)
{
    unsigned char random[16];
    char hex[33];
    agent->env.random(agent->env.context, random, sizeof random);
    random[6] = (unsigned char)((random[6] & 0x0f) | 0x40); /* RFC 9562, version 4 */
    random[8] = (unsigned char)((random[8] & 0x3f) | 0x80);
    cr_hex_print(random, sizeof random, hex);
    snprintf(agent->boot, sizeof agent->boot, "%.8s-%.4s-%.4s-%.4s-%.12s", hex, hex + 8, hex + 12,
             hex + 16, hex + 20);
}

enum cr_status agent_identify(struct cr_call *call, struct agent *agent)
{
    const char *dir = agent->config.state_dir;
    CR_TRY(cr_file_make_folder(call, dir, 0700));
    CR_TRY(lock(call, cr_format(call, "%s/lock", dir)));
    CR_TRY(open_key(call, agent, cr_format(call, "%s/node.key", dir)));
    CR_TRY(read_kept(call, agent, cr_format(call, "%s/node.json", dir)));
    make_boot(agent);
    return CR_OK;
}

enum cr_status agent_remember(struct cr_call *call, struct agent *agent, const char *node,
                              const char *key)
{
    struct kept kept = {.node = node, .key = key ? key : ""};
    const char *text = json_write(call, &kept_shape, &kept);
    const char *path = cr_format(call, "%s/node.json", agent->config.state_dir);
    CR_TRY(cr_file_replace(call, path, text, strlen(text), 0600));
    agent->node = node;
    agent->credential = key ? cr_format(call, "Bearer %s", key) : NULL;
    return CR_OK;
}
