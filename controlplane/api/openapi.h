/* openapi: the document that is being printed; openapi.c has its operations, schema.c its schemas.
 */
#pragma once

#include "controlplane/api/api_internal.h"

#define OPENAPI_SCHEMAS_MAX 256

struct openapi {
    struct cr_text text;
    const struct cr_shape *named[OPENAPI_SCHEMAS_MAX]; /* that were referred to */
    size_t named_count;
};

void openapi_say(struct openapi *document, const char *text);  /* as it is */
void openapi_text(struct openapi *document, const char *text); /* quoted */

/* A shape with a name stands once, below components, and is referred to; one without, in its place.
 */
void openapi_shape(struct openapi *document, const struct cr_shape *shape);
void openapi_members(struct openapi *document, const struct cr_shape *shape);
void openapi_member(struct openapi *document, const struct cr_member *member);
