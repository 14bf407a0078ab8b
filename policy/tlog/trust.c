/* trust: what a verifier pins, in two files of lines (C2SP tlog-policy). */
#include "policy/tlog/tlog.h"

#include "base/core/parse.h"
#include "base/core/text.h"

#include <string.h>

#define WORDS_MAX (3 + TLOG_MEMBERS_MAX)

struct word {
    const char *text;
    size_t length;
};

static bool is(const struct word *word, const char *text)
{
    return word->length == strlen(text) && memcmp(word->text, text, word->length) == 0;
}

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t';
}

/* Cuts a line into words at blanks. -1: more words than can be; 0: empty, or a comment. */
static int words_of(const char *line, const char *end, struct word words[WORDS_MAX])
{
    int count = 0;
    for (const char *at = line; at < end;) {
        if (is_blank(*at)) {
            at++;
            continue;
        }
        if (count == 0 && *at == '#')
            return 0;
        if (count == WORDS_MAX)
            return -1;
        const char *from = at;
        while (at < end && !is_blank(*at))
            at++;
        words[count++] = (struct word){from, (size_t)(at - from)};
    }
    return count;
}

/* Runs read on each line that says something; all must be read. */
static bool each_line(struct cr_call *call, const char *text, size_t length,
                      bool (*read)(struct cr_call *call, void *into, const struct word *words,
                                   int count),
                      void *into)
{
    if (!cr_utf8(text, length) || memchr(text, '\r', length))
        return false;
    const char *end = text + length;
    for (const char *line = text; line < end;) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        struct word words[WORDS_MAX];
        int count = words_of(line, newline ? newline : end, words);
        if (count < 0 || (count > 0 && !read(call, into, words, count)))
            return false;
        line = newline ? newline + 1 : end;
    }
    return true;
}

static int signer_of(const struct tlog_policy *policy, const struct word *word)
{
    for (int i = 0; i < policy->signer_count; i++)
        if (is(word, policy->signers[i].word))
            return i;
    return -1;
}

/* A fresh signer under a word that is still free. */
static struct tlog_signer *named(struct tlog_policy *policy, const struct word *word)
{
    bool is_full =
        policy->signer_count == (int)(sizeof policy->signers / sizeof policy->signers[0]);
    if (is_full || word->length > TLOG_WORD_MAX || is(word, "none") || signer_of(policy, word) >= 0)
        return NULL;
    struct tlog_signer *signer = &policy->signers[policy->signer_count++];
    *signer = (struct tlog_signer){.needed = 0};
    memcpy(signer->word, word->text, word->length);
    return signer;
}

/* "log VKEY [URL]" */
static bool read_log(struct cr_call *call, struct tlog_policy *policy, const struct word *words,
                     int count)
{
    if (count < 2 || count > 3 || policy->log_count == TLOG_LOGS_MAX)
        return false;
    struct tlog_vkey *log = &policy->logs[policy->log_count++];
    return tlog_vkey_read(call, words[1].text, words[1].length, log) && log->type == TLOG_ED25519;
}

/* "witness WORD VKEY [URL]" */
static bool read_witness(struct cr_call *call, struct tlog_policy *policy, const struct word *words,
                         int count)
{
    if (count < 3 || count > 4)
        return false;
    struct tlog_signer *witness = named(policy, &words[1]);
    return witness && tlog_vkey_read(call, words[2].text, words[2].length, &witness->vkey) &&
           witness->vkey.type == TLOG_COSIGNER;
}

/* "group WORD any|all|N MEMBER..." */
static bool read_group(struct tlog_policy *policy, const struct word *words, int count)
{
    if (count < 4)
        return false;
    int members[TLOG_MEMBERS_MAX], member_count = count - 3;
    for (int i = 0; i < member_count; i++) {
        members[i] = signer_of(policy, &words[3 + i]);
        if (members[i] < 0)
            return false;
        for (int j = 0; j < i; j++)
            if (members[j] == members[i])
                return false;
    }

    int64_t needed = 1;
    if (is(&words[2], "all"))
        needed = member_count;
    else if (!is(&words[2], "any") &&
             !cr_parse_integer(words[2].text, words[2].length, 1, member_count, &needed))
        return false;

    struct tlog_signer *group = named(policy, &words[1]);
    if (!group)
        return false;
    group->is_group = true;
    group->needed = (int)needed;
    group->member_count = member_count;
    memcpy(group->members, members, (size_t)member_count * sizeof members[0]);
    return true;
}

#define NO_QUORUM_YET (-2)

static bool read_policy_line(struct cr_call *call, void *into, const struct word *words, int count)
{
    struct tlog_policy *policy = into;
    if (is(&words[0], "log"))
        return read_log(call, policy, words, count);
    if (is(&words[0], "witness"))
        return read_witness(call, policy, words, count);
    if (is(&words[0], "group"))
        return read_group(policy, words, count);
    if (!is(&words[0], "quorum") || count != 2 || policy->quorum != NO_QUORUM_YET)
        return false;
    policy->quorum = is(&words[1], "none") ? TLOG_QUORUM_NONE : signer_of(policy, &words[1]);
    return policy->quorum >= 0 || is(&words[1], "none");
}

bool tlog_policy_read(struct cr_call *call, const char *text, size_t length,
                      struct tlog_policy *ret_policy)
{
    memset(ret_policy, 0, sizeof *ret_policy);
    ret_policy->quorum = NO_QUORUM_YET;
    return each_line(call, text, length, read_policy_line, ret_policy) &&
           ret_policy->quorum != NO_QUORUM_YET;
}

/* "records VKEY" */
static bool read_keys_line(struct cr_call *call, void *into, const struct word *words, int count)
{
    struct tlog_keys *keys = into;
    if (count != 2 || !is(&words[0], "records") || keys->count == TLOG_KEYS_MAX)
        return false;
    struct tlog_vkey *key = &keys->keys[keys->count++];
    return tlog_vkey_read(call, words[1].text, words[1].length, key) && key->type == TLOG_ED25519;
}

bool tlog_keys_read(struct cr_call *call, const char *text, size_t length,
                    struct tlog_keys *ret_keys)
{
    memset(ret_keys, 0, sizeof *ret_keys);
    return each_line(call, text, length, read_keys_line, ret_keys);
}

bool tlog_quorum(const struct tlog_policy *policy, const bool *cosigned)
{
    if (policy->quorum == TLOG_QUORUM_NONE)
        return true;

    /* A group names only what stands above it, so one pass downwards decides all. */
    bool met[TLOG_WITNESSES_MAX + TLOG_GROUPS_MAX] = {false};
    for (int i = 0; i < policy->signer_count; i++) {
        const struct tlog_signer *signer = &policy->signers[i];
        int count = 0;
        for (int j = 0; j < signer->member_count; j++)
            count += met[signer->members[j]];
        met[i] = signer->is_group ? count >= signer->needed : cosigned[i];
    }
    return met[policy->quorum];
}
