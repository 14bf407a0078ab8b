/*
 * pg_cut: a proxy before PostgreSQL's socket that can lose a COMMIT, or the answer to it.
 *
 * It listens on FOLDER/.s.PGSQL.5432 and passes everything on; where it is armed, it looks for the
 * next COMMIT of a client and cuts that connection: before the server has seen it, or after the
 * server has done it. One thread serves all connections, one after the other; that is enough for a
 * worker that waits for each answer.
 */
#pragma once

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum pg_cut { PG_CUT_NEVER, PG_CUT_BEFORE, PG_CUT_AFTER };

struct pg_proxy {
    char folder[80];
    char server[80]; /* folder of the server's socket */
    int listener;
    pthread_t thread;
    atomic_int armed; /* enum pg_cut of the next COMMIT */
    atomic_int spare; /* so many COMMITs go by before it */
    atomic_int cuts;
    atomic_bool stopping;
};

static inline int pg_socket(const char *folder, struct sockaddr_un *ret_address)
{
    *ret_address = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(ret_address->sun_path, sizeof ret_address->sun_path, "%.80s/.s.PGSQL.5432", folder);
    return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

static inline bool pg_pass(int to, const char *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t sent = send(to, bytes + done, size - done, MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        done += (size_t)sent;
    }
    return true;
}

/* A COMMIT is a simple query of its own: 'Q', its length, and the text. */
static inline bool pg_is_commit(const char *bytes, size_t size)
{
    return size >= 12 && bytes[0] == 'Q' && memcmp(bytes + 5, "COMMIT", 7) == 0;
}

static inline void pg_serve(struct pg_proxy *proxy, int client)
{
    struct sockaddr_un address;
    int server = pg_socket(proxy->server, &address);
    bool open = connect(server, (struct sockaddr *)&address, sizeof address) == 0;
    bool drop_answer = false;
    static char bytes[65536];
    while (open && !atomic_load(&proxy->stopping)) {
        struct pollfd ends[2] = {{.fd = client, .events = POLLIN},
                                 {.fd = server, .events = POLLIN}};
        if (poll(ends, 2, 100) <= 0)
            continue;
        for (int i = 0; open && i < 2; i++) {
            if (!ends[i].revents)
                continue;
            ssize_t got = recv(ends[i].fd, bytes, sizeof bytes, 0);
            if (got <= 0) {
                open = false;
                break;
            }
            int cut = atomic_load(&proxy->armed);
            bool commit = i == 0 && cut != PG_CUT_NEVER && pg_is_commit(bytes, (size_t)got);
            if (commit && atomic_load(&proxy->spare) > 0) {
                atomic_fetch_sub(&proxy->spare, 1);
            } else if (commit) {
                atomic_store(&proxy->armed, PG_CUT_NEVER);
                atomic_fetch_add(&proxy->cuts, 1);
                open = cut == PG_CUT_AFTER;
                drop_answer = open;
            }
            if (i == 1 && drop_answer)
                open = false; /* the server has answered, and nobody hears it */
            if (open)
                open = pg_pass(i == 0 ? server : client, bytes, (size_t)got);
        }
    }
    close(server);
    close(client);
}

static inline void *pg_proxy_run(void *context)
{
    struct pg_proxy *proxy = context;
    while (!atomic_load(&proxy->stopping)) {
        struct pollfd ready = {.fd = proxy->listener, .events = POLLIN};
        if (poll(&ready, 1, 100) <= 0)
            continue;
        int client = accept(proxy->listener, NULL, NULL);
        if (client >= 0)
            pg_serve(proxy, client);
    }
    return NULL;
}

static inline bool pg_proxy_open(struct pg_proxy *proxy, const char *server, const char *folder)
{
    snprintf(proxy->server, sizeof proxy->server, "%s", server);
    snprintf(proxy->folder, sizeof proxy->folder, "%s", folder);
    if (mkdir(folder, 0755) != 0 && errno != EEXIST)
        return false;
    struct sockaddr_un address;
    proxy->listener = pg_socket(folder, &address);
    return bind(proxy->listener, (struct sockaddr *)&address, sizeof address) == 0 &&
           listen(proxy->listener, 16) == 0 &&
           pthread_create(&proxy->thread, NULL, pg_proxy_run, proxy) == 0;
}

static inline void pg_proxy_close(struct pg_proxy *proxy)
{
    atomic_store(&proxy->stopping, true);
    pthread_join(proxy->thread, NULL);
    close(proxy->listener);
}
