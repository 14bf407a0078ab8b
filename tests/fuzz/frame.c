/* frame: a datagram is refused with a reason, or is the one encoding of what was read of it. */
#include "compute/protocol/frame.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned char bytes[PROTOCOL_FRAME_SIZE_MAX];
    if (size < 2)
        return 0;
    char from = data[0] & 1 ? 'r' : 'a';
    uint64_t seq = data[1];
    struct protocol_frame frame;
    const char *fault = protocol_frame_read(data + 2, size - 2, from, seq, &frame);
    if (fault) {
        assert(fault[0] != '\0');
        return 0;
    }
    assert(protocol_frame_name((int)frame.type));
    assert(protocol_frame_write(&frame, bytes) == size - 2);
    assert(memcmp(bytes, data + 2, size - 2) == 0);
    return 0;
}
