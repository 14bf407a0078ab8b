/* graph, inside. */
#pragma once

#include "kernels/graph/graph.h"

/* A builder that keeps every operation as it is added: dead ones and equal ones too. */
struct graph_builder *graph_build_plain(struct cr_call *call, const char *name);

bool graph_same_node(const struct graph_node *a, const struct graph_node *b);
