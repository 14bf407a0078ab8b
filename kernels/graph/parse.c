/* parse: graphs out of text. What is read is added to a builder, which infers every type anew. */
#include "kernels/graph/graph_internal.h"

#include <ctype.h>

/* A name of a value, in a table by hash. */
struct named {
    const char *name;
    size_t length;
    op_value value;
};

struct reader {
    struct op_text in;
    struct graph_builder *builder;
    struct named *names;
    int32_t name_room, name_count;
    bool params; /* extents may still be new */
};

static enum cr_status wrong(struct reader *reader, const char *what)
{
    return op_text_wrong(&reader->in, what);
}

static int64_t extent_of(void *context, const char *name, size_t length)
{
    struct reader *reader = context;
    struct graph *graph = reader->builder->graph;
    for (int32_t i = 0; i < graph->dim_count; i++)
        if (strlen(graph->dims[i].name) == length && memcmp(graph->dims[i].name, name, length) == 0)
            return OP_NAMED + i;
    if (!reader->params || graph->dim_count == GRAPH_DIMS_MAX || length > GRAPH_NAME_MAX)
        return -1;
    return graph_dim(reader->builder, cr_copy(reader->in.call, name, length), 0, TENSOR_DIM_MAX);
}

static struct named *place_of(struct reader *reader, const char *name, size_t length)
{
    uint32_t hash = 2166136261u, mask = (uint32_t)reader->name_room - 1;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)name[i]) * 16777619u;
    for (uint32_t at = hash & mask;; at = (at + 1) & mask) {
        struct named *named = &reader->names[at];
        if (!named->name || (named->length == length && memcmp(named->name, name, length) == 0))
            return named;
    }
}

static enum cr_status define(struct reader *reader, const char *name, size_t length, op_value value)
{
    if (reader->name_count * 2 >= reader->name_room) {
        struct named *old = reader->names;
        int32_t old_room = reader->name_room;
        reader->name_room = old_room == 0 ? 256 : old_room * 2;
        reader->names = cr_new(reader->in.call, struct named, (size_t)reader->name_room);
        for (int32_t i = 0; i < old_room; i++)
            if (old[i].name)
                *place_of(reader, old[i].name, old[i].length) = old[i];
    }
    struct named *named = place_of(reader, name, length);
    if (named->name)
        return wrong(reader, "a value is defined twice");
    *named = (struct named){name, length, value};
    reader->name_count++;
    return CR_OK;
}

/* "%name" or "%12", without the sign. */
static size_t take_value(struct reader *reader, const char **ret_name)
{
    struct op_text *in = &reader->in;
    if (!op_text_take(in, "%"))
        return 0;
    size_t length = 0;
    while (isalnum((unsigned char)in->at[length]) || in->at[length] == '_' || in->at[length] == '.')
        length++;
    *ret_name = in->at;
    in->at += length;
    return length > GRAPH_NAME_MAX ? 0 : length;
}

static enum cr_status read_use(struct reader *reader, op_value *ret_value)
{
    const char *name;
    if (op_text_take(&reader->in, "_")) {
        *ret_value = OP_NO_VALUE;
        return CR_OK;
    }
    size_t length = take_value(reader, &name);
    struct named *named =
        length > 0 && reader->name_room > 0 ? place_of(reader, name, length) : NULL;
    if (!named || !named->name)
        return wrong(reader, "an unknown value");
    *ret_value = named->value;
    return CR_OK;
}

static enum cr_status expect(struct reader *reader, const char *sign)
{
    return op_text_take(&reader->in, sign)
               ? CR_OK
               : wrong(reader, cr_format(reader->in.call, "'%s' is missing", sign));
}

static enum cr_status read_params(struct reader *reader)
{
    CR_TRY(expect(reader, "("));
    for (bool first = true; !op_text_take(&reader->in, ")"); first = false) {
        struct op_type type;
        const char *name;
        if (!first)
            CR_TRY(expect(reader, ","));
        size_t length = take_value(reader, &name);
        if (length == 0 || isdigit((unsigned char)*name))
            return wrong(reader, "the name of a parameter is missing");
        CR_TRY(expect(reader, ":"));
        CR_TRY(op_text_type(&reader->in, &type));
        if (reader->builder->graph->param_count == GRAPH_PARAMS_MAX)
            return cr_fail(reader->in.call, CR_EXHAUSTED, "more than %d parameters",
                           GRAPH_PARAMS_MAX);
        CR_TRY(define(reader, name, length,
                      graph_param(reader->builder, cr_copy(reader->in.call, name, length), &type)));
    }
    reader->params = false;
    return CR_OK;
}

static enum cr_status read_dims(struct reader *reader)
{
    while (op_text_take(&reader->in, "dim ")) {
        const char *name;
        size_t length = op_text_word(&reader->in, &name);
        int64_t extent = length > 0 ? extent_of(reader, name, length) : -1;
        if (!op_is_named(extent))
            return wrong(reader, "an unknown extent");
        struct graph_dim *dim = &reader->builder->graph->dims[extent - OP_NAMED];
        if (op_text_take(&reader->in, "in ")) {
            CR_TRY(op_text_integer(&reader->in, &dim->min));
            CR_TRY(expect(reader, ".."));
            CR_TRY(op_text_integer(&reader->in, &dim->max));
        }
        if (op_text_take(&reader->in, "multiple "))
            CR_TRY(op_text_integer(&reader->in, &dim->multiple));
    }
    return CR_OK;
}

/* "name@id": both, and they agree. */
static enum cr_status read_op(struct reader *reader, const struct op **ret_op)
{
    const char *name;
    int64_t id;
    size_t length = op_text_word(&reader->in, &name);
    if (length == 0)
        return wrong(reader, "an operation is missing");
    CR_TRY(expect(reader, "@"));
    CR_TRY(op_text_integer(&reader->in, &id));
    const struct op *op = id > 0 && id < UINT16_MAX ? op_find((unsigned)id) : NULL;
    if (!op)
        return cr_fail(reader->in.call, CR_NOT_FOUND, "no operation %.*s@%lld",
                       length > 64 ? 64 : (int)length, name, (long long)id);
    if (strlen(op->row->name) != length || memcmp(op->row->name, name, length) != 0)
        return wrong(reader, "the operation of that number has another name");
    *ret_op = op;
    return CR_OK;
}

struct statement {
    const char *names[OP_OUTPUTS_MAX];
    size_t lengths[OP_OUTPUTS_MAX];
    int output_count, input_count;
    const struct op *op;
    op_value inputs[OP_INPUTS_MAX];
    struct op_datum attrs[OP_ATTRS_MAX];
};

static enum cr_status read_outputs(struct reader *reader, struct statement *statement)
{
    do {
        int at = statement->output_count;
        if (at == OP_OUTPUTS_MAX)
            return wrong(reader, "too many values");
        statement->lengths[at] = take_value(reader, &statement->names[at]);
        if (statement->lengths[at] == 0)
            return wrong(reader, "a value is missing");
        statement->output_count++;
    } while (op_text_take(&reader->in, ","));
    return expect(reader, "=");
}

static enum cr_status read_inputs(struct reader *reader, struct statement *statement)
{
    CR_TRY(expect(reader, "("));
    while (!op_text_take(&reader->in, ")")) {
        if (statement->input_count > 0)
            CR_TRY(expect(reader, ","));
        if (statement->input_count == OP_INPUTS_MAX)
            return wrong(reader, "too many inputs");
        CR_TRY(read_use(reader, &statement->inputs[statement->input_count++]));
    }
    return CR_OK;
}

/* The types that are written are those that were inferred. */
static enum cr_status compare_types(struct reader *reader, const struct statement *statement,
                                    const op_value *outputs)
{
    for (int i = 0; i < statement->output_count; i++) {
        struct op_type type;
        CR_TRY(expect(reader, i == 0 ? ":" : ","));
        CR_TRY(op_text_type(&reader->in, &type));
        if (!op_same_type(&type, &reader->builder->graph->values[outputs[i]].type))
            return wrong(reader, "the type is not the one that the operation gives");
        CR_TRY(define(reader, statement->names[i], statement->lengths[i], outputs[i]));
    }
    return CR_OK;
}

static enum cr_status read_statement(struct reader *reader)
{
    struct statement statement = {0};
    struct op_type types[OP_INPUTS_MAX] = {{0}};
    op_value outputs[OP_OUTPUTS_MAX];
    CR_TRY(read_outputs(reader, &statement));
    CR_TRY(read_op(reader, &statement.op));
    CR_TRY(read_inputs(reader, &statement));
    bool braced = op_text_take(&reader->in, "{");
    if (braced || statement.op->signature.attr_count > 0) {
        struct op_text none = reader->in;
        none.start = none.at = "";
        CR_TRY(op_text_attrs(braced ? &reader->in : &none, statement.op, statement.attrs));
    }
    if (braced)
        CR_TRY(expect(reader, "}"));
    if (statement.output_count != statement.op->signature.output_count)
        return wrong(reader, "the operation gives another number of values");
    for (int i = 0; i < statement.input_count; i++)
        if (statement.inputs[i] != OP_NO_VALUE)
            types[i] = reader->builder->graph->values[statement.inputs[i]].type;
    struct op_site site = {.op = statement.op,
                           .input_count = statement.input_count,
                           .output_count = statement.output_count,
                           .inputs = types,
                           .attrs = statement.attrs,
                           .values = statement.inputs};
    reader->builder->ops.add(&reader->builder->ops, &site, outputs);
    CR_TRY(reader->in.call->status);
    return compare_types(reader, &statement, outputs);
}

struct results {
    struct op_type *types;
    op_value *values;
    int count, room;
};

static struct op_type *next_result(struct cr_call *call, struct results *results)
{
    if (results->count == results->room) {
        struct op_type *old = results->types;
        results->room = results->room == 0 ? 64 : results->room * 2;
        results->types = cr_new(call, struct op_type, (size_t)results->room);
        if (results->count > 0)
            memcpy(results->types, old, sizeof *old * (size_t)results->count);
    }
    return &results->types[results->count++];
}

static enum cr_status read_result_types(struct reader *reader, struct results *results)
{
    CR_TRY(expect(reader, "->"));
    CR_TRY(expect(reader, "("));
    while (!op_text_take(&reader->in, ")")) {
        if (results->count > 0)
            CR_TRY(expect(reader, ","));
        CR_TRY(op_text_type(&reader->in, next_result(reader->in.call, results)));
    }
    results->values = cr_new(reader->in.call, op_value, (size_t)results->count + 1);
    return CR_OK;
}

static enum cr_status read_return(struct reader *reader, struct results *results)
{
    for (int i = 0; i < results->count; i++) {
        if (i > 0)
            CR_TRY(expect(reader, ","));
        CR_TRY(read_use(reader, &results->values[i]));
        if (results->values[i] == OP_NO_VALUE ||
            !op_same_type(&results->types[i],
                          &reader->builder->graph->values[results->values[i]].type))
            return wrong(reader, "a result is not of the type that the graph gives");
    }
    CR_TRY(expect(reader, "}"));
    op_text_take(&reader->in, "");
    return *reader->in.at == '\0' ? CR_OK : wrong(reader, "something is left over");
}

enum cr_status graph_parse(struct cr_call *call, const char *text, size_t size,
                           const struct graph **ret_graph)
{
    if (size > GRAPH_SIZE_MAX)
        return cr_fail(call, CR_EXHAUSTED, "a graph of more than %d bytes", GRAPH_SIZE_MAX);
    if (memchr(text, '\0', size) != NULL)
        return cr_fail(call, CR_INVALID, "a graph with a NUL in it");
    const char *copy = cr_copy(call, text, size), *name;
    struct reader reader = {.in = {.call = call, .start = copy, .at = copy}, .params = true};
    struct results results = {0};
    reader.in.extent_of = extent_of;
    reader.in.context = &reader;
    CR_TRY(expect(&reader, "cresset-ir"));
    CR_TRY(expect(&reader, "1"));
    CR_TRY(expect(&reader, "graph"));
    size_t length = op_text_word(&reader.in, &name);
    if (length == 0 || length > GRAPH_NAME_MAX)
        return wrong(&reader, "the name of the graph is missing");
    reader.builder = graph_build_plain(call, cr_copy(call, name, length));
    CR_TRY(read_params(&reader));
    CR_TRY(read_result_types(&reader, &results));
    CR_TRY(read_dims(&reader));
    CR_TRY(expect(&reader, "{"));
    while (!op_text_take(&reader.in, "return"))
        CR_TRY(read_statement(&reader));
    CR_TRY(read_return(&reader, &results));
    return graph_finish(reader.builder, results.values, results.count, ret_graph);
}
