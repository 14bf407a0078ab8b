/*
 * graph_text: any text is refused with a reason or is a graph: one that verifies, that its own
 * print gives again, and that its bytes give again.
 */
#include "kernels/graph/graph.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cr_env env = cr_env_system();
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
    const struct graph *graph, *read, *decoded;
    size_t encoded;
    if (graph_parse(&call, (const char *)data, size, &graph) != CR_OK) {
        assert(call.reason[0] != '\0');
        return 0;
    }
    assert(graph_verify(&call, graph) == CR_OK);
    const char *text = graph_print(&call, graph);
    assert(graph_parse(&call, text, strlen(text), &read) == CR_OK);
    assert(graph_equal(graph, read));
    const unsigned char *bytes = graph_encode(&call, graph, &encoded);
    assert(graph_decode(&call, bytes, encoded, &decoded) == CR_OK);
    assert(graph_equal(graph, decoded));
    return 0;
}
