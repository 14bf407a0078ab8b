/* ground: what the ledger stands on: Ed25519 by libsodium's rule, and RFC 8785. */
#include "tests/vectors/ledger/vectors.h"

#include "base/crypto/crypto.h"

#include <string.h>

static bool check_ed25519(struct cr_call *call, const char *folder, const struct json_value *file,
                          const struct json_value *one)
{
    (void)folder;
    (void)file;
    struct cr_bytes key = hex_of(call, text_of(one, "key")),
                    sig = hex_of(call, text_of(one, "sig"));
    const char *message = text_of(one, "msg");
    return key.size == BASE_CRYPTO_PUBLIC_SIZE && sig.size == BASE_CRYPTO_SIGNATURE_SIZE &&
           base_crypto_verify(key.data, message, strlen(message), sig.data) ==
               true_of(one, "libsodium");
}

static bool check_jcs(struct cr_call *call, const char *folder, const struct json_value *file,
                      const struct json_value *one)
{
    (void)folder;
    (void)file;
    static const struct json_limits as_jcs = {
        .size = (size_t)1 << 20, .members = 1024, .jcs = true};
    struct cr_bytes input = hex_of(call, text_of(one, "input_hex"));
    const struct json_value *value = NULL;
    if (json_parse(call, &as_jcs, (const char *)input.data, input.size, &value) != CR_OK)
        return json_member(one, "error") != NULL;
    const char *output = json_canonical(call, value);
    return !json_member(one, "error") &&
           strcmp(cr_hex(call, output, strlen(output)), text_of(one, "output_hex")) == 0;
}

/* clang-format off */
const struct suite ground_suites[] = {
    {"ed25519",   "ed25519/cctv.jsonl", NULL, check_ed25519},
    {"jcs/cases", "jcs/cases.jsonl",    NULL, check_jcs},
    {0},
};
/* clang-format on */
