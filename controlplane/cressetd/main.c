/* main: what holds for the whole process, then the verb. */
#include "controlplane/cressetd/cressetd.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

/* No secret may stand in a core, nor be read by another process of the same user (input.7). */
static void keep_secrets(void)
{
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_DUMPABLE, 0);
    umask(0027);
}

/* Connections, streams and files: as many as the system lets us have. */
static void want_descriptors(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

int main(int argc, char **argv)
{
    keep_secrets();
    want_descriptors();
    struct cr_env env = cr_env_system();
    return verb_run(&env, argc, argv);
}
