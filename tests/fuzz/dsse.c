/* dsse: what is not signed is never accepted, and what is written is read again as it was. */
#include "policy/provenance/provenance.h"

#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct provenance_envelope read, again;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(NULL, INT64_MAX);
    static const unsigned char seed[BASE_CRYPTO_SEED_SIZE] = {7};
    static struct base_crypto_signer *signer;
    if (!signer)
        signer = base_crypto_signer_open(seed);
    const unsigned char *keys[] = {base_crypto_signer_public(signer)};

    const struct json_value *value = NULL;
    if (json_parse(&call, NULL, (const char *)data, size, &value) != CR_OK ||
        !provenance_envelope_read(&call, value, &read))
        return 0;
    assert(provenance_signers(&call, &read, keys, 1, NULL) == 0);
    const char *text = provenance_envelope_write(&call, &read);
    assert(json_parse(&call, NULL, text, strlen(text), &value) == CR_OK);
    assert(provenance_envelope_read(&call, value, &again));
    assert(strcmp(again.payload_type, read.payload_type) == 0);
    assert(again.payload.size == read.payload.size &&
           (read.payload.size == 0 ||
            memcmp(again.payload.data, read.payload.data, read.payload.size) == 0));
    return 0;
}
