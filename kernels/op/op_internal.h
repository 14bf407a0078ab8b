/* op, inside: the families of rows, and what their shape rules share. */
#pragma once

#include "kernels/op/op.h"

extern const struct op_row op_arithmetic_rows[], op_matmul_rows[], op_view_rows[], op_reduce_rows[],
    op_activation_rows[], op_conv_rows[], op_pool_rows[], op_loss_rows[], op_optimizer_rows[];

/* Reads a signature into memory of the call, which lives as long as the table. */
enum cr_status op_signature_read(struct cr_call *call, const char *text,
                                 struct op_signature *ret_signature) CR_CHECK;

/* Dimension i of a type; negative ones count from the end. */
int64_t op_dim(const struct op_type *type, int i);
void op_append(struct op_type *type, int64_t extent);

enum cr_status op_rank_at_least(struct cr_call *call, const struct op_site *site,
                                int rank) CR_CHECK;
enum cr_status op_rank_is(struct cr_call *call, const struct op_site *site, int input,
                          int rank) CR_CHECK;
enum cr_status op_dims_equal(struct cr_call *call, const char *what_a, int64_t a,
                             const char *what_b, int64_t b) CR_CHECK;

/* Appends the broadcast of all dimensions but the last `kept` of a and b to c. */
enum cr_status op_broadcast_batch(struct cr_call *call, const struct op_type *a,
                                  const struct op_type *b, int kept, struct op_type *c) CR_CHECK;

/* The axis, counted from the front. */
enum cr_status op_axis(struct cr_call *call, int64_t axis, int rank, int *ret_axis) CR_CHECK;

/* The extent is a count; with a name one cannot calculate. */
enum cr_status op_count(struct cr_call *call, const char *what, int64_t extent) CR_CHECK;

/* The extent as people read it, in a buffer of the call. */
const char *op_extent_text(struct cr_call *call, int64_t extent);

/* Attributes for building. */
struct op_datum op_of_int(int64_t value);
struct op_datum op_of_bool(bool value);
struct op_datum op_of_dtype(unsigned dtype);
struct op_datum op_of_float(double value);
struct op_datum op_of_ints(struct op_builder *to, const int64_t *list, int count);

const struct op_type *op_type_of(struct op_builder *to, op_value value);

/* More of building than others need. */
op_value op_slice(struct op_builder *to, op_value x, int axis, int64_t start, int64_t count,
                  int64_t step);
op_value op_window_along(struct op_builder *to, op_value x, int axis, int64_t size, int64_t step);
op_value op_fold_along(struct op_builder *to, op_value x, int axis, int64_t extent, int64_t step);
op_value op_pad(struct op_builder *to, op_value x, const int64_t *before, const int64_t *after,
                double value);

/*
 * Padded images [n, c, h, w] as their windows [n, c, out_h, out_w, kernel_h, kernel_w], and back by
 * adding: what convolution and pooling mean.
 */
op_value op_windows(struct op_builder *to, op_value x, const struct op_window *window,
                    double value);
op_value op_unwindows(struct op_builder *to, op_value windows, const struct op_window *window,
                      int64_t height, int64_t width);

/* The window of a site while something is built; the shape rule has passed it. */
struct op_window op_built_window(struct op_builder *to, const struct op_site *site,
                                 const struct op_type *image, const int64_t kernel[2]);
