/* What a plain scalar is; see scalar.c. */
#pragma once

#include "base/yaml/yaml.h"

enum yaml_scalar {
    YAML_SCALAR_NULL,
    YAML_SCALAR_TRUE,
    YAML_SCALAR_FALSE,
    YAML_SCALAR_INTEGER,
    YAML_SCALAR_REAL,
    YAML_SCALAR_INFINITE,
    YAML_SCALAR_TEXT,
};

enum yaml_scalar yaml_scalar_kind(const char *text);

/* The value of a scalar of that kind; false where 64 bits do not hold it. */
bool yaml_scalar_integer(const char *text, int64_t *ret_value);
bool yaml_scalar_real(const char *text, double *ret_value);
