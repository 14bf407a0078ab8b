/* crypto: published vectors hold, and what was sealed opens only as it was. */
#include "tests/unit/test_data.h"

#include "base/core/text.h"
#include "base/crypto/crypto.h"
#include "base/json/json.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct json_limits wide = {.size = (size_t)4 << 20, .members = 64};

static const struct cr_env *env(void)
{
    static struct cr_env system;
    system = cr_env_system();
    return &system;
}

static struct cr_bytes from_hex(struct cr_call *call, const char *text)
{
    size_t size = strlen(text) / 2;
    unsigned char *bytes = cr_new(call, unsigned char, size + 1);
    assert_true(cr_hex_parse(text, strlen(text), bytes, size));
    return (struct cr_bytes){bytes, size};
}

static bool verifies(struct cr_call *call, const char *key, const char *signature,
                     struct cr_bytes message)
{
    struct cr_bytes key_bytes = from_hex(call, key), bytes = from_hex(call, signature);
    return key_bytes.size == BASE_CRYPTO_PUBLIC_SIZE && bytes.size == BASE_CRYPTO_SIGNATURE_SIZE &&
           base_crypto_verify(key_bytes.data, message.data, message.size, bytes.data);
}

static void wycheproof_agrees_on_every_signature(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(env(), INT64_MAX);
    struct cr_bytes text = test_data(&call, "reliability/wycheproof/ed25519_test.json");
    const struct json_value *file;
    assert_ok(&call, json_parse(&call, &wide, (const char *)text.data, text.size, &file));
    const struct json_value *groups = json_member(file, "testGroups");
    size_t count = 0;
    for (size_t i = 0; i < groups->count; i++) {
        const char *key = json_at(&groups->items[i], "/publicKey/pk")->text;
        const struct json_value *cases = json_member(&groups->items[i], "tests");
        for (size_t k = 0; k < cases->count; k++, count++) {
            const struct json_value *one = &cases->items[k];
            bool good = verifies(&call, key, json_member_text(one, "sig"),
                                 from_hex(&call, json_member_text(one, "msg")));
            assert_int_equal(good, strcmp(json_member_text(one, "result"), "valid") == 0);
        }
    }
    assert_int_equal(count, 151);
}

/* design/ledger.md, section 13: a library that accepts others than these is another rule. */
static void of_the_914_edge_cases_exactly_43_are_accepted(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call all = cr_call_open(env(), INT64_MAX);
    const char *at = (const char *)test_data(&all, "ledger/ed25519/cctv.jsonl").data, *line;
    size_t length, count = 0, accepted = 0;
    while ((line = test_line(&all, &at, &length))) {
        CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(env(), INT64_MAX);
        const struct json_value *row;
        assert_ok(&call, json_parse(&call, NULL, line, length, &row));
        const char *message = json_member_text(row, "msg");
        bool good = verifies(&call, json_member_text(row, "key"), json_member_text(row, "sig"),
                             (struct cr_bytes){(const unsigned char *)message, strlen(message)});
        bool allowed = true;
        const struct json_value *flags = json_member(row, "flags");
        for (size_t i = 0; flags && i < flags->count; i++)
            allowed &= strncmp(flags->items[i].text, "low_order_component_", 20) == 0;
        assert_int_equal(good, json_member(row, "libsodium")->boolean);
        assert_int_equal(good, allowed);
        accepted += good;
        count++;
    }
    assert_int_equal(count, 914);
    assert_int_equal(accepted, 43);
}

/* RFC 8032, section 7.1, test 2. */
static void a_seed_signs_as_the_rfc_says(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(env(), INT64_MAX);
    CR_SCOPED(base_crypto_signer_close)
    struct base_crypto_signer *signer = base_crypto_signer_open(
        from_hex(&call, "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb").data);
    assert_string_equal(cr_hex(&call, base_crypto_signer_public(signer), BASE_CRYPTO_PUBLIC_SIZE),
                        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c");
    unsigned char signature[BASE_CRYPTO_SIGNATURE_SIZE];
    base_crypto_sign(signer, "\x72", 1, signature);
    assert_string_equal(cr_hex(&call, signature, sizeof signature),
                        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
                        "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00");
    assert_true(base_crypto_verify(base_crypto_signer_public(signer), "\x72", 1, signature));
    assert_false(base_crypto_verify(base_crypto_signer_public(signer), "\x73", 1, signature));
}

static void a_hash_is_the_same_in_pieces(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(env(), INT64_MAX);
    unsigned char whole[BASE_CRYPTO_SHA256_SIZE], pieces[BASE_CRYPTO_SHA256_SIZE];
    base_crypto_sha256("abc", 3, whole);
    assert_string_equal(cr_hex(&call, whole, sizeof whole),
                        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    struct base_crypto_sha256 hash;
    base_crypto_sha256_init(&hash);
    base_crypto_sha256_add(&hash, "a", 1);
    base_crypto_sha256_add(&hash, "bc", 2);
    base_crypto_sha256_done(&hash, pieces);
    assert_memory_equal(whole, pieces, sizeof whole);
}

/* The answer was made with another implementation, Python's hashlib. */
static void a_keyed_hash_depends_on_its_key(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(env(), INT64_MAX);
    unsigned char key[BASE_CRYPTO_KEY_SIZE], hash[32];
    for (size_t i = 0; i < sizeof key; i++)
        key[i] = (unsigned char)i;
    base_crypto_keyed(key, "cresset", 7, hash, sizeof hash);
    assert_string_equal(cr_hex(&call, hash, sizeof hash),
                        "137324ee8373c3047f9ee9e73089988d353de36ad2f2b7dcbaaf5fab93b69e06");
}

static void what_was_sealed_opens_only_as_it_was(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(env(), INT64_MAX);
    unsigned char key[BASE_CRYPTO_KEY_SIZE] = {7};
    struct cr_bytes beside = {(const unsigned char *)"for whom", 8};
    struct cr_bytes plain = {(const unsigned char *)"a secret", 8}, opened;
    struct cr_bytes sealed = base_crypto_seal(&call, key, beside, plain);
    assert_int_equal(sealed.size, plain.size + BASE_CRYPTO_SEAL_EXTRA_SIZE);
    assert_ok(&call, base_crypto_unseal(&call, key, beside, sealed, &opened));
    assert_string_equal((const char *)opened.data, "a secret");

    for (size_t i = 0; i < sealed.size; i++) {
        unsigned char *changed = cr_new(&call, unsigned char, sealed.size);
        memcpy(changed, sealed.data, sealed.size);
        changed[i] ^= 1;
        struct cr_bytes other = {changed, sealed.size};
        assert_int_equal(base_crypto_unseal(&call, key, beside, other, &opened), CR_INVALID);
        cr_forgive(&call);
    }
    beside.size--;
    assert_int_equal(base_crypto_unseal(&call, key, beside, sealed, &opened), CR_INVALID);
}

static void a_secret_that_others_may_read_is_refused(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(env(), INT64_MAX);
    char folder[] = "/tmp/cresset-test-XXXXXX";
    assert_non_null(mkdtemp(folder));
    const char *path = cr_format(&call, "%s/pepper", folder);
    assert_ok(&call, base_crypto_secret_make(&call, path, 32));
    assert_int_equal(base_crypto_secret_make(&call, path, 32), CR_CONFLICT);
    cr_forgive(&call);

    unsigned char *secret, zero[32] = {0};
    assert_ok(&call, base_crypto_secret_read(&call, path, 32, &secret));
    assert_false(base_crypto_equal(secret, zero, 32));
    base_crypto_secret_close(secret);
    assert_int_equal(base_crypto_secret_read(&call, path, 31, &secret), CR_INVALID);
    cr_forgive(&call);
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(base_crypto_secret_read(&call, path, 32, &secret), CR_INVALID);
    unlink(path);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wycheproof_agrees_on_every_signature),
        cmocka_unit_test(of_the_914_edge_cases_exactly_43_are_accepted),
        cmocka_unit_test(a_seed_signs_as_the_rfc_says),
        cmocka_unit_test(a_hash_is_the_same_in_pieces),
        cmocka_unit_test(a_keyed_hash_depends_on_its_key),
        cmocka_unit_test(what_was_sealed_opens_only_as_it_was),
        cmocka_unit_test(a_secret_that_others_may_read_is_refused),
    };
    return cmocka_run_group_tests_name("crypto", tests, NULL, NULL);
}
