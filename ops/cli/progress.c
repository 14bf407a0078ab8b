/*
 * What one sees of a job that is followed, on standard error: on a terminal a block that is drawn
 * again, else a line for each new state, and one each half minute that names what it waits for.
 */
#include "ops/cli/cli.h"

#include "base/core/time.h"

#include <inttypes.h>
#include <unistd.h>

#define STILL_NS INT64_C(30000000000) /* between two lines of the same state */
#define BAR      24                   /* letters of the bar */

struct cli_progress cli_progress_open(const struct cli *cli, bool quiet)
{
    const char *mode = cli->progress ? cli->progress : "auto";
    bool terminal = isatty(STDERR_FILENO) && !getenv("CI");
    bool none = quiet || strcmp(mode, "none") == 0;
    return (struct cli_progress){
        .cli = cli,
        .redraw = !none && terminal && strcmp(mode, "auto") == 0,
        .plain = !none && (strcmp(mode, "plain") == 0 || (strcmp(mode, "auto") == 0 && !terminal)),
        .json = !none && strcmp(mode, "json") == 0,
    };
}

static const char *steps_of(struct cr_call *call, const struct json_value *job)
{
    const struct json_value *step = cli_follow(job, "progress.step"),
                            *steps = cli_follow(job, "progress.steps");
    if (!step || !steps || steps->integer <= 0)
        return "";
    return cr_format(call, "step %" PRId64 "/%" PRId64, step->integer, steps->integer);
}

static double seconds_since(struct cr_call *call, const struct json_value *job)
{
    const char *started = json_member_text(job, "started");
    int64_t us;
    if (!started || !cr_time_parse(started, strlen(started), &us))
        return 0;
    return (double)(cr_utc_us(call) - us) / 1e6;
}

/* How long the rest takes, if it goes on as it did: told as a range, for steps are not alike. */
static const char *eta_of(struct cr_call *call, const struct json_value *job)
{
    const struct json_value *step = cli_follow(job, "progress.step"),
                            *steps = cli_follow(job, "progress.steps");
    double passed = seconds_since(call, job);
    if (!step || !steps || step->integer <= 0 || steps->integer <= step->integer || passed < 2)
        return "";
    double left = passed * (double)(steps->integer - step->integer) / (double)step->integer;
    return cr_format(call, "%.0f to %.0f s left", 0.8 * left, 1.4 * left + 1);
}

static void draw(struct cr_call *call, struct cli_progress *progress, const struct json_value *job,
                 const char *blocker)
{
    const struct json_value *step = cli_follow(job, "progress.step"),
                            *steps = cli_follow(job, "progress.steps");
    char bar[BAR + 1];
    int64_t filled = step && steps && steps->integer > 0 ? BAR * step->integer / steps->integer : 0;
    for (int i = 0; i < BAR; i++)
        bar[i] = i < filled ? '#' : '.';
    bar[BAR] = 0;
    if (progress->lines)
        fprintf(stderr, "\033[%dA\033[J", progress->lines);
    fprintf(stderr, "%s  %s  %.0f s\n", json_member_text(job, "job"), progress->state,
            seconds_since(call, job));
    fprintf(stderr, "[%s] %s  %s  cost %s\n", bar, steps_of(call, job),
            blocker ? blocker : eta_of(call, job), cli_cell(call, job, "cost_microusd", true));
    progress->lines = 2;
}

static void tell(struct cr_call *call, const struct cli_progress *progress,
                 const struct json_value *job, const char *blocker)
{
    char now[CR_TIME_SIZE];
    struct cr_text text = cr_text_open(call);
    cr_time_print(cr_utc_us(call), now);
    if (progress->json) {
        cr_text_add_format(&text, "{\"time\":\"%s\",\"job\":", now);
        json_add_text(&text, json_member_text(job, "job"));
        cr_text_add(&text, ",\"state\":");
        json_add_text(&text, progress->state);
        cr_text_add(&text, ",\"blocker\":");
        json_add_text(&text, blocker);
        cr_text_add(&text, "}");
    } else {
        const char *steps = steps_of(call, job);
        cr_text_add_format(&text, "%s %s %s%s%s%s%s", now, json_member_text(job, "job"),
                           progress->state, *steps ? ", " : "", steps, blocker ? ": " : "",
                           blocker ? blocker : "");
    }
    fprintf(stderr, "%s\n", text.data);
}

void cli_progress_show(struct cr_call *call, struct cli_progress *progress,
                       const struct json_value *job, const char *blocker)
{
    static char kept[32]; /* the state outlives the call of one request */
    const char *state = json_member_text(job, "state");
    bool changed = !progress->state || (state && strcmp(state, progress->state) != 0);
    bool still = cr_now_ns(call) - progress->told_ns > STILL_NS;
    snprintf(kept, sizeof kept, "%s", state ? state : "");
    progress->state = kept;
    if (progress->redraw)
        draw(call, progress, job, blocker);
    else if ((progress->plain || progress->json) && (changed || still)) {
        tell(call, progress, job, blocker);
        progress->told_ns = cr_now_ns(call);
    }
}

void cli_progress_done(struct cli_progress *progress)
{
    progress->lines = 0;
}
