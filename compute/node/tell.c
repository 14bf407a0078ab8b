/* tell: what is told of a lease. Each message is made once, and sent again as it is. */
#include "compute/node/node.h"

#include "compute/protocol/table.h"

#include <string.h>
#include <unistd.h>

static struct task *request(struct agent *agent, enum task_kind kind, const char *lease,
                            const char *method, const char *what, const struct cr_shape *gives)
{
    struct task *task = task_make(agent, kind, lease);
    task->method = method;
    task->path = cr_format(&task->call, "/v1/node/leases/%s/%s", lease, what);
    task->gives = gives;
    return task;
}

/* The body of a signed message. */
static void sign(struct agent *agent, struct task *task, const char *type,
                 const struct cr_shape *shape, const void *message)
{
    struct cr_bytes payload = agent_canonical(&task->call, shape, message);
    task->body = agent_sign(&task->call, agent, type, payload);
}

void tell_program(struct agent *agent, int entry)
{
    task_give(agent, request(agent, TASK_PROGRAM, agent->book.entries[entry].lease, "GET",
                             "program", &protocol_assignment_shape));
}

void tell_start(struct agent *agent, int entry)
{
    const struct lease_entry *it = &agent->book.entries[entry];
    struct task *task =
        request(agent, TASK_START, it->lease, "POST", "start", &protocol_ordered_shape);
    struct protocol_start start = {
        .node = agent->node,
        .boot = agent->boot,
        .lease = it->lease,
        .lease_epoch = it->lease_epoch,
        .seq = 0,
        .runner = agent->program_sha256,
        .engine_class =
            agent->holdings[entry].class[0] ? agent->holdings[entry].class : agent->class,
    };
    sign(agent, task, PROTOCOL_TYPE_START, &protocol_start_shape, &start);
    task_give(agent, task);
}

void tell_decline(struct agent *agent, const struct lease_command *command)
{
    struct task *task = request(agent, TASK_DECLINE, command->lease, "POST", "decline", NULL);
    struct protocol_decline decline = {
        .node = agent->node,
        .boot = agent->boot,
        .lease = command->lease,
        .lease_epoch = command->lease_epoch,
        .seq = 0,
        .word = command->word,
        .detail = cr_format(&task->call, "%.256s", command->detail ? command->detail : ""),
    };
    struct cr_log_field fields[] = {
        {"lease", command->lease, 0}, {"word", command->word, 0}, {"detail", decline.detail, 0}};
    cr_log_event(&agent->env, "warning", "a lease is declined", fields, 3);
    sign(agent, task, PROTOCOL_TYPE_DECLINE, &protocol_decline_shape, &decline);
    task_give(agent, task);
}

/* Takes up to a chunk of what waits: whole lines, if a line ends in it. */
static struct cr_bytes take_log(struct cr_call *call, struct holding *holding)
{
    size_t size = holding->log_size;
    if (size > (size_t)PROTOCOL_CHUNK_SIZE_MAX) {
        size = (size_t)PROTOCOL_CHUNK_SIZE_MAX;
        while (size > 1 && holding->log[size - 1] != '\n')
            size--;
    }
    const char *text = cr_copy(call, holding->log, size);
    memmove(holding->log, holding->log + size, holding->log_size - size);
    holding->log_size -= size;
    return (struct cr_bytes){(const unsigned char *)text, size};
}

static struct cr_bytes take_points(struct cr_call *call, struct holding *holding)
{
    size_t count = holding->point_count,
           most = (size_t)PROTOCOL_CHUNK_SIZE_MAX / PROTOCOL_POINT_SIZE;
    if (count > most)
        count = most;
    size_t size = count * PROTOCOL_POINT_SIZE;
    const char *bytes = cr_copy(call, holding->points, size);
    memmove(holding->points, holding->points + size,
            (holding->point_count - count) * PROTOCOL_POINT_SIZE);
    holding->point_count -= count;
    return (struct cr_bytes){(const unsigned char *)bytes, size};
}

static struct cr_texts series_of(struct cr_call *call, const struct holding *holding)
{
    const char **items = cr_new(call, const char *, holding->series_count);
    for (size_t i = 0; i < holding->series_count; i++)
        items[i] = holding->series[i];
    return (struct cr_texts){items, holding->series_count};
}

void tell_progress(struct agent *agent, int entry, int64_t now_ns)
{
    const struct lease_entry *it = &agent->book.entries[entry];
    struct holding *holding = &agent->holdings[entry];
    struct task *task =
        request(agent, TASK_PROGRESS, it->lease, "POST", "progress", &protocol_ordered_shape);
    struct protocol_dropped dropped = {holding->log_dropped, holding->points_dropped};
    struct protocol_progress progress = {
        .node = agent->node,
        .boot = agent->boot,
        .lease = it->lease,
        .lease_epoch = it->lease_epoch,
        .seq = ++holding->progress_seq,
        .step = (int64_t)holding->step,
        .steps = (int64_t)holding->steps,
        .phase = protocol_phases[holding->phase],
        .series = series_of(&task->call, holding),
        .points = take_points(&task->call, holding),
        .log = take_log(&task->call, holding),
        .dropped = &dropped,
        .checkpoint = holding->has_checkpoint ? &holding->checkpoint : NULL,
    };
    sign(agent, task, PROTOCOL_TYPE_PROGRESS, &protocol_progress_shape, &progress);
    task->slot = holding->has_checkpoint ? holding->held_slot : -1;
    holding->has_checkpoint = false;
    holding->held_slot = -1;
    holding->log_dropped = holding->log_marked = holding->points_dropped = 0;
    holding->changed = holding->log_size > 0 || holding->point_count > 0;
    holding->progress_now = false;
    holding->progress_asked = true;
    holding->progress_ns = now_ns;
    task_give(agent, task);
}

/* Sends what was made, where the end is one that leaves something. */
void tell_upload(struct agent *agent, int entry)
{
    struct holding *holding = &agent->holdings[entry];
    enum protocol_word word = runner_word(agent, entry);
    struct task *task = task_make(agent, TASK_UPLOAD, agent->book.entries[entry].lease);
    task->uploads = cr_new(&task->call, struct upload, holding->output_count);
    bool gives = holding->has_ending && (word == PROTOCOL_finished || word == PROTOCOL_stopped);
    const struct protocol_made *made = holding->ending.outputs.items;
    for (size_t i = 0; gives && i < holding->ending.outputs.count; i++)
        for (size_t j = 0; j < holding->output_count; j++)
            if (strcmp(holding->outputs[j].name, made[i].name) == 0 && made[i].size > 0) {
                struct upload *upload = &task->uploads[task->upload_count++];
                *upload = holding->outputs[j];
                upload->descriptor = dup(holding->outputs[j].descriptor);
                upload->size = made[i].size;
            }
    holding->uploaded = false;
    task_give(agent, task);
}

static struct cr_list outputs_of(struct cr_call *call, const struct holding *holding)
{
    struct protocol_output *outputs = cr_new(call, struct protocol_output, holding->output_count);
    size_t count = 0;
    for (size_t i = 0; i < holding->output_count; i++)
        if (holding->outputs[i].digest[0])
            outputs[count++] =
                (struct protocol_output){holding->outputs[i].name, holding->outputs[i].digest,
                                         holding->outputs[i].size, holding->outputs[i].kind};
    return (struct cr_list){outputs, count};
}

enum cr_status tell_result(struct cr_call *call, struct agent *agent, int entry,
                           const char **ret_request)
{
    const struct lease_entry *it = &agent->book.entries[entry];
    struct holding *holding = &agent->holdings[entry];
    enum protocol_word word = runner_word(agent, entry);
    bool said = holding->has_ending && (word == PROTOCOL_finished || word == PROTOCOL_stopped);
    struct cr_label *none = cr_new(call, struct cr_label, 1);
    struct protocol_complete complete = {
        .node = agent->node,
        .boot = agent->boot,
        .lease = it->lease,
        .lease_epoch = it->lease_epoch,
        .seq = ++holding->progress_seq,
        .word = protocol_words[word],
        .detail = cr_format(call, "%.1000s", runner_detail(holding, word)),
        .metrics = said ? holding->ending.metrics : (struct cr_labels){none, 0},
        .outputs = outputs_of(call, holding),
        .steps = said ? holding->ending.steps : (int64_t)holding->step,
    };
    CR_TRY(protocol_result_sha256(call, &complete, &complete.result_sha256));
    struct cr_bytes payload = agent_canonical(call, &protocol_complete_shape, &complete);
    const char *message = agent_sign(call, agent, PROTOCOL_TYPE_COMPLETE, payload);
    *ret_request = renewal_of_end(call, agent, entry, message);
    struct cr_log_field fields[] = {{"lease", it->lease, 0},
                                    {"word", complete.word, 0},
                                    {"detail", complete.detail, 0},
                                    {"held_ms", NULL, lease_held_ns(it, it->release_ns) / 1000000}};
    cr_log_event(&agent->env, "info", "a lease has ended", fields,
                 it->acquire_ns == CR_NO_INTEGER ? 3 : 4);
    return CR_OK;
}

void tell_complete(struct agent *agent, const char *lease, struct cr_bytes body)
{
    struct task *task =
        request(agent, TASK_COMPLETE, lease, "POST", "complete", &protocol_accepted_shape);
    task->body = cr_copy(&task->call, body.data, body.size);
    task_give(agent, task);
}
