/* book: the state machine. */
#include "compute/lease/lease_internal.h"

#include <assert.h>

/* One event, on its way through the book. */
struct turn {
    struct cr_call *call;
    struct lease_book *book;
    const struct lease_event *event;
    int64_t now_ns;
    struct lease_commands *out;
};

static struct lease_command *add(struct turn *turn, enum lease_command_kind kind, int entry)
{
    assert(turn->out->count < LEASE_COMMANDS_MAX);
    struct lease_command *command = &turn->out->items[turn->out->count++];
    const struct lease_entry *it = &turn->book->entries[entry];
    *command = (struct lease_command){.kind = kind,
                                      .entry = entry,
                                      .lease = cr_copy(turn->call, it->lease, strlen(it->lease)),
                                      .lease_epoch = it->lease_epoch,
                                      .cause = -1};
    return command;
}

static struct lease_entry *entry_of(struct turn *turn, int entry)
{
    return &turn->book->entries[entry];
}

/* A record about the lease, to be on the disk before what is commanded behind it. */
static struct protocol_record *journal(struct turn *turn, int entry, enum protocol_record_type type)
{
    struct lease_command *command = add(turn, LEASE_DO_JOURNAL, entry);
    command->record = (struct protocol_record){.type = type,
                                               .lease = command->lease,
                                               .lease_epoch = command->lease_epoch,
                                               .at_ns = turn->now_ns};
    return &command->record;
}

static void use_devices(struct turn *turn, int entry, enum lease_use use)
{
    const struct lease_entry *it = entry_of(turn, entry);
    for (size_t i = 0; i < it->device_count; i++)
        lease_device_use(&turn->book->devices[it->devices[i]], use, turn->now_ns);
}

static void free_devices(struct turn *turn, int entry)
{
    const struct lease_entry *it = entry_of(turn, entry);
    for (size_t i = 0; i < it->device_count; i++)
        if (turn->book->devices[it->devices[i]].holder == entry)
            turn->book->devices[it->devices[i]].holder = -1;
}

/* Takes the devices, if nobody has one of them, and asks for the program. */
static void take_devices(struct turn *turn, int entry)
{
    struct lease_entry *it = entry_of(turn, entry);
    for (size_t i = 0; i < it->device_count; i++) {
        int holder = turn->book->devices[it->devices[i]].holder;
        if (holder >= 0 && holder != entry)
            return;
    }
    for (size_t i = 0; i < it->device_count; i++)
        turn->book->devices[it->devices[i]].holder = entry;
    it->asked_program = true;
    add(turn, LEASE_DO_ASK_PROGRAM, entry);
}

/* The entry is free; who waited for its devices goes on. */
static void forget(struct turn *turn, int entry)
{
    add(turn, LEASE_DO_FORGET, entry);
    free_devices(turn, entry);
    entry_of(turn, entry)->state = LEASE_NONE;
    for (int i = 0; i < LEASE_LIVE_MAX; i++)
        if (turn->book->entries[i].state == LEASE_ACCEPTED && !turn->book->entries[i].asked_program)
            take_devices(turn, i);
}

static void answered(struct turn *turn, int entry, const char *answer)
{
    journal(turn, entry, PROTOCOL_RECORD_ANSWERED)->answer = answer;
    forget(turn, entry);
}

static void kill_runner(struct turn *turn, int entry)
{
    struct lease_entry *it = entry_of(turn, entry);
    if (it->has_runner && !it->killed)
        add(turn, LEASE_DO_KILL, entry);
    it->killed = true;
}

/* Ends a lease of which nothing shall be told any more. */
static void drop(struct turn *turn, int entry)
{
    struct lease_entry *it = entry_of(turn, entry);
    if (it->state >= LEASE_FINISHING)
        return; /* its end is offered still: complete says whether it is taken */
    it->dropped = true;
    if (it->has_runner)
        kill_runner(turn, entry);
    else
        answered(turn, entry, "dropped");
}

static void decline(struct turn *turn, int entry, const char *word, const char *detail)
{
    struct lease_command *command = add(turn, LEASE_DO_DECLINE, entry);
    command->word = word;
    command->detail = detail;
    drop(turn, entry);
}

static int cause_of(const char *cause)
{
    for (int i = 0; cause && protocol_causes[i]; i++)
        if (strcmp(protocol_causes[i], cause) == 0)
            return i;
    return 0;
}

static void stop(struct turn *turn, int entry, const char *cause, int64_t grace_s)
{
    struct lease_entry *it = entry_of(turn, entry);
    if (it->state < LEASE_HELD) {
        if (!it->dropped && !it->asked_start)
            decline(turn, entry, "no_device", "it was stopped before it began");
        return; /* once `start` is answered, the next order finds it held */
    }
    if (it->state != LEASE_HELD || it->killed)
        return;
    int64_t grace = grace_s == CR_NO_INTEGER || grace_s < 0 ? 0 : grace_s;
    int64_t until = turn->now_ns + grace * LEASE_NS_A_SECOND;
    if (it->stop_ns != CR_NO_INTEGER && it->stop_ns <= until)
        return; /* an earlier stop ends sooner */
    bool first = it->stop_ns == CR_NO_INTEGER;
    it->stop_ns = until;
    it->cause = cause_of(cause);
    if (!first)
        return;
    struct lease_command *command = add(turn, LEASE_DO_STOP, entry);
    command->grace_s = grace;
    command->cause = it->cause;
}

static void order(struct turn *turn, int entry)
{
    const struct lease_event *event = turn->event;
    if (strcmp(event->order, "stop") == 0)
        stop(turn, entry, event->cause, event->grace_s);
    else if (strcmp(event->order, "drop") == 0)
        drop(turn, entry);
}

static int device_of(const struct lease_book *book, const char *name)
{
    for (size_t i = 0; i < book->device_count; i++)
        if (strcmp(book->devices[i].device, name) == 0)
            return (int)i;
    return -1;
}

static int free_entry(const struct lease_book *book)
{
    for (int i = 0; i < LEASE_LIVE_MAX; i++)
        if (book->entries[i].state == LEASE_NONE)
            return i;
    return -1;
}

/* Fills the entry; NULL: it can be run, else the word of why not. */
static const char *fill(struct turn *turn, int entry, const struct protocol_lease *lease)
{
    struct lease_entry *it = entry_of(turn, entry);
    *it = (struct lease_entry){
        .state = LEASE_ACCEPTED,
        .lease_epoch = lease->lease_epoch,
        .node_epoch = lease->node_epoch,
        .member = lease->member,
        .accept_ns = turn->now_ns,
        .renewed_ns = turn->now_ns,
        .acquire_ns = CR_NO_INTEGER,
        .release_ns = CR_NO_INTEGER,
        .stop_ns = CR_NO_INTEGER,
        .cause = -1,
        .own = -1,
    };
    snprintf(it->lease, sizeof it->lease, "%s", lease->lease);
    snprintf(it->tenant, sizeof it->tenant, "%s", lease->tenant);
    snprintf(it->job, sizeof it->job, "%s", lease->job);
    for (size_t i = 0; i < lease->devices.count; i++) {
        int device = device_of(turn->book, lease->devices.items[i]);
        if (device < 0 || turn->book->devices[device].failed)
            return "no_device";
        it->devices[it->device_count++] = device;
        it->slices += turn->book->devices[device].slices;
    }
    return lease->member > 0 ? "unsupported" : NULL;
}

/* A newer grant of a device first stops the older one (proc.6). */
static void evict(struct turn *turn, int entry)
{
    const struct lease_entry *it = entry_of(turn, entry);
    for (size_t i = 0; i < it->device_count; i++) {
        int holder = turn->book->devices[it->devices[i]].holder;
        if (holder >= 0 && holder != entry && entry_of(turn, holder)->state <= LEASE_HELD)
            drop(turn, holder);
    }
}

static void accept(struct turn *turn, const struct protocol_lease *lease)
{
    int entry = free_entry(turn->book);
    if (entry < 0 || strcmp(lease->state, "granted") != 0)
        return; /* one that ran before this start of the agent was told at join */
    const char *word = fill(turn, entry, lease);
    if (!word && !turn->book->accepting)
        word = "no_disk";
    if (word) {
        struct lease_command *command = add(turn, LEASE_DO_DECLINE, entry);
        command->word = word;
        command->detail = "";
        add(turn, LEASE_DO_FORGET, entry);
        entry_of(turn, entry)->state = LEASE_NONE;
        return;
    }
    struct protocol_record *record = journal(turn, entry, PROTOCOL_RECORD_ACCEPT);
    const struct lease_entry *it = entry_of(turn, entry);
    record->node_epoch = it->node_epoch;
    record->tenant = it->tenant;
    record->job = it->job;
    record->member = it->member;
    record->devices = lease->devices;
    record->boot = turn->event->boot;
    evict(turn, entry);
    take_devices(turn, entry);
}

static bool is_listed(const struct protocol_leases *leases, const char *lease)
{
    const struct protocol_lease *items = leases->leases.items;
    for (size_t i = 0; i < leases->leases.count; i++)
        if (strcmp(items[i].lease, lease) == 0)
            return true;
    return false;
}

/* What holds no device yet and is listed no more is let go; what is held waits for its renewal. */
static void listed(struct turn *turn)
{
    const struct protocol_leases *leases = turn->event->leases;
    const struct protocol_lease *items = leases->leases.items;
    for (int i = 0; i < LEASE_LIVE_MAX; i++) {
        const struct lease_entry *it = entry_of(turn, i);
        if (it->state != LEASE_NONE && it->state < LEASE_HELD && !it->dropped &&
            !is_listed(leases, it->lease))
            drop(turn, i);
    }
    for (size_t i = 0; i < leases->leases.count; i++) {
        int known = lease_find(turn->book, items[i].lease);
        if (known < 0)
            accept(turn, &items[i]);
        else if (strcmp(items[i].state, "revoking") == 0 &&
                 entry_of(turn, known)->state < LEASE_HELD)
            stop(turn, known, "cancel", 0);
    }
}

static void started(struct turn *turn, int entry)
{
    struct lease_entry *it = entry_of(turn, entry);
    it->asked_start = false;
    if (it->state != LEASE_STARTING || it->dropped)
        return;
    if (!it->has_runner) { /* it ended while we asked: told without a reading */
        it->state = LEASE_FINISHING;
        add(turn, LEASE_DO_FINISH, entry);
        return;
    }
    it->acquire_ns = turn->now_ns;
    it->state = LEASE_HELD;
    use_devices(turn, entry, LEASE_IN_USE);
    journal(turn, entry, PROTOCOL_RECORD_ACQUIRE);
    add(turn, LEASE_DO_GO, entry);
    order(turn, entry);
}

static void ended(struct turn *turn, int entry)
{
    struct lease_entry *it = entry_of(turn, entry);
    it->has_runner = false;
    if (it->state == LEASE_HELD) {
        it->release_ns = turn->now_ns;
        use_devices(turn, entry, LEASE_IDLE);
        free_devices(turn, entry);
        journal(turn, entry, PROTOCOL_RECORD_RELEASE);
    }
    if (it->dropped) {
        answered(turn, entry, "dropped");
    } else if (it->state == LEASE_HELD) {
        it->state = LEASE_FINISHING;
        add(turn, LEASE_DO_FINISH, entry);
    } else if (!it->asked_start) {
        decline(turn, entry, "jail", "the runner ended before it was ready");
    }
}

static void renewed(struct turn *turn, int entry)
{
    struct lease_entry *it = entry_of(turn, entry);
    if (turn->event->sent_ns <= it->renewed_ns)
        return;
    it->renewed_ns = turn->event->sent_ns;
    if (it->has_runner && !it->killed)
        add(turn, LEASE_DO_KEEP, entry)->until_ns = it->renewed_ns + turn->book->stop_after_ns;
}

static void tick_one(struct turn *turn, int entry)
{
    struct lease_entry *it = entry_of(turn, entry);
    if (!it->has_runner || it->killed)
        return;
    if (turn->now_ns >= it->renewed_ns + turn->book->stop_after_ns) {
        it->own = PROTOCOL_node_lost;
        kill_runner(turn, entry);
    } else if (it->stop_ns != CR_NO_INTEGER && turn->now_ns >= it->stop_ns) {
        it->own = PROTOCOL_stopped;
        kill_runner(turn, entry);
    }
}

static void of_all(struct turn *turn)
{
    turn->book->accepting &= turn->event->kind != LEASE_TERMINATE;
    for (int i = 0; i < LEASE_LIVE_MAX; i++) {
        if (entry_of(turn, i)->state == LEASE_NONE)
            continue;
        if (turn->event->kind == LEASE_TICK)
            tick_one(turn, i);
        else
            stop(turn, i, "drain", turn->event->grace_s);
    }
}

/* An event of one lease that the book knows. */
static void of_one(struct turn *turn, int entry)
{
    struct lease_entry *it = entry_of(turn, entry);
    const struct lease_event *event = turn->event;
    switch (event->kind) {
    case LEASE_PROGRAM:
        if (it->state == LEASE_ACCEPTED && !it->dropped) {
            it->state = LEASE_FETCHING;
            add(turn, LEASE_DO_FETCH, entry);
        }
        return;
    case LEASE_REFUSED:
        if (it->state < LEASE_HELD && !it->dropped)
            decline(turn, entry, event->word, event->detail);
        return;
    case LEASE_FETCHED:
        if (it->state == LEASE_FETCHING && !it->dropped) {
            it->state = LEASE_STARTING;
            it->has_runner = true;
            add(turn, LEASE_DO_LAUNCH, entry);
        }
        return;
    case LEASE_GONE:
        drop(turn, entry);
        return;
    case LEASE_READY:
        if (it->state == LEASE_STARTING && !it->dropped && !it->asked_start) {
            it->asked_start = true;
            add(turn, LEASE_DO_ASK_START, entry);
        }
        return;
    case LEASE_STARTED:
        started(turn, entry);
        return;
    case LEASE_ORDERED:
        order(turn, entry);
        return;
    case LEASE_RENEWED:
        renewed(turn, entry);
        return;
    case LEASE_ENDED:
        ended(turn, entry);
        return;
    case LEASE_RESULT:
        if (it->state == LEASE_FINISHING) {
            it->state = LEASE_REPORTING;
            journal(turn, entry, PROTOCOL_RECORD_RESULT)->request = event->request;
            add(turn, LEASE_DO_REPORT, entry);
        }
        return;
    case LEASE_ANSWERED:
        if (it->state == LEASE_REPORTING)
            answered(turn, entry, event->answer);
        return;
    case LEASE_LISTED:
    case LEASE_TICK:
    case LEASE_TERMINATE:
        return;
    }
}

void lease_apply(struct cr_call *call, struct lease_book *book, const struct lease_event *event,
                 int64_t now_ns, struct lease_commands *ret_commands)
{
    struct turn turn = {call, book, event, now_ns, ret_commands};
    ret_commands->count = 0;
    if (event->kind == LEASE_LISTED) {
        listed(&turn);
    } else if (event->kind == LEASE_TICK || event->kind == LEASE_TERMINATE) {
        of_all(&turn);
    } else {
        int entry = lease_find(book, event->lease);
        if (entry >= 0)
            of_one(&turn, entry);
    }
}
