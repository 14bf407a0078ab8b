/*
 * text: values that travel as text: money, durations, moments, integers, numbers, ids, base64,
 * hex, percent encoding, credentials. What is taken is written again as the text that it was, or,
 * where a value has several texts, as one that is taken for the same value.
 */
#include "base/core/id.h"
#include "base/core/parse.h"
#include "base/core/text.h"
#include "base/core/time.h"
#include "base/crypto/credential.h"

#include <assert.h>
#include <string.h>

static bool same(const char *a, const char *text, size_t length)
{
    return strlen(a) == length && memcmp(a, text, length) == 0;
}

static void check_numbers(struct cr_call *call, const char *text, size_t length)
{
    int64_t value, again;
    if (cr_parse_integer(text, length, INT64_MIN, INT64_MAX, &value))
        assert(same(cr_format(call, "%lld", (long long)value), text, length));
    if (cr_parse_money(text, length, &value)) {
        const char *print = cr_format(call, "%lld.%06lld", (long long)(value / 1000000),
                                      (long long)(value % 1000000));
        assert(cr_parse_money(print, strlen(print), &again) && again == value);
    }
    if (cr_parse_duration(text, length, &value)) {
        char print[CR_DURATION_SIZE];
        cr_duration_print(value, print);
        assert(strlen(print) <= length);
        assert(cr_parse_duration(print, strlen(print), &again) && again == value);
    }
    double number, number_again;
    if (cr_parse_number(text, length, &number)) {
        const char *print = cr_format(call, "%.17g", number);
        assert(strchr(print, '+') || cr_parse_number(print, strlen(print), &number_again));
    }
}

static void check_moments(const char *text, size_t length)
{
    int64_t value, again;
    char print[CR_TIME_SIZE], date[CR_DATE_SIZE];
    if (cr_time_parse(text, length, &value)) {
        cr_time_print(value, print);
        assert(cr_time_parse(print, strlen(print), &again) && again == value);
        assert(memcmp(print, text, 19) == 0);
    }
    if (cr_date_parse(text, length, &value)) {
        cr_date_print(value, date);
        assert(same(date, text, length));
    }
}

static void check_bytes(struct cr_call *call, const char *text, size_t length)
{
    static const enum cr_base64 alphabets[] = {CR_BASE64_STANDARD, CR_BASE64_URL};
    for (size_t i = 0; i < 2; i++) {
        struct cr_bytes bytes;
        if (cr_base64_parse(call, alphabets[i], text, length, &bytes))
            assert(same(cr_base64_print(call, alphabets[i], bytes.data, bytes.size), text, length));
    }
    unsigned char *hex = cr_new(call, unsigned char, length / 2 + 1);
    if (cr_hex_parse(text, length, hex, length / 2))
        assert(same(cr_hex(call, hex, length / 2), text, length));
    const char *plain = cr_percent_parse(call, text, length);
    if (plain) {
        const char *print = cr_percent_print(call, plain);
        assert(strcmp(cr_percent_parse(call, print, strlen(print)), plain) == 0);
    }
}

static void check_names(struct cr_call *call, const char *text, size_t length)
{
    const char *whole = cr_copy(call, text, length);
    if (cr_id_kind(whole))
        assert(strlen(whole) > CR_ID_ULID_LENGTH);
    if (cr_printable(whole))
        assert(cr_utf8(whole, strlen(whole)));
    struct base_crypto_credential credential;
    if (!base_crypto_credential_parse(text, length, &credential))
        return;
    const char *secret = strrchr(whole, '_') + 1;
    const char *print = base_crypto_credential_of(call, credential.kind, credential.id,
                                                  cr_copy(call, secret, strlen(secret) - 6));
    assert(same(print, text, length));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(NULL, INT64_MAX);
    const char *text = cr_copy(&call, data, size);
    check_numbers(&call, text, size);
    check_moments(text, size);
    check_bytes(&call, text, size);
    check_names(&call, text, size);
    return 0;
}
