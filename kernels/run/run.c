/* run: programs are made, run and closed. */
#include "kernels/run/run_internal.h"

static enum cr_status run_step(struct cr_call *call, struct run_program *program,
                               const struct run_step *step)
{
    struct device_launch launch = {.device = program->device,
                                   .site = &step->site,
                                   .inputs = step->inputs,
                                   .outputs = step->outputs,
                                   .scratch = (char *)program->arena + program->arena_size};
    if (cr_expired(call))
        return cr_fail(call, CR_TIMEOUT, "the deadline has passed before %s",
                       step->site.op->row->name);
    return device_run(call, step->kernel, &launch);
}

static enum cr_status check_limit(struct cr_call *call, const struct run_program *program,
                                  int64_t memory_max)
{
    int64_t size = program->arena_size + program->scratch_size;
    if (memory_max > 0 && size > memory_max)
        return cr_fail(call, CR_EXHAUSTED, "the program needs %lld bytes, and may have %lld",
                       (long long)size, (long long)memory_max);
    return CR_OK;
}

static enum cr_status prepare(struct cr_call *call, struct run_program *program,
                              const struct graph *graph, int64_t memory_max)
{
    /* The program outlives the call, so the graph is lowered into the program's own memory. */
    if (run_lower(&program->memory, program->device, graph, &program->graph) != CR_OK)
        return cr_fail(call, program->memory.status, "%s", program->memory.reason);
    CR_TRY(run_schedule(call, program));
    run_place(program);
    CR_TRY(check_limit(call, program, memory_max));
    CR_TRY(device_allocate(call, program->device,
                           (size_t)(program->arena_size + program->scratch_size), &program->arena));
    for (int32_t i = 0; i < program->buffer_count; i++)
        if (program->buffers[i]->home == RUN_ARENA)
            program->buffers[i]->storage.bytes =
                (char *)program->arena + program->buffers[i]->offset;
    for (int32_t i = 0; i < program->step_count; i++)
        if (program->steps[i].constant)
            CR_TRY(run_step(call, program, &program->steps[i]));
    return device_wait(call, program->device);
}

enum cr_status run_compile(struct cr_call *call, struct device *device, const struct graph *graph,
                           int64_t memory_max, struct run_program **ret_program)
{
    struct run_program *program = calloc(1, sizeof *program);
    if (!program)
        return cr_fail(call, CR_EXHAUSTED, "no memory for a program");
    program->env = *call->env;
    program->memory = cr_call_open(&program->env, INT64_MAX);
    program->device = device;
    if (prepare(call, program, graph, memory_max) != CR_OK) {
        run_close(program);
        return call->status;
    }
    *ret_program = program;
    return CR_OK;
}

/* The memory of an input or output, once it has proved to be what the graph says. */
static enum cr_status attach(struct cr_call *call, const char *what, int32_t index,
                             const struct op_type *type, const struct tensor *tensor,
                             struct run_buffer *buffer)
{
    bool same = tensor->dtype == type->dtype && tensor->rank == type->rank &&
                memcmp(tensor->shape, type->dims, sizeof type->dims[0] * type->rank) == 0;
    if (!same)
        return cr_fail(call, CR_INVALID, "%s %d is not %s", what, index,
                       op_print_type(call, type, NULL, NULL));
    if (!tensor_contiguous(tensor))
        return cr_fail(call, CR_INVALID, "%s %d is not contiguous", what, index);
    buffer->storage.bytes = tensor_bytes(tensor);
    return CR_OK;
}

enum cr_status run_once(struct cr_call *call, struct run_program *program,
                        const struct tensor *inputs, struct tensor *outputs)
{
    const struct graph *graph = program->graph;
    for (int32_t i = 0; i < graph->param_count; i++)
        CR_TRY(attach(call, "input", i, &graph->values[i].type, &inputs[i], program->inputs[i]));
    for (int32_t i = 0; i < graph->result_count; i++)
        CR_TRY(attach(call, "output", i, &graph->values[graph->results[i]].type, &outputs[i],
                      program->outputs[i]));
    for (int32_t i = 0; i < program->step_count; i++)
        if (!program->steps[i].constant)
            CR_TRY(run_step(call, program, &program->steps[i]));
    return device_wait(call, program->device);
}

struct run_plan run_plan(const struct run_program *program)
{
    struct run_plan plan = {.memory = program->arena_size + program->scratch_size,
                            .constants = program->constants,
                            .views = program->views};
    for (int32_t i = 0; i < program->step_count; i++)
        plan.steps += !program->steps[i].constant;
    return plan;
}

const struct graph *run_graph(const struct run_program *program)
{
    return program->graph;
}

void run_close(struct run_program *program)
{
    if (!program)
        return;
    device_release(program->device, program->arena,
                   (size_t)(program->arena_size + program->scratch_size));
    cr_call_close(&program->memory);
    free(program);
}
