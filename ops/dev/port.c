/* Ports on loopback: which are free, who holds the others. */
#include "ops/dev/dev_internal.h"

#include "base/core/parse.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#define PORT_TRIES  100
#define PORT_MAX    65535
#define TCP_LISTENS "0A" /* state LISTEN in /proc/net/tcp */

bool dev_port_free(int64_t port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
    if (fd < 0)
        return false;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    bool free =
        bind(fd, (const struct sockaddr *)&address, sizeof address) == 0 && listen(fd, 1) == 0;
    close(fd);
    return free;
}

int64_t dev_port_from(int64_t port)
{
    for (int64_t end = port + PORT_TRIES; port < end && port <= PORT_MAX; port++)
        if (dev_port_free(port))
            return port;
    return 0;
}

/* The inode of the socket that listens on the port, by proc_net(5); 0: none that we see. */
static unsigned long listening_inode(int64_t port)
{
    static const char *const tables[] = {"/proc/net/tcp", "/proc/net/tcp6", NULL};
    unsigned long inode = 0;
    for (const char *const *table = tables; *table && !inode; table++) {
        FILE *file = fopen(*table, "re");
        char line[512], address[64], state[4];
        unsigned int local;
        unsigned long found;
        while (file && fgets(line, sizeof line, file))
            if (sscanf(line, " %*d: %63[0-9A-F]:%x %*s %3s %*s %*s %*s %*s %*s %lu", address,
                       &local, state, &found) == 4 &&
                local == (unsigned)port && strcmp(state, TCP_LISTENS) == 0)
                inode = found;
        if (file)
            fclose(file);
    }
    return inode;
}

static bool holds(int64_t pid, unsigned long inode)
{
    char folder[64], path[PATH_MAX], target[128], wanted[64];
    snprintf(folder, sizeof folder, "/proc/%" PRId64 "/fd", pid);
    snprintf(wanted, sizeof wanted, "socket:[%lu]", inode);
    DIR *descriptors = opendir(folder);
    bool found = false;
    for (const struct dirent *entry; descriptors && !found && (entry = readdir(descriptors));) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        ssize_t length = readlink(path, target, sizeof target - 1);
        target[length > 0 ? length : 0] = 0;
        found = strcmp(target, wanted) == 0;
    }
    if (descriptors)
        closedir(descriptors);
    return found;
}

const char *dev_port_holder(struct cr_call *call, int64_t port)
{
    unsigned long inode = listening_inode(port);
    DIR *processes = inode ? opendir("/proc") : NULL;
    const char *holder = "another user's process";
    for (const struct dirent *entry; processes && (entry = readdir(processes));) {
        int64_t pid;
        if (!cr_parse_integer(entry->d_name, strlen(entry->d_name), 1, INT_MAX, &pid) ||
            !holds(pid, inode))
            continue;
        struct cr_bytes name;
        if (cr_file_read(call, cr_format(call, "/proc/%" PRId64 "/comm", pid), 64, &name) != CR_OK)
            cr_forgive(call);
        else
            holder =
                cr_format(call, "pid %" PRId64 " (%.*s)", pid,
                          (int)strcspn((const char *)name.data, "\n"), (const char *)name.data);
        break;
    }
    if (processes)
        closedir(processes);
    return holder;
}

void dev_ports_read(struct cr_call *call, struct dev *dev)
{
    const char *text = dev_read(call, dev, "run/ports");
    int64_t *const ports[] = {&dev->port, &dev->port_ops, &dev->port_bus};
    for (size_t i = 0; i < 3; i++) {
        size_t length = text ? strcspn(text, " \n") : 0;
        *ports[i] = 0;
        if (length && !cr_parse_integer(text, length, 1, PORT_MAX, ports[i]))
            *ports[i] = 0;
        text = length ? text + length + (text[length] != 0) : NULL;
    }
}

/* Keeps the port of a service that runs; else the one of last time, or the next free one. */
static int64_t choose(struct cr_call *call, const struct dev *dev, const char *service,
                      int64_t last, int64_t usual)
{
    if (last && (dev_pid(call, dev, service) || dev_port_free(last)))
        return last;
    return dev_port_from(usual);
}

enum cr_status dev_ports(struct cr_call *call, struct dev *dev)
{
    dev_ports_read(call, dev);
    int64_t last = dev->port, wanted = dev->config->port ? dev->config->port : last;
    bool runs = dev_pid(call, dev, "cressetd") != 0;
    if (!wanted)
        wanted = DEV_PORT;
    if (runs && last && wanted != last)
        return cr_fail(call, CR_CONFLICT,
                       "the region runs on port %" PRId64 "; try: cresset dev down", last);
    if (!runs && !dev_port_free(wanted)) {
        int64_t other = dev_port_from(wanted + 1);
        return cr_fail(call, CR_CONFLICT, "port %" PRId64 " is taken by %s; try: --port %" PRId64,
                       wanted, dev_port_holder(call, wanted), other);
    }
    dev->port = wanted;
    int64_t moved = wanted - DEV_PORT;
    dev->port_ops = choose(call, dev, "cressetd", dev->port_ops,
                           moved > 0 && moved < 10000 ? wanted + 1000 : DEV_PORT_OPS);
    dev->port_bus = choose(call, dev, "nats", dev->port_bus, DEV_PORT_BUS);
    if (!dev->port_ops || !dev->port_bus)
        return cr_fail(call, CR_CONFLICT, "no free port for %s",
                       dev->port_ops ? "nats" : "health and metrics");
    return dev_write(call, dev, "run/ports",
                     cr_format(call, "%" PRId64 " %" PRId64 " %" PRId64 "\n", dev->port,
                               dev->port_ops, dev->port_bus));
}
