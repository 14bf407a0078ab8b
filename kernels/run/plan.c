/* plan: which kernels run in which order, on which memory. */
#include "kernels/run/run_internal.h"

static void *grown(struct cr_call *call, void *items, int32_t count, int32_t *room, size_t size)
{
    if (count < *room)
        return items;
    *room = *room < 8 ? 64 : *room * 2;
    void *more = cr_alloc(call, (size_t)*room, size);
    if (count > 0)
        memcpy(more, items, (size_t)count * size);
    return more;
}

static struct run_buffer *new_buffer(struct run_program *program, enum run_home home, int32_t index,
                                     int64_t size)
{
    struct run_buffer *buffer = cr_new(&program->memory, struct run_buffer, 1);
    program->buffers = grown(&program->memory, program->buffers, program->buffer_count,
                             &program->buffer_room, sizeof(struct run_buffer *));
    program->buffers[program->buffer_count++] = buffer;
    buffer->home = home;
    buffer->index = index;
    buffer->first = buffer->last = program->step_count;
    buffer->size = size;
    buffer->storage.device = program->device;
    buffer->storage.size = (size_t)size;
    buffer->storage.users = 1;
    return buffer;
}

static int64_t size_of(const struct op_type *type)
{
    int64_t size = (int64_t)dtype_size(type->dtype);
    for (int i = 0; i < type->rank; i++)
        size *= type->dims[i];
    return size;
}

static struct tensor over(struct run_buffer *buffer, const struct op_type *type)
{
    return tensor_over(&buffer->storage, 0, type->dtype, type->rank, type->dims);
}

/* Types in the program's memory, so that sites can point to them. */
static struct op_type *own_types(struct run_program *program, const struct op_type *types,
                                 int count)
{
    struct op_type *own = cr_new(&program->memory, struct op_type, (size_t)count + 1);
    memcpy(own, types, sizeof *types * (size_t)count);
    return own;
}

static struct run_step *new_step(struct run_program *program, const struct device_kernel *kernel,
                                 const struct op_site *site)
{
    struct cr_call *memory = &program->memory;
    program->steps = grown(memory, program->steps, program->step_count, &program->step_room,
                           sizeof(struct run_step));
    struct run_step *step = &program->steps[program->step_count++];
    *step = (struct run_step){.kernel = kernel, .site = *site};
    step->site.inputs = own_types(program, site->inputs, site->input_count);
    step->site.outputs = own_types(program, site->outputs, site->output_count);
    step->site.values = step->site.results = NULL;
    step->inputs = cr_new(memory, const struct tensor *, (size_t)site->input_count + 1);
    step->outputs = cr_new(memory, struct tensor *, (size_t)site->output_count + 1);
    int64_t scratch = (int64_t)device_scratch_size(program->device, kernel, &step->site);
    if (scratch > program->scratch_size)
        program->scratch_size = scratch;
    return step;
}

static struct tensor *own_tensor(struct run_program *program, struct tensor tensor)
{
    struct tensor *own = cr_new(&program->memory, struct tensor, 1);
    *own = tensor;
    return own;
}

static void use(struct run_buffer *buffer, int32_t step)
{
    if (buffer->last < step)
        buffer->last = step;
}

/* A step that copies a view into a buffer, where its elements follow one another. */
static enum cr_status add_copy(struct cr_call *call, struct run_program *program,
                               struct run_buffer *from, const struct tensor *view,
                               struct run_buffer *to, bool constant)
{
    struct op_type type = {.dtype = view->dtype, .rank = view->rank};
    memcpy(type.dims, view->shape, sizeof type.dims);
    const struct op *op = op_find(OP_COPY);
    struct op_site site = {.op = op,
                           .input_count = 1,
                           .output_count = 1,
                           .inputs = &type,
                           .outputs = &type,
                           .attrs = NULL};
    const struct device_kernel *kernel = device_find(program->device, OP_COPY, &site);
    if (!kernel)
        return cr_fail(call, CR_NOT_FOUND, "copy of %s: no kernel on %s", dtype_name(type.dtype),
                       program->device->ops->kind);
    use(from, program->step_count);
    use(to, program->step_count);
    struct run_step *step = new_step(program, kernel, &site);
    step->inputs[0] = own_tensor(program, *view);
    step->outputs[0] = own_tensor(program, over(to, &type));
    step->constant = constant;
    return CR_OK;
}

/* The value without gaps: itself, or a copy that only this use has. */
static enum cr_status gapless(struct cr_call *call, struct run_program *program,
                              const struct tensor *value, struct run_buffer **buffer,
                              struct tensor *ret_tensor)
{
    if (tensor_contiguous(value)) {
        *ret_tensor = *value;
        return CR_OK;
    }
    struct op_type type = {.dtype = value->dtype, .rank = value->rank};
    memcpy(type.dims, value->shape, sizeof type.dims);
    struct run_buffer *copy = new_buffer(program, RUN_ARENA, 0, size_of(&type));
    CR_TRY(add_copy(call, program, *buffer, value, copy, false));
    *buffer = copy;
    *ret_tensor = over(copy, &type);
    return CR_OK;
}

struct schedule {
    struct run_program *program;
    int32_t *last_use;  /* by value: the last node that takes it or a view of it; results: all */
    int32_t *result_of; /* by value: the first result that it is; -1: none */
    bool *constant;     /* by value */
};

/* A view lives in what it is a view of, and keeps it. */
static void measure_lives(struct schedule *schedule)
{
    const struct graph *graph = schedule->program->graph;
    for (int32_t i = 0; i < graph->value_count; i++)
        schedule->result_of[i] = schedule->last_use[i] = -1;
    for (int32_t i = graph->result_count - 1; i >= 0; i--) {
        schedule->result_of[graph->results[i]] = i;
        schedule->last_use[graph->results[i]] = graph->node_count;
    }
    for (int32_t i = graph->node_count - 1; i >= 0; i--) {
        const struct graph_node *node = &graph->nodes[i];
        int32_t until = i;
        if (node->op->row->kind == OP_VIEW && schedule->last_use[node->first_output] > until)
            until = schedule->last_use[node->first_output];
        for (int j = 0; j < node->input_count; j++)
            if (node->inputs[j] != OP_NO_VALUE && schedule->last_use[node->inputs[j]] < until)
                schedule->last_use[node->inputs[j]] = until;
    }
}

/* What depends on no input, and is small. */
static bool is_constant(const struct schedule *schedule, const struct graph_node *node)
{
    const struct graph *graph = schedule->program->graph;
    bool constant = true;
    for (int i = 0; i < node->input_count; i++)
        constant =
            constant && (node->inputs[i] == OP_NO_VALUE || schedule->constant[node->inputs[i]]);
    for (int i = 0; i < node->output_count; i++)
        constant = constant && schedule->result_of[node->first_output + i] < 0 &&
                   size_of(&graph->values[node->first_output + i].type) <= RUN_CONSTANT_MAX;
    return constant;
}

static enum cr_status schedule_view(struct cr_call *call, struct schedule *schedule,
                                    const struct graph_node *node, const struct op_site *site)
{
    struct run_program *program = schedule->program;
    op_value from = node->inputs[0], to = node->first_output;
    struct run_buffer *buffer = program->homes[from];
    struct tensor gapless_tensor;
    schedule->constant[to] = schedule->constant[from];
    program->views++;
    if (!op_view(site, &program->values[from], &program->values[to])) {
        struct op_type type = site->inputs[0];
        struct run_buffer *copy = new_buffer(program, RUN_ARENA, 0, size_of(&type));
        CR_TRY(add_copy(call, program, buffer, &program->values[from], copy,
                        schedule->constant[from]));
        gapless_tensor = over(copy, &type);
        buffer = copy;
        if (!op_view(site, &gapless_tensor, &program->values[to]))
            return cr_fail(call, CR_INTERNAL, "%s of a copy is no view", node->op->row->name);
    }
    program->homes[to] = buffer;
    return CR_OK;
}

/* Output 0 may take input 0's memory: it is nobody's after this, and as large. */
static bool may_share(const struct schedule *schedule, const struct graph_node *node, int32_t at,
                      const struct device_kernel *kernel)
{
    const struct run_program *program = schedule->program;
    op_value input = node->input_count > 0 ? node->inputs[0] : OP_NO_VALUE;
    if (!kernel->in_place || input == OP_NO_VALUE || schedule->last_use[input] != at ||
        schedule->constant[input] || schedule->result_of[node->first_output] >= 0)
        return false;
    for (int i = 1; i < node->input_count; i++)
        if (node->inputs[i] != OP_NO_VALUE &&
            program->homes[node->inputs[i]] == program->homes[input])
            return false;
    const struct run_buffer *buffer = program->homes[input];
    return buffer->home == RUN_ARENA && tensor_contiguous(&program->values[input]) &&
           program->graph->values[input].node >= 0 &&
           program->graph->nodes[program->graph->values[input].node].op->row->kind != OP_VIEW &&
           size_of(&program->graph->values[input].type) == buffer->size &&
           size_of(&program->graph->values[node->first_output].type) == buffer->size;
}

static void home_outputs(struct schedule *schedule, const struct graph_node *node, int32_t at,
                         struct run_step *step)
{
    struct run_program *program = schedule->program;
    const struct graph *graph = program->graph;
    for (int i = 0; i < node->output_count; i++) {
        op_value value = node->first_output + i;
        int32_t result = schedule->result_of[value];
        struct run_buffer *buffer = result >= 0 ? program->outputs[result]
                                    : i == 0 && may_share(schedule, node, at, step->kernel)
                                        ? program->homes[node->inputs[0]]
                                        : NULL;
        if (!buffer) {
            buffer = new_buffer(program, RUN_ARENA, 0, size_of(&graph->values[value].type));
            buffer->first = program->step_count - 1;
        }
        use(buffer, program->step_count - 1);
        program->homes[value] = buffer;
        program->values[value] = over(buffer, &graph->values[value].type);
        step->outputs[i] = &program->values[value];
    }
}

static enum cr_status schedule_kernel(struct cr_call *call, struct schedule *schedule,
                                      const struct graph_node *node, int32_t at,
                                      const struct op_site *site)
{
    struct run_program *program = schedule->program;
    const struct device_kernel *kernel = device_find(program->device, node->op->row->id, site);
    struct tensor *inputs[OP_INPUTS_MAX] = {NULL};
    struct run_buffer *homes[OP_INPUTS_MAX] = {NULL};
    if (!kernel)
        return cr_fail(call, CR_INTERNAL, "%s has lost its kernel", node->op->row->name);
    bool constant = is_constant(schedule, node);
    for (int i = 0; i < node->input_count; i++) {
        if (node->inputs[i] == OP_NO_VALUE)
            continue;
        struct tensor tensor = program->values[node->inputs[i]];
        homes[i] = program->homes[node->inputs[i]];
        if (!kernel->strided) {
            CR_TRY(gapless(call, program, &program->values[node->inputs[i]], &homes[i], &tensor));
            constant = constant && homes[i] == program->homes[node->inputs[i]];
        }
        inputs[i] = own_tensor(program, tensor);
    }
    struct run_step *step = new_step(program, kernel, site);
    for (int i = 0; i < node->input_count; i++) {
        step->inputs[i] = inputs[i];
        if (homes[i])
            use(homes[i], program->step_count - 1);
    }
    step->constant = constant;
    for (int i = 0; i < node->output_count; i++)
        schedule->constant[node->first_output + i] = constant;
    home_outputs(schedule, node, at, step);
    return CR_OK;
}

static enum cr_status schedule_node(struct cr_call *call, struct schedule *schedule, int32_t at)
{
    const struct graph *graph = schedule->program->graph;
    const struct graph_node *node = &graph->nodes[at];
    struct op_type inputs[OP_INPUTS_MAX], outputs[OP_OUTPUTS_MAX];
    for (int i = 0; i < node->input_count; i++)
        inputs[i] = node->inputs[i] == OP_NO_VALUE ? (struct op_type){0}
                                                   : graph->values[node->inputs[i]].type;
    for (int i = 0; i < node->output_count; i++)
        outputs[i] = graph->values[node->first_output + i].type;
    struct op_site site = {.op = node->op,
                           .input_count = node->input_count,
                           .output_count = node->output_count,
                           .inputs = inputs,
                           .outputs = outputs,
                           .attrs = node->attrs};
    if (schedule->program->step_count >= RUN_STEPS_MAX)
        return cr_fail(call, CR_EXHAUSTED, "a program of more than %d steps", RUN_STEPS_MAX);
    return node->op->row->kind == OP_VIEW ? schedule_view(call, schedule, node, &site)
                                          : schedule_kernel(call, schedule, node, at, &site);
}

/* Results that are parameters, views, or the same value twice, are copied out at the end. */
static enum cr_status schedule_results(struct cr_call *call, struct schedule *schedule)
{
    struct run_program *program = schedule->program;
    for (int32_t i = 0; i < program->graph->result_count; i++) {
        op_value value = program->graph->results[i];
        if (program->homes[value] != program->outputs[i])
            CR_TRY(add_copy(call, program, program->homes[value], &program->values[value],
                            program->outputs[i], false));
    }
    return CR_OK;
}

/* What is constant stays for as long as the program. */
static void keep_constants(struct run_program *program)
{
    for (int32_t i = 0; i < program->step_count; i++) {
        if (!program->steps[i].constant)
            continue;
        for (int j = 0; j < program->steps[i].site.output_count; j++) {
            for (int32_t b = 0; b < program->buffer_count; b++) {
                struct run_buffer *buffer = program->buffers[b];
                if (program->steps[i].outputs[j]->storage != &buffer->storage)
                    continue;
                buffer->first = 0;
                buffer->last = program->step_count;
                program->constants += buffer->size;
            }
        }
    }
}

enum cr_status run_schedule(struct cr_call *call, struct run_program *program)
{
    const struct graph *graph = program->graph;
    struct cr_call *memory = &program->memory;
    size_t values = (size_t)graph->value_count + 1;
    struct schedule schedule = {.program = program,
                                .last_use = cr_new(memory, int32_t, values),
                                .result_of = cr_new(memory, int32_t, values),
                                .constant = cr_new(memory, bool, values)};
    program->values = cr_new(memory, struct tensor, values);
    program->homes = cr_new(memory, struct run_buffer *, values);
    program->inputs = cr_new(memory, struct run_buffer *, (size_t)graph->param_count + 1);
    program->outputs = cr_new(memory, struct run_buffer *, (size_t)graph->result_count + 1);
    measure_lives(&schedule);
    for (int32_t i = 0; i < graph->param_count; i++) {
        const struct op_type *type = &graph->values[i].type;
        program->inputs[i] = new_buffer(program, RUN_INPUT, i, size_of(type));
        program->homes[i] = program->inputs[i];
        program->values[i] = over(program->inputs[i], type);
    }
    for (int32_t i = 0; i < graph->result_count; i++)
        program->outputs[i] =
            new_buffer(program, RUN_OUTPUT, i, size_of(&graph->values[graph->results[i]].type));
    for (int32_t i = 0; i < graph->node_count; i++)
        CR_TRY(schedule_node(call, &schedule, i));
    CR_TRY(schedule_results(call, &schedule));
    keep_constants(program);
    return CR_OK;
}
