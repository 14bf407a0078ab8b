/* proof: an inclusion proof as a text that stands alone (C2SP tlog-proof). */
#include "policy/tlog/tlog.h"

#include "base/core/parse.h"
#include "base/core/text.h"

#include <string.h>

/* Whether the line is this word, a space, and more. */
static bool begins(const char *line, size_t length, const char *word)
{
    size_t word_length = strlen(word);
    return length > word_length && memcmp(line, word, word_length) == 0 && line[word_length] == ' ';
}

static bool hash_line(struct cr_call *call, const char *line, size_t length,
                      struct tlog_proof *proof)
{
    struct cr_bytes hash;
    if (proof->path_count == TLOG_PROOF_MAX ||
        !cr_base64_parse(call, CR_BASE64_STANDARD, line, length, &hash) ||
        hash.size != TLOG_HASH_SIZE)
        return false;
    memcpy(proof->path[proof->path_count++].bytes, hash.data, TLOG_HASH_SIZE);
    return true;
}

/* How far the head has been read. */
enum progress { AT_EXTRA, AT_INDEX, AT_HASHES };

/* One line of the head: "extra BASE64", which may be left out, "index N", then hashes. */
static bool head_line(struct cr_call *call, const char *line, size_t length,
                      enum progress *progress, struct tlog_proof *proof)
{
    static const char extra[] = "extra", index[] = "index";
    struct cr_bytes ignored;
    if (*progress == AT_HASHES)
        return hash_line(call, line, length, proof);
    if (*progress == AT_EXTRA && begins(line, length, extra)) {
        *progress = AT_INDEX;
        return cr_base64_parse(call, CR_BASE64_STANDARD, line + sizeof extra, length - sizeof extra,
                               &ignored);
    }
    *progress = AT_HASHES;
    return begins(line, length, index) &&
           cr_parse_integer(line + sizeof index, length - sizeof index, 0, INT64_MAX,
                            &proof->index);
}

bool tlog_proof_read(struct cr_call *call, const char *text, size_t length,
                     struct tlog_proof *ret_proof)
{
    static const char label[] = TLOG_PROOF_LABEL "\n";
    const char *at = text + sizeof label - 1, *end = text + length;
    if (length < sizeof label || memcmp(text, label, sizeof label - 1) != 0)
        return false;

    enum progress progress = AT_EXTRA;
    ret_proof->path_count = 0;
    for (bool more = true; more;) {
        const char *line = at, *newline = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
        if (!newline)
            return false;
        at = newline + 1;
        more = progress != AT_HASHES || newline != line;
        if (more && !head_line(call, line, (size_t)(newline - line), &progress, ret_proof))
            return false;
    }

    return tlog_note_read(call, at, (size_t)(end - at), &ret_proof->note) &&
           tlog_checkpoint_read(call, ret_proof->note.text, ret_proof->note.text_length,
                                &ret_proof->checkpoint) &&
           ret_proof->index < ret_proof->checkpoint.size;
}

const char *tlog_proof_write(struct cr_call *call, int64_t index, const struct tlog_hash *path,
                             size_t path_count, const char *note)
{
    struct cr_text text = cr_text_open(call);
    cr_text_add_format(&text, TLOG_PROOF_LABEL "\nindex %lld\n", (long long)index);
    for (size_t i = 0; i < path_count; i++) {
        cr_text_add(&text,
                    cr_base64_print(call, CR_BASE64_STANDARD, path[i].bytes, TLOG_HASH_SIZE));
        cr_text_add(&text, "\n");
    }
    cr_text_add(&text, "\n");
    cr_text_add(&text, note);
    return text.data;
}
