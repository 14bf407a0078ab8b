/* work: a kind of job, from open to its RESULT. Sealed: what is read here is a tenant's. */
#include "compute/runner/runner.h"

#include "base/core/codes.h"
#include "base/core/text.h"
#include "base/core/time.h"
#include "base/json/json.h"
#include "compute/batch/batch.h"
#include "compute/train/train.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SPEC_FD_SIZE_MAX PROTOCOL_SPEC_SIZE_MAX
#define STEP_NS          INT64_C(20000000) /* between two STEP frames */
#define POINT_NS         INT64_C(4000000)  /* between two points of a series */

static const struct protocol_kind *const kinds[] = {&train_kind, &batch_kind, NULL};

/* What the kind has told, and when a frame was last made of it. */
struct telling {
    const struct cr_env *env;
    int64_t step_ns;
    struct {
        char name[PROTOCOL_METRIC_NAME_MAX + 1];
        int64_t at_ns;
    } series[PROTOCOL_METRIC_NAMES_MAX];
    size_t series_count;
};

static int64_t now_of(const struct telling *telling)
{
    return telling->env->now_ns(telling->env->context);
}

static void tell_phase(void *context, const char *phase)
{
    (void)context;
    for (uint8_t i = 0; protocol_phases[i]; i++)
        if (strcmp(protocol_phases[i], phase) == 0)
            control_send(&(struct protocol_frame){.type = PROTOCOL_FRAME_PHASE, .phase = i});
}

static void tell_step(void *context, int64_t step, int64_t steps, int64_t epoch)
{
    struct telling *telling = context;
    int64_t now = now_of(telling);
    if (step < steps && now - telling->step_ns < STEP_NS)
        return;
    telling->step_ns = now;
    control_send(&(struct protocol_frame){.type = PROTOCOL_FRAME_STEP,
                                          .step = (uint64_t)step,
                                          .steps = (uint64_t)steps,
                                          .epoch = (uint32_t)epoch});
}

/* Whether a point of the series is due. */
static bool due(struct telling *telling, const char *name)
{
    int64_t now = now_of(telling);
    for (size_t i = 0; i < telling->series_count; i++)
        if (strcmp(telling->series[i].name, name) == 0) {
            bool is = now - telling->series[i].at_ns >= POINT_NS;
            if (is)
                telling->series[i].at_ns = now;
            return is;
        }
    if (telling->series_count == PROTOCOL_METRIC_NAMES_MAX)
        return false;
    snprintf(telling->series[telling->series_count].name, PROTOCOL_METRIC_NAME_MAX + 1, "%s", name);
    telling->series[telling->series_count++].at_ns = now;
    return true;
}

static void tell_metric(void *context, int64_t step, const char *name, double value)
{
    if (due(context, name))
        control_send(&(struct protocol_frame){.type = PROTOCOL_FRAME_METRIC,
                                              .step = (uint64_t)step,
                                              .value = value,
                                              .text = name,
                                              .text_size = strlen(name)});
}

static void tell_log(void *context, int level, const char *text)
{
    (void)context;
    size_t size = strlen(text);
    control_send(&(struct protocol_frame){
        .type = PROTOCOL_FRAME_LOG,
        .level = (uint8_t)level,
        .text = text,
        .text_size = size < PROTOCOL_LOG_TEXT_MAX ? size : PROTOCOL_LOG_TEXT_MAX});
}

/* The word of a failure: of its code, or of memory; any other is a crash of ours. */
static enum protocol_word word_of(const struct cr_call *call)
{
    int word = call->code ? protocol_word_of(call->code->word) : -1;
    if (word >= 0)
        return (enum protocol_word)word;
    if (call->code == &cr_code_invalid_body || call->code == &cr_code_invalid_json)
        return PROTOCOL_program_rejected;
    return call->status == CR_EXHAUSTED ? PROTOCOL_device_memory : PROTOCOL_crashed;
}

static void send_result(struct cr_call *call, enum protocol_word word,
                        const struct protocol_ending *ending)
{
    const char *text = json_write(call, &protocol_ending_shape, ending);
    control_send(&(struct protocol_frame){.type = PROTOCOL_FRAME_RESULT,
                                          .word = (uint8_t)word,
                                          .text = text,
                                          .text_size = strlen(text)});
}

static struct protocol_ending ending_of(struct cr_call *call, const char *detail, int64_t steps)
{
    return (struct protocol_ending){
        .detail = detail,
        .metrics = {cr_new(call, struct cr_label, 1), 0},
        .outputs = {cr_new(call, struct protocol_made, 1), 0},
        .steps = steps,
    };
}

static struct cr_list sizes_of(struct cr_call *call, const struct runner_load *load)
{
    struct protocol_made *made = cr_new(call, struct protocol_made, load->output_count);
    for (size_t i = 0; i < load->output_count; i++) {
        struct stat about = {0};
        if (fstat(load->outputs[i].descriptor, &about) != 0)
            about.st_size = 0;
        made[i] = (struct protocol_made){load->outputs[i].name, about.st_size};
    }
    return (struct cr_list){made, load->output_count};
}

/* One job at work. */
struct work {
    const struct runner_load *load;
    const struct protocol_kind *kind;
    void *state;
    struct telling *telling;
    int64_t checkpoint_ns; /* when the last one was written */
};

/* Writes all that a later attempt needs into a slot that is free, and tells of it. */
static enum cr_status save(struct cr_call *call, struct work *it)
{
    int slot;
    if (!it->kind->checkpoint || it->load->slot_count == 0 || !control_take_slot(&slot))
        return CR_OK;
    int file = it->load->slots[slot];
    int64_t step;
    struct stat about;
    if (ftruncate(file, 0) != 0)
        return cr_fail(call, CR_UNAVAILABLE, "a checkpoint's file cannot be emptied");
    CR_TRY(it->kind->checkpoint(call, it->state, file, &step));
    if (fstat(file, &about) != 0)
        return cr_fail(call, CR_UNAVAILABLE, "a checkpoint's file cannot be measured");
    it->checkpoint_ns = now_of(it->telling);
    control_send(&(struct protocol_frame){.type = PROTOCOL_FRAME_CHECKPOINT,
                                          .step = (uint64_t)step,
                                          .slot = (uint8_t)slot,
                                          .size = (uint64_t)about.st_size});
    return CR_OK;
}

static bool is_due(const struct work *it)
{
    int64_t each_s = it->load->table.checkpoint_s;
    return each_s > 0 && now_of(it->telling) - it->checkpoint_ns >= each_s * CR_NS_A_SECOND;
}

/* Whether what was done so far will be gone on with: not where the stop is the end of the job. */
static bool goes_on(const struct runner_stop *stop)
{
    static const char *const others[] = {"preempt", "drain", "residency", "gang"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strcmp(stop->cause, others[i]) == 0)
            return true;
    return false;
}

/* Step by step, until it is done or a stop is asked for. Memory of a step goes with it. */
static enum cr_status step_all(struct cr_call *call, struct work *it, bool *ret_stopped)
{
    *ret_stopped = false;
    for (bool done = false; !done;) {
        struct runner_stop stop = control_stop();
        CR_SCOPED(cr_call_close) struct cr_call step = cr_call_open(call->env, INT64_MAX);
        enum cr_status status = CR_OK;
        if (stop.asked) {
            *ret_stopped = done = true;
            if (goes_on(&stop) && stop.until_ns > now_of(it->telling))
                status = save(&step, it);
        } else {
            status = it->kind->step(&step, it->state, &done);
            if (status == CR_OK && !done && is_due(it))
                status = save(&step, it);
        }
        if (status != CR_OK) {
            call->code = step.code;
            return call->code ? cr_fail_as(call, step.code, "%s", step.reason)
                              : cr_fail(call, status, "%s", step.reason);
        }
    }
    return CR_OK;
}

static enum cr_status run_kind(struct cr_call *call, struct work *it,
                               const struct protocol_task *task)
{
    bool stopped;
    struct protocol_result result = {0};
    CR_TRY(it->kind->open(call, task, &it->state));
    it->checkpoint_ns = now_of(it->telling);
    CR_TRY(step_all(call, it, &stopped));
    if (stopped) {
        struct protocol_ending ending = ending_of(call, "", task->resume_step);
        send_result(call, PROTOCOL_stopped, &ending);
        return CR_OK;
    }
    tell_phase(NULL, "save");
    CR_TRY(it->kind->finish(call, it->state, false, &result));
    struct protocol_ending ending = ending_of(call, "", result.steps);
    if (result.metrics.items)
        ending.metrics = result.metrics;
    ending.outputs = sizes_of(call, it->load);
    send_result(call, PROTOCOL_finished, &ending);
    return CR_OK;
}

static enum cr_status read_spec(struct cr_call *call, struct protocol_spec *ret_spec)
{
    struct stat about;
    if (fstat(PROTOCOL_FD_SPEC, &about) != 0 || about.st_size > SPEC_FD_SIZE_MAX)
        return cr_fail(call, CR_UNAVAILABLE, "there is no spec");
    char *text = cr_new(call, char, (size_t)about.st_size + 1);
    if (pread(PROTOCOL_FD_SPEC, text, (size_t)about.st_size, 0) != about.st_size)
        return cr_fail(call, CR_UNAVAILABLE, "the spec cannot be read");
    CR_TRY(json_read(call, &protocol_spec_shape, text, (size_t)about.st_size, ret_spec));
    return protocol_spec_check(call, ret_spec);
}

static enum cr_status find_kind(struct cr_call *call, const char *name,
                                const struct protocol_kind **ret_kind)
{
    for (const struct protocol_kind *const *kind = kinds; *kind; kind++)
        if (strcmp((*kind)->name, name) == 0) {
            *ret_kind = *kind;
            return CR_OK;
        }
    return cr_fail_as(call, &protocol_program_rejected, "no runner runs jobs of kind %s", name);
}

static enum cr_status run(struct cr_call *call, const struct runner_load *load,
                          struct cresset *engine, struct work *it)
{
    struct protocol_spec spec;
    CR_TRY(read_spec(call, &spec));
    CR_TRY(find_kind(call, spec.kind, &it->kind));
    struct protocol_host host = {tell_phase, tell_step, tell_metric, tell_log, it->telling};
    struct protocol_task task = {
        .spec = &spec,
        .engine = engine,
        .inputs = load->inputs,
        .input_count = load->input_count,
        .model = load->model.size ? &load->model : NULL,
        .resume = load->resume.size ? &load->resume : NULL,
        .resume_step = load->table.resume_step,
        .outputs = load->outputs,
        .output_count = load->output_count,
        .host = &host,
    };
    enum cr_status status = run_kind(call, it, &task);
    if (it->state)
        it->kind->close(it->state);
    return status;
}

void work_run(struct cr_call *call, const struct runner_load *load, struct cresset *engine)
{
    struct telling telling = {.env = call->env};
    struct work it = {.load = load, .telling = &telling};
    if (run(call, load, engine, &it) == CR_OK)
        return;
    struct protocol_ending ending =
        ending_of(call, cr_format(call, "%.900s", call->reason), load->table.resume_step);
    send_result(call, word_of(call), &ending);
}
