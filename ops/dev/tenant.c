/*
 * The credentials of a development region, in var/credentials (0600): of the operator, who lives a
 * day at most and is made again when the server no longer takes it, and of the demo tenant.
 */
#include "ops/dev/dev_internal.h"

#include "base/core/text.h"
#include "base/json/json.h"

#include <inttypes.h>

#define TENANT_NAME "demo"
#define LATER_NS    INT64_C(200000000) /* a server whose database has just come back says 503 */

static enum cr_status ask(struct cr_call *call, const struct dev *dev, const char *method,
                          const char *path, const char *key, const char *once, const char *body,
                          struct fetch_answer *ret_answer)
{
    const struct fetch_header headers[] = {
        {key ? "Authorization" : "Accept", key ? cr_format(call, "Bearer %s", key) : "*/*"},
        {"Content-Type", "application/json"},
        {"Cresset-Reason", "cresset%20dev%20up"},
        {once ? "Idempotency-Key" : NULL, once},
        {0},
    };
    const struct fetch_header alone[] = {{key ? headers[0].name : NULL, headers[0].value}, {0}};
    const struct fetch_header *used = body ? headers : alone;
    const struct fetch_request request = {
        .method = method,
        .url = cr_format(call, "http://127.0.0.1:%" PRId64 "%s", dev->port, path),
        .headers = used,
        .body = body,
        .body_size = body ? strlen(body) : 0,
    };
    int64_t until = cr_now_ns(call) + DEV_READY_NS;
    for (;;) {
        CR_TRY(dev_ask(call, dev, &request, ret_answer));
        if (ret_answer->http != 503 || cr_now_ns(call) > until)
            return CR_OK;
        call->env->sleep_until(call->env->context, cr_now_ns(call) + LATER_NS);
    }
}

static enum cr_status refuse(struct cr_call *call, const char *what,
                             const struct fetch_answer *answer)
{
    const struct json_value *problem = NULL;
    if (json_parse(call, NULL, answer->body, answer->body_size, &problem) != CR_OK)
        cr_forgive(call);
    const char *detail = json_member_text(problem, "detail");
    return cr_fail(call, CR_UNAVAILABLE, "%s: the server answers %d %s", what, answer->http,
                   detail ? detail : "");
}

/* Whether the key opens a path. */
static enum cr_status opens(struct cr_call *call, const struct dev *dev, const char *path,
                            const char *key, bool *ret_opens)
{
    struct fetch_answer answer;
    *ret_opens = false;
    if (!key)
        return CR_OK;
    CR_TRY(ask(call, dev, "GET", path, key, NULL, NULL, &answer));
    *ret_opens = answer.http == 200;
    if (answer.http != 200 && answer.http != 401)
        return refuse(call, path, &answer);
    return CR_OK;
}

static enum cr_status member_of(struct cr_call *call, const char *text, const char *name,
                                const char **ret_value)
{
    const struct json_value *value;
    CR_TRY(json_parse(call, NULL, text, strlen(text), &value));
    *ret_value = json_member_text(value, name);
    if (!*ret_value)
        return cr_fail(call, CR_INTERNAL, "the answer has no member '%s'", name);
    return CR_OK;
}

static enum cr_status operator_key(struct cr_call *call, const struct dev *dev,
                                   const char **ret_key)
{
    bool fine;
    *ret_key = dev_read(call, dev, "credentials/operator.key");
    CR_TRY(opens(call, dev, "/v1/ops/status", *ret_key, &fine));
    if (fine)
        return CR_OK;
    const char *output;
    CR_TRY(dev_control(call, dev, "bootstrap", &output));
    CR_TRY(member_of(call, output, "key", ret_key));
    return dev_write(call, dev, "credentials/operator.key", *ret_key);
}

/* A key for a request, kept before it is sent: a command killed in between asks again the same. */
static enum cr_status request_key(struct cr_call *call, const struct dev *dev, const char *name,
                                  const char **ret_once)
{
    unsigned char random[16];
    *ret_once = dev_read(call, dev, name);
    if (*ret_once)
        return CR_OK;
    cr_random(call, random, sizeof random);
    *ret_once = cr_hex(call, random, sizeof random);
    return dev_write(call, dev, name, *ret_once);
}

static enum cr_status tenant_key(struct cr_call *call, const struct dev *dev,
                                 const char *operator_key, const char **ret_key)
{
    bool fine;
    *ret_key = dev_read(call, dev, "credentials/demo.key");
    CR_TRY(opens(call, dev, "/v1/me", *ret_key, &fine));
    if (fine)
        return CR_OK;
    const char *once, *tenant;
    struct fetch_answer answer;
    CR_TRY(request_key(call, dev, "credentials/demo.request", &once));
    CR_TRY(ask(call, dev, "POST", "/v1/ops/tenants", operator_key, once,
               "{\"name\":\"" TENANT_NAME "\"}", &answer));
    if (answer.http != 201 && answer.http != 200)
        return refuse(call, "the demo tenant cannot be made", &answer);
    CR_TRY(member_of(call, answer.body, "secret", ret_key));
    CR_TRY(member_of(call, answer.body, "tenant", &tenant));
    CR_TRY(dev_write(call, dev, "credentials/demo.tenant", tenant));
    return dev_write(call, dev, "credentials/demo.key", *ret_key);
}

/* What the command line reads: .cresset.yaml beside var, and the keys it points to. */
static enum cr_status write_context(struct cr_call *call, const struct dev *dev,
                                    const char *operator_key, const char *key)
{
    CR_TRY(dev_write(call, dev, "credentials/cresset.yaml",
                     cr_format(call, "dev:\n  key: %s\n  operator_key: %s\n", key, operator_key)));
    const char *name = strrchr(dev->var, '/') + 1;
    const char *text = cr_format(call,
                                 "# Written by cresset dev up: the region that runs here.\n"
                                 "context: dev\ncontexts:\n  dev:\n"
                                 "    server: http://127.0.0.1:%" PRId64 "\n"
                                 "credentials: %s/credentials/cresset.yaml\n",
                                 dev->port, name);
    return cr_file_replace(call, cr_format(call, "%s/../.cresset.yaml", dev->var), text,
                           strlen(text), 0644);
}

/* What a verifier of receipts pins, beside the receipts: policy and keys, as the region says them.
 */
static enum cr_status write_trust(struct cr_call *call, const struct dev *dev)
{
    static const char *const names[] = {"policy", "keys", NULL};
    CR_TRY(cr_file_make_folder(call, cr_format(call, "%s/receipts/trust", dev->var), 0700));
    for (const char *const *name = names; *name; name++) {
        struct fetch_answer answer;
        const char *path = cr_format(call, "/.well-known/cresset/trust/%s", *name);
        CR_TRY(ask(call, dev, "GET", path, NULL, NULL, NULL, &answer));
        if (answer.http != 200)
            return refuse(call, path, &answer);
        CR_TRY(dev_write(call, dev, cr_format(call, "receipts/trust/%s", *name), answer.body));
    }
    return dev_own(call, dev);
}

enum cr_status dev_tenant_up(struct cr_call *call, const struct dev *dev)
{
    const char *opr, *key;
    CR_TRY(operator_key(call, dev, &opr));
    CR_TRY(tenant_key(call, dev, opr, &key));
    CR_TRY(write_trust(call, dev));
    return write_context(call, dev, opr, key);
}

/* A token by which one node may join, once and soon. */
enum cr_status dev_enrol(struct cr_call *call, const struct dev *dev, const char *node)
{
    struct fetch_answer answer;
    unsigned char random[16];
    const char *token, *opr = dev_read(call, dev, "credentials/operator.key");
    if (!opr)
        return cr_fail(call, CR_NOT_FOUND, "there is no operator's key in var/credentials");
    cr_random(call, random, sizeof random);
    CR_TRY(ask(call, dev, "POST", "/v1/ops/enrollments", opr, cr_hex(call, random, sizeof random),
               cr_format(call, "{\"name\":\"%s\"}", node), &answer));
    if (answer.http != 201 && answer.http != 200)
        return refuse(call, "no token for the node", &answer);
    CR_TRY(member_of(call, answer.body, "token", &token));
    return dev_write(call, dev, cr_format(call, "nodes/%s.token", node), token);
}

enum cr_status dev_login(struct cr_call *call, const struct dev_config *config, bool as_operator,
                         const char **ret_url)
{
    CR_SCOPED(dev_close) struct dev dev = DEV_CLOSED;
    CR_TRY(dev_open(call, config, false, &dev));
    dev_ports_read(call, &dev);
    if (!dev_pid(call, &dev, "cressetd"))
        return cr_fail(call, CR_UNAVAILABLE, "the region does not run; try: cresset dev up");
    const char *const argv[] = {
        "build/bin/cressetd",
        "login-code",
        "--config",
        cr_format(call, "%s/config/cressetd.json", dev.seen),
        as_operator ? "--operator" : "--tenant",
        as_operator ? NULL : TENANT_NAME,
        NULL,
    };
    const char *output;
    CR_TRY(dev_run(
        call, &dev,
        &(struct dev_program){.name = "setup", .argv = argv, .as_user = dev.drop_all, .keep = -1},
        &output));
    *ret_url = cr_format(call, "http://127.0.0.1:%" PRId64 "/login#%.*s", dev.port,
                         (int)strcspn(output, "\n"), output);
    return CR_OK;
}
