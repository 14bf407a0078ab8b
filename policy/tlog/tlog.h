/*
 * tlog: the transparency log, as arithmetic: its tree, its tiles, its signed checkpoints, its
 * proofs, and whom a verifier trusts. The same tree serves node statements and invoices.
 *
 * Everything here computes from values and touches nothing else; what a file or a row holds is
 * handed in, and a call gives only memory. A reader of foreign bytes returns false where they are
 * not exactly of the form; it does not repair.
 *
 * Units        sizes and indices are leaves, 0 to 2^63 - 1; hashes are SHA-256, 32 bytes
 * Ownership    a struct that was read points into the bytes that it was read from, and into the
 *              memory of the call
 * Threads      no state anywhere
 * Sources      RFC 9162 sections 2.1.1 to 2.1.4; github.com/C2SP/C2SP: tlog-tiles, tlog-checkpoint,
 *              signed-note, tlog-cosignature, tlog-proof, tlog-policy
 */
#pragma once

#include "base/core/shape.h"

#define TLOG_HASH_SIZE   32
#define TLOG_PROOF_MAX   63 /* hashes of one proof: the height of the largest tree */
#define TLOG_NAME_MAX    255
#define TLOG_NOTE_MAX    65536
#define TLOG_LINES_MAX   100 /* signature lines of one note */
#define TLOG_TILE_WIDTH  256
#define TLOG_ENTRY_MAX   65535
#define TLOG_PATH_SIZE   96 /* of a tile's path, with its NUL */
#define TLOG_PROOF_LABEL "c2sp.org/tlog-proof@v1"

struct tlog_hash {
    unsigned char bytes[TLOG_HASH_SIZE];
};

/* --- merkle.c: the tree ------------------------------------------------------------------------
 */

/* The root of the empty tree, SHA-256(""). */
struct tlog_hash tlog_empty(void);

/* SHA-256(0x00 || data) and SHA-256(0x01 || left || right). */
struct tlog_hash tlog_leaf(const void *data, size_t size);
struct tlog_hash tlog_node(const struct tlog_hash *left, const struct tlog_hash *right);

bool tlog_same(const struct tlog_hash *a, const struct tlog_hash *b);

/* MTH of count leaf hashes. */
struct tlog_hash tlog_root(const struct tlog_hash *leaves, size_t count);

/* The inclusion path of one of them, from the leaf upwards; the result is its length. */
size_t tlog_path(const struct tlog_hash *leaves, size_t count, size_t index,
                 struct tlog_hash ret_path[TLOG_PROOF_MAX]);

/* Whether leaf stands at index in the tree of that size and root (RFC 9162, 2.1.3.2). */
bool tlog_included(int64_t index, int64_t size, const struct tlog_hash *leaf,
                   const struct tlog_hash *root, const struct tlog_hash *path, size_t path_count);

/* Whether the tree of size2 begins with that of size1 (RFC 9162, 2.1.4.2). */
bool tlog_consistent(int64_t size1, int64_t size2, const struct tlog_hash *root1,
                     const struct tlog_hash *root2, const struct tlog_hash *path,
                     size_t path_count);

/* The full subtrees of a tree, from the largest: as many as its size has one-bits. */
struct tlog_frontier {
    int64_t size;
    size_t count;
    struct tlog_hash hashes[TLOG_PROOF_MAX];
};

void tlog_append(struct tlog_frontier *frontier, const struct tlog_hash *leaf);
struct tlog_hash tlog_frontier_root(const struct tlog_frontier *frontier);

/* From its stored form, count hashes one behind the other; false if size does not have so many. */
bool tlog_frontier_read(int64_t size, const void *hashes, size_t bytes_size,
                        struct tlog_frontier *ret_frontier);

/* --- tile.c: the tree in files -----------------------------------------------------------------
 */

#define TLOG_LEVEL_ENTRIES (-1) /* bundles of entries, beside tile level 0 */
#define TLOG_LEVEL_MAX     63

struct tlog_tile {
    int level;     /* of tiles, so its hashes stand 8 * level above the leaves */
    int64_t index; /* of the tile in its level */
    int width;     /* 256, or less for a partial tile */
};

/* The path below the log's prefix, for example "tile/0/x001/067.p/3", and back. */
void tlog_tile_path(const struct tlog_tile *tile, char ret_path[TLOG_PATH_SIZE]);
bool tlog_tile_read(const char *path, struct tlog_tile *ret_tile);

/* How many hashes a level of a tree of that size has: floor(size / 256^level). */
int64_t tlog_level_count(int64_t size, int level);

/* The tile that holds hash number index of a level, as wide as a tree of that size has it. */
struct tlog_tile tlog_tile_of(int64_t size, int level, int64_t index);

/* The root of a full tile, which is a hash of the next level. */
struct tlog_hash tlog_tile_root(const struct tlog_hash hashes[TLOG_TILE_WIDTH]);

/*
 * Where the tiles of a log are read from: ret_hashes takes tile->width hashes. A tile that is not
 * there is a failure.
 */
struct tlog_tiles {
    enum cr_status (*read)(struct cr_call *call, void *context, const struct tlog_tile *tile,
                           struct tlog_hash ret_hashes[TLOG_TILE_WIDTH]);
    void *context;
};

/* The inclusion path of a leaf in the tree of that size, index < size, out of published tiles. */
enum cr_status tlog_tiles_path(struct cr_call *call, const struct tlog_tiles *tiles, int64_t index,
                               int64_t size, struct tlog_hash ret_path[TLOG_PROOF_MAX],
                               size_t *ret_count) CR_CHECK;

/* --- note.c: signed notes ----------------------------------------------------------------------
 */

enum { TLOG_ED25519 = 0x01, TLOG_COSIGNER = 0x04 };

/* A verifier key, "name+hex8+base64(type || public key)". */
struct tlog_vkey {
    char name[TLOG_NAME_MAX + 1];
    unsigned char id[4]; /* SHA-256(name || 0x0A || type || key)[0:4] */
    int type;
    unsigned char key[32];
};

bool tlog_vkey_read(struct cr_call *call, const char *text, size_t length,
                    struct tlog_vkey *ret_vkey);

/* The key of a name, type and public key; false: no such name can be. */
bool tlog_vkey_make(const char *name, int type, const unsigned char key[32],
                    struct tlog_vkey *ret_vkey);
const char *tlog_vkey_write(struct cr_call *call, const struct tlog_vkey *vkey);

/* "name+hex8": what DSSE carries as keyid. */
const char *tlog_keyid(struct cr_call *call, const struct tlog_vkey *vkey);

/* Whether a text may be the name of a key: UTF-8 without spaces, controls and '+', not empty. */
bool tlog_name_is(const char *text, size_t length);

struct tlog_line {
    const char *name;
    size_t name_length;
    struct cr_bytes blob; /* the id of 4 bytes, then what the key's type says */
};

struct tlog_note {
    const char *text; /* what is signed, with its last newline */
    size_t text_length;
    struct tlog_line lines[TLOG_LINES_MAX];
    size_t line_count;
};

bool tlog_note_read(struct cr_call *call, const char *bytes, size_t length,
                    struct tlog_note *ret_note);

enum tlog_verdict {
    TLOG_ABSENT, /* no line is of this key */
    TLOG_GOOD,
    TLOG_BAD, /* a line is of this key, and its signature is not: the whole note is refused */
};

/* What a note says of a key of either type. Of a cosigner, ret_time_s (may be NULL) is when. */
enum tlog_verdict tlog_note_verify(struct cr_call *call, const struct tlog_note *note,
                                   const struct tlog_vkey *vkey, int64_t *ret_time_s);

/* A note of one signature by the Ed25519 key of that name; text ends in a newline. */
struct base_crypto_signer;
const char *tlog_note_sign(struct cr_call *call, const char *text, const char *name,
                           const struct base_crypto_signer *signer);

/* --- checkpoint.c, proof.c ---------------------------------------------------------------------
 */

struct tlog_checkpoint {
    const char *origin;
    size_t origin_length;
    int64_t size;
    struct tlog_hash root;
};

bool tlog_checkpoint_read(struct cr_call *call, const char *text, size_t length,
                          struct tlog_checkpoint *ret_checkpoint);
const char *tlog_checkpoint_write(struct cr_call *call, const char *origin, int64_t size,
                                  const struct tlog_hash *root);

/* An inclusion proof with the checkpoint that it leads to. */
struct tlog_proof {
    int64_t index;
    struct tlog_hash path[TLOG_PROOF_MAX];
    size_t path_count;
    struct tlog_note note;
    struct tlog_checkpoint checkpoint;
};

/* Also that index is below the checkpoint's size; the hashes are not yet followed. */
bool tlog_proof_read(struct cr_call *call, const char *text, size_t length,
                     struct tlog_proof *ret_proof);
const char *tlog_proof_write(struct cr_call *call, int64_t index, const struct tlog_hash *path,
                             size_t path_count, const char *note);

/* --- trust.c: the policy and keys files --------------------------------------------------------
 */

#define TLOG_LOGS_MAX      32
#define TLOG_WITNESSES_MAX 64
#define TLOG_GROUPS_MAX    64
#define TLOG_MEMBERS_MAX   64
#define TLOG_KEYS_MAX      64
#define TLOG_WORD_MAX      63 /* bytes of the name of a witness or group */
#define TLOG_QUORUM_NONE   (-1)

/* A witness, or a group of what stands above it in the file. */
struct tlog_signer {
    char word[TLOG_WORD_MAX + 1];
    bool is_group;
    struct tlog_vkey vkey; /* of a witness */
    int needed;            /* of a group: how many of its members */
    int members[TLOG_MEMBERS_MAX];
    int member_count;
};

struct tlog_policy {
    struct tlog_vkey logs[TLOG_LOGS_MAX];
    int log_count;
    struct tlog_signer signers[TLOG_WITNESSES_MAX + TLOG_GROUPS_MAX];
    int signer_count;
    int quorum; /* a signer, or TLOG_QUORUM_NONE */
};

/* The keys that may sign records, prices and node keys. */
struct tlog_keys {
    struct tlog_vkey keys[TLOG_KEYS_MAX];
    int count;
};

bool tlog_policy_read(struct cr_call *call, const char *text, size_t length,
                      struct tlog_policy *ret_policy);
bool tlog_keys_read(struct cr_call *call, const char *text, size_t length,
                    struct tlog_keys *ret_keys);

/* Whether the quorum is met by those signers whose bit in cosigned (one bool each) is set. */
bool tlog_quorum(const struct tlog_policy *policy, const bool *cosigned);
