/*
 * call: one unit of work, and everything that ends with it.
 *
 * A call is opened for every HTTP request, bus message and timer tick, and closed once its answer
 * is sent. Between the two it carries what would otherwise be passed, or forgotten, piece by piece:
 *
 *     memory      whatever is allocated for the answer; cr_call_close frees it in one stroke
 *     failure     why the work cannot go on, written once, by the function that found out
 *     deadline    when the caller stops waiting; a function that blocks must look at it
 *     env         the clock, the randomness and the services that it may use
 *
 * A signature therefore tells the nature of a function:
 *
 *     takes a call      may allocate, block or fail; returns a status that must be looked at
 *     takes none        only computes: equal arguments give equal answers
 *
 * Threads: a call belongs to one thread at a time. Nothing in it is locked.
 */
#pragma once

#include "base/core/env.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* clang-format off */
/* Every way a call can end: its name, its word in answers and logs, the HTTP status it becomes. */
#define CR_STATUS_TABLE(row)                                                                      \
    row(CR_OK,              "ok",              200) /* done                                    */ \
    row(CR_INVALID,         "invalid",         400) /* the request is wrong as it is written   */ \
    row(CR_UNAUTHENTICATED, "unauthenticated", 401) /* we do not know who asks                 */ \
    row(CR_DENIED,          "denied",          403) /* policy says no                          */ \
    row(CR_NOT_FOUND,       "not_found",       404) /* what it names does not exist            */ \
    row(CR_CONFLICT,        "conflict",        409) /* somebody else changed it first          */ \
    row(CR_TOO_LARGE,       "too_large",       413) /* it is longer than its limit             */ \
    row(CR_MISMATCH,        "mismatch",        422) /* its key stands for another request      */ \
    row(CR_EXHAUSTED,       "exhausted",       429) /* a quota, queue or device memory is full */ \
    row(CR_INTERNAL,        "internal",        500) /* a bug of ours                           */ \
    row(CR_UNAVAILABLE,     "unavailable",     503) /* a service we need does not answer       */ \
    row(CR_UNKNOWN,         "unknown",         503) /* done or not: ask again, with its key    */ \
    row(CR_TIMEOUT,         "timeout",         504) /* the deadline has passed                 */
/* clang-format on */

#define CR_STATUS_NAME(name, word, http) name,
enum cr_status { CR_STATUS_TABLE(CR_STATUS_NAME) };
#undef CR_STATUS_NAME

/* The result must be used. */
#define CR_CHECK __attribute__((warn_unused_result))

/* The variable is closed by close(&variable) when its scope ends, on every path out of it. */
#define CR_SCOPED(close) __attribute__((cleanup(close)))

/*
 * The one macro that hides a return: hands a failure on to the caller. Safe on any line, since all
 * memory belongs to the call and every other resource is CR_SCOPED.
 */
#define CR_TRY(work)                     \
    do {                                 \
        enum cr_status status_ = (work); \
        if (status_ != CR_OK)            \
            return status_;              \
    } while (0)

/*
 * A finer word than the status, for people and their programs. The module that finds the fault
 * declares it; the status is the class of its HTTP status.
 */
struct cr_code {
    const char *word; /* for example "wrong_id_kind" */
    enum cr_status status;
    int http;
    int exit; /* of the command line */
    bool retryable;
    const char *title; /* one sentence, the same for every occurrence */
};

/* One of the things that are wrong with a request, named as the client named it. */
enum cr_fault_place { CR_AT_POINTER, CR_AT_PARAMETER, CR_AT_HEADER };
struct cr_fault {
    enum cr_fault_place place;
    const char *at; /* a JSON pointer such as "/resources/gpus", a parameter, a header */
    const char *code;
    const char *detail;
};
#define CR_FAULTS_MAX 20 /* of one request; what comes after is not told */

/* One more member of an error answer, for example "permission" or "limit". */
struct cr_extra {
    const char *name;
    const char *text; /* NULL: the number counts */
    int64_t number;
};
#define CR_EXTRAS_MAX  4

#define CR_REASON_SIZE 256

struct cr_call {
    const struct cr_env *env;
    int64_t deadline_ns;         /* of env's now_ns; INT64_MAX for none */
    enum cr_status status;       /* CR_OK until something fails; what a failed function returns */
    const struct cr_code *code;  /* the finer word; NULL where there is none */
    char reason[CR_REASON_SIZE]; /* one sentence; a client sees it only where HTTP is below 500 */
    struct cr_fault *faults;     /* of the call's memory; NULL where there are none */
    size_t fault_count;
    struct cr_extra extras[CR_EXTRAS_MAX];
    size_t extra_count;
    const char *trace;        /* traceparent of W3C, to hand on; NULL for none */
    struct cr_memory *memory; /* private to call.c */
};

/* A fresh call. The caller closes it: CR_SCOPED(cr_call_close) struct cr_call call = ... */
struct cr_call cr_call_open(const struct cr_env *env, int64_t deadline_ns);

/* Frees all memory of the call. May be repeated. */
void cr_call_close(struct cr_call *call);

/* Readings of the call's env. */
int64_t cr_now_ns(const struct cr_call *call);
int64_t cr_utc_us(const struct cr_call *call);
void cr_random(const struct cr_call *call, void *bytes, size_t size);

/* Whether the deadline has passed. */
bool cr_expired(const struct cr_call *call);

/*
 * Zeroed memory for count things of size bytes, aligned for any type; it lives until the call is
 * closed. Never NULL: sizes that a client controls are bounded at the edge, and running out of the
 * memory that is left ends the process.
 */
void *cr_alloc(struct cr_call *call, size_t count, size_t size) __attribute__((returns_nonnull));
#define cr_new(call, type, count) ((type *)cr_alloc((call), (count), sizeof(type)))

/* The text that printf would print. It lives until the call is closed. */
const char *cr_format(struct cr_call *call, const char *format, ...)
    __attribute__((format(printf, 2, 3), returns_nonnull));

/* A copy of length bytes with a NUL behind; it lives until the call is closed. */
const char *cr_copy(struct cr_call *call, const void *bytes, size_t length)
    __attribute__((returns_nonnull));

/*
 * Ends the work: records why, and returns the status, to be handed on at once, as in
 * "return cr_fail(call, CR_NOT_FOUND, ...)". The first failure stays, and is what any later one
 * returns. In the reason, a byte that is not printable ASCII becomes '?'; what is too long is cut.
 */
enum cr_status cr_fail(struct cr_call *call, enum cr_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4))) CR_CHECK;

/* The same under a finer word, whose status it returns. */
enum cr_status cr_fail_as(struct cr_call *call, const struct cr_code *code, const char *format, ...)
    __attribute__((format(printf, 3, 4))) CR_CHECK;

/*
 * Notes one thing that is wrong, and goes on, so that a client is told all of them at once. The
 * caller ends the work by cr_fail_as when it has looked at everything and call->fault_count > 0.
 */
void cr_fault(struct cr_call *call, enum cr_fault_place place, const char *at, const char *code,
              const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Adds a member to the error answer. name is static; text lives as long as the call. */
void cr_extra_text(struct cr_call *call, const char *name, const char *text);
void cr_extra_number(struct cr_call *call, const char *name, int64_t number);

/* The failure has been dealt with, and the work goes on. */
void cr_forgive(struct cr_call *call);

/* The word for clients and logs, for example "not_found". Static. */
const char *cr_status_word(enum cr_status status);

/* The HTTP status, for example 404. */
int cr_status_http(enum cr_status status);
