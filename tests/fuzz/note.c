/* note: whatever is read as a note, a checkpoint or a policy is of its form. */
#include "policy/tlog/tlog.h"

#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct tlog_note note;
static struct tlog_policy policy;
static struct tlog_keys keys;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(NULL, INT64_MAX);
    const char *text = cr_copy(&call, data, size);
    struct tlog_checkpoint checkpoint;
    struct tlog_vkey vkey;
    struct tlog_tile tile;

    if (tlog_note_read(&call, text, size, &note)) {
        assert(note.line_count > 0 && note.text[note.text_length - 1] == '\n');
        assert(note.text_length < size);
        if (tlog_checkpoint_read(&call, note.text, note.text_length, &checkpoint))
            assert(checkpoint.size >= 0 && checkpoint.origin_length > 0);
    }
    if (tlog_vkey_read(&call, text, size, &vkey))
        assert(strlen(tlog_vkey_write(&call, &vkey)) == size &&
               memcmp(tlog_vkey_write(&call, &vkey), text, size) == 0);
    if (strlen(text) == size && tlog_tile_read(text, &tile)) {
        char path[TLOG_PATH_SIZE];
        tlog_tile_path(&tile, path);
        assert(strcmp(path, text) == 0);
    }
    if (tlog_policy_read(&call, text, size, &policy)) {
        static const bool none[TLOG_WITNESSES_MAX + TLOG_GROUPS_MAX];
        assert(tlog_quorum(&policy, none) == (policy.quorum == TLOG_QUORUM_NONE));
    }
    (void)tlog_keys_read(&call, text, size, &keys);
    return 0;
}
