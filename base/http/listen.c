/* listen: sockets to listen on: loopback, AF_UNIX, or inherited. */
#include "base/http/http_internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 1024

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    struct sockaddr_un local;
};

/* "127.0.0.1:7070" or "[::1]:7070"; what is not loopback has no business without nginx. */
static bool parse_tcp(const char *text, union address *address, socklen_t *ret_size)
{
    char host[64];
    const char *colon = strrchr(text, ':');
    size_t length = colon ? (size_t)(colon - text) : 0;
    if (length == 0 || length >= sizeof host)
        return false;
    memcpy(host, text, length);
    host[length] = '\0';
    char *end;
    long port = strtol(colon + 1, &end, 10);
    if (end == colon + 1 || *end || port < 0 || port > 65535)
        return false;
    if (strcmp(host, "[::1]") == 0) {
        address->v6 = (struct sockaddr_in6){.sin6_family = AF_INET6,
                                            .sin6_port = htons((uint16_t)port),
                                            .sin6_addr = in6addr_loopback};
        *ret_size = sizeof address->v6;
        return true;
    }
    address->v4 = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    *ret_size = sizeof address->v4;
    return inet_pton(AF_INET, host, &address->v4.sin_addr) == 1 &&
           ntohl(address->v4.sin_addr.s_addr) >> 24 == 127;
}

static bool parse_local(const char *path, union address *address, socklen_t *ret_size)
{
    size_t length = strlen(path);
    address->local = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (*path != '/' || length >= sizeof address->local.sun_path)
        return false;
    memcpy(address->local.sun_path, path, length + 1);
    *ret_size = sizeof address->local;
    return true;
}

static void learn(struct http_listener *listener)
{
    union address address = {0};
    socklen_t size = sizeof address;
    getsockname(listener->fd, &address.any, &size);
    listener->local = address.any.sa_family == AF_UNIX;
    if (address.any.sa_family == AF_INET)
        listener->port = ntohs(address.v4.sin_port);
    if (address.any.sa_family == AF_INET6)
        listener->port = ntohs(address.v6.sin6_port);
}

enum cr_status http_listen_open(struct cr_call *call, const struct http_listen *listen_,
                                struct http_listener *listener)
{
    listener->fd = listen_->fd;
    if (listener->fd >= 0) {
        learn(listener);
        return CR_OK;
    }
    const char *text = listen_->address;
    bool local = strncmp(text, "unix:", 5) == 0;
    union address address = {0};
    socklen_t size = 0;
    if (!(local ? parse_local(text + 5, &address, &size) : parse_tcp(text, &address, &size)))
        return cr_fail(call, CR_INVALID,
                       "'%s' is no address to listen on: 127.0.0.1:PORT, [::1]:PORT, unix:/PATH",
                       text);
    listener->fd = socket(address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int on = 1;
    if (listener->fd >= 0 && !local)
        setsockopt(listener->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (local)
        unlink(address.local.sun_path); /* left by a process that was killed */
    if (listener->fd < 0 || bind(listener->fd, &address.any, size) != 0 ||
        listen(listener->fd, BACKLOG) != 0) {
        int error = errno;
        http_listen_close(listener);
        return cr_fail(call, CR_INVALID, "cannot listen on '%s': %s", text, strerror(error));
    }
    if (local) {
        memcpy(listener->path, address.local.sun_path, sizeof listener->path);
        (void)!chmod(listener->path, 0660); /* nginx's group speaks to us */
    }
    learn(listener);
    return CR_OK;
}

void http_listen_close(struct http_listener *listener)
{
    if (listener->fd >= 0)
        close(listener->fd);
    listener->fd = -1;
    if (*listener->path)
        unlink(listener->path);
}
