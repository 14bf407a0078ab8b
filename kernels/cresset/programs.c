/* programs: graphs, compiled and run. */
#include "kernels/cresset/cresset_internal.h"

#include "kernels/grad/grad.h"

struct cresset_program {
    struct cresset *engine;
    struct run_program *program;
};

static enum cr_status new_graph(struct cr_call *call, struct cresset_graph **ret_graph)
{
    void *handle;
    CR_TRY(cresset_handle(call, sizeof(struct cresset_graph), &handle));
    struct cresset_graph *graph = handle;
    graph->env = *call->env;
    graph->memory = cr_call_open(&graph->env, INT64_MAX);
    *ret_graph = graph;
    return CR_OK;
}

/* The work was done under the graph's own call: gives the graph out, or says why not. */
static enum cr_status finish(struct cr_call *call, struct cresset_graph *graph,
                             enum cr_status status, struct cresset_graph **ret_graph)
{
    if (status == CR_OK) {
        *ret_graph = graph;
        return CR_OK;
    }
    enum cr_status handed = cresset_hand_on(call, &graph->memory);
    cresset_graph_close(graph);
    return handed;
}

enum cr_status cresset_graph_parse(struct cr_call *call, const char *text, size_t size,
                                   struct cresset_graph **ret_graph)
{
    struct cresset_graph *graph;
    CR_TRY(new_graph(call, &graph));
    return finish(call, graph, graph_parse(&graph->memory, text, size, &graph->graph), ret_graph);
}

enum cr_status cresset_graph_decode(struct cr_call *call, const void *bytes, size_t size,
                                    struct cresset_graph **ret_graph)
{
    struct cresset_graph *graph;
    CR_TRY(new_graph(call, &graph));
    return finish(call, graph, graph_decode(&graph->memory, bytes, size, &graph->graph), ret_graph);
}

const char *cresset_graph_print(struct cr_call *call, const struct cresset_graph *graph)
{
    return graph_print(call, graph->graph);
}

const void *cresset_graph_encode(struct cr_call *call, const struct cresset_graph *graph,
                                 size_t *ret_size)
{
    return graph_encode(call, graph->graph, ret_size);
}

enum cr_status cresset_graph_differentiate(struct cr_call *call, const struct cresset_graph *graph,
                                           int64_t result, const char *const *wrt,
                                           int64_t wrt_count, struct cresset_graph **ret_graph)
{
    struct cresset_graph *made;
    if (wrt_count < 0 || wrt_count > graph->graph->param_count || result < 0 ||
        result >= graph->graph->result_count)
        return cr_fail(call, CR_INVALID, "no such result, or more names than parameters");
    op_value *values = cr_new(call, op_value, (size_t)wrt_count + 1);
    for (int64_t i = 0; i < wrt_count; i++) {
        values[i] = graph_find_param(graph->graph, wrt[i]);
        if (values[i] == OP_NO_VALUE)
            return cr_fail(call, CR_INVALID, "no parameter '%.64s'", wrt[i]);
    }
    CR_TRY(new_graph(call, &made));
    return finish(
        call, made,
        grad_of(&made->memory, graph->graph, (int)result, values, (int)wrt_count, &made->graph),
        ret_graph);
}

void cresset_graph_close(struct cresset_graph *graph)
{
    if (!graph)
        return;
    cr_call_close(&graph->memory);
    free(graph);
}

static enum cr_status bind(struct cr_call *call, const struct graph *graph,
                           const struct cresset_compile_options *options,
                           const struct graph **ret_graph)
{
    int64_t *extents = cr_new(call, int64_t, (size_t)graph->dim_count + 1);
    for (int32_t i = 0; i < graph->dim_count; i++) {
        bool found = false;
        for (int64_t j = 0; options && j < options->extent_count; j++)
            if (strcmp(options->extents[j].name, graph->dims[i].name) == 0) {
                extents[i] = options->extents[j].value;
                found = true;
            }
        if (!found)
            return cr_fail(call, CR_INVALID, "extent %s has no value", graph->dims[i].name);
    }
    return graph_bind(call, graph, extents, ret_graph);
}

enum cr_status cresset_compile(struct cr_call *call, struct cresset *engine,
                               const struct cresset_graph *graph,
                               const struct cresset_compile_options *options,
                               struct cresset_program **ret_program)
{
    const struct graph *bound;
    void *handle;
    if (options)
        CR_TRY(cresset_check_size(call, "cresset_compile_options", options->size, sizeof *options));
    CR_TRY(bind(call, graph->graph, options, &bound));
    CR_TRY(cresset_handle(call, sizeof(struct cresset_program), &handle));
    struct cresset_program *program = handle;
    program->engine = engine;
    if (run_compile(call, engine->device, bound, options ? options->memory_max : 0,
                    &program->program) != CR_OK) {
        free(program);
        return call->status;
    }
    *ret_program = program;
    return CR_OK;
}

int64_t cresset_program_results(const struct cresset_program *program)
{
    return run_graph(program->program)->result_count;
}

static enum cr_status run(struct cr_call *call, struct cresset_program *program,
                          struct cresset_tensor *const *inputs, struct cresset_tensor **outputs)
{
    const struct graph *graph = run_graph(program->program);
    struct tensor *in = cr_new(call, struct tensor, (size_t)graph->param_count + 1);
    struct tensor *out = cr_new(call, struct tensor, (size_t)graph->result_count + 1);
    for (int32_t i = 0; i < graph->param_count; i++)
        in[i] = inputs[i]->tensor;
    for (int32_t i = 0; i < graph->result_count; i++) {
        const struct op_type *type = &graph->values[graph->results[i]].type;
        CR_TRY(cresset_tensor_empty(call, program->engine, dtype_name(type->dtype), type->rank,
                                    type->dims, &outputs[i]));
        out[i] = outputs[i]->tensor;
    }
    return run_once(call, program->program, in, out);
}

enum cr_status cresset_program_run(struct cr_call *call, struct cresset_program *program,
                                   struct cresset_tensor *const *inputs, int64_t input_count,
                                   struct cresset_tensor **ret_outputs)
{
    const struct graph *graph = run_graph(program->program);
    struct cresset_tensor **outputs =
        cr_new(call, struct cresset_tensor *, (size_t)graph->result_count + 1);
    if (input_count != graph->param_count)
        return cr_fail(call, CR_INVALID, "%lld inputs, the program takes %d",
                       (long long)input_count, graph->param_count);
    enum cr_status status = run(call, program, inputs, outputs);
    for (int32_t i = 0; i < graph->result_count; i++)
        if (status == CR_OK)
            ret_outputs[i] = outputs[i];
        else
            cresset_tensor_close(outputs[i]);
    return status;
}

struct cresset_plan cresset_program_plan(const struct cresset_program *program)
{
    struct run_plan plan = run_plan(program->program);
    return (struct cresset_plan){plan.memory, plan.constants, plan.steps, plan.views};
}

void cresset_program_close(struct cresset_program *program)
{
    if (!program)
        return;
    run_close(program->program);
    free(program);
}
