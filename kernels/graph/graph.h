/*
 * graph: programs, in one intermediate representation.
 *
 * A graph is a list of operations in SSA: each value is defined once, before its use, and has a
 * type that follows from what it is made of. It is pure: equal inputs give equal outputs. The text,
 * and the binary, are those of the format "cresset-ir 1" (binary: CRGRAPH1):
 *
 *     cresset-ir 1
 *     graph mlp(%x: f32[B, 784], %w: f32[784, 10]) -> (f32[B, 10]) dim B in 1..4096 {
 *       %2 = matmul@17(%x, %w) : f32[B, 10]
 *       return %2
 *     }
 *
 * Parameters keep their names; other values are numbered in order. So print and encode are
 * canonical: parse(print(g)) = g, and encode(decode(b)) = b for every b that is accepted.
 *
 * Memory    a graph lies in the memory of the call it was made under, and is not changed after that
 * Limits    GRAPH_*; beyond them CR_EXHAUSTED
 * Threads   a graph may be read by any number of threads
 */
#pragma once

#include "kernels/op/op.h"

#define GRAPH_SIZE_MAX   (64 << 20) /* bytes of a text or binary */
#define GRAPH_NODES_MAX  1048576
#define GRAPH_PARAMS_MAX 65536
#define GRAPH_DIMS_MAX   OP_NAMES_MAX
#define GRAPH_NAME_MAX   255 /* bytes */
#define GRAPH_ID_SIZE    32

struct graph_dim {
    const char *name;
    int64_t min, max, multiple;
};

struct graph_value {
    struct op_type type;
    const char *name;     /* of a parameter; NULL otherwise */
    int32_t node, output; /* node -1: a parameter */
};

struct graph_node {
    const struct op *op;
    op_value *inputs; /* OP_NO_VALUE: left out */
    struct op_datum *attrs;
    op_value first_output; /* outputs follow one another */
    int16_t input_count, output_count;
};

struct graph {
    const char *name;
    struct graph_dim *dims;
    struct graph_value *values; /* parameters first */
    struct graph_node *nodes;
    op_value *results;
    int32_t dim_count, param_count, value_count, node_count, result_count;
};

/* Building. The builder is of the call's memory, and op_builder's functions work on &builder->ops.
 */
struct graph_builder {
    struct op_builder ops;
    struct graph *graph;
    int32_t value_room, node_room, dim_room;
    int32_t *same; /* hash table of nodes, for common subexpressions */
    int32_t same_room;
    bool plain; /* keeps dead and equal operations, as they came from elsewhere */
};
struct graph_builder *graph_build(struct cr_call *call, const char *name);

/* A named extent, to stand in types. */
int64_t graph_dim(struct graph_builder *builder, const char *name, int64_t min, int64_t max);

/* A parameter. All of them come before the first operation. */
op_value graph_param(struct graph_builder *builder, const char *name, const struct op_type *type);

/*
 * Ends building: results in order; what no result needs is dropped. Fails with whatever building
 * has met on the way.
 */
enum cr_status graph_finish(struct graph_builder *builder, const op_value *results,
                            int result_count, const struct graph **ret_graph) CR_CHECK;

/* Adds all operations of a graph to a builder, its parameters being the values given. */
void graph_inline(struct graph_builder *builder, const struct graph *graph, const op_value *params,
                  op_value *ret_results);

/*
 * The graph with every named extent replaced by a count, types inferred anew.
 *
 * fails with   CR_INVALID    a count is outside of its dim's bounds
 */
enum cr_status graph_bind(struct cr_call *call, const struct graph *graph, const int64_t *extents,
                          const struct graph **ret_graph) CR_CHECK;

/*
 * Checks a graph that came from elsewhere: ids known, types re-inferred and equal, defined before
 * use. graph_parse and graph_decode have done so.
 */
enum cr_status graph_verify(struct cr_call *call, const struct graph *graph) CR_CHECK;

/*
 * fails with   CR_INVALID      malformed, with line (text) or byte (binary)
 *              CR_NOT_FOUND    an operation that we do not have
 *              CR_EXHAUSTED    beyond a limit
 */
enum cr_status graph_parse(struct cr_call *call, const char *text, size_t size,
                           const struct graph **ret_graph) CR_CHECK;
enum cr_status graph_decode(struct cr_call *call, const void *bytes, size_t size,
                            const struct graph **ret_graph) CR_CHECK;

/* The canonical text, and binary, of the call's memory. */
const char *graph_print(struct cr_call *call, const struct graph *graph);
const unsigned char *graph_encode(struct cr_call *call, const struct graph *graph,
                                  size_t *ret_size);

bool graph_equal(const struct graph *a, const struct graph *b);

/* The value of a parameter's name; OP_NO_VALUE: there is none. */
op_value graph_find_param(const struct graph *graph, const char *name);
