/* graph_binary: any bytes are refused with a reason, or are the one encoding of a graph. */
#include "kernels/graph/graph.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cr_env env = cr_env_system();
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
    const struct graph *graph, *read;
    size_t encoded;
    if (graph_decode(&call, data, size, &graph) != CR_OK) {
        assert(call.reason[0] != '\0');
        return 0;
    }
    assert(graph_verify(&call, graph) == CR_OK);
    const unsigned char *bytes = graph_encode(&call, graph, &encoded);
    assert(encoded == size && memcmp(bytes, data, size) == 0);
    const char *text = graph_print(&call, graph);
    assert(graph_parse(&call, text, strlen(text), &read) == CR_OK);
    assert(graph_equal(graph, read));
    return 0;
}
