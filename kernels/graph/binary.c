/*
 * binary: graphs as bytes.
 *
 *     "CRGRAPH1", strings, types, graph
 *     strings   count { size bytes }          in the order of their first use, each once
 *     types     count { dtype rank { extent } }   likewise
 *     graph     name; dims { name min max multiple }; params { name type };
 *               nodes { id inputs { value + 1 } attrs outputs { type } }; results { value }
 *     attr      integer: zigzag; float: 8 bytes of bits; list: count { extent }; else a number
 *     extent    2 * zigzag(count), or 2 * name + 1
 *
 * Numbers are LEB128 varints in their shortest form. There is one encoding of a graph: what is
 * decoded is encoded again and compared, so that no rule can be forgotten.
 */
#include "kernels/graph/graph_internal.h"

#include "base/core/text.h"

#define MAGIC "CRGRAPH1"

static void put_number(struct cr_text *to, uint64_t value)
{
    do {
        unsigned char byte = (unsigned char)((value & 127) | (value > 127 ? 128 : 0));
        cr_text_add_bytes(to, &byte, 1);
        value >>= 7;
    } while (value > 0);
}

static uint64_t zigzag(int64_t value)
{
    return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

static void put_extent(struct cr_text *to, int64_t extent)
{
    put_number(to,
               op_is_named(extent) ? (uint64_t)(extent - OP_NAMED) << 1 | 1 : zigzag(extent) << 1);
}

/* Tables of what was used, by linear probing over the hash of the bytes. */
struct table {
    struct cr_call *call;
    struct cr_text items; /* as encoded, one behind the other */
    uint32_t *slots;      /* index + 1 */
    struct {
        size_t at, size;
    } * entries;
    uint32_t count, room;
};

static uint32_t hash_of(const void *bytes, size_t size)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * 16777619u;
    return hash;
}

static uint32_t *slot_of(struct table *table, const void *bytes, size_t size)
{
    uint32_t mask = table->room * 2 - 1;
    for (uint32_t at = hash_of(bytes, size) & mask;; at = (at + 1) & mask) {
        uint32_t entry = table->slots[at];
        if (entry == 0 ||
            (table->entries[entry - 1].size == size &&
             memcmp(table->items.data + table->entries[entry - 1].at, bytes, size) == 0))
            return &table->slots[at];
    }
}

static uint64_t index_of(struct table *table, const void *bytes, size_t size)
{
    if (table->count == table->room) {
        const void *old = table->entries;
        table->room = table->room == 0 ? 64 : table->room * 2;
        table->slots = cr_new(table->call, uint32_t, (size_t)table->room * 2);
        table->entries = cr_alloc(table->call, table->room, sizeof *table->entries);
        if (table->count > 0)
            memcpy(table->entries, old, sizeof *table->entries * table->count);
        for (uint32_t i = 0; i < table->count; i++)
            *slot_of(table, table->items.data + table->entries[i].at, table->entries[i].size) =
                i + 1;
    }
    uint32_t *slot = slot_of(table, bytes, size);
    if (*slot == 0) {
        table->entries[table->count].at = table->items.length;
        table->entries[table->count].size = size;
        cr_text_add_bytes(&table->items, bytes, size);
        *slot = ++table->count;
    }
    return *slot - 1;
}

struct encoder {
    struct cr_call *call;
    struct table strings, types;
    struct cr_text body;
};

static void put_string(struct encoder *to, const char *text)
{
    struct cr_text item = cr_text_open(to->call);
    put_number(&item, strlen(text));
    cr_text_add(&item, text);
    put_number(&to->body, index_of(&to->strings, item.data, item.length));
}

static void put_type(struct encoder *to, const struct op_type *type)
{
    struct cr_text item = cr_text_open(to->call);
    put_number(&item, type->dtype);
    put_number(&item, type->rank);
    for (int i = 0; i < type->rank; i++)
        put_extent(&item, type->dims[i]);
    put_number(&to->body, index_of(&to->types, item.data, item.length));
}

static void put_attr(struct encoder *to, const struct op_datum *attr)
{
    if (attr->kind == OP_DATUM_FLOAT) {
        cr_text_add_bytes(&to->body, &attr->number, sizeof attr->number);
    } else if (attr->kind == OP_DATUM_INTS) {
        put_number(&to->body, (uint64_t)attr->count);
        for (int i = 0; i < attr->count; i++)
            put_extent(&to->body, attr->list[i]);
    } else {
        put_number(&to->body, zigzag(attr->integer));
    }
}

static void put_node(struct encoder *to, const struct graph *graph, const struct graph_node *node)
{
    put_number(&to->body, node->op->row->id);
    put_number(&to->body, (uint64_t)node->input_count);
    for (int i = 0; i < node->input_count; i++)
        put_number(&to->body, (uint64_t)(node->inputs[i] + 1));
    for (int i = 0; i < node->op->signature.attr_count; i++)
        put_attr(to, &node->attrs[i]);
    for (int i = 0; i < node->output_count; i++)
        put_type(to, &graph->values[node->first_output + i].type);
}

static void put_graph(struct encoder *to, const struct graph *graph)
{
    put_string(to, graph->name);
    put_number(&to->body, (uint64_t)graph->dim_count);
    for (int32_t i = 0; i < graph->dim_count; i++) {
        put_string(to, graph->dims[i].name);
        put_number(&to->body, (uint64_t)graph->dims[i].min);
        put_number(&to->body, (uint64_t)graph->dims[i].max);
        put_number(&to->body, (uint64_t)graph->dims[i].multiple);
    }
    put_number(&to->body, (uint64_t)graph->param_count);
    for (int32_t i = 0; i < graph->param_count; i++) {
        put_string(to, graph->values[i].name);
        put_type(to, &graph->values[i].type);
    }
    put_number(&to->body, (uint64_t)graph->node_count);
    for (int32_t i = 0; i < graph->node_count; i++)
        put_node(to, graph, &graph->nodes[i]);
    put_number(&to->body, (uint64_t)graph->result_count);
    for (int32_t i = 0; i < graph->result_count; i++)
        put_number(&to->body, (uint64_t)graph->results[i]);
}

const unsigned char *graph_encode(struct cr_call *call, const struct graph *graph, size_t *ret_size)
{
    struct encoder to = {.call = call,
                         .strings = {.call = call, .items = cr_text_open(call)},
                         .types = {.call = call, .items = cr_text_open(call)},
                         .body = cr_text_open(call)};
    put_graph(&to, graph);
    struct cr_text whole = cr_text_open(call);
    cr_text_add(&whole, MAGIC);
    put_number(&whole, to.strings.count);
    cr_text_add_bytes(&whole, to.strings.items.data, to.strings.items.length);
    put_number(&whole, to.types.count);
    cr_text_add_bytes(&whole, to.types.items.data, to.types.items.length);
    cr_text_add_bytes(&whole, to.body.data, to.body.length);
    *ret_size = whole.length;
    return (const unsigned char *)whole.data;
}
