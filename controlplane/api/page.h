/*
 * page: one page of a list, as every list of the interface gives it: {"data", "next_after"}.
 *
 *     API_PAGE(jobs_page, job_shape);
 *
 *     struct cr_list jobs;
 *     CR_TRY(jobs_list(call, api->service, api->who, api->query, api->after, api->limit + 1,
 * &jobs)); api_page(call, api, &jobs, &job_shape, "job", ret_page);
 *
 * One item more than the page takes is asked for, so that the last page says that it is the last.
 */
#pragma once

#include "controlplane/api/api.h"

struct api_page {
    struct cr_list data;
    const char *next_after; /* NULL: this is the last page */
};

#define API_PAGE(page, item)                                                                  \
    static const struct cr_member page##_members[] = {                                        \
        CR_LIST(struct api_page, data, &item, 0, API_LIMIT_MAX),                              \
        CR_MEMBER(struct api_page, next_after, 1, API_CURSOR_SIZE_MAX, .flags = CR_NULLABLE), \
    };                                                                                        \
    static const struct cr_shape page = CR_SHAPE(struct api_page, page##_members)

/* The page of a list of items; key names the member, a text or an integer, that orders them. */
void api_page(struct cr_call *call, const struct api *api, const struct cr_list *list,
              const struct cr_shape *item, const char *key, struct api_page *ret_page);

/* The same for a list that is told whole, on one page. */
void api_page_whole(const struct cr_list *list, struct api_page *ret_page);

/* The last key of the page before, where it is an integer; CR_NO_INTEGER for the first page. */
int64_t api_after_integer(const struct api *api);
