/* binary_read: bytes as graphs; the form is told in binary.c. */
#include "kernels/graph/graph_internal.h"

#include "base/core/text.h"

#define MAGIC "CRGRAPH1"

struct decoder {
    struct cr_call *call;
    const unsigned char *start, *at, *end;
    const char **strings;
    struct op_type *types;
    uint64_t string_count, type_count;
    struct graph_builder *builder;
};

static enum cr_status wrong(struct decoder *in, const char *what)
{
    return cr_fail(in->call, CR_INVALID, "byte %zu: %s", (size_t)(in->at - in->start), what);
}

static enum cr_status get_number(struct decoder *in, uint64_t max, uint64_t *ret_value)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        if (in->at == in->end || shift > 63)
            return wrong(in, "a number is cut off");
        unsigned char byte = *in->at++;
        value |= (uint64_t)(byte & 127) << shift;
        if (!(byte & 128))
            break;
    }
    if (value > max)
        return wrong(in, "a number is too large");
    *ret_value = value;
    return CR_OK;
}

/* How many things follow, each of one byte at least: so memory is bounded by the input. */
static enum cr_status get_count(struct decoder *in, uint64_t max, uint64_t *ret_count)
{
    CR_TRY(get_number(in, max, ret_count));
    return *ret_count <= (uint64_t)(in->end - in->at) ? CR_OK : wrong(in, "the count is too large");
}

static enum cr_status get_signed(struct decoder *in, int64_t *ret_value)
{
    uint64_t value = 0;
    CR_TRY(get_number(in, UINT64_MAX, &value));
    *ret_value = (int64_t)(value >> 1 ^ -(value & 1));
    return CR_OK;
}

static enum cr_status get_extent(struct decoder *in, int64_t *ret_extent)
{
    uint64_t value = 0;
    CR_TRY(get_number(in, UINT64_MAX, &value));
    if (value & 1) {
        if (value >> 1 >= OP_NAMES_MAX)
            return wrong(in, "an unknown extent");
        *ret_extent = OP_NAMED + (int64_t)(value >> 1);
        return CR_OK;
    }
    value >>= 1;
    *ret_extent = (int64_t)(value >> 1 ^ -(value & 1));
    return CR_OK;
}

static enum cr_status get_strings(struct decoder *in)
{
    CR_TRY(get_count(in, GRAPH_PARAMS_MAX + GRAPH_DIMS_MAX + 1, &in->string_count));
    in->strings = cr_new(in->call, const char *, in->string_count + 1);
    for (uint64_t i = 0; i < in->string_count; i++) {
        uint64_t size = 0;
        CR_TRY(get_count(in, GRAPH_NAME_MAX, &size));
        struct op_text text = {.call = in->call};
        const char *word = NULL;
        in->strings[i] = text.start = text.at = cr_copy(in->call, in->at, size);
        if (size == 0 || op_text_word(&text, &word) != size || word != text.start)
            return wrong(in, "a string is no name");
        in->at += size;
    }
    return CR_OK;
}

static enum cr_status get_types(struct decoder *in)
{
    CR_TRY(get_count(in, GRAPH_NODES_MAX * OP_OUTPUTS_MAX, &in->type_count));
    in->types = cr_new(in->call, struct op_type, in->type_count + 1);
    for (uint64_t i = 0; i < in->type_count; i++) {
        struct op_type *type = &in->types[i];
        uint64_t dtype = 0, rank = 0;
        CR_TRY(get_number(in, DTYPE_COUNT, &dtype));
        CR_TRY(get_number(in, TENSOR_RANK_MAX, &rank));
        type->dtype = (uint8_t)dtype;
        type->rank = (uint8_t)rank;
        for (int j = 0; j < type->rank; j++) {
            CR_TRY(get_extent(in, &type->dims[j]));
            if (type->dims[j] < 0 && !op_is_named(type->dims[j]))
                return wrong(in, "a negative extent");
        }
        if (!dtype_known(type->dtype))
            return wrong(in, "an unknown type");
    }
    return CR_OK;
}

static enum cr_status get_string(struct decoder *in, const char **ret_string)
{
    uint64_t index = 0;
    CR_TRY(get_number(in, UINT64_MAX, &index));
    if (index >= in->string_count)
        return wrong(in, "no such string");
    *ret_string = in->strings[index];
    return CR_OK;
}

/* A type whose names are declared. */
static enum cr_status get_type(struct decoder *in, const struct op_type **ret_type)
{
    uint64_t index = 0;
    CR_TRY(get_number(in, UINT64_MAX, &index));
    if (index >= in->type_count)
        return wrong(in, "no such type");
    const struct op_type *type = &in->types[index];
    for (int i = 0; i < type->rank; i++)
        if (op_is_named(type->dims[i]) && type->dims[i] - OP_NAMED >= in->builder->graph->dim_count)
            return wrong(in, "an unknown extent");
    *ret_type = type;
    return CR_OK;
}

static enum cr_status get_dims(struct decoder *in)
{
    uint64_t count = 0, min = 0, max = 0, multiple = 0;
    const char *name = NULL;
    CR_TRY(get_count(in, GRAPH_DIMS_MAX, &count));
    for (uint64_t i = 0; i < count; i++) {
        CR_TRY(get_string(in, &name));
        CR_TRY(get_number(in, TENSOR_DIM_MAX, &min));
        CR_TRY(get_number(in, TENSOR_DIM_MAX, &max));
        CR_TRY(get_number(in, TENSOR_DIM_MAX, &multiple));
        int64_t extent = graph_dim(in->builder, name, (int64_t)min, (int64_t)max);
        if (extent != OP_NAMED + (int64_t)i)
            return wrong(in, "an extent twice");
        in->builder->graph->dims[i].multiple = (int64_t)multiple;
    }
    return CR_OK;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static enum cr_status get_params(struct decoder *in)
{
    uint64_t count = 0;
    CR_TRY(get_count(in, GRAPH_PARAMS_MAX, &count));
    const char **names = cr_new(in->call, const char *, count + 1);
    for (uint64_t i = 0; i < count; i++) {
        const struct op_type *type;
        CR_TRY(get_string(in, &names[i]));
        CR_TRY(get_type(in, &type));
        graph_param(in->builder, names[i], type);
    }
    qsort(names, count, sizeof *names, by_name);
    for (uint64_t i = 1; i < count; i++)
        if (strcmp(names[i - 1], names[i]) == 0)
            return wrong(in, "a parameter twice");
    return CR_OK;
}

static enum cr_status get_attr(struct decoder *in, enum op_datum_kind kind,
                               struct op_datum *ret_attr)
{
    struct op_datum attr = {.kind = kind};
    uint64_t count = 0;
    if (kind == OP_DATUM_FLOAT) {
        if (in->end - in->at < (ptrdiff_t)sizeof attr.number)
            return wrong(in, "a float is cut off");
        memcpy(&attr.number, in->at, sizeof attr.number);
        in->at += sizeof attr.number;
    } else if (kind == OP_DATUM_INTS) {
        CR_TRY(get_count(in, OP_LIST_MAX, &count));
        int64_t *list = cr_new(in->call, int64_t, count + 1);
        for (uint64_t i = 0; i < count; i++) {
            CR_TRY(get_extent(in, &list[i]));
            if (op_is_named(list[i]) && list[i] - OP_NAMED >= in->builder->graph->dim_count)
                return wrong(in, "an unknown extent");
        }
        attr.count = (int32_t)count;
        attr.list = list;
    } else {
        CR_TRY(get_signed(in, &attr.integer));
        if (kind == OP_DATUM_BOOL && attr.integer != 0 && attr.integer != 1)
            return wrong(in, "no truth value");
    }
    *ret_attr = attr;
    return CR_OK;
}

static enum cr_status get_node(struct decoder *in)
{
    uint64_t id = 0, count = 0;
    op_value inputs[OP_INPUTS_MAX], outputs[OP_OUTPUTS_MAX];
    struct op_type types[OP_INPUTS_MAX];
    struct op_datum attrs[OP_ATTRS_MAX];
    const struct graph *graph = in->builder->graph;
    CR_TRY(get_number(in, UINT16_MAX, &id));
    const struct op *op = op_find((unsigned)id);
    if (!op)
        return cr_fail(in->call, CR_NOT_FOUND, "no operation %u", (unsigned)id);
    CR_TRY(get_number(in, OP_INPUTS_MAX, &count));
    for (uint64_t i = 0; i < count; i++) {
        uint64_t value = 0;
        CR_TRY(get_number(in, (uint64_t)graph->value_count, &value));
        inputs[i] = (op_value)value - 1;
        types[i] = inputs[i] == OP_NO_VALUE ? (struct op_type){0} : graph->values[inputs[i]].type;
    }
    for (int i = 0; i < op->signature.attr_count; i++)
        CR_TRY(get_attr(in, op->signature.attrs[i].kind, &attrs[i]));
    struct op_site site = {.op = op,
                           .input_count = (int)count,
                           .output_count = op->signature.output_count,
                           .inputs = types,
                           .attrs = attrs,
                           .values = inputs};
    in->builder->ops.add(&in->builder->ops, &site, outputs);
    CR_TRY(in->call->status);
    for (int i = 0; i < op->signature.output_count; i++) {
        const struct op_type *type;
        CR_TRY(get_type(in, &type));
        if (!op_same_type(type, &graph->values[outputs[i]].type))
            return wrong(in, "the type is not the one that the operation gives");
    }
    return CR_OK;
}

static enum cr_status get_results(struct decoder *in, const struct graph **ret_graph)
{
    uint64_t count = 0, value = 0;
    CR_TRY(get_count(in, GRAPH_NODES_MAX, &count));
    op_value *results = cr_new(in->call, op_value, count + 1);
    for (uint64_t i = 0; i < count; i++) {
        CR_TRY(get_number(in, (uint64_t)GRAPH_NODES_MAX * OP_OUTPUTS_MAX, &value));
        results[i] = (op_value)value;
    }
    if (in->at != in->end)
        return wrong(in, "something is left over");
    return graph_finish(in->builder, results, (int)count, ret_graph);
}

enum cr_status graph_decode(struct cr_call *call, const void *bytes, size_t size,
                            const struct graph **ret_graph)
{
    struct decoder in = {.call = call, .start = bytes, .at = bytes};
    const char *name;
    const struct graph *graph;
    uint64_t count = 0;
    if (size > GRAPH_SIZE_MAX)
        return cr_fail(call, CR_EXHAUSTED, "a graph of more than %d bytes", GRAPH_SIZE_MAX);
    in.end = in.start + size;
    if (size < strlen(MAGIC) || memcmp(bytes, MAGIC, strlen(MAGIC)) != 0)
        return wrong(&in, "does not begin with " MAGIC);
    in.at += strlen(MAGIC);
    CR_TRY(get_strings(&in));
    CR_TRY(get_types(&in));
    in.builder = graph_build_plain(call, "");
    CR_TRY(get_string(&in, &name));
    in.builder->graph->name = name;
    CR_TRY(get_dims(&in));
    CR_TRY(get_params(&in));
    CR_TRY(get_count(&in, GRAPH_NODES_MAX, &count));
    for (uint64_t i = 0; i < count; i++)
        CR_TRY(get_node(&in));
    CR_TRY(get_results(&in, &graph));

    size_t again_size;
    const unsigned char *again = graph_encode(call, graph, &again_size);
    if (again_size != size || memcmp(again, bytes, size) != 0)
        return cr_fail(call, CR_INVALID, "not the canonical bytes of its graph");
    *ret_graph = graph;
    return CR_OK;
}
