/* launch_internal: what launch.c prepares before the fork, and the warden's reports. */
#pragma once

#include "compute/launch/launch.h"

#include <sched.h>
#include <sys/types.h>

#define LAUNCH_DESCRIPTORS_MAX 128

/* Everything the two children need, so that neither allocates. */
struct launch_plan {
    const struct jail *jail;
    pid_t agent;
    int warden;                              /* the warden's end */
    int descriptors[LAUNCH_DESCRIPTORS_MAX]; /* what shall have the numbers 0, 1, … */
    size_t descriptor_count;
    char *argv[3];
    cpu_set_t cores;
    bool bound;
    int64_t memory_max; /* bytes at which the warden kills */
    int64_t until_ns;
    bool insecure;
};

struct launch_report {
    int32_t is_end;
    uint32_t layers;
    int32_t status; /* of waitpid */
    int32_t reason;
    int64_t memory_peak;
};

/* Runs in the child that the agent forked; does not return. */
void launch_warden_run(const struct launch_plan *plan) __attribute__((noreturn));
