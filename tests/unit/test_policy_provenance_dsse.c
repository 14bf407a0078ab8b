/* dsse: a key counts once, keyid is a hint, and a type is part of what is signed. */
#include "tests/unit/test.h"

#include "policy/provenance/provenance.h"

#include <string.h>

static struct base_crypto_signer *signers[2];
static const unsigned char *keys[3];

static struct provenance_envelope envelope_of(struct cr_call *call, int signer, const char *type)
{
    static const char body[] = "{\"a\":\"1\"}";
    return provenance_sign(call, type,
                           (struct cr_bytes){(const unsigned char *)body, sizeof body - 1},
                           "a hint", signers[signer]);
}

static void the_signing_input_is_that_of_the_protocol(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(NULL, INT64_MAX);
    struct cr_bytes pae =
        provenance_pae(&call, "http://example.com/HelloWorld",
                       (struct cr_bytes){(const unsigned char *)"hello world", 11});
    assert_string_equal((const char *)pae.data,
                        "DSSEv1 29 http://example.com/HelloWorld 11 hello world");
}

static void what_was_signed_is_read_and_verified_by_any_of_the_keys(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(NULL, INT64_MAX);
    struct provenance_envelope made = envelope_of(&call, 1, "t"), read;
    const char *text = provenance_envelope_write(&call, &made);
    const struct json_value *value = NULL;
    size_t first = 9;
    assert_ok(&call, json_parse(&call, NULL, text, strlen(text), &value));
    assert_true(provenance_envelope_read(&call, value, &read));
    assert_int_equal(provenance_signers(&call, &read, keys, 2, &first), 1);
    assert_int_equal(first, 1);
    read.payload_type = "u";
    assert_int_equal(provenance_signers(&call, &read, keys, 2, NULL), 0);
}

static void a_key_counts_once_and_a_bad_signature_does_no_harm(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(NULL, INT64_MAX);
    static const unsigned char zeroes[BASE_CRYPTO_SIGNATURE_SIZE];
    struct provenance_envelope made = envelope_of(&call, 0, "t");
    made.signatures[1] = made.signatures[0];
    made.signatures[2].sig = (struct cr_bytes){zeroes, sizeof zeroes};
    made.signature_count = 3;
    assert_int_equal(provenance_signers(&call, &made, keys, 3, NULL), 1); /* keys[2] is keys[0] */
    assert_int_equal(provenance_signers(&call, &made, keys, 0, NULL), 0);
}

static int open_signers(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        unsigned char seed[BASE_CRYPTO_SEED_SIZE] = {(unsigned char)(i + 1)};
        signers[i] = base_crypto_signer_open(seed);
        keys[i] = base_crypto_signer_public(signers[i]);
    }
    keys[2] = keys[0];
    return 0;
}

static int close_signers(void **state)
{
    (void)state;
    base_crypto_signer_close(&signers[0]);
    base_crypto_signer_close(&signers[1]);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_signing_input_is_that_of_the_protocol),
        cmocka_unit_test(what_was_signed_is_read_and_verified_by_any_of_the_keys),
        cmocka_unit_test(a_key_counts_once_and_a_bad_signature_does_no_harm),
    };
    return cmocka_run_group_tests_name("dsse", tests, open_signers, close_signers);
}
