/* test_data: the files of vectors that are kept beside the repository, not in it. */
#pragma once

#include "base/core/file.h"
#include "tests/unit/test.h"

#include <stdio.h>
#include <stdlib.h>

#define TEST_DATA_SIZE_MAX ((size_t)64 << 20)

/*
 * The whole of a file below the folder of vectors ($CRESSET_TEST_DATA, or ../shared/data). Where it
 * is missing the test is skipped, and says so; under CI it fails.
 */
static inline struct cr_bytes test_data(struct cr_call *call, const char *name)
{
    const char *folder = getenv("CRESSET_TEST_DATA");
    const char *path = cr_format(call, "%s/%s", folder ? folder : "../shared/data", name);
    struct cr_bytes bytes = {NULL, 0};
    if (cr_file_read(call, path, TEST_DATA_SIZE_MAX, &bytes) != CR_OK) {
        if (getenv("CI"))
            fail_msg("%s", call->reason);
        printf("SKIPPED: %s\n", call->reason);
        skip();
    }
    return bytes;
}

/* The next line of a text, without its end; NULL: there is none. Moves *at behind it. */
static inline const char *test_line(struct cr_call *call, const char **at, size_t *ret_length)
{
    if (!**at)
        return NULL;
    size_t length = strcspn(*at, "\n");
    const char *line = cr_copy(call, *at, length);
    *at += length + ((*at)[length] == '\n');
    *ret_length = length;
    return line;
}
