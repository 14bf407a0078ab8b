/* log: the suites of policy/tlog. */
#include "tests/vectors/ledger/vectors.h"

#include "policy/tlog/tlog.h"

#include <string.h>

/* A hash in base64. Some are not 32 bytes, which we cannot hold: others stand in for them. */
static struct tlog_hash hash_of(struct cr_call *call, const char *text)
{
    struct cr_bytes bytes = base64_of(call, text);
    struct tlog_hash hash = tlog_leaf(bytes.data, bytes.size);
    if (bytes.size == TLOG_HASH_SIZE)
        memcpy(hash.bytes, bytes.data, TLOG_HASH_SIZE);
    return hash;
}

static bool path_of(struct cr_call *call, const struct json_value *proof,
                    struct tlog_hash path[TLOG_PROOF_MAX], size_t *ret_count)
{
    size_t count = proof ? proof->count : 0;
    for (size_t i = 0; i < count; i++)
        if (i < TLOG_PROOF_MAX && proof->items[i].kind == JSON_KIND_TEXT)
            path[i] = hash_of(call, proof->items[i].text);
        else
            return false;
    *ret_count = count;
    return true;
}

static bool check_inclusion(struct cr_call *call, const char *folder, const struct json_value *file,
                            const struct json_value *one)
{
    (void)folder;
    (void)file;
    struct tlog_hash leaf = hash_of(call, text_of(one, "leafHash")),
                     root = hash_of(call, text_of(one, "root")), path[TLOG_PROOF_MAX];
    size_t count = 0;
    bool is = path_of(call, json_member(one, "proof"), path, &count) &&
              tlog_included(integer_of(one, "leafIdx"), integer_of(one, "treeSize"), &leaf, &root,
                            path, count);
    return is != true_of(one, "wantErr");
}

static bool check_consistency(struct cr_call *call, const char *folder,
                              const struct json_value *file, const struct json_value *one)
{
    (void)folder;
    (void)file;
    struct tlog_hash root1 = hash_of(call, text_of(one, "root1")),
                     root2 = hash_of(call, text_of(one, "root2")), path[TLOG_PROOF_MAX];
    size_t count = 0;
    bool is = path_of(call, json_member(one, "proof"), path, &count) &&
              tlog_consistent(integer_of(one, "size1"), integer_of(one, "size2"), &root1, &root2,
                              path, count);
    return is != true_of(one, "wantErr");
}

static struct tlog_hash numbered_leaf(int64_t number)
{
    unsigned char bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)((uint64_t)number >> (56 - 8 * i));
    return tlog_leaf(bytes, sizeof bytes);
}

static bool check_root(struct cr_call *call, const char *folder, const struct json_value *file,
                       const struct json_value *one)
{
    (void)folder;
    (void)file;
    const struct json_value *leaves = json_member(one, "leaves_hex");
    struct tlog_frontier frontier = {0};
    int64_t size = leaves ? (int64_t)leaves->count : integer_of(one, "size");
    for (int64_t i = 0; i < size; i++) {
        struct cr_bytes data = leaves ? hex_of(call, leaves->items[i].text) : (struct cr_bytes){0};
        struct tlog_hash leaf = leaves ? tlog_leaf(data.data, data.size) : numbered_leaf(i);
        tlog_append(&frontier, &leaf);
    }
    struct tlog_hash root = tlog_frontier_root(&frontier);
    return strcmp(cr_hex(call, root.bytes, TLOG_HASH_SIZE), text_of(one, "root_hex")) == 0;
}

static bool check_tiles_of_size(const struct json_value *one)
{
    const struct json_value *tiles = json_member(one, "tiles");
    int64_t size = integer_of(one, "size");
    size_t levels = 0;
    while (levels <= TLOG_LEVEL_MAX && tlog_level_count(size, (int)levels) > 0)
        levels++;
    if (levels != tiles->count)
        return false;
    for (size_t i = 0; i < levels; i++) {
        const struct json_value *want = &tiles->items[i];
        int64_t count = tlog_level_count(size, (int)i);
        char path[TLOG_PATH_SIZE] = "";
        struct tlog_tile last = tlog_tile_of(size, (int)i, count - 1);
        if (last.width < TLOG_TILE_WIDTH)
            tlog_tile_path(&last, path);
        if (count / TLOG_TILE_WIDTH != integer_of(want, "full") ||
            count % TLOG_TILE_WIDTH != integer_of(want, "partial") ||
            strcmp(path, text_of(want, "partial_path")) != 0)
            return false;
    }
    return true;
}

static bool check_tile(struct cr_call *call, const char *folder, const struct json_value *file,
                       const struct json_value *one)
{
    (void)folder;
    (void)file;
    if (json_member(one, "tiles"))
        return check_tiles_of_size(one);

    struct tlog_tile tile = {.width = TLOG_TILE_WIDTH};
    char path[TLOG_PATH_SIZE];
    if (json_member(one, "url_path")) {
        bool is = tlog_tile_read(text_of(one, "url_path"), &tile);
        if (is)
            tlog_tile_path(&tile, path);
        return is == true_of(one, "ok") && (!is || strcmp(path, text_of(one, "url_path")) == 0);
    }
    tile.index = integer_of(one, "index");
    tlog_tile_path(&tile, path);
    return strcmp(path, cr_format(call, "tile/0/%s", text_of(one, "path"))) == 0;
}

/* The names whose keys have signed, or the word for why none counts. */
static const char *signers_of(struct cr_call *call, const struct tlog_note *note,
                              const struct json_value *keys)
{
    const char *list = "";
    for (size_t i = 0; i < keys->count; i++) {
        struct tlog_vkey vkey;
        if (!tlog_vkey_read(call, keys->items[i].text, keys->items[i].length, &vkey))
            return "bad vkey";
        enum tlog_verdict verdict = tlog_note_verify(call, note, &vkey, NULL);
        if (verdict == TLOG_BAD)
            return "bad-signature";
        if (verdict == TLOG_GOOD)
            list = cr_format(call, "%s%s ", list, vkey.name);
    }
    return *list ? list : "none";
}

static bool check_note(struct cr_call *call, const char *folder, const struct json_value *file,
                       const struct json_value *one)
{
    (void)folder;
    (void)file;
    struct cr_bytes bytes = hex_of(call, text_of(one, "note_hex"));
    const struct json_value *expect = json_member(one, "expect");
    struct tlog_note *note = cr_new(call, struct tlog_note, 1);
    bool is = tlog_note_read(call, (const char *)bytes.data, bytes.size, note);
    const char *got = is ? signers_of(call, note, json_member(one, "keys")) : "malformed";
    const char *want = expect->kind == JSON_KIND_TEXT ? expect->text : "";
    for (size_t i = 0; i < expect->count; i++)
        want = cr_format(call, "%s%s ", want, expect->items[i].text);
    return strcmp(got, want) == 0;
}

static bool check_vkey(struct cr_call *call, const char *folder, const struct json_value *file,
                       const struct json_value *one)
{
    (void)folder;
    (void)file;
    const char *text = text_of(one, "vkey");
    struct tlog_vkey vkey;
    bool is = tlog_vkey_read(call, text, strlen(text), &vkey);
    return is == true_of(one, "ok") && (!is || strcmp(tlog_vkey_write(call, &vkey), text) == 0);
}

static bool check_checkpoint(struct cr_call *call, const char *folder,
                             const struct json_value *file, const struct json_value *one)
{
    (void)folder;
    (void)file;
    struct tlog_checkpoint checkpoint;
    const char *text = text_of(one, "text");
    return tlog_checkpoint_read(call, text, strlen(text), &checkpoint) == true_of(one, "ok");
}

static bool check_cosignature(struct cr_call *call, const char *folder,
                              const struct json_value *file, const struct json_value *one)
{
    (void)folder;
    (void)file;
    const char *text = text_of(one, "note"), *log = text_of(one, "log_vkey"),
               *witness = text_of(one, "witness_vkey");
    struct tlog_note *note = cr_new(call, struct tlog_note, 1);
    struct tlog_vkey log_key, witness_key;
    int64_t time_s = 0;
    bool is = tlog_note_read(call, text, strlen(text), note) &&
              tlog_vkey_read(call, log, strlen(log), &log_key) &&
              tlog_vkey_read(call, witness, strlen(witness), &witness_key) &&
              tlog_note_verify(call, note, &log_key, NULL) == TLOG_GOOD &&
              tlog_note_verify(call, note, &witness_key, &time_s) == TLOG_GOOD;
    return is == true_of(one, "ok") && (!is || time_s == integer_of(one, "time"));
}

static bool check_policy(struct cr_call *call, const char *folder, const struct json_value *file,
                         const struct json_value *one)
{
    (void)folder;
    (void)file;
    const char *text = text_of(one, "policy");
    const struct json_value *by = json_member(one, "cosigned_by");
    struct tlog_policy *policy = cr_new(call, struct tlog_policy, 1);
    if (!tlog_policy_read(call, text, strlen(text), policy))
        return !true_of(one, "syntax_ok");
    bool cosigned[TLOG_WITNESSES_MAX + TLOG_GROUPS_MAX] = {false};
    for (int i = 0; i < policy->signer_count; i++)
        for (size_t j = 0; j < by->count; j++)
            cosigned[i] = cosigned[i] || strcmp(policy->signers[i].word, by->items[j].text) == 0;
    return true_of(one, "syntax_ok") && tlog_quorum(policy, cosigned) == true_of(one, "quorum_met");
}

/* clang-format off */
const struct suite log_suites[] = {
    {"merkle/inclusion",   "merkle/inclusion.jsonl",   NULL, check_inclusion},
    {"merkle/consistency", "merkle/consistency.jsonl", NULL, check_consistency},
    {"merkle/roots",       "merkle/roots.jsonl",       NULL, check_root},
    {"tiles",              "tiles/tiles.jsonl",        NULL, check_tile},
    {"note",               "note/note.jsonl",          NULL, check_note},
    {"vkey",               "note/vkey.jsonl",          NULL, check_vkey},
    {"checkpoint",         "note/checkpoint.jsonl",    NULL, check_checkpoint},
    {"cosignature",        "note/cosignature.jsonl",   NULL, check_cosignature},
    {"policy",             "policy/policy.jsonl",      NULL, check_policy},
    {0},
};
/* clang-format on */
