/*
 * landlock: files by Landlock, through its three syscalls. Debian 12's header ends at ABI 2; the
 * newer rights are defined here, and the kernel is asked which it knows.
 */
#include "base/jail/jail_internal.h"

#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule       445
#define SYS_landlock_restrict_self  446
#endif

#define VERSION_FLAG    1u
#define RULE_BENEATH    1
#define RIGHT_EXECUTE   (UINT64_C(1) << 0)
#define RIGHT_READ_FILE (UINT64_C(1) << 2)
#define RIGHT_READ_DIR  (UINT64_C(1) << 3)
#define NET_ALL         UINT64_C(3) /* bind and connect of TCP: ABI 4 */
#define SCOPE_ALL       UINT64_C(3) /* abstract sockets and signals: ABI 6 */

/* The rights over files that each ABI knows: all up to and with the given bit. */
static uint64_t file_rights(long abi)
{
    static const int last[] = {12, 12, 13, 14, 14, 15}; /* of ABI 0 (unused), 1, 2, 3, 4, 5 */
    long known = (long)(sizeof last / sizeof last[0]) - 1;
    return (UINT64_C(2) << last[abi < known ? abi : known]) - 1;
}

static bool allow(int rules, int beneath, uint64_t rights)
{
    struct {
        uint64_t rights;
        int32_t beneath;
    } __attribute__((packed)) rule = {rights, beneath};
    return syscall(SYS_landlock_add_rule, rules, RULE_BENEATH, &rule, 0) == 0;
}

bool jail_landlock(const struct jail *jail)
{
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, VERSION_FLAG);
    if (abi < 1)
        return false;
    struct {
        uint64_t files, net, scope;
    } handled = {.files = file_rights(abi)};
    size_t size = sizeof handled.files;
    if (abi >= 4) {
        handled.net = NET_ALL;
        size += sizeof handled.net;
    }
    if (abi >= 6) {
        handled.scope = SCOPE_ALL;
        size += sizeof handled.scope;
    }
    int rules = (int)syscall(SYS_landlock_create_ruleset, &handled, size, 0);
    if (rules < 0)
        return false;
    bool done = true;
    for (size_t i = 0; i < jail->folder_count; i++)
        if (jail->folders[i] >= 0)
            done = done &&
                   allow(rules, jail->folders[i], RIGHT_EXECUTE | RIGHT_READ_FILE | RIGHT_READ_DIR);
    if (jail->config.program >= 0)
        done = done && allow(rules, jail->config.program, RIGHT_EXECUTE | RIGHT_READ_FILE);
    done = done && syscall(SYS_landlock_restrict_self, rules, 0) == 0;
    close(rules);
    return done;
}
