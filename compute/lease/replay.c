/* replay: what a journal says of the agent that wrote it. */
#include "compute/lease/lease_internal.h"

struct replaying {
    struct cr_call *call;
    struct lease_left left[LEASE_LIVE_MAX];
    size_t left_count;
    const char *failed[PROTOCOL_DEVICES_MAX];
    size_t failed_count;
};

static struct lease_left *find(struct replaying *it, const struct protocol_record *record)
{
    for (size_t i = 0; i < it->left_count; i++)
        if (strcmp(it->left[i].lease, record->lease) == 0)
            return &it->left[i];
    return NULL;
}

static bool accept(struct replaying *it, const struct protocol_record *record)
{
    if (find(it, record) || it->left_count == LEASE_LIVE_MAX)
        return false;
    struct lease_left *left = &it->left[it->left_count++];
    *left = (struct lease_left){.lease_epoch = record->lease_epoch,
                                .boot = record->boot,
                                .devices = record->devices,
                                .tenant = record->tenant,
                                .job = record->job};
    snprintf(left->lease, sizeof left->lease, "%s", record->lease);
    return true;
}

static void forget(struct replaying *it, const struct lease_left *left)
{
    size_t index = (size_t)(left - it->left);
    it->left[index] = it->left[--it->left_count];
}

static bool device(struct replaying *it, const struct protocol_record *record)
{
    if (strcmp(record->state, "failed") != 0)
        return true;
    if (it->failed_count == PROTOCOL_DEVICES_MAX)
        return false;
    it->failed[it->failed_count++] = record->device;
    return true;
}

/* What a record of a lease that was accepted makes of it. */
static bool follow(struct replaying *it, const struct protocol_record *record)
{
    struct lease_left *left = find(it, record);
    if (!left || left->lease_epoch != record->lease_epoch)
        return false;
    switch (record->type) {
    case PROTOCOL_RECORD_ACQUIRE:
        left->acquired = true;
        return !left->released;
    case PROTOCOL_RECORD_RELEASE:
        left->released = true;
        return left->acquired;
    case PROTOCOL_RECORD_RESULT:
        left->request = record->request;
        return left->released || !left->acquired;
    case PROTOCOL_RECORD_ANSWERED:
        forget(it, left);
        return true;
    default:
        return true;
    }
}

static bool take(struct replaying *it, const struct protocol_record *record)
{
    switch (record->type) {
    case PROTOCOL_RECORD_ACCEPT:
        return accept(it, record);
    case PROTOCOL_RECORD_DEVICE:
        return device(it, record);
    case PROTOCOL_RECORD_BOOT:
    case PROTOCOL_RECORD_SCRUB:
        return true;
    default:
        return follow(it, record);
    }
}

static void tell(struct replaying *it, struct lease_past *ret_past)
{
    struct protocol_ended *ended = cr_new(it->call, struct protocol_ended, it->left_count);
    struct lease_left *results = cr_new(it->call, struct lease_left, it->left_count);
    struct lease_left *scrubs = cr_new(it->call, struct lease_left, it->left_count);
    const char **failed = cr_new(it->call, const char *, it->failed_count);
    for (size_t i = 0; i < it->left_count; i++) {
        const struct lease_left *left = &it->left[i];
        if (left->request.data)
            results[ret_past->results.count++] = *left;
        else
            ended[ret_past->ended.count++] = (struct protocol_ended){
                cr_copy(it->call, left->lease, strlen(left->lease)), left->lease_epoch};
        if (left->acquired && !left->released)
            scrubs[ret_past->scrubs.count++] = *left;
    }
    for (size_t i = 0; i < it->failed_count; i++)
        failed[i] = it->failed[i];
    ret_past->ended.items = ended;
    ret_past->results.items = results;
    ret_past->scrubs.items = scrubs;
    ret_past->failed = (struct cr_texts){failed, it->failed_count};
}

enum cr_status lease_replay(struct cr_call *call, struct cr_bytes journal,
                            struct lease_past *ret_past)
{
    struct replaying *it = cr_new(call, struct replaying, 1);
    struct lease_past past = {0};
    size_t at = 0;
    it->call = call;
    for (;;) {
        struct protocol_record record;
        enum protocol_replay found = protocol_record_read(call, journal, &at, &record);
        if (found == PROTOCOL_REPLAY_END || found == PROTOCOL_REPLAY_TORN) {
            past.size = (int64_t)at;
            past.torn = found == PROTOCOL_REPLAY_TORN;
            break;
        }
        if (found == PROTOCOL_REPLAY_DAMAGED || !take(it, &record))
            return cr_fail(call, CR_INTERNAL, "the journal is damaged before byte %zu", at);
    }
    tell(it, &past);
    *ret_past = past;
    return CR_OK;
}
