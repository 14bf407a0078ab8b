/* The event stream: frames of server-sent events in, a line of JSON each out. */
#include "ops/cli/cli.h"

#include "base/core/parse.h"

#include <inttypes.h>

#define LINE_MAX_SIZE (128 * 1024) /* of one line of a frame */
#define AGAIN_NS      INT64_C(2000000000)

struct tail {
    char line[LINE_MAX_SIZE];
    size_t length;
    int64_t seq; /* of the frame that was printed last; 0: none yet */
    int64_t left;
};

static void take_line(struct tail *tail)
{
    const char *line = tail->line;
    int64_t seq;
    if (strncmp(line, "id:", 3) == 0) {
        line += 3 + (line[3] == ' ');
        if (cr_parse_integer(line, strlen(line), 0, INT64_MAX, &seq))
            tail->seq = seq;
    } else if (strncmp(line, "data:", 5) == 0) {
        puts(line + 5 + (line[5] == ' '));
        fflush(stdout);
        tail->left--;
    }
}

static enum cr_status take(struct cr_call *call, void *context, const void *bytes, size_t size)
{
    struct tail *tail = context;
    const char *at = bytes;
    for (size_t i = 0; i < size && tail->left > 0; i++) {
        if (at[i] != '\n' && tail->length + 1 < sizeof tail->line) {
            tail->line[tail->length++] = at[i];
            continue;
        }
        tail->line[tail->length] = 0;
        tail->length = 0;
        take_line(tail);
    }
    if (tail->left <= 0)
        return cr_fail(call, CR_CONFLICT, "enough");
    return CR_OK;
}

/* Goes on behind the last event when the stream ends or breaks. */
enum cr_status cli_event_tail(struct cr_call *call, struct cli *cli)
{
    struct tail *tail = cr_new(call, struct tail, 1);
    const char *types = cli_flag(cli, "types"), *after = cli_flag(cli, "after"),
               *count = cli_flag(cli, "count");
    tail->left = INT64_MAX;
    if (count && !cr_parse_integer(count, strlen(count), 1, INT64_MAX, &tail->left))
        return cr_fail(call, CR_INVALID, "--count takes a number, not '%s'", count);
    if (after && !cr_parse_integer(after, strlen(after), 0, INT64_MAX, &tail->seq))
        return cr_fail(call, CR_INVALID, "--after takes the number of an event, not '%s'", after);
    bool from = after != NULL;
    for (;;) {
        CR_SCOPED(cr_call_close)
        struct cr_call one = cr_call_open(call->env, call->deadline_ns);
        struct fetch_answer answer = {0};
        struct fetch_request transfer = {.take = take, .context = tail};
        const struct cli_request request = {
            .method = "GET",
            .path =
                cr_format(&one, "/v1/events/stream?%s%s%s",
                          from || tail->seq ? cr_format(&one, "after=%" PRId64 "&", tail->seq) : "",
                          types ? "types=" : "", types ? cr_percent_print(&one, types) : ""),
            .transfer = &transfer,
            .no_retry = true,
        };
        enum cr_status status = cli_ask(&one, cli, &request, &answer);
        if (tail->left <= 0)
            return CR_OK;
        if (status != CR_OK && status != CR_UNAVAILABLE && status != CR_TIMEOUT)
            return cr_fail(call, one.status, "%s", one.reason);
        if (cr_expired(call))
            return CR_OK;
        tail->length = 0;
        call->env->sleep_until(call->env->context, cr_now_ns(call) + AGAIN_NS);
    }
}
