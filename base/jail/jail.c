/* jail: what is prepared before the fork. */
#include "base/jail/jail_internal.h"

#include <assert.h>
#include <fcntl.h>
#include <unistd.h>

/* A descriptor of ours for the same file, with a number that no program needs. -1: there is none.
 */
static int high(int descriptor)
{
    return descriptor < 0 ? -1 : fcntl(descriptor, F_DUPFD_CLOEXEC, JAIL_DESCRIPTOR_MIN);
}

static int open_folder(const char *path)
{
    int low = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int folder = high(low);
    if (low >= 0)
        close(low);
    return folder;
}

enum cr_status jail_open(struct cr_call *call, const struct jail_config *config,
                         struct jail **ret_jail)
{
    struct jail *jail = calloc(1, sizeof *jail);
    if (!jail)
        abort();
    jail->config = *config;
    jail->config.program = high(config->program);
    for (const char *const *folder = config->libraries; *folder; folder++) {
        assert(jail->folder_count < JAIL_FOLDERS_MAX);
        jail->folders[jail->folder_count++] = open_folder(*folder);
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
    if ((*jail)->config.program >= 0)
        close((*jail)->config.program);
    free((*jail)->load_filter);
    free(*jail);
    *jail = NULL;
}
