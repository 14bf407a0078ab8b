/*
 * train: the kind "train": a recipe learns a set of labelled pictures, step by step.
 *
 * Inputs `images` and `labels`, and `test_images` with `test_labels` or neither, all IDX files. The
 * output `model` is safetensors. Series: loss, rate and gradient_norm each step; test_loss and
 * test_accuracy after each epoch. Metrics of the result: examples, epochs, steps, train_loss (the
 * mean of the last epoch's steps), and, with test pictures, test_accuracy and test_loss.
 *
 * A checkpoint holds weights, the optimizer's state and the place in the order of examples: a run
 * that is resumed from it gives the bytes of one that was never stopped.
 *
 * Threads   as compute/protocol/kind.h says
 * Source    design: compute.md section 8
 */
#pragma once

#include "compute/protocol/kind.h"

extern const struct protocol_kind train_kind;
