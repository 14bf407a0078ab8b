/*
 * batch: the kind "batch": a trained model over pictures.
 *
 * Inputs `images`, and `labels` if there are any, IDX files; the program is the artifact that a
 * train job has made. The output `predictions` is safetensors: `label` i32 [n], the largest logit's
 * class, the first of equal ones, and `logits` f32 [n, classes]. Series: examples. Metrics of the
 * result: examples, steps, and, with labels, accuracy and loss.
 *
 * Threads   as compute/protocol/kind.h says
 * Source    design: compute.md section 8
 */
#pragma once

#include "compute/protocol/kind.h"

extern const struct protocol_kind batch_kind;
