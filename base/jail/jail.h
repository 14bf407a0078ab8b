/*
 * jail: what stands between a runner and the machine. The only door to libseccomp and Landlock.
 *
 * A trusted parent prepares a jail, forks, and in the child enters it and starts the program by its
 * descriptor; the program loads, opens its devices and seals itself before it reads a tenant's
 * first byte. Each layer stands by itself, and is reported only where it is in force:
 *
 *     limits        rlimits: memory, file size, descriptors, no core
 *     privileges    no capability, NO_NEW_PRIVS
 *     namespaces    user, mount, pid, net, ipc, uts of its own
 *     root          an empty tmpfs with read-only binds of the libraries and the program
 *     landlock      read and execute below these alone
 *     seccomp       A: no socket, no new process, and nothing of the list always denied;
 *                   B (seal): besides no open, no exec, no new thread
 *
 * What a filter refuses kills the process by SIGSYS.
 *
 * Threads      jail_open by any; jail_separate and jail_enter only between fork and exec: they
 *              allocate nothing and take no lock
 * Source       design: reliability.md section 10
 */
#pragma once

#include "base/core/call.h"

enum {
    JAIL_LIMITS = 1 << 0,
    JAIL_PRIVILEGES = 1 << 1,
    JAIL_NAMESPACES = 1 << 2,
    JAIL_ROOT = 1 << 3,
    JAIL_LANDLOCK = 1 << 4,
    JAIL_SECCOMP = 1 << 5,
    JAIL_SEALED = 1 << 6,
    JAIL_ENVIRONMENT = 1 << 7, /* empty: by the parent's fexecve */
};
#define JAIL_LAYER_COUNT 8

/* The word of one of the layers, for example "landlock". Static. */
const char *jail_layer_word(unsigned layer);

/* What may never be missing: the least that a node offers its jail by without --insecure-jail. */
#define JAIL_WANTED \
    (JAIL_LIMITS | JAIL_PRIVILEGES | JAIL_NAMESPACES | JAIL_ROOT | JAIL_LANDLOCK | JAIL_SECCOMP)

/*
 * Descriptors of the jail's own have numbers from here on, so that a child may place those of the
 * program below.
 */
#define JAIL_DESCRIPTOR_MIN 512

struct jail_config {
    int program;                  /* a descriptor of the program to be started */
    int64_t data_size;            /* bytes of private writable memory (RLIMIT_DATA); 0: no limit */
    int64_t file_size;            /* bytes of a file it writes */
    int64_t file_count;           /* descriptors */
    const char *const *libraries; /* folders that it may read and execute from; NULL ends them */
};

struct jail;

/* The usual folders of libraries. NULL ends them. */
extern const char *const jail_libraries[];

/*
 * Prepares a jail: filters compiled, folders opened. The caller closes it; config->program stays
 * the caller's and may be closed at once.
 *
 * fails with   CR_UNAVAILABLE   this kernel or its libseccomp cannot compile a filter
 */
enum cr_status jail_open(struct cr_call *call, const struct jail_config *config,
                         struct jail **ret_jail) CR_CHECK;
void jail_close(struct jail **jail);

/*
 * In the process that will be the program's parent: new namespaces, of which its next child is the
 * first process. A caller who is root becomes nobody. Returns JAIL_NAMESPACES or 0.
 */
unsigned jail_separate(const struct jail *jail);

/*
 * In the child: enters all other layers; separated is what jail_separate said. Returns the layers
 * that are in force; without JAIL_LIMITS or JAIL_PRIVILEGES or JAIL_SECCOMP the child must exit.
 */
unsigned jail_enter(const struct jail *jail, unsigned separated);

/* Starts the program of the jail with argv and an empty environment. Returns only on failure. */
void jail_start(const struct jail *jail, char *const argv[]);

/*
 * In the program: filter B, for all of its threads. fails with CR_UNAVAILABLE.
 */
enum cr_status jail_seal(struct cr_call *call) CR_CHECK;

/* In the program, before the seal: the layers that a process can see of itself. */
unsigned jail_seen(void);

/* What this kernel allows, found by trying in a child of the caller. */
unsigned jail_possible(struct cr_call *call);
