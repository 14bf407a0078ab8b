/* runner: starting the runner of a lease, hearing it, and watching that it goes on. */
#include "compute/node/node.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MIB INT64_C(1048576)

/* The files that it reads: inputs by their role, and the checkpoint to go on from. */
static size_t input_files(struct holding *holding, struct launch_file *files)
{
    const struct protocol_input *inputs = holding->assignment.inputs.items;
    size_t count = holding->assignment.inputs.count;
    for (size_t i = 0; i < count; i++)
        files[i] = (struct launch_file){inputs[i].name, holding->inputs[i]};
    if (holding->assignment.resume) {
        files[count] = (struct launch_file){PROTOCOL_INPUT_RESUME, holding->inputs[count]};
        return count + 1;
    }
    return count;
}

enum cr_status runner_launch(struct cr_call *call, struct agent *agent, int entry)
{
    struct holding *holding = &agent->holdings[entry];
    const struct lease_entry *it = &agent->book.entries[entry];
    const struct protocol_assignment *assignment = &holding->assignment;
    struct launch_file inputs[PROTOCOL_INPUTS_MAX + 1], outputs[PROTOCOL_OUTPUTS_MAX];
    int cores[NODE_CORES_MAX];
    for (size_t i = 0; i < holding->output_count; i++)
        outputs[i] = (struct launch_file){holding->outputs[i].name, holding->outputs[i].descriptor};
    for (size_t i = 0; i < it->device_count; i++)
        cores[i] = agent->cores[it->devices[i]];
    struct launch_config config = {
        .program = agent->program,
        .task = "run",
        .spec = {(const unsigned char *)assignment->spec.text, assignment->spec.length},
        .inputs = inputs,
        .input_count = input_files(holding, inputs),
        .outputs = outputs,
        .output_count = holding->output_count,
        .slots = holding->slots,
        .resume_step = assignment->resume ? assignment->resume->step : 0,
        .checkpoint_s = assignment->checkpoint_s,
        .cores = cores,
        .core_count = it->device_count,
        .memory_size = assignment->memory_mib * MIB,
        .file_size = assignment->output_max,
        .until_ns = it->renewed_ns + agent->stop_ns,
        .insecure = agent->config.insecure_jail,
    };
    holding->launch_ns = cr_now_ns(call);
    return launch_open(call, &config, &holding->launch);
}

static void on_ready(struct agent *agent, struct holding *holding,
                     const struct protocol_frame *frame)
{
    holding->ready = true;
    snprintf(holding->class, sizeof holding->class, "%.*s", (int)frame->text_size, frame->text);
    loop_apply(agent, &(struct lease_event){.kind = LEASE_READY, .lease = holding->lease});
}

static void on_step(struct holding *holding, const struct protocol_frame *frame, int64_t now_ns)
{
    int64_t took = now_ns - holding->step_ns;
    if (holding->step > 0 && took > holding->step_longest_ns)
        holding->step_longest_ns = took;
    holding->step_ns = now_ns;
    holding->step = frame->step;
    holding->steps = frame->steps;
    holding->epoch = frame->epoch;
    holding->changed = true;
}

static void on_checkpoint(struct agent *agent, int entry, const struct protocol_frame *frame,
                          int64_t now_ns)
{
    struct holding *holding = &agent->holdings[entry];
    struct stat about;
    int slot = holding->slots[frame->slot];
    if (fstat(slot, &about) != 0 || about.st_size != (off_t)frame->size || frame->size == 0) {
        holding->garbage = true;
        snprintf(holding->fault, sizeof holding->fault, "a checkpoint is not as long as it says");
        launch_kill(holding->launch);
        return;
    }
    struct task *task = task_make(agent, TASK_CHECKPOINT, holding->lease);
    task->uploads = cr_new(&task->call, struct upload, 1);
    task->uploads[0] = (struct upload){
        .name = "checkpoint", .kind = "checkpoint", .descriptor = dup(slot), .size = about.st_size};
    task->upload_count = 1;
    task->slot = frame->slot;
    task->step = (int64_t)frame->step;
    task->held_ns = lease_held_ns(&agent->book.entries[entry], now_ns);
    holding->checkpoints_asked++;
    task_give(agent, task);
}

static void on_result(struct holding *holding, const struct protocol_frame *frame)
{
    struct cr_call *call = &holding->call;
    if (json_read(call, &protocol_ending_shape, frame->text, frame->text_size, &holding->ending) !=
        CR_OK) {
        snprintf(holding->fault, sizeof holding->fault, "RESULT: %.200s", call->reason);
        cr_forgive(call);
        holding->garbage = true;
        launch_kill(holding->launch);
        return;
    }
    holding->has_ending = true;
    holding->word = frame->word;
}

/* What a frame of this type may not follow; NULL: it is in its place. */
static const char *out_of_phase(const struct holding *holding, const struct protocol_frame *frame)
{
    if (holding->has_ending)
        return "a frame behind RESULT";
    if (frame->type == PROTOCOL_FRAME_READY)
        return holding->ready ? "READY twice" : NULL;
    if (frame->type == PROTOCOL_FRAME_LOG || frame->type == PROTOCOL_FRAME_RESULT ||
        frame->type == PROTOCOL_FRAME_PONG)
        return NULL;
    return holding->go_ns == 0 ? "a frame before GO" : NULL;
}

static void on_frame(struct agent *agent, int entry, const struct protocol_frame *frame)
{
    struct holding *holding = &agent->holdings[entry];
    int64_t now = agent->env.now_ns(agent->env.context);
    switch (frame->type) {
    case PROTOCOL_FRAME_READY:
        on_ready(agent, holding, frame);
        return;
    case PROTOCOL_FRAME_STEP:
        on_step(holding, frame, now);
        return;
    case PROTOCOL_FRAME_METRIC:
        holding_point(holding, frame, now);
        return;
    case PROTOCOL_FRAME_LOG:
        holding_log(holding, frame->text, frame->text_size);
        return;
    case PROTOCOL_FRAME_CHECKPOINT:
        on_checkpoint(agent, entry, frame, now);
        return;
    case PROTOCOL_FRAME_RESULT:
        on_result(holding, frame);
        return;
    case PROTOCOL_FRAME_PHASE:
        holding->phase = frame->phase;
        holding->changed = holding->progress_now = true;
        return;
    case PROTOCOL_FRAME_PONG:
        holding->pong_ns = now;
        return;
    case PROTOCOL_FRAME_USAGE: /* shown nowhere yet, and never billed */
    default:
        return;
    }
}

void runner_hear(struct agent *agent, int entry)
{
    struct holding *holding = &agent->holdings[entry];
    struct protocol_frame frame;
    const char *fault;
    if (!holding->used || !holding->launch)
        return;
    for (int i = 0; i < NODE_MAILBOX && !holding->garbage; i++) {
        enum launch_heard heard = launch_hear(holding->launch, &frame, &fault);
        if (heard == LAUNCH_NOTHING || heard == LAUNCH_CLOSED)
            break;
        if (heard == LAUNCH_FRAME)
            fault = out_of_phase(holding, &frame);
        if (fault) {
            holding->garbage = true;
            snprintf(holding->fault, sizeof holding->fault, "%s", fault);
            launch_kill(holding->launch);
        } else {
            on_frame(agent, entry, &frame);
        }
        if (!holding->used || !holding->launch)
            return;
    }
    if (!holding->ended && launch_ended(holding->launch, &holding->end)) {
        holding->ended = true;
        runner_hear(agent, entry); /* what it said before it died */
        loop_apply(agent, &(struct lease_event){.kind = LEASE_ENDED, .lease = holding->lease});
    }
}

static void kill_for(struct agent *agent, int entry, enum protocol_word word)
{
    struct lease_entry *it = &agent->book.entries[entry];
    if (it->own < 0)
        it->own = (int)word;
    launch_kill(agent->holdings[entry].launch);
}

/* Whether a runner that works still steps, answers, and is within its time. */
void runner_watch(struct agent *agent, int entry, int64_t now_ns)
{
    struct holding *holding = &agent->holdings[entry];
    if (!holding->used || !holding->launch || holding->ended || holding->garbage)
        return;
    if (!holding->ready && now_ns - holding->launch_ns > NODE_READY_NS) {
        launch_kill(holding->launch); /* unsealed */
        return;
    }
    if (holding->go_ns == 0 || agent->book.entries[entry].own >= 0)
        return;
    int64_t patience = holding->step_longest_ns * 20;
    if (now_ns - holding->step_ns > (patience > NODE_STALL_NS ? patience : NODE_STALL_NS) ||
        now_ns - holding->pong_ns > NODE_PING_NS + PROTOCOL_PING_NS)
        kill_for(agent, entry, PROTOCOL_stalled);
    else if (now_ns - holding->go_ns >
             (holding->assignment.max_runtime_s + 60) * INT64_C(1000000000))
        kill_for(agent, entry, PROTOCOL_stopped);
    else if (now_ns - holding->ping_ns >= NODE_PING_NS) {
        holding->ping_ns = now_ns;
        launch_tell(holding->launch, &(struct protocol_frame){.type = PROTOCOL_FRAME_PING});
    }
}

static bool outputs_fit(const struct holding *holding)
{
    const struct protocol_made *made = holding->ending.outputs.items;
    for (size_t i = 0; i < holding->ending.outputs.count; i++) {
        bool fits = false;
        for (size_t j = 0; j < holding->output_count; j++) {
            struct stat about;
            if (strcmp(made[i].name, holding->outputs[j].name) == 0 &&
                fstat(holding->outputs[j].descriptor, &about) == 0)
                fits = about.st_size == (off_t)made[i].size && made[i].size > 0;
        }
        if (!fits)
            return false;
    }
    return true;
}

enum protocol_word runner_word(const struct agent *agent, int entry)
{
    const struct holding *holding = &agent->holdings[entry];
    return launch_word(&(struct launch_evidence){
        .end = &holding->end,
        .ready = holding->ready,
        .garbage = holding->garbage,
        .own = agent->book.entries[entry].own,
        .word = holding->word,
        .outputs_fit = holding->has_ending && outputs_fit(holding),
    });
}

const char *runner_detail(const struct holding *holding, enum protocol_word word)
{
    if (holding->garbage)
        return holding->fault;
    if (holding->has_ending && (int)word == holding->word)
        return holding->ending.detail;
    return holding->end.detail;
}
