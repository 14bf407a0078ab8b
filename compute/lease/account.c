/* account: what became of a device's time, and readings of the book. */
#include "compute/lease/lease_internal.h"

void lease_device_use(struct lease_device *device, enum lease_use use, int64_t now_ns)
{
    device->spent_ns[device->use] += now_ns - device->since_ns;
    device->since_ns = now_ns;
    device->use = use;
}

void lease_book_init(struct lease_book *book, struct lease_device *devices, size_t device_count,
                     int64_t stop_after_ns, int64_t now_ns)
{
    memset(book, 0, sizeof *book);
    book->start_ns = now_ns;
    book->stop_after_ns = stop_after_ns;
    book->devices = devices;
    book->device_count = device_count;
    book->accepting = true;
    for (size_t i = 0; i < device_count; i++) {
        devices[i].use = LEASE_IDLE;
        devices[i].since_ns = now_ns;
        devices[i].holder = -1;
        memset(devices[i].spent_ns, 0, sizeof devices[i].spent_ns);
    }
}

int lease_find(const struct lease_book *book, const char *lease)
{
    for (int i = 0; i < LEASE_LIVE_MAX; i++)
        if (book->entries[i].state != LEASE_NONE && strcmp(book->entries[i].lease, lease) == 0)
            return i;
    return -1;
}

size_t lease_count(const struct lease_book *book)
{
    size_t count = 0;
    for (int i = 0; i < LEASE_LIVE_MAX; i++)
        count += book->entries[i].state != LEASE_NONE;
    return count;
}

int64_t lease_next_ns(const struct lease_book *book)
{
    int64_t next = INT64_MAX;
    for (int i = 0; i < LEASE_LIVE_MAX; i++) {
        const struct lease_entry *it = &book->entries[i];
        if (it->state == LEASE_NONE || !it->has_runner || it->killed)
            continue;
        int64_t until = it->renewed_ns + book->stop_after_ns;
        if (it->stop_ns != CR_NO_INTEGER && it->stop_ns < until)
            until = it->stop_ns;
        if (until < next)
            next = until;
    }
    return next;
}

int64_t lease_held_ns(const struct lease_entry *entry, int64_t now_ns)
{
    if (entry->acquire_ns == CR_NO_INTEGER)
        return CR_NO_INTEGER;
    return (entry->release_ns == CR_NO_INTEGER ? now_ns : entry->release_ns) - entry->acquire_ns;
}

static int64_t spent(const struct lease_device *device, enum lease_use use, int64_t now_ns)
{
    return device->spent_ns[use] + (device->use == use ? now_ns - device->since_ns : 0);
}

struct protocol_account lease_account(struct cr_call *call, const struct lease_book *book,
                                      int64_t now_ns)
{
    struct protocol_account_device *devices =
        cr_new(call, struct protocol_account_device, book->device_count);
    for (size_t i = 0; i < book->device_count; i++) {
        const struct lease_device *device = &book->devices[i];
        devices[i] = (struct protocol_account_device){
            .device = device->device,
            .slices = device->slices,
            .state = device->failed ? "failed" : "ok",
            .held_ns = spent(device, LEASE_IN_USE, now_ns),
            .idle_ns = spent(device, LEASE_IDLE, now_ns),
            .maintenance_ns = spent(device, LEASE_IN_MAINTENANCE, now_ns),
        };
    }
    struct protocol_ended *waiting = cr_new(call, struct protocol_ended, LEASE_LIVE_MAX);
    size_t count = 0;
    for (int i = 0; i < LEASE_LIVE_MAX; i++) {
        const struct lease_entry *it = &book->entries[i];
        if (it->state != LEASE_NONE && it->acquire_ns == CR_NO_INTEGER)
            waiting[count++] = (struct protocol_ended){it->lease, it->lease_epoch};
    }
    return (struct protocol_account){
        .type = PROTOCOL_ACCOUNT_TYPE,
        .mono_ns = now_ns,
        .start_ns = book->start_ns,
        .devices = {devices, book->device_count},
        .waiting = {waiting, count},
    };
}
