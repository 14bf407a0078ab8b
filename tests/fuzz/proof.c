/* proof: only true proofs verify, and what is read as one is written again as it was. */
#include "policy/tlog/tlog.h"

#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct tlog_proof proof;

/* The tree of 37 leaves that the paths are tried in: any that is accepted must be the right one. */
#define LEAVES 37

static void try_path(const uint8_t *data, size_t size)
{
    struct tlog_hash leaves[LEAVES], right[TLOG_PROOF_MAX], path[TLOG_PROOF_MAX];
    for (int i = 0; i < LEAVES; i++)
        leaves[i] = tlog_leaf(&i, sizeof i);
    struct tlog_hash root = tlog_root(leaves, LEAVES);
    size_t index = data[0] % LEAVES, count = (size - 1) / TLOG_HASH_SIZE;
    count = count < TLOG_PROOF_MAX ? count : TLOG_PROOF_MAX;
    memcpy(path, data + 1, count * TLOG_HASH_SIZE);
    size_t right_count = tlog_path(leaves, LEAVES, index, right);
    assert(tlog_included((int64_t)index, LEAVES, &leaves[index], &root, right, right_count));

    /* A part of the right path, changed by the input, so that the fuzzer gets beyond its start. */
    for (size_t i = 0; i < right_count; i++)
        for (size_t n = 0; n < TLOG_HASH_SIZE && i < count; n++)
            path[i].bytes[n] ^= right[i].bytes[n];
    bool is_same = count == right_count && memcmp(path, right, count * TLOG_HASH_SIZE) == 0;
    assert(tlog_included((int64_t)index, LEAVES, &leaves[index], &root, path, count) == is_same);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(NULL, INT64_MAX);
    if (size > 1)
        try_path(data, size);
    const char *text = cr_copy(&call, data, size);
    if (!tlog_proof_read(&call, text, size, &proof))
        return 0;
    assert(proof.index < proof.checkpoint.size && proof.path_count <= TLOG_PROOF_MAX);
    const char *note = proof.note.text;
    const char *again = tlog_proof_write(&call, proof.index, proof.path, proof.path_count,
                                         cr_copy(&call, note, (size_t)(text + size - note)));
    bool has_extra = strncmp(text + strlen(TLOG_PROOF_LABEL) + 1, "extra ", 6) == 0;
    assert(has_extra || (strlen(again) == size && memcmp(again, text, size) == 0));
    return 0;
}
