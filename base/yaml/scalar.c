/* Plain scalars under the core schema of YAML 1.2 (section 10.3.2). */
#include "base/yaml/yaml_internal.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>

static bool one_of(const char *text, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(text, *words) == 0)
            return true;
    return false;
}

static size_t digits(const char *text)
{
    return strspn(text, "0123456789");
}

/* [-+]? [0-9]+, or 0o and octal, or 0x and hexadecimal digits */
static bool is_integer(const char *text, int *ret_base)
{
    if (strncmp(text, "0o", 2) == 0) {
        *ret_base = 8;
        return text[2] && !text[2 + strspn(text + 2, "01234567")];
    }
    if (strncmp(text, "0x", 2) == 0) {
        *ret_base = 16;
        return text[2] && !text[2 + strspn(text + 2, "0123456789abcdefABCDEF")];
    }
    *ret_base = 10;
    text += *text == '-' || *text == '+';
    return *text && !text[digits(text)];
}

/* [-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )? */
static bool is_real(const char *text)
{
    text += *text == '-' || *text == '+';
    size_t whole = digits(text);
    text += whole;
    if (*text == '.') {
        size_t fraction = digits(text + 1);
        if (whole + fraction == 0)
            return false;
        text += 1 + fraction;
    } else if (whole == 0) {
        return false;
    }
    if (*text != 'e' && *text != 'E')
        return !*text;
    text++;
    text += *text == '-' || *text == '+';
    return *text && !text[digits(text)];
}

static bool is_infinite(const char *text)
{
    static const char *const words[] = {".inf",  ".Inf",  ".INF",  "+.inf", "+.Inf",
                                        "+.INF", "-.inf", "-.Inf", "-.INF", ".nan",
                                        ".NaN",  ".NAN",  NULL};
    return one_of(text, words);
}

enum yaml_scalar yaml_scalar_kind(const char *text)
{
    static const char *const null[] = {"", "~", "null", "Null", "NULL", NULL};
    static const char *const yes[] = {"true", "True", "TRUE", NULL};
    static const char *const no[] = {"false", "False", "FALSE", NULL};
    int base;
    if (one_of(text, null))
        return YAML_SCALAR_NULL;
    if (one_of(text, yes))
        return YAML_SCALAR_TRUE;
    if (one_of(text, no))
        return YAML_SCALAR_FALSE;
    if (is_integer(text, &base))
        return YAML_SCALAR_INTEGER;
    if (is_real(text))
        return YAML_SCALAR_REAL;
    return is_infinite(text) ? YAML_SCALAR_INFINITE : YAML_SCALAR_TEXT;
}

bool yaml_reads_as_text(const char *text)
{
    return yaml_scalar_kind(text) == YAML_SCALAR_TEXT;
}

bool yaml_scalar_integer(const char *text, int64_t *ret_value)
{
    int base = 10;
    if (!is_integer(text, &base))
        return false;
    errno = 0;
    long long value = strtoll(base == 10 ? text : text + 2, NULL, base);
    if (errno != 0)
        return false;
    *ret_value = value;
    return true;
}

bool yaml_scalar_real(const char *text, double *ret_value)
{
    double value = strtod(text, NULL);
    if (!isfinite(value))
        return false;
    *ret_value = value;
    return true;
}
