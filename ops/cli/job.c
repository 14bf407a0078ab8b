/* Jobs: submit one, follow it, end as it ends. */
#include "ops/cli/cli.h"

#include <inttypes.h>
#include <signal.h>
#include <unistd.h>

#define POLL_S      2 /* seconds that one long poll lasts, so that progress is seen */
#define PATIENCE_NS INT64_C(120000000000) /* without an answer, before following gives up */
#define LATER_NS    INT64_C(1000000000)
#define JOB_ID_SIZE 64

static volatile sig_atomic_t interrupted;

static void interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

static void catch_interrupt(void)
{
    struct sigaction action = {.sa_handler = interrupt};
    sigaction(SIGINT, &action, NULL);
}

static enum cr_status submit(struct cr_call *call, struct cli *cli,
                             const struct json_value **ret_job)
{
    const char *body, *once = cli_flag(cli, "idempotency-key");
    CR_TRY(cli_spec(call, cli, cli->arguments[0], &body));
    const struct cli_request request = {
        .method = "POST", .path = "/v1/jobs", .body = body, .once = once ? once : cli_once(call)};
    return cli_ask_json(call, cli, &request, ret_job);
}

enum cr_status cli_job_submit(struct cr_call *call, struct cli *cli)
{
    const struct json_value *job;
    CR_TRY(submit(call, cli, &job));
    cli_show(call, cli, job);
    return call->status;
}

enum cr_status cli_job_plan(struct cr_call *call, struct cli *cli)
{
    const char *body;
    const struct json_value *plan;
    CR_TRY(cli_spec(call, cli, cli->arguments[0], &body));
    const struct cli_request request = {.method = "POST", .path = "/v1/jobs/plan", .body = body};
    CR_TRY(cli_ask_json(call, cli, &request, &plan));
    cli_show(call, cli, plan);
    if (call->status == CR_OK && cli_has(cli, "detailed-exitcode"))
        cli->exit = CLI_EXIT_CHANGES;
    return call->status;
}

static bool is_terminal(const char *state)
{
    static const char *const words[] = {"succeeded", "failed", "cancelled", "expired", NULL};
    for (const char *const *word = words; state && *word; word++)
        if (strcmp(*word, state) == 0)
            return true;
    return false;
}

/* The first blocker of a job that waits; NULL: none is known. */
static const char *blocker_of(struct cr_call *call, struct cli *cli, const char *job)
{
    const struct json_value *why;
    const struct cli_request request = {
        .method = "GET", .path = cr_format(call, "/v1/jobs/%s/why", job), .no_retry = true};
    if (cli_ask_json(call, cli, &request, &why) != CR_OK) {
        cr_forgive(call);
        cli->problem = NULL;
        return NULL;
    }
    const struct json_value *blockers = json_member(why, "blockers");
    const struct json_value *first = blockers && blockers->count ? &blockers->items[0] : NULL;
    const char *sentence = json_member_text(first, "sentence");
    return sentence ? sentence : json_member_text(first, "code");
}

/* One look: returns when the job has changed, or after POLL_S. The text of the job outlives it. */
static enum cr_status look(struct cr_call *call, struct cli *cli, const char *id, char *etag,
                           size_t etag_size, const struct json_value **ret_job)
{
    struct fetch_answer answer;
    const struct cli_request request = {
        .method = "GET",
        .path =
            cr_format(call, "/v1/jobs/%s%s", id, *etag ? cr_format(call, "?wait=%d", POLL_S) : ""),
        .if_none_match = *etag ? etag : NULL,
        .no_retry = true,
    };
    CR_TRY(cli_ask(call, cli, &request, &answer));
    *ret_job = NULL;
    if (answer.http == 304)
        return CR_OK;
    const char *tag = fetch_header(&answer, "etag");
    snprintf(etag, etag_size, "%s", tag ? tag : "");
    return json_parse(call, NULL, answer.body, answer.body_size, ret_job);
}

/* What may pass while one follows: the server restarts, the network is away, it is overloaded. */
static bool may_pass(const struct cr_call *call)
{
    return call->status == CR_UNAVAILABLE || call->status == CR_TIMEOUT ||
           call->status == CR_INTERNAL || call->status == CR_EXHAUSTED;
}

/*
 * Follows a job to its end. Each look has a call of its own, so that following for days needs no
 * more memory than following for seconds. ret_state is "" where it was interrupted.
 */
static enum cr_status follow(struct cr_call *call, struct cli *cli, const char *id,
                             struct cli_progress *progress, char *ret_state, size_t state_size)
{
    char etag[128] = "";
    int64_t answered_ns = cr_now_ns(call);
    *ret_state = 0;
    while (!interrupted) {
        CR_SCOPED(cr_call_close)
        struct cr_call one = cr_call_open(call->env, call->deadline_ns);
        const struct json_value *job = NULL;
        enum cr_status status = look(&one, cli, id, etag, sizeof etag, &job);
        cli->problem = status == CR_OK ? NULL : cli->problem;
        if (cr_expired(call))
            return cr_fail(call, CR_TIMEOUT, "the job has not ended in the time that was given");
        if (status != CR_OK && may_pass(&one) && cr_now_ns(call) - answered_ns < PATIENCE_NS) {
            cli->problem = NULL;
            call->env->sleep_until(call->env->context, cr_now_ns(call) + LATER_NS);
            continue;
        }
        if (status != CR_OK) {
            cli->problem = NULL;
            return cr_fail(call, one.status, "%s", one.reason);
        }
        answered_ns = cr_now_ns(call);
        const char *state = json_member_text(job, "state");
        if (job) {
            bool waits = state && strcmp(state, "queued") == 0;
            cli_progress_show(&one, progress, job, waits ? blocker_of(&one, cli, id) : NULL);
        }
        if (is_terminal(state)) {
            snprintf(ret_state, state_size, "%s", state);
            return CR_OK;
        }
    }
    return CR_OK;
}

/* Follows, shows the job as it ended, and sets the exit code. */
static enum cr_status follow_and_show(struct cr_call *call, struct cli *cli, const char *id,
                                      bool quiet)
{
    char state[32];
    struct cli_progress progress = cli_progress_open(cli, quiet);
    catch_interrupt();
    CR_TRY(follow(call, cli, id, &progress, state, sizeof state));
    cli_progress_done(&progress);
    if (!*state) {
        fprintf(stderr, "\nThe job goes on. To see it: %s job logs -f %s\n", cli->program, id);
        cli->exit = CLI_EXIT_INTERRUPT;
        return CR_OK;
    }
    const struct cli_request request = {.method = "GET",
                                        .path = cr_format(call, "/v1/jobs/%s", id)};
    const struct json_value *job;
    CR_TRY(cli_ask_json(call, cli, &request, &job));
    cli_show(call, cli, job);
    if (strcmp(state, "succeeded") != 0)
        cli->exit = CLI_EXIT_JOB;
    return call->status;
}

enum cr_status cli_job_run(struct cr_call *call, struct cli *cli)
{
    const struct json_value *job;
    CR_TRY(submit(call, cli, &job));
    const char *id = json_member_text(job, "job");
    if (!id)
        return cr_fail(call, CR_UNAVAILABLE, "the answer names no job");
    cli->document = NULL; /* what goes wrong from here on is not the file's fault */
    if (!cli->quiet)
        fprintf(stderr, "%s\n", id);
    return follow_and_show(call, cli, id, cli->quiet || cli->format == CLI_JSON);
}

enum cr_status cli_job_wait(struct cr_call *call, struct cli *cli)
{
    return follow_and_show(call, cli, cli->arguments[0], cli->quiet || cli->format == CLI_JSON);
}

/* Logs -------------------------------------------------------------------------------------------
 */

static enum cr_status print_bytes(struct cr_call *call, void *context, const void *bytes,
                                  size_t size)
{
    (void)call, (void)context;
    fwrite(bytes, 1, size, stdout);
    fflush(stdout);
    return CR_OK;
}

/* Prints what stands in the log from an offset on; *offset moves behind it. */
static enum cr_status print_log(struct cr_call *call, struct cli *cli, const char *id,
                                int64_t *offset)
{
    struct fetch_answer answer;
    struct fetch_request transfer = {.take = print_bytes};
    const struct cli_request request = {
        .method = "GET",
        .path = cr_format(call, "/v1/jobs/%s/logs", id),
        .range = *offset ? cr_format(call, "bytes=%" PRId64 "-", *offset) : NULL,
        .transfer = &transfer,
    };
    enum cr_status status = cli_ask(call, cli, &request, &answer);
    if (status != CR_OK && answer.http == 416) {
        cr_forgive(call);
        cli->problem = NULL;
        return CR_OK;
    }
    CR_TRY(status);
    *offset += (int64_t)answer.body_size;
    return CR_OK;
}

enum cr_status cli_job_logs(struct cr_call *call, struct cli *cli)
{
    const char *id = cli->arguments[0];
    int64_t offset = 0;
    char etag[128] = "";
    CR_TRY(print_log(call, cli, id, &offset));
    catch_interrupt();
    while (cli_has(cli, "follow") && !interrupted && !cr_expired(call)) {
        CR_SCOPED(cr_call_close)
        struct cr_call one = cr_call_open(call->env, call->deadline_ns);
        const struct json_value *job = NULL;
        enum cr_status status = look(&one, cli, id, etag, sizeof etag, &job);
        if (status == CR_OK)
            status = print_log(&one, cli, id, &offset);
        if (status != CR_OK && !may_pass(&one))
            return cr_fail(call, one.status, "%s", one.reason);
        if (is_terminal(json_member_text(job, "state")))
            break;
        if (status != CR_OK)
            call->env->sleep_until(call->env->context, cr_now_ns(call) + LATER_NS);
    }
    return CR_OK;
}

/* top: jobs that run, once, or on a terminal until it is interrupted. */
enum cr_status cli_job_top(struct cr_call *call, struct cli *cli)
{
    bool again = isatty(STDOUT_FILENO) && !cli_has(cli, "once") && cli->format <= CLI_WIDE;
    catch_interrupt();
    do {
        CR_SCOPED(cr_call_close)
        struct cr_call one = cr_call_open(call->env, call->deadline_ns);
        const struct json_value *jobs;
        const struct cli_request request = {.method = "GET", .path = "/v1/jobs?state=running"};
        if (cli_ask_json(&one, cli, &request, &jobs) != CR_OK)
            return cr_fail(call, one.status, "%s", one.reason);
        if (again)
            fputs("\033[H\033[J", stdout);
        cli_show(&one, cli, jobs);
        fflush(stdout);
        if (again)
            call->env->sleep_until(call->env->context, cr_now_ns(call) + 2 * LATER_NS);
    } while (again && !interrupted && !cr_expired(call));
    return CR_OK;
}
