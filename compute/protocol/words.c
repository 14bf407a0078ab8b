/* words: the closed lists. */
#include "compute/protocol/kind.h"

static const struct {
    const char *code, *outcome;
} ends[] = {
#define ROW(word, code_, outcome_) {.code = code_, .outcome = outcome_},
    PROTOCOL_WORDS(ROW)
#undef ROW
};

const char *const protocol_words[] = {
#define ROW(word, code, outcome) #word,
    PROTOCOL_WORDS(ROW)
#undef ROW
        NULL};

const char *const protocol_join_causes[] = {"enrol", "start", "certificate", NULL};
const char *const protocol_orders[] = {"continue", "stop", "drop", NULL};
const char *const protocol_causes[] = {"cancel",      "preempt",    "drain",   "deadline",
                                       "budget",      "residency",  "gang",    "expired",
                                       "stale_lease", "stale_boot", "unknown", NULL};
const char *const protocol_decline_words[] = {
    "no_device",   "no_disk",   "no_memory",         "jail",
    "unsupported", "restarted", "input_unavailable", NULL};
const char *const protocol_lease_states[] = {"granted", "running", "revoking", NULL};
const char *const protocol_node_states[] = {
    "joining", "ready", "cordoned", "quarantined", "draining", "suspect", "lost", "retired", NULL};
const char *const protocol_artifact_kinds[] = {"dataset",     "model", "checkpoint",
                                               "predictions", "other", NULL};
const char *const protocol_phases[] = {"load", "train", "test", "run", "save", NULL};
const char *const protocol_device_states[] = {"ok", "suspect", "failed", NULL};

int protocol_word_of(const char *word)
{
    for (int i = 0; i < PROTOCOL_WORD_COUNT; i++)
        if (strcmp(protocol_words[i], word) == 0)
            return i;
    return -1;
}

const char *protocol_word_code(enum protocol_word word)
{
    return ends[word].code;
}

const char *protocol_word_outcome(enum protocol_word word)
{
    return ends[word].outcome;
}

const struct cr_code protocol_input_rejected = {"input_rejected",       CR_INVALID, 422, 9, false,
                                                "An input is malformed"};
const struct cr_code protocol_nonfinite = {"nonfinite", CR_INVALID, 422,
                                           9,           false,      "The loss is not finite"};
const struct cr_code protocol_output_limit = {
    "output_limit", CR_TOO_LARGE, 413, 9, false, "An output is larger than its limit"};
