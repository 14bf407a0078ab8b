/* random_graphs: graphs drawn by a seed, for the tests of kernels/graph and kernels/run. */
#pragma once

#include "tests/unit/engine.h"

struct maker {
    struct graph_builder *builder;
    uint64_t seed, drawn;
};

static inline uint32_t draw(struct maker *maker, uint32_t below)
{
    return random_below(maker->seed, 9, maker->drawn++, below);
}

/* A random value of at least one dimension. */
static inline op_value any(struct maker *maker)
{
    return (op_value)draw(maker, (uint32_t)maker->builder->graph->value_count);
}

static inline void add_random(struct maker *maker)
{
    struct op_builder *to = &maker->builder->ops;
    static const unsigned unary[] = {OP_NEG, OP_EXP, OP_RELU, OP_TANH, OP_ABS, OP_SIGMOID};
    static const unsigned binary[] = {OP_ADD, OP_SUB, OP_MUL, OP_MAXIMUM, OP_MINIMUM};
    op_value x = any(maker), y = any(maker);
    struct op_type a = *to->type_of(to, x), b = *to->type_of(to, y);
    switch (draw(maker, 7)) {
    case 0:
        op_unary(to, unary[draw(maker, 6)], x);
        break;
    case 1:
        if (op_same_type(&a, &b) || b.rank == 0)
            op_binary(to, binary[draw(maker, 5)], x, y);
        break;
    case 2:
        if (a.rank == 2 && b.rank == 2 && a.dims[1] == b.dims[1])
            op_matmul(to, x, op_transpose(to, y));
        break;
    case 3:
        op_reduce(to, OP_REDUCE_SUM, x, draw(maker, 1u << a.rank), draw(maker, 2));
        break;
    case 4:
        op_transpose(to, x);
        break;
    case 5:
        op_add(to, x, op_scalar(to, DTYPE_F32, draw(maker, 5) * 0.25 - 0.5));
        break;
    default:
        if (a.rank < 5)
            op_unsqueeze(to, x, (int)draw(maker, a.rank + 1u));
    }
}

static inline const struct graph *random_graph(struct cr_call *call, uint64_t seed, bool named)
{
    struct maker maker = {.builder = graph_build(call, "random"), .seed = seed};
    int64_t batch = named ? graph_dim(maker.builder, "B", 1, 64) : 5;
    const struct op_type types[] = {{DTYPE_F32, 2, {batch, 3}},
                                    {DTYPE_F32, 2, {4, 3}},
                                    {DTYPE_F32, 1, {3}},
                                    {DTYPE_F32, 0, {0}}};
    op_value results[3];
    const struct graph *graph;
    for (int i = 0; i < 4; i++)
        graph_param(maker.builder, cr_format(call, "p%d.w", i), &types[i]);
    for (uint32_t i = 0, count = 1 + draw(&maker, 24); i < count; i++)
        add_random(&maker);
    for (int i = 0; i < 3; i++)
        results[i] = any(&maker);
    assert_ok(call, graph_finish(maker.builder, results, 3, &graph));
    return graph;
}
