#include "base/core/call.h"

#include <assert.h>
#include <sanitizer/asan_interface.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT  _Alignof(max_align_t)
#define BLOCK_SIZE ((size_t)4096) /* at least; a call seldom needs a second */

/*
 * A block. Memory is cut from it by moving a mark, since a call allocates often and frees once.
 * What was not given out is poisoned, so that AddressSanitizer sees a step over an end.
 */
struct cr_memory {
    struct cr_memory *before;
    size_t used, size; /* of the bytes, which begin aligned for any type */
    _Alignas(max_align_t) unsigned char bytes[];
};

struct cr_call cr_call_open(const struct cr_env *env, int64_t deadline_ns)
{
    return (struct cr_call){.env = env, .deadline_ns = deadline_ns, .status = CR_OK};
}

int64_t cr_now_ns(const struct cr_call *call)
{
    return call->env->now_ns(call->env->context);
}

int64_t cr_utc_us(const struct cr_call *call)
{
    return call->env->utc_us(call->env->context);
}

void cr_random(const struct cr_call *call, void *bytes, size_t size)
{
    call->env->random(call->env->context, bytes, size);
}

bool cr_expired(const struct cr_call *call)
{
    return call->deadline_ns != INT64_MAX && cr_now_ns(call) >= call->deadline_ns;
}

void cr_call_close(struct cr_call *call)
{
    while (call->memory) {
        struct cr_memory *before = call->memory->before;
        free(call->memory);
        call->memory = before;
    }
}

static struct cr_memory *block_open(struct cr_memory *before, size_t wanted)
{
    size_t size = wanted > BLOCK_SIZE ? wanted : BLOCK_SIZE;
    struct cr_memory *block = calloc(1, sizeof *block + size);
    if (!block)
        abort();

    block->before = before;
    block->size = size;
    ASAN_POISON_MEMORY_REGION(block->bytes, size);
    return block;
}

void *cr_alloc(struct cr_call *call, size_t count, size_t size)
{
    size_t wanted;
    if (__builtin_mul_overflow(count, size, &wanted) || wanted > PTRDIFF_MAX)
        abort();

    size_t step = wanted + ALIGNMENT - wanted % ALIGNMENT; /* a byte or more stays between two */
    if (!call->memory || call->memory->size - call->memory->used < step)
        call->memory = block_open(call->memory, step);

    unsigned char *bytes = call->memory->bytes + call->memory->used;
    call->memory->used += step;
    ASAN_UNPOISON_MEMORY_REGION(bytes, wanted);
    return bytes;
}

const char *cr_format(struct cr_call *call, const char *format, ...)
{
    va_list values, again;
    va_start(values, format);
    va_copy(again, values);

    int length = vsnprintf(NULL, 0, format, values);
    assert(length >= 0);
    char *text = cr_new(call, char, (size_t)length + 1);
    vsnprintf(text, (size_t)length + 1, format, again);

    va_end(again);
    va_end(values);
    return text;
}

const char *cr_copy(struct cr_call *call, const void *bytes, size_t length)
{
    char *text = cr_new(call, char, length + 1);
    if (length)
        memcpy(text, bytes, length);
    return text;
}

__attribute__((format(printf, 3, 0))) static void print(char *text, size_t size, const char *format,
                                                        va_list values)
{
    vsnprintf(text, size, format, values);
    for (char *at = text; *at; at++)
        if (*at < ' ' || *at > '~')
            *at = '?';
}

enum cr_status cr_fail(struct cr_call *call, enum cr_status status, const char *format, ...)
{
    assert(status != CR_OK);
    if (call->status != CR_OK)
        return call->status;

    call->status = status;
    va_list values;
    va_start(values, format);
    print(call->reason, sizeof call->reason, format, values);
    va_end(values);
    return status;
}

enum cr_status cr_fail_as(struct cr_call *call, const struct cr_code *code, const char *format, ...)
{
    assert(code->status != CR_OK);
    if (call->status != CR_OK)
        return call->status;

    call->status = code->status;
    call->code = code;
    va_list values;
    va_start(values, format);
    print(call->reason, sizeof call->reason, format, values);
    va_end(values);
    return code->status;
}

void cr_fault(struct cr_call *call, enum cr_fault_place place, const char *at, const char *code,
              const char *format, ...)
{
    if (call->fault_count == CR_FAULTS_MAX)
        return;
    if (!call->faults)
        call->faults = cr_new(call, struct cr_fault, CR_FAULTS_MAX);

    char detail[CR_REASON_SIZE];
    va_list values;
    va_start(values, format);
    print(detail, sizeof detail, format, values);
    va_end(values);
    call->faults[call->fault_count++] = (struct cr_fault){
        .place = place,
        .at = cr_format(call, "%s", at),
        .code = code,
        .detail = cr_format(call, "%s", detail),
    };
}

static struct cr_extra *extra(struct cr_call *call, const char *name)
{
    assert(call->extra_count < CR_EXTRAS_MAX);
    call->extras[call->extra_count] = (struct cr_extra){.name = name};
    return &call->extras[call->extra_count++];
}

void cr_extra_text(struct cr_call *call, const char *name, const char *text)
{
    extra(call, name)->text = text;
}

void cr_extra_number(struct cr_call *call, const char *name, int64_t number)
{
    extra(call, name)->number = number;
}

void cr_forgive(struct cr_call *call)
{
    call->status = CR_OK;
    call->code = NULL;
    call->reason[0] = '\0';
    call->fault_count = 0;
    call->extra_count = 0;
}

static const struct {
    const char *word;
    int http;
} statuses[] = {
#define ROW(name, word_, http_) [name] = {.word = word_, .http = http_},
    CR_STATUS_TABLE(ROW)
#undef ROW
};

const char *cr_status_word(enum cr_status status)
{
    return statuses[status].word;
}

int cr_status_http(enum cr_status status)
{
    return statuses[status].http;
}
