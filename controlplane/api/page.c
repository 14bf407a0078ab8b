#include "controlplane/api/page.h"

#include "base/core/parse.h"

#include <assert.h>
#include <string.h>

static const char *key_of(struct cr_call *call, const struct cr_shape *shape, const char *key,
                          const void *item)
{
    for (size_t i = 0; i < shape->member_count; i++) {
        const struct cr_member *member = &shape->members[i];
        const char *at = (const char *)item + member->offset;
        if (strcmp(member->name, key) != 0)
            continue;
        if (member->kind == CR_KIND_INTEGER)
            return cr_format(call, "%lld", (long long)*(const int64_t *)(const void *)at);
        return *(const char *const *)(const void *)at;
    }
    return NULL;
}

void api_page(struct cr_call *call, const struct api *api, const struct cr_list *list,
              const struct cr_shape *item, const char *key, struct api_page *ret_page)
{
    size_t limit = (size_t)api->limit;
    *ret_page = (struct api_page){.data = *list};
    if (list->count <= limit)
        return;
    ret_page->data.count = limit;
    const void *last = (const char *)list->items + (limit - 1) * item->size;
    const char *last_key = key_of(call, item, key, last);
    assert(last_key);
    ret_page->next_after = api_cursor(call, api, last_key);
}

void api_page_whole(const struct cr_list *list, struct api_page *ret_page)
{
    *ret_page = (struct api_page){.data = *list};
}

int64_t api_after_integer(const struct api *api)
{
    int64_t value;
    bool good =
        api->after && cr_parse_integer(api->after, strlen(api->after), 0, INT64_MAX, &value);
    return good ? value : CR_NO_INTEGER;
}
