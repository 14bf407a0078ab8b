/*
 * One request to the server, sent again where that may help: the connection broke, or the answer
 * says that it is retryable. What changes something carries an Idempotency-Key, so sending it again
 * does it once (J2). Full jitter: github.com/aws/aws-sdk, "Exponential Backoff And Jitter".
 */
#include "ops/cli/cli.h"

#include "base/core/parse.h"
#include "base/core/time.h"

#include <inttypes.h>

#define BACKOFF_NS        INT64_C(250000000) /* before the second try, at most; then doubled */
#define BACKOFF_MAX_NS    INT64_C(8000000000)
#define RETRY_AFTER_MAX_S 60
#define HEADERS_MAX       12

static const char *credential(const struct cli *cli, const struct cli_request *request)
{
    return request->as_operator ? cli->settings.operator_key : cli->settings.key;
}

static enum cr_status check_settings(struct cr_call *call, const struct cli *cli,
                                     const struct cli_request *request)
{
    if (!cli->settings.server)
        return cr_fail(call, CR_INVALID,
                       "no server is known; try: %s dev up, or %s login --server URL", cli->program,
                       cli->program);
    if (!request->is_public && !credential(cli, request))
        return cr_fail(call, CR_UNAUTHENTICATED, "no %s key is known for %s; try: %s login",
                       request->as_operator ? "operator's" : "tenant's", cli->settings.server,
                       cli->program);
    return CR_OK;
}

static void add_header(struct fetch_header *headers, size_t *count, const char *name,
                       const char *value)
{
    if (value && *count < HEADERS_MAX)
        headers[(*count)++] = (struct fetch_header){name, value};
}

static enum cr_status send_once(struct cr_call *call, struct cli *cli,
                                const struct cli_request *request, struct fetch_answer *ret_answer)
{
    struct fetch_header headers[HEADERS_MAX + 1] = {{0}};
    size_t count = 0;
    const char *key = credential(cli, request);
    bool json = request->body || request->once;
    add_header(headers, &count, "Authorization", key ? cr_format(call, "Bearer %s", key) : NULL);
    add_header(headers, &count, "Content-Type", json ? "application/json" : NULL);
    add_header(headers, &count, "Idempotency-Key", request->once);
    add_header(headers, &count, "If-Match", request->if_match);
    add_header(headers, &count, "If-None-Match", request->if_none_match);
    add_header(headers, &count, "Range", request->range);
    add_header(headers, &count, "Content-Range", request->content_range);
    add_header(headers, &count, "Cresset-Reason",
               cli->reason ? cr_percent_print(call, cli->reason) : NULL);
    add_header(headers, &count, "Cresset-Tenant",
               request->as_operator || request->is_public ? NULL : cli->settings.tenant);
    struct fetch_request sent = request->transfer ? *request->transfer : (struct fetch_request){0};
    sent.method = request->method;
    sent.url = cr_format(call, "%s%s", cli->settings.server, request->path);
    sent.headers = headers;
    if (request->body) {
        sent.body = request->body;
        sent.body_size = strlen(request->body);
    }
    if (sent.body_max == 0)
        sent.body_max = 4 * JSON_SIZE_MAX;
    if (cli->verbose)
        fprintf(stderr, "> %s %s\n", request->method, request->path);
    if (!cli->fetch)
        CR_TRY(fetch_open(call, &(struct fetch_config){.user_agent = "cresset/" CLI_VERSION},
                          &cli->fetch));
    *ret_answer = (struct fetch_answer){0};
    CR_TRY(fetch_run(call, cli->fetch, &sent, ret_answer));
    if (cli->verbose)
        fprintf(stderr, "< %d, %zu bytes\n", ret_answer->http, ret_answer->body_size);
    return CR_OK;
}

static bool is_retryable(struct cr_call *call, struct cli *cli, const struct fetch_answer *answer)
{
    cli->problem = NULL;
    if (answer->http < 400)
        return false;
    if (json_parse(call, NULL, answer->body, answer->body_size, &cli->problem) != CR_OK)
        cr_forgive(call);
    const struct json_value *said = json_member(cli->problem, "retryable");
    if (said)
        return said->boolean;
    return answer->http == 429 || answer->http >= 502;
}

/* How long to wait before the next try, at least what the server asks for. */
static int64_t wait_before(struct cr_call *call, int attempt, const struct fetch_answer *answer)
{
    uint64_t random;
    int64_t most = BACKOFF_NS << attempt, asked_s = 0;
    if (most > BACKOFF_MAX_NS)
        most = BACKOFF_MAX_NS;
    cr_random(call, &random, sizeof random);
    int64_t wait = (int64_t)(random % (uint64_t)most);
    const char *after = answer->http ? fetch_header(answer, "retry-after") : NULL;
    if (after && cr_parse_integer(after, strlen(after), 0, RETRY_AFTER_MAX_S, &asked_s))
        wait += asked_s * CR_NS_A_SECOND;
    return wait;
}

static enum cr_status fail_by_problem(struct cr_call *call, const struct cli *cli,
                                      const struct fetch_answer *answer)
{
    static const struct {
        int http;
        enum cr_status status;
    } classes[] = {{400, CR_INVALID},   {401, CR_UNAUTHENTICATED}, {403, CR_DENIED},
                   {404, CR_NOT_FOUND}, {408, CR_TIMEOUT},         {409, CR_CONFLICT},
                   {410, CR_CONFLICT},  {412, CR_CONFLICT},        {413, CR_TOO_LARGE},
                   {428, CR_CONFLICT},  {429, CR_EXHAUSTED},       {503, CR_UNAVAILABLE},
                   {504, CR_TIMEOUT}};
    enum cr_status status = answer->http >= 500 ? CR_INTERNAL : CR_INVALID;
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (classes[i].http == answer->http)
            status = classes[i].status;
    const char *code = json_member_text(cli->problem, "code");
    if (code && strcmp(code, "idempotency_key_reused") == 0)
        status = CR_MISMATCH;
    const char *title = json_member_text(cli->problem, "title");
    if (!title)
        title = cr_format(call, "the server answers %d, and does not say why", answer->http);
    return cr_fail(call, status, "%s", title);
}

enum cr_status cli_ask(struct cr_call *call, struct cli *cli, const struct cli_request *request,
                       struct fetch_answer *ret_answer)
{
    CR_TRY(check_settings(call, cli, request));
    bool may_repeat = !request->no_retry &&
                      (request->once || request->if_match || strcmp(request->method, "GET") == 0 ||
                       strcmp(request->method, "DELETE") == 0);
    for (int attempt = 0;; attempt++) {
        enum cr_status status = send_once(call, cli, request, ret_answer);
        bool again =
            status == CR_UNAVAILABLE || (status == CR_OK && is_retryable(call, cli, ret_answer));
        if (!again || !may_repeat || attempt + 1 == CLI_TRIES || cr_expired(call)) {
            if (status != CR_OK || ret_answer->http < 400)
                return status;
            return fail_by_problem(call, cli, ret_answer);
        }
        int64_t until = cr_now_ns(call) + wait_before(call, attempt, ret_answer);
        cr_forgive(call);
        if (until > call->deadline_ns)
            until = call->deadline_ns;
        call->env->sleep_until(call->env->context, until);
    }
}

enum cr_status cli_ask_json(struct cr_call *call, struct cli *cli,
                            const struct cli_request *request, const struct json_value **ret_value)
{
    struct fetch_answer answer;
    CR_TRY(cli_ask(call, cli, request, &answer));
    *ret_value = NULL;
    if (answer.body_size == 0)
        return CR_OK;
    const struct json_limits limits = {.size = 4 * JSON_SIZE_MAX, .members = JSON_MEMBERS_MAX};
    if (json_parse(call, &limits, answer.body, answer.body_size, ret_value) == CR_OK)
        return CR_OK;
    cr_forgive(call);
    return cr_fail(call, CR_UNAVAILABLE, "%s answers something else than JSON",
                   cli->settings.server);
}

const char *cli_once(struct cr_call *call)
{
    unsigned char random[16];
    cr_random(call, random, sizeof random);
    return cr_hex(call, random, sizeof random);
}
