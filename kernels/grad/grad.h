/*
 * grad: gradients of graphs, by reverse mode.
 *
 * The gradient of a value is built of operations like any other part of a graph, by the rule of
 * each row (vjp), or by the row that kernels/expr has derived from its formula. So it is printed,
 * bound, compiled, and differentiated again where the rows allow it.
 *
 * Memory    the builder's
 * Threads   as graph_builder
 * Source    A. Griewank and A. Walther, "Evaluating Derivatives", 2nd edition, chapter 3
 */
#pragma once

#include "kernels/graph/graph.h"

/*
 * Adds the gradient of value with respect to each of wrt, to the builder that value was made in.
 * seed is the gradient of value itself, of its type; OP_NO_VALUE: ones. A value that does not
 * depend on one of wrt has zeros there.
 *
 * fails with   CR_INVALID   a row on the way has no gradient; it is named
 */
enum cr_status grad_add(struct graph_builder *builder, op_value value, op_value seed,
                        const op_value *wrt, int wrt_count, op_value *ret_gradients) CR_CHECK;

/*
 * A graph of the same parameters whose results are those of graph and, behind them, the gradients
 * of the sum of its result number `result` with respect to the parameters of wrt.
 */
enum cr_status grad_of(struct cr_call *call, const struct graph *graph, int result,
                       const op_value *wrt, int wrt_count, const struct graph **ret_graph) CR_CHECK;
