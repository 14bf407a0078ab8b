/* jail: what is prepared before the fork. */
#include "base/jail/jail_internal.h"

#include <assert.h>
#include <fcntl.h>
#include <unistd.h>

enum cr_status jail_open(struct cr_call *call, const struct jail_config *config,
                         struct jail **ret_jail)
{
    struct jail *jail = calloc(1, sizeof *jail);
    if (!jail)
        abort();
    jail->config = *config;
    for (const char *const *folder = config->libraries; *folder; folder++) {
        assert(jail->folder_count < JAIL_FOLDERS_MAX);
        jail->folders[jail->folder_count++] = open(*folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    }
    enum cr_status status = jail_compile(call, jail);
    if (status != CR_OK)
        jail_close(&jail);
    else
        *ret_jail = jail;
    return status;
}

void jail_close(struct jail **jail)
{
    if (!*jail)
        return;
    for (size_t i = 0; i < (*jail)->folder_count; i++)
        if ((*jail)->folders[i] >= 0)
            close((*jail)->folders[i]);
    free((*jail)->load_filter);
    free(*jail);
    *jail = NULL;
}
