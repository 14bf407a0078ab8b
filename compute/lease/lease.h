/*
 * lease: what a node does with its leases, as a state machine: (book, event, now) → (book,
 * commands).
 *
 *     accepted → fetching → starting → held → finishing → reporting → forgotten
 *
 * Nothing here waits, reads a clock or touches a file: the agent carries the commands out, in their
 * order, and tells what came of them by further events. A JOURNAL command is on the disk before the
 * commands behind it are begun.
 *
 * Devices       each is idle, held or in maintenance; one stamp closes a segment and opens the
 * next, so the three sum to now - start, to the nanosecond (M2) Invariants    one lease a device
 * (proc.6); GO only after `start` was answered; no lease is held beyond stop_ns after the sending
 * of its last acknowledged renewal (K3); an end is told after it is journalled, and told until it
 * is answered (J3) Units         _ns CLOCK_BOOTTIME Threads       pure; a book belongs to one
 * thread Source        design: compute.md section 4
 */
#pragma once

#include "compute/protocol/journal.h"

#define LEASE_ID_SIZE      32
#define LEASE_DEVICE_SIZE  32
#define LEASE_LIVE_MAX     PROTOCOL_RENEW_LEASES /* of one node, what it still reports included */
#define LEASE_COMMANDS_MAX 1024                  /* of one event */

enum lease_state {
    LEASE_NONE,
    LEASE_ACCEPTED,  /* journalled; its devices may still be another's, or its program unread */
    LEASE_FETCHING,  /* inputs come */
    LEASE_STARTING,  /* the runner loads, then `start` is asked */
    LEASE_HELD,      /* GO was said */
    LEASE_FINISHING, /* the runner is reaped; outputs are hashed and sent */
    LEASE_REPORTING, /* RESULT is journalled; complete is asked until it is answered */
};

enum lease_use { LEASE_IDLE, LEASE_IN_USE, LEASE_IN_MAINTENANCE, LEASE_USES };

struct lease_device {
    char device[LEASE_DEVICE_SIZE];
    int64_t slices;
    bool failed;
    enum lease_use use;
    int64_t since_ns;
    int64_t spent_ns[LEASE_USES]; /* of closed segments */
    int holder;                   /* index of its lease; -1: none */
};

struct lease_entry {
    enum lease_state state;
    char lease[LEASE_ID_SIZE], tenant[LEASE_ID_SIZE], job[LEASE_ID_SIZE];
    int64_t lease_epoch, node_epoch, member;
    int devices[PROTOCOL_DEVICES_MAX]; /* indices of the book's */
    size_t device_count;
    int64_t slices;
    int64_t accept_ns;
    int64_t renewed_ns;              /* when the last acknowledged renewal was sent */
    int64_t acquire_ns, release_ns;  /* CR_NO_INTEGER: not yet, or never */
    int64_t seq;                     /* of its readings */
    int64_t stop_ns;                 /* when the grace of a stop ends; CR_NO_INTEGER: no stop */
    int cause;                       /* of the stop, an index of protocol_causes; -1: none */
    int own;                         /* the word under which we killed it; -1: we did not */
    bool asked_program, asked_start; /* and not yet answered */
    bool has_runner, killed, dropped;
};

struct lease_book {
    int64_t start_ns;
    int64_t stop_after_ns; /* NODE_STOP, as the region said at join */
    struct lease_device *devices;
    size_t device_count;
    struct lease_entry entries[LEASE_LIVE_MAX];
    bool accepting; /* false: SIGTERM was taken, or the disk of the journal is full */
};

enum lease_event_kind {
    LEASE_LISTED,    /* all leases, by the region */
    LEASE_PROGRAM,   /* the program is known, and can be run here */
    LEASE_REFUSED,   /* it cannot: word and detail of a decline */
    LEASE_FETCHED,   /* all inputs are open */
    LEASE_GONE,      /* the region knows it no more: 404, or 409 stale_lease */
    LEASE_READY,     /* the runner is sealed */
    LEASE_STARTED,   /* `start` was answered, with an order */
    LEASE_ORDERED,   /* an order came with a renewal or progress */
    LEASE_RENEWED,   /* a renewal that named it, sent at sent_ns, was acknowledged */
    LEASE_ENDED,     /* the runner is dead and reaped */
    LEASE_RESULT,    /* outputs are uploaded and complete is signed: request */
    LEASE_ANSWERED,  /* complete was answered: answer */
    LEASE_TICK,      /* time has passed */
    LEASE_TERMINATE, /* SIGTERM: grace_s */
};

struct lease_event {
    enum lease_event_kind kind;
    const char *lease;
    const struct protocol_leases *leases; /* LISTED */
    const char *boot;                     /* LISTED: of this agent, for the journal */
    const char *word, *detail;            /* REFUSED */
    const char *order, *cause;            /* STARTED, ORDERED */
    int64_t grace_s;
    int64_t sent_ns;         /* RENEWED */
    struct cr_bytes request; /* RESULT */
    const char *answer;      /* ANSWERED */
};

enum lease_command_kind {
    LEASE_DO_JOURNAL,
    LEASE_DO_ASK_PROGRAM,
    LEASE_DO_FETCH,
    LEASE_DO_LAUNCH,
    LEASE_DO_ASK_START,
    LEASE_DO_GO,
    LEASE_DO_STOP, /* grace_s, cause */
    LEASE_DO_KEEP, /* until_ns */
    LEASE_DO_KILL,
    LEASE_DO_FINISH, /* collect, upload and sign what it ended with */
    LEASE_DO_REPORT, /* send complete, and again, until it is answered */
    LEASE_DO_DECLINE,
    LEASE_DO_FORGET, /* files and memory of it; the entry is free */
};

struct lease_command {
    enum lease_command_kind kind;
    int entry;         /* where the lease stands, or stood before FORGET */
    const char *lease; /* its id, of the call's memory */
    int64_t lease_epoch;
    struct protocol_record record; /* JOURNAL; its texts are the book's or the event's */
    const char *word, *detail;     /* DECLINE */
    int64_t until_ns;              /* KEEP */
    int64_t grace_s;               /* STOP */
    int cause;
};

struct lease_commands {
    struct lease_command items[LEASE_COMMANDS_MAX];
    size_t count;
};

/* A book without leases, its devices idle from now on. devices are the caller's for its life. */
void lease_book_init(struct lease_book *book, struct lease_device *devices, size_t device_count,
                     int64_t stop_after_ns, int64_t now_ns);

/* What the event makes of the book. ret_commands is overwritten. Never waits, never fails. */
void lease_apply(struct cr_call *call, struct lease_book *book, const struct lease_event *event,
                 int64_t now_ns, struct lease_commands *ret_commands);

/* The index of a live lease; -1: there is none of that id. */
int lease_find(const struct lease_book *book, const char *lease);

/* How many leases live; and whether one would still be killed by time. */
size_t lease_count(const struct lease_book *book);

/* When TICK has something to do next; INT64_MAX: never. */
int64_t lease_next_ns(const struct lease_book *book);

/* What the lease has held until now_ns; CR_NO_INTEGER: it never held. */
int64_t lease_held_ns(const struct lease_entry *entry, int64_t now_ns);

/* The account of all devices at now_ns: leaf 0 of a statement. seq, node and boot are the caller's.
 */
struct protocol_account lease_account(struct cr_call *call, const struct lease_book *book,
                                      int64_t now_ns);

/* What a journal says of an agent that is gone. */
struct lease_left {
    char lease[LEASE_ID_SIZE];
    int64_t lease_epoch;
    bool acquired, released;
    const char *boot;
    struct cr_texts devices;
    const char *tenant, *job;
    struct cr_bytes request; /* of RESULT; NULL data: none stood */
};
struct lease_past {
    struct cr_list ended;   /* struct protocol_ended: to be told at join */
    struct cr_list results; /* struct lease_left: to be sent again as they are */
    struct cr_list scrubs;  /* struct lease_left: whose devices are scrubbed before anything else */
    struct cr_texts failed; /* devices that had failed */
    int64_t size;           /* of the journal up to its last whole record */
    bool torn;
};

/*
 * Replays a journal. fails with CR_INTERNAL: it is damaged before its end, or says what cannot be;
 * an operator moves it away.
 */
enum cr_status lease_replay(struct cr_call *call, struct cr_bytes journal,
                            struct lease_past *ret_past) CR_CHECK;
