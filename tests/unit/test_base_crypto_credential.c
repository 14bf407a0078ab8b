/* credential: one form, checked without asking anybody. */
#include "tests/unit/test.h"

#include "base/core/text.h"
#include "base/crypto/credential.h"

#include <stdio.h>
#include <string.h>

static bool parses(const char *text)
{
    struct base_crypto_credential credential;
    return base_crypto_credential_parse(text, strlen(text), &credential);
}

static void the_published_ones_are_taken(void **state)
{
    (void)state;
    static const struct {
        const char *text, *kind;
    } cases[] = {
        {"crs_live_0123456789AB_CDEFGHIJKLMNOPQRSTUVWXYZabcdef0xbdlz", "live"},
        {"crs_tok_0123456789AB_CDEFGHIJKLMNOPQRSTUVWXYZabcdef0lCTyQ", "tok"},
    };
    for (size_t i = 0; i < 2; i++) {
        struct base_crypto_credential credential;
        assert_true(
            base_crypto_credential_parse(cases[i].text, strlen(cases[i].text), &credential));
        assert_string_equal(credential.kind, cases[i].kind);
        assert_string_equal(credential.id, "0123456789AB");
        CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(NULL, INT64_MAX);
        assert_string_equal(base_crypto_credential_of(&call, cases[i].kind, "0123456789AB",
                                                      "CDEFGHIJKLMNOPQRSTUVWXYZabcdef"),
                            cases[i].text);
    }
}

static void what_is_not_one_is_refused(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "",
        "Bearer abc",
        "crs_live_k1abcdefghij_000000000000000000000000000000AAAAAA",
        "crs_live_k1abcdefghij_0000",
        "crs_live_k1abcdefghij_00000000000000000000000000000\xD9\xA0"
        "AAAAAA",
        "crs_live_0123456789AB_CDEFGHIJKLMNOPQRSTUVWXYZabcdef0xbdlz ",
        " crs_live_0123456789AB_CDEFGHIJKLMNOPQRSTUVWXYZabcdef0xbdlz",
        "crs_live_0123456789AB-CDEFGHIJKLMNOPQRSTUVWXYZabcdef0xbdlz",
        "crs_liv_0123456789AB_CDEFGHIJKLMNOPQRSTUVWXYZabcdef0xbdlz",
        "crs__0123456789AB_CDEFGHIJKLMNOPQRSTUVWXYZabcdef0xbdlz",
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_false(parses(cases[i]));
}

static void a_letter_that_is_another_is_noticed(void **state)
{
    (void)state;
    char text[] = "crs_live_0123456789AB_CDEFGHIJKLMNOPQRSTUVWXYZabcdef0xbdlz";
    for (size_t i = 0; i < strlen(text); i++) {
        char before = text[i];
        text[i] = before == 'Q' ? 'R' : 'Q';
        assert_false(parses(text));
        text[i] = before;
    }
    assert_true(parses(text));
}

static void a_fresh_one_is_taken_and_no_two_are_alike(void **state)
{
    (void)state;
    struct cr_env env = cr_env_system();
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
    for (const char *const *kind = base_crypto_credential_kinds; *kind; kind++) {
        struct base_crypto_credential made, read;
        const char *text = base_crypto_credential_make(&call, *kind, &made);
        assert_true(base_crypto_credential_parse(text, strlen(text), &read));
        assert_string_equal(made.id, read.id);
        assert_string_equal(read.kind, *kind);
        assert_string_not_equal(text, base_crypto_credential_make(&call, *kind, &made));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_published_ones_are_taken),
        cmocka_unit_test(what_is_not_one_is_refused),
        cmocka_unit_test(a_letter_that_is_another_is_noticed),
        cmocka_unit_test(a_fresh_one_is_taken_and_no_two_are_alike),
    };
    return cmocka_run_group_tests_name("credential", tests, NULL, NULL);
}
