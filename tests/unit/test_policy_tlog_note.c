/* note: what is signed verifies, and nothing that is changed does. */
#include "tests/unit/test.h"

#include "base/crypto/crypto.h"
#include "policy/tlog/tlog.h"

#include <string.h>

#define ORIGIN "local.cresset.localhost/log"

static struct base_crypto_signer *signer;
static struct tlog_vkey vkey;

static void a_checkpoint_that_is_signed_is_read_and_verified(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(NULL, INT64_MAX);
    struct tlog_hash root = tlog_leaf("x", 1);
    const char *note =
        tlog_note_sign(&call, tlog_checkpoint_write(&call, ORIGIN, 7, &root), ORIGIN, signer);
    struct tlog_note *read = cr_new(&call, struct tlog_note, 1);
    struct tlog_checkpoint checkpoint;
    assert_true(tlog_note_read(&call, note, strlen(note), read));
    assert_int_equal(tlog_note_verify(&call, read, &vkey, NULL), TLOG_GOOD);
    assert_true(tlog_checkpoint_read(&call, read->text, read->text_length, &checkpoint));
    assert_int_equal(checkpoint.size, 7);
    assert_true(tlog_same(&checkpoint.root, &root));
}

static void no_changed_byte_of_a_note_still_verifies(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(NULL, INT64_MAX);
    struct tlog_hash root = tlog_leaf("x", 1);
    const char *note =
        tlog_note_sign(&call, tlog_checkpoint_write(&call, ORIGIN, 7, &root), ORIGIN, signer);
    struct tlog_note *read = cr_new(&call, struct tlog_note, 1);
    size_t length = strlen(note);
    char *changed = cr_new(&call, char, length + 1);
    memcpy(changed, note, length);
    for (size_t i = 0; i < length; i++) {
        changed[i] ^= 1;
        assert_false(tlog_note_read(&call, changed, length, read) &&
                     tlog_note_verify(&call, read, &vkey, NULL) == TLOG_GOOD);
        changed[i] = note[i];
    }
}

static void a_proof_is_read_as_it_was_written(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(NULL, INT64_MAX);
    struct tlog_hash leaves[5], path[TLOG_PROOF_MAX];
    for (int i = 0; i < 5; i++)
        leaves[i] = tlog_leaf(&i, sizeof i);
    struct tlog_hash root = tlog_root(leaves, 5);
    size_t count = tlog_path(leaves, 5, 3, path);
    const char *note =
        tlog_note_sign(&call, tlog_checkpoint_write(&call, ORIGIN, 5, &root), ORIGIN, signer);
    const char *text = tlog_proof_write(&call, 3, path, count, note);
    struct tlog_proof *proof = cr_new(&call, struct tlog_proof, 1);
    assert_true(tlog_proof_read(&call, text, strlen(text), proof));
    assert_true(tlog_included(proof->index, proof->checkpoint.size, &leaves[3],
                              &proof->checkpoint.root, proof->path, proof->path_count));
    const char *beyond = tlog_proof_write(&call, 5, path, count, note);
    assert_false(tlog_proof_read(&call, beyond, strlen(beyond), proof));
}

static void trust_without_witnesses_needs_the_log_alone(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(NULL, INT64_MAX);
    const char *text =
        cr_format(&call, "# ours\nlog\t%s\n\nquorum none\n", tlog_vkey_write(&call, &vkey));
    struct tlog_policy *policy = cr_new(&call, struct tlog_policy, 1);
    assert_true(tlog_policy_read(&call, text, strlen(text), policy));
    assert_int_equal(policy->log_count, 1);
    assert_true(tlog_quorum(policy, NULL));
    struct tlog_keys *keys = cr_new(&call, struct tlog_keys, 1);
    text = cr_format(&call, "records %s\n", tlog_vkey_write(&call, &vkey));
    assert_true(tlog_keys_read(&call, text, strlen(text), keys));
    assert_int_equal(keys->count, 1);
    assert_false(tlog_keys_read(&call, "records x\n", 10, keys));
}

static int open_signer(void **state)
{
    (void)state;
    static const unsigned char seed[BASE_CRYPTO_SEED_SIZE] = {9};
    signer = base_crypto_signer_open(seed);
    return tlog_vkey_make(ORIGIN, TLOG_ED25519, base_crypto_signer_public(signer), &vkey) ? 0 : 1;
}

static int close_signer(void **state)
{
    (void)state;
    base_crypto_signer_close(&signer);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_checkpoint_that_is_signed_is_read_and_verified),
        cmocka_unit_test(no_changed_byte_of_a_note_still_verifies),
        cmocka_unit_test(a_proof_is_read_as_it_was_written),
        cmocka_unit_test(trust_without_witnesses_needs_the_log_alone),
    };
    return cmocka_run_group_tests_name("note", tests, open_signer, close_signer);
}
