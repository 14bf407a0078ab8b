/* jail_internal: a jail that is prepared, for layers.c, landlock.c and filter.c. */
#pragma once

#include "base/jail/jail.h"

#define JAIL_FOLDERS_MAX 8

struct sock_filter; /* linux/filter.h */

struct jail {
    struct jail_config config;
    int folders[JAIL_FOLDERS_MAX]; /* O_PATH descriptors of config.libraries; -1: it is not there */
    size_t folder_count;
    struct sock_filter *load_filter; /* A */
    size_t load_count;
};

/* Compiles filter A. The jail owns it. */
enum cr_status jail_compile(struct cr_call *call, struct jail *jail) CR_CHECK;

/* Puts a compiled filter over the process. Takes no lock. */
bool jail_filter(const struct sock_filter *filter, size_t count);

/* Restricts files to reading and executing below the folders and the program. */
bool jail_landlock(const struct jail *jail);
