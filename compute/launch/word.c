/* word: the one word of how a runner ended, where several apply. */
#include "compute/launch/launch.h"

#include <signal.h>

enum protocol_word launch_word(const struct launch_evidence *evidence)
{
    const struct launch_end *end = evidence->end;
    bool signalled = !end->exited && end->reason == LAUNCH_BY_ITSELF;
    if (evidence->device)
        return PROTOCOL_device_fault;
    if (signalled && end->signal == SIGXFSZ)
        return PROTOCOL_output_limit;
    if (end->reason == LAUNCH_MEMORY)
        return PROTOCOL_host_memory;
    if (evidence->own >= 0)
        return (enum protocol_word)evidence->own;
    if (end->reason == LAUNCH_DEADMAN)
        return PROTOCOL_node_lost;
    if (signalled && end->signal == SIGSYS)
        return PROTOCOL_syscall;
    if (evidence->garbage)
        return PROTOCOL_garbage;
    if (!evidence->ready && evidence->word < 0)
        return PROTOCOL_unsealed;
    if (!end->exited)
        return PROTOCOL_crashed;
    if (evidence->word < 0 || end->code != 0)
        return PROTOCOL_garbage;
    if (evidence->word == PROTOCOL_finished && !evidence->outputs_fit)
        return PROTOCOL_garbage;
    return (enum protocol_word)evidence->word;
}
