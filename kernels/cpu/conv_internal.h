/*
 * conv: two-dimensional convolution of f32 pictures and its gradients, as products that never lay
 * out their columns.
 *
 * A picture is copied into a field: its planes with their padding, and where the stride is above 1
 * one plane for each phase of it. In a field the pixels that one place (c, a, b) of the kernel
 * meets, over all outputs, lie side by side, at a distance from the start that depends on the place
 * alone. So row k of the right matrix of the product is not copied, but pointed to; the price is
 * that rows of outputs are as wide as the field's, and what lies between two of them is dropped.
 *
 *     y[o][p]           sum over k = (c, a, b) of w[o][k] * field[offset[k] + p], as in cpu_gemm
 *     dx                the same with dy for x, w turned and with its first two axes exchanged
 *     dw[o][k]          sum over pictures and p of dy[o][p] * field[offset[k] + p]: by groups of
 *                       pictures, whose number depends on the shape alone; within one, pixel p of
 *                       each goes to lane p mod 16 with fma, rising; lanes fold l += l + 8, 4, 2,
 * 1; groups add in order
 *
 * Layout   x is [images][channels][h][w], w [outputs][channels][a][b], y [images][outputs][i][j]
 * Scratch  cpu_conv_scratch bytes, aligned to 64, whatever the pass
 */
#pragma once

#include "kernels/cpu/cpu_internal.h"

struct cpu_conv {
    int64_t images, channels, outputs;
    int64_t in[2], out[2], kernel[2], stride[2], before[2]; /* down, across */
};

size_t cpu_conv_scratch(const struct cpu *cpu, const struct cpu_conv *conv);

/* bias is of the outputs, or NULL. */
void cpu_conv_forward(struct cpu *cpu, const struct cpu_conv *conv, const float *x, const float *w,
                      const float *bias, bool relu, float *y, void *scratch);
void cpu_conv_input_gradient(struct cpu *cpu, const struct cpu_conv *conv, const float *dy,
                             const float *w, float *dx, void *scratch);
void cpu_conv_weight_gradient(struct cpu *cpu, const struct cpu_conv *conv, const float *x,
                              const float *dy, float *dw, void *scratch);

/* Floats of scratch that the weights' gradient wants. */
int64_t cpu_conv_weight_floats(const struct cpu_conv *conv);

/* The field of a picture. */
struct cpu_field {
    int64_t channels, in[2];
    int64_t spread[2]; /* pixels of the picture lie so far apart in the field */
    int64_t stride[2], shift[2], kernel[2], out[2];
    int64_t rows, width; /* of a plane */
    int64_t pixels;      /* from the first output to the last, those between rows too */
    int64_t size;        /* floats, with what a tile reads beyond the end */
};

struct cpu_field cpu_field_of(int64_t channels, const int64_t in[2], const int64_t out[2],
                              const int64_t kernel[2], const int64_t stride[2],
                              const int64_t spread[2], const int64_t shift[2]);

/* Copies a picture into a field whose floats, but for those of pictures before it, are 0. */
void cpu_field_fill(const struct cpu_loops *loops, const struct cpu_field *field, const float *x,
                    float *ret_planes);

/* Where the pixels of each place (c, a, b) begin. */
void cpu_field_offsets(const struct cpu_field *field, int64_t *ret_offsets);
