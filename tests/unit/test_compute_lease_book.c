/*
 * compute/lease: whatever comes, in whatever order, and whenever the agent dies: one lease a
 * device, GO after `start`, an end told after it is journalled, accounts that sum to the
 * nanosecond, and no runner beyond its last acknowledged renewal. 2,000 seeds; each row of the
 * crash table is reached.
 */
#include "tests/unit/test.h"

#include "base/core/text.h"
#include "compute/lease/lease.h"

#include <stdio.h>
#include <string.h>

#define SEEDS   2000
#define ROUNDS  120
#define DEVICES 3
#define LEASES  6
#define NS      INT64_C(1000000000)
#define STOP_NS (10 * NS)
#define BOOT    "f757f65a-d689-4cde-aa6e-c29370f64d13"
#define BYTES   (1 << 18)

static struct cr_env env;

/* xorshift64*: one seed, one world. */
static uint64_t draw(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

/* What the world knows of a lease, beside the book. */
struct known {
    char lease[LEASE_ID_SIZE];
    int64_t lease_epoch;
    const char *device_names[1];
    bool listed, runs, started, go, released, result, answered, acquired;
    int64_t renewed_ns;
};

struct world {
    struct cr_call call;
    uint64_t random;
    int64_t now_ns;
    struct lease_book book;
    struct lease_device devices[DEVICES];
    struct known known[LEASES];
    unsigned char journal[BYTES];
    size_t journal_size;
    int id;
};

/* Rows of the crash table that were reached. */
static int reached[5];
enum { CUT_NOTHING, CUT_ACCEPT, CUT_ACQUIRE, CUT_RELEASE, CUT_RESULT };

static struct known *known_of(struct world *world, const char *lease)
{
    for (int i = 0; i < LEASES; i++)
        if (strcmp(world->known[i].lease, lease) == 0)
            return &world->known[i];
    fail_msg("the book speaks of %s, which nobody granted", lease);
    return NULL;
}

static void make_lease(struct world *world, struct known *known)
{
    static const char *const names[DEVICES] = {"cpu0", "cpu1", "cpu2"};
    memset(known, 0, sizeof *known);
    snprintf(known->lease, sizeof known->lease, "lse_%026d", world->id);
    known->lease_epoch = ++world->id;
    known->device_names[0] = names[draw(&world->random) % DEVICES];
}

static void check_accounts(struct world *world)
{
    struct protocol_account account = lease_account(&world->call, &world->book, world->now_ns);
    const struct protocol_account_device *devices = account.devices.items;
    for (size_t i = 0; i < account.devices.count; i++)
        assert_int_equal(devices[i].held_ns + devices[i].idle_ns + devices[i].maintenance_ns,
                         world->now_ns - world->book.start_ns);
}

static void check_devices(struct world *world)
{
    for (int device = 0; device < DEVICES; device++) {
        int held = 0;
        for (int i = 0; i < LEASE_LIVE_MAX; i++)
            if (world->book.entries[i].state == LEASE_HELD)
                for (size_t j = 0; j < world->book.entries[i].device_count; j++)
                    held += world->book.entries[i].devices[j] == device;
        assert_true(held <= 1);
        assert_true((held == 1) == (world->devices[device].use == LEASE_IN_USE));
    }
}

static void keep_record(struct world *world, const struct protocol_record *record)
{
    struct cr_bytes bytes = protocol_record_write(&world->call, record);
    assert_true(world->journal_size + bytes.size < BYTES);
    memcpy(world->journal + world->journal_size, bytes.data, bytes.size);
    world->journal_size += bytes.size;
    struct known *known = known_of(world, record->lease);
    known->acquired |= record->type == PROTOCOL_RECORD_ACQUIRE;
    known->released |= record->type == PROTOCOL_RECORD_RELEASE;
    known->result |= record->type == PROTOCOL_RECORD_RESULT;
    known->answered |= record->type == PROTOCOL_RECORD_ANSWERED;
}

/* Carries a command out, and holds it to the rules. */
static void carry_out(struct world *world, const struct lease_command *command)
{
    struct known *known = known_of(world, command->lease);
    switch (command->kind) {
    case LEASE_DO_JOURNAL:
        keep_record(world, &command->record);
        return;
    case LEASE_DO_LAUNCH:
        assert_false(known->runs);
        known->runs = true;
        return;
    case LEASE_DO_GO:
        assert_true(known->started && known->acquired && known->runs);
        known->go = true;
        return;
    case LEASE_DO_FINISH:
        assert_false(known->runs);
        assert_true(known->released || !known->acquired);
        return;
    case LEASE_DO_REPORT:
        assert_true(known->result);
        return;
    case LEASE_DO_DECLINE:
        assert_false(known->go);
        return;
    case LEASE_DO_FORGET:
        known->listed = known->started = known->go = known->released = false;
        known->result = known->answered = known->acquired = false; /* it may be listed once more */
        return;
    case LEASE_DO_ASK_PROGRAM:
    case LEASE_DO_FETCH:
    case LEASE_DO_ASK_START:
    case LEASE_DO_STOP:
    case LEASE_DO_KEEP:
    case LEASE_DO_KILL:
        return;
    }
}

static void apply(struct world *world, const struct lease_event *event)
{
    static struct lease_commands commands;
    struct cr_call before = world->call; /* what an event takes goes with it */
    world->call = cr_call_open(&env, INT64_MAX);
    lease_apply(&world->call, &world->book, event, world->now_ns, &commands);
    for (size_t i = 0; i < commands.count; i++)
        carry_out(world, &commands.items[i]);
    check_accounts(world);
    check_devices(world);
    cr_call_close(&world->call);
    world->call = before;
}

static void list(struct world *world)
{
    struct protocol_lease *items = cr_new(&world->call, struct protocol_lease, LEASES);
    size_t count = 0;
    for (int i = 0; i < LEASES; i++) {
        struct known *known = &world->known[i];
        if (draw(&world->random) % 4 == 0 && lease_find(&world->book, known->lease) < 0)
            make_lease(world, known);
        if (draw(&world->random) % 8 == 0)
            continue; /* it has ended over there */
        known->listed = true;
        items[count++] = (struct protocol_lease){
            .lease = known->lease,
            .lease_epoch = known->lease_epoch,
            .node_epoch = 1,
            .devices = {known->device_names, 1},
            .state = draw(&world->random) % 8 == 0 ? "revoking" : "granted",
            .tenant = "tnt_01M8RHHQPNQ4ZK9W7V2X5T8RND",
            .job = "job_01M8RHHQPNQ4ZK9W7V2X5T8RND",
        };
    }
    struct protocol_leases leases = {{items, count}};
    apply(world, &(struct lease_event){.kind = LEASE_LISTED, .leases = &leases, .boot = BOOT});
}

/* One thing happens to a lease, likely the next in its life, but not surely. */
static void happen(struct world *world, struct known *known)
{
    static const char *const orders[] = {"continue", "continue", "continue", "stop", "drop"};
    struct lease_event event = {.lease = known->lease,
                                .word = "no_disk",
                                .detail = "",
                                .order = orders[draw(&world->random) % 5],
                                .cause = "preempt",
                                .grace_s = (int64_t)(draw(&world->random) % 5),
                                .answer = "accepted",
                                .request = {(const unsigned char *)known->lease, 30}};
    int entry = lease_find(&world->book, known->lease);
    if (entry < 0)
        return;
    static const enum lease_event_kind next[] = {
        [LEASE_ACCEPTED] = LEASE_PROGRAM, [LEASE_FETCHING] = LEASE_FETCHED,
        [LEASE_STARTING] = LEASE_READY,   [LEASE_HELD] = LEASE_ORDERED,
        [LEASE_FINISHING] = LEASE_RESULT, [LEASE_REPORTING] = LEASE_ANSWERED};
    const struct lease_entry *it = &world->book.entries[entry];
    event.kind = next[it->state];
    if (it->state == LEASE_ACCEPTED && !it->asked_program)
        return;
    if (it->state == LEASE_STARTING && it->asked_start) {
        event.kind = LEASE_STARTED;
        known->started = true;
    }
    uint64_t other = draw(&world->random) % 16;
    if (other == 0 && it->state < LEASE_HELD)
        event.kind = LEASE_REFUSED;
    else if (other == 1)
        event.kind = LEASE_GONE;
    else if ((other == 2 || it->killed) && known->runs)
        event.kind = LEASE_ENDED;
    else if (other < 8 && it->state == LEASE_HELD) {
        event.kind = LEASE_RENEWED;
        event.sent_ns = world->now_ns - (int64_t)(draw(&world->random) % NS);
        if (event.sent_ns > known->renewed_ns)
            known->renewed_ns = event.sent_ns;
    }
    if (event.kind == LEASE_ENDED)
        known->runs = false;
    apply(world, &event);
}

/* K3: once time was looked at, what was not renewed is being killed. */
static void check_renewals(struct world *world)
{
    for (int i = 0; i < LEASE_LIVE_MAX; i++) {
        const struct lease_entry *it = &world->book.entries[i];
        if (it->state != LEASE_NONE && it->has_runner && world->now_ns >= it->renewed_ns + STOP_NS)
            assert_true(it->killed);
    }
}

static void live(struct world *world, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        world->now_ns += (int64_t)(draw(&world->random) % (2 * NS));
        if (draw(&world->random) % 40 == 0)
            world->now_ns += 45 * NS; /* the agent was paused for three lives of a lease */
        if (i % 5 == 0)
            list(world);
        for (int j = 0; j < LEASES; j++)
            if (draw(&world->random) % 2 == 0)
                happen(world, &world->known[j]);
        apply(world, &(struct lease_event){.kind = LEASE_TICK});
        check_renewals(world);
    }
}

static bool is_ended(const struct lease_past *past, const char *lease)
{
    const struct protocol_ended *ended = past->ended.items;
    for (size_t i = 0; i < past->ended.count; i++)
        if (strcmp(ended[i].lease, lease) == 0)
            return true;
    return false;
}

static const struct lease_left *result_of(const struct lease_past *past, const char *lease)
{
    const struct lease_left *results = past->results.items;
    for (size_t i = 0; i < past->results.count; i++)
        if (strcmp(results[i].lease, lease) == 0)
            return &results[i];
    return NULL;
}

/* The agent is gone: its journal says of each lease what the crash table says. */
static void die(struct world *world)
{
    struct lease_past past;
    struct cr_bytes journal = {world->journal, world->journal_size};
    assert_ok(&world->call, lease_replay(&world->call, journal, &past));
    for (int i = 0; i < LEASES; i++) {
        const struct known *known = &world->known[i];
        const struct lease_left *left = result_of(&past, known->lease);
        bool ended = is_ended(&past, known->lease);
        if (lease_find(&world->book, known->lease) < 0) {
            assert_true(!left && !ended);
            reached[CUT_NOTHING]++;
            continue;
        }
        assert_true((left != NULL) != ended);
        assert_int_equal(left != NULL, known->result);
        if (left)
            assert_memory_equal(left->request.data, known->lease, 30);
        reached[known->result     ? CUT_RESULT
                : known->released ? CUT_RELEASE
                : known->acquired ? CUT_ACQUIRE
                                  : CUT_ACCEPT]++;
    }
}

static void nothing_that_comes_breaks_a_rule(void **state)
{
    (void)state;
    static struct world world;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        memset(&world, 0, sizeof world);
        world.call = cr_call_open(&env, INT64_MAX);
        world.random = seed * UINT64_C(0x9E3779B97F4A7C15);
        world.now_ns = 1000 * NS;
        for (int i = 0; i < DEVICES; i++) {
            snprintf(world.devices[i].device, LEASE_DEVICE_SIZE, "cpu%d", i);
            world.devices[i].slices = 1;
        }
        lease_book_init(&world.book, world.devices, DEVICES, STOP_NS, world.now_ns);
        for (int i = 0; i < LEASES; i++)
            make_lease(&world, &world.known[i]);
        live(&world, 1 + (int)(draw(&world.random) % ROUNDS));
        die(&world);
        cr_call_close(&world.call);
    }
    for (size_t i = 0; i < sizeof reached / sizeof reached[0]; i++)
        if (reached[i] == 0)
            fail_msg("row %zu of the crash table was never reached", i);
}

static void a_journal_cut_anywhere_is_a_prefix_or_an_error(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
    struct cr_text text = cr_text_open(&call);
    for (int i = 0; i < 3; i++) {
        struct protocol_record record = {.type = PROTOCOL_RECORD_DEVICE,
                                         .device = cr_format(&call, "cpu%d", i),
                                         .state = "failed"};
        struct cr_bytes bytes = protocol_record_write(&call, &record);
        cr_text_add_bytes(&text, bytes.data, bytes.size);
    }
    size_t whole = text.length / 3;
    for (size_t cut = 0; cut <= text.length; cut++) {
        struct lease_past past;
        struct cr_bytes journal = {(unsigned char *)text.data, cut};
        assert_ok(&call, lease_replay(&call, journal, &past));
        assert_int_equal(past.failed.count, cut / whole);
        assert_int_equal(past.size, cut / whole * whole);
        assert_int_equal(past.torn, cut % whole != 0);
    }
    for (size_t at = 0; at < text.length; at++) {
        struct lease_past past;
        text.data[at] = (char)(text.data[at] ^ 0x40);
        struct cr_bytes journal = {(unsigned char *)text.data, text.length};
        enum cr_status status = lease_replay(&call, journal, &past);
        assert_true(status == CR_INTERNAL || (status == CR_OK && past.failed.count == 2));
        assert_int_equal(status == CR_OK, at >= 2 * whole);
        cr_forgive(&call);
        text.data[at] = (char)(text.data[at] ^ 0x40);
    }
}

int main(void)
{
    env = cr_env_system();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_that_comes_breaks_a_rule),
        cmocka_unit_test(a_journal_cut_anywhere_is_a_prefix_or_an_error),
    };
    return cmocka_run_group_tests_name("compute/lease", tests, NULL, NULL);
}
