/* billing_internal: how the documents of billing are read and written, and their common forms. */
#pragma once

#include "billing/billing.h"

/*
 * Reads a canonical body: JSON of the shape that is, written again, the same bytes, and whose type
 * is this one. The shapes' members stand in the order of their names, so that what is written is
 * canonical. type_of gives the type's place in the struct. The call is left as it was.
 */
bool billing_body_read(struct cr_call *call, const struct cr_shape *shape, struct cr_bytes body,
                       void *ret_value);
struct cr_bytes billing_body_write(struct cr_call *call, const struct cr_shape *shape,
                                   const void *value);

/* 64 lower hex digits; and a boot: a UUID in lower hex. */
bool billing_is_digest(const char *text);
bool billing_is_boot(const char *text);

/* "eu1.cresset.example": a region's name as signed bodies have it. */
bool billing_is_region(const char *text);

/* A flavor or another word: lower case, digits and '-', 1 to 63. */
bool billing_is_word(const char *text);
