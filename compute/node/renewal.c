/* renewal: statements: the account of all devices and the readings of all leases under one root. */
#include "compute/node/node.h"

#include "billing/billing.h"
#include "policy/tlog/tlog.h"

#include <string.h>

#define LEAVES_MAX (1 << PROTOCOL_RENEW_PATH_MAX)

_Static_assert(LEASE_LIVE_MAX + 1 <= LEAVES_MAX, "all leases of a node fit one statement");

/* What one statement is made of. */
struct making {
    struct cr_call *call;
    struct agent *agent;
    int64_t now_ns;
    struct tlog_hash leaves[LEAVES_MAX];
    size_t count; /* that say something */
    size_t size;  /* with the padding: a power of two */
    struct cr_bytes account;
    struct protocol_metered *readings;
    size_t reading_count;
};

static struct cr_bytes reading_of(struct making *it, struct lease_entry *entry)
{
    unsigned char nonce[16];
    cr_random(it->call, nonce, sizeof nonce);
    struct billing_reading reading = {
        .acquire_ns = entry->acquire_ns,
        .boot = it->agent->boot,
        .busy_ns = CR_NO_INTEGER,
        .energy_mj = CR_NO_INTEGER,
        .held_ns = lease_held_ns(entry, it->now_ns),
        .lease = entry->lease,
        .lease_epoch = entry->lease_epoch,
        .mono_ns = it->now_ns,
        .node = it->agent->node,
        .nonce = cr_hex(it->call, nonce, sizeof nonce),
        .seq = ++entry->seq,
        .slices = entry->slices,
        .state = entry->release_ns == CR_NO_INTEGER ? "held" : "released",
    };
    return billing_reading_write(it->call, &reading);
}

static void add_leaf(struct making *it, struct cr_bytes bytes)
{
    it->leaves[it->count++] = tlog_leaf(bytes.data, bytes.size);
}

/* Neighbours shall tell nothing of each other: the rest is random, up to a power of two. */
static void pad(struct making *it)
{
    it->size = BILLING_READINGS_SIZE_MIN;
    while (it->size < it->count)
        it->size *= 2;
    for (size_t i = it->count; i < it->size; i++)
        cr_random(it->call, it->leaves[i].bytes, sizeof it->leaves[i].bytes);
}

static struct cr_texts path_of(struct making *it, size_t index)
{
    struct tlog_hash path[TLOG_PROOF_MAX];
    size_t length = tlog_path(it->leaves, it->size, index, path);
    const char **items = cr_new(it->call, const char *, length);
    for (size_t i = 0; i < length; i++)
        items[i] = cr_hex(it->call, path[i].bytes, sizeof path[i].bytes);
    return (struct cr_texts){items, length};
}

static void add_account(struct making *it, int64_t seq)
{
    struct agent *agent = it->agent;
    struct protocol_account account = lease_account(it->call, &agent->book, it->now_ns);
    int64_t free_size = 0, total = 0;
    if (cr_file_free_space(it->call, agent->config.state_dir, &free_size, &total) != CR_OK)
        cr_forgive(it->call);
    account.node = agent->node;
    account.boot = agent->boot;
    account.seq = seq;
    account.disk_free_mib = free_size / (1 << 20);
    it->account = agent_canonical(it->call, &protocol_account_shape, &account);
    add_leaf(it, it->account);
}

/* The signed statement over all leaves; and the place of each reading in its tree. */
static const struct protocol_envelope *finish(struct making *it, int64_t seq)
{
    pad(it);
    for (size_t i = 0; i < it->reading_count; i++) {
        it->readings[i].index = (int64_t)i + 1;
        it->readings[i].size = (int64_t)it->size;
        it->readings[i].path = path_of(it, i + 1);
    }
    struct tlog_hash root = tlog_root(it->leaves, it->size);
    struct billing_statement statement = {
        .boot = it->agent->boot,
        .mono_ns = it->now_ns,
        .node = it->agent->node,
        .root = cr_hex(it->call, root.bytes, sizeof root.bytes),
        .seq = seq,
    };
    struct protocol_envelope *envelope = cr_new(it->call, struct protocol_envelope, 1);
    const char *text = agent_sign(it->call, it->agent, BILLING_TYPE_STATEMENT,
                                  billing_statement_write(it->call, &statement));
    if (json_read(it->call, &protocol_envelope_shape, text, strlen(text), envelope) != CR_OK)
        abort(); /* what we have written fits its shape */
    return envelope;
}

static struct making *begin(struct cr_call *call, struct agent *agent, int64_t now_ns, int64_t seq)
{
    struct making *it = cr_new(call, struct making, 1);
    it->call = call;
    it->agent = agent;
    it->now_ns = now_ns;
    it->readings = cr_new(call, struct protocol_metered, LEASE_LIVE_MAX);
    add_account(it, seq);
    return it;
}

static void add_reading(struct making *it, struct lease_entry *entry)
{
    struct cr_bytes reading = reading_of(it, entry);
    it->readings[it->reading_count++].reading = reading;
    add_leaf(it, reading);
}

void tell_renewal(struct agent *agent, int64_t now_ns)
{
    struct task *task = task_make(agent, TASK_RENEW, "");
    int64_t seq = ++agent->statement_seq;
    struct making *it = begin(&task->call, agent, now_ns, seq);
    const char **named = cr_new(&task->call, const char *, LEASE_LIVE_MAX);
    size_t count = 0;
    for (int i = 0; i < LEASE_LIVE_MAX; i++) {
        struct lease_entry *entry = &agent->book.entries[i];
        if (entry->state == LEASE_NONE)
            continue;
        named[count++] = cr_copy(&task->call, entry->lease, strlen(entry->lease));
        if (entry->acquire_ns != CR_NO_INTEGER)
            add_reading(it, entry);
    }
    struct protocol_renew renew = {.statement = finish(it, seq),
                                   .account = it->account,
                                   .leases = {it->readings, it->reading_count}};
    task->method = "POST";
    task->path = "/v1/node/renew";
    task->body = json_write(&task->call, &protocol_renew_shape, &renew);
    task->gives = &protocol_renewed_shape;
    task->renewed = (struct cr_texts){named, count};
    agent->renewing = true;
    agent->next_renew_ns = now_ns + agent->renew_ns;
    task_give(agent, task);
}

const char *renewal_of_end(struct cr_call *call, struct agent *agent, int entry,
                           const char *message)
{
    struct lease_entry *lease = &agent->book.entries[entry];
    int64_t seq = ++agent->statement_seq;
    struct making *it = begin(call, agent, cr_now_ns(call), seq);
    if (lease->acquire_ns != CR_NO_INTEGER)
        add_reading(it, lease);
    struct protocol_envelope *envelope = cr_new(call, struct protocol_envelope, 1);
    if (json_read(call, &protocol_envelope_shape, message, strlen(message), envelope) != CR_OK)
        abort(); /* what we have written fits its shape */
    struct protocol_completion completion = {
        .message = envelope,
        .statement = finish(it, seq),
        .account = it->account,
        .reading = it->reading_count ? it->readings : NULL,
    };
    return json_write(call, &protocol_completion_shape, &completion);
}
