/* node_run: a lease begins to run, is declined, and tells how it goes. */
#include "controlplane/service/node_internal.h"

#include "base/crypto/crypto.h"
#include "controlplane/service/jobs.h"

/* One message of a lease, through its transaction. */
struct message {
    struct service *service;
    const struct principal *who;
    const char *lease;
    const struct protocol_envelope *envelope;
    struct node_lease found;
    struct protocol_ordered order;
    union {
        struct protocol_start start;
        struct protocol_decline decline;
        struct protocol_progress progress;
    };
    bool told; /* something changed that others wait for */
};

/* The message of the lease that the path names, by its node's signature. */
static enum cr_status open_message(struct cr_call *call, struct db *db, struct message *it,
                                   const char *type, const struct cr_shape *shape,
                                   void *ret_message)
{
    if (!it->who || it->who->kind != PRINCIPAL_NODE || !it->who->node)
        return cr_fail_as(call, &cr_code_permission_denied, "this is for nodes");
    CR_TRY(node_lease_read(call, db, it->who->node, it->lease, &it->found));
    return node_open(call, it->envelope, type, it->found.vkey, shape, ret_message);
}

static enum cr_status forbidden(struct cr_call *call, const struct node_lease *lease)
{
    cr_extra_text(call, "state", lease->state);
    return cr_fail_as(call, &cr_code_state_forbids, "%s is %s", lease->lease, lease->state);
}

static enum cr_status start_work(struct cr_call *call, struct db *db, void *context)
{
    struct message *it = context;
    const struct node_lease *lease = &it->found;
    const struct protocol_start *start = &it->start;
    CR_TRY(open_message(call, db, it, PROTOCOL_TYPE_START, &protocol_start_shape, &it->start));
    CR_TRY(node_fence(call, lease, NODE_HEAD(start), lease->node_boot));
    if (lease->ended != CR_NO_INTEGER)
        return cr_fail_as(call, &service_code_stale_lease, "%s is over", lease->lease);
    it->order = node_order(lease, cr_utc_us(call));
    if (strcmp(lease->state, "running") == 0 && strcmp(lease->boot, start->boot) == 0)
        return CR_OK; /* its answer was lost */
    if (strcmp(lease->state, "granted") != 0)
        return forbidden(call, lease);

    CR_TRY(db_exec_fenced(call, db, &node_start_lease,
                          DB_VALUES(db_text(lease->lease), db_text(lease->node),
                                    db_int(lease->lease_epoch), db_text(start->boot),
                                    db_text(start->runner), db_text(start->engine_class)),
                          "the lease has ended"));
    CR_TRY(db_exec_fenced(
        call, db, &node_start_job,
        DB_VALUES(db_text(lease->tenant), db_text(lease->job), db_int(lease->lease_epoch)),
        "the job is placed no more"));
    it->told = true;
    return jobs_tell(call, db, it->service->config, lease->tenant, lease->job, NULL);
}

/* After the commit: who waits for the job hears of it. */
static void tell(struct cr_call *call, const struct message *it)
{
    if (it->told)
        service_wake(call, it->service, it->found.tenant, it->found.job);
}

enum cr_status node_start(struct cr_call *call, struct service *service,
                          const struct principal *who, const char *lease,
                          const struct protocol_envelope *envelope,
                          struct protocol_ordered *ret_order)
{
    struct message it = {.service = service, .who = who, .lease = lease, .envelope = envelope};
    CR_TRY(db_transaction(call, service->engine_db, NULL, DB_REPEATABLE, start_work, &it));
    tell(call, &it);
    *ret_order = it.order;
    return CR_OK;
}

static enum cr_status decline_work(struct cr_call *call, struct db *db, void *context)
{
    struct message *it = context;
    const struct node_lease *lease = &it->found;
    const struct protocol_decline *decline = &it->decline;
    CR_TRY(
        open_message(call, db, it, PROTOCOL_TYPE_DECLINE, &protocol_decline_shape, &it->decline));
    CR_TRY(node_fence(call, lease, NODE_HEAD(decline), lease->node_boot));
    if (lease->started != CR_NO_INTEGER)
        return forbidden(call, lease);
    if (lease->ended != CR_NO_INTEGER)
        return CR_OK; /* its answer was lost, or the engine was sooner */
    it->told = true;
    return node_lose(call, db, it->service->config, lease, "released", decline->word,
                     decline->detail);
}

enum cr_status node_decline(struct cr_call *call, struct service *service,
                            const struct principal *who, const char *lease,
                            const struct protocol_envelope *envelope)
{
    struct message it = {.service = service, .who = who, .lease = lease, .envelope = envelope};
    CR_TRY(db_transaction(call, service->engine_db, NULL, DB_REPEATABLE, decline_work, &it));
    tell(call, &it);
    return CR_OK;
}

struct taken {
    int64_t seq;
    struct cr_bytes sha256;
};
struct sizes {
    int64_t log, points;
};
/* clang-format off */
static const struct cr_member taken_members[] = {
    CR_MEMBER(struct taken, seq, 0, INT64_MAX, .flags = CR_NULLABLE),
    CR_BYTES(struct taken, sha256, 32, 32, .flags = CR_NULLABLE),
};
static const struct cr_shape taken_shape = CR_SHAPE(struct taken, taken_members);
static const struct cr_member sizes_members[] = {
    CR_MEMBER(struct sizes, log, 0, INT64_MAX),
    CR_MEMBER(struct sizes, points, 0, INT64_MAX),
};
static const struct cr_shape sizes_shape = CR_SHAPE(struct sizes, sizes_members);
/* clang-format on */

/* Whether the message is new; the same again is answered, another of its number is refused. */
static enum cr_status claim_progress(struct cr_call *call, struct db *db, const struct message *it,
                                     bool *ret_new)
{
    struct taken taken;
    bool found;
    unsigned char hash[BASE_CRYPTO_SHA256_SIZE];
    base_crypto_sha256(it->envelope->payload.data, it->envelope->payload.size, hash);
    CR_TRY(db_one(call, db, &node_progress_seq,
                  DB_VALUES(db_text(it->found.tenant), db_text(it->found.lease)), &taken_shape,
                  &taken, &found));
    if (!found)
        return cr_fail_as(call, &service_code_stale_lease, "%s is not metered", it->found.lease);
    *ret_new = taken.seq == CR_NO_INTEGER || it->progress.seq > taken.seq;
    if (!*ret_new && it->progress.seq == taken.seq &&
        memcmp(taken.sha256.data, hash, sizeof hash) != 0)
        return cr_fail_as(call, &service_code_message_differs, "another message of %s has this seq",
                          it->found.lease);
    if (!*ret_new)
        return CR_OK;
    return db_exec(call, db, &node_progress_taken,
                   DB_VALUES(db_text(it->found.tenant), db_text(it->found.lease),
                             db_int(it->progress.seq), db_bytes(hash, sizeof hash)),
                   NULL);
}

static enum cr_status insert_chunk(struct cr_call *call, struct db *db, const struct message *it,
                                   const char *stream, int64_t start_at, struct cr_bytes payload,
                                   int64_t dropped)
{
    return db_exec(call, db, &node_chunk_insert,
                   DB_VALUES(db_text(it->found.tenant), db_text(it->found.job),
                             db_int(it->found.lease_epoch), db_int(it->found.member),
                             db_text(stream), db_int(it->progress.seq), db_int(it->progress.step),
                             db_int(start_at), db_bytes(payload.data, payload.size),
                             db_int(dropped)),
                   NULL);
}

/* The names of the points' series, one a line, beside the points that use them. */
static enum cr_status write_series(struct cr_call *call, struct db *db, const struct message *it)
{
    struct cr_text text = cr_text_open(call);
    for (size_t i = 0; i < it->progress.series.count; i++)
        cr_text_add_format(&text, "%s%s", i ? "\n" : "", it->progress.series.items[i]);
    return insert_chunk(call, db, it, "series", 0,
                        (struct cr_bytes){(const unsigned char *)text.data, text.length}, 0);
}

/* Log and points, as far as the job's limits go; what is over is counted. */
static enum cr_status write_chunks(struct cr_call *call, struct db *db, const struct message *it)
{
    const struct protocol_progress *progress = &it->progress;
    struct sizes sizes = {0};
    bool found;
    CR_TRY(db_one(call, db, &node_chunk_sizes,
                  DB_VALUES(db_text(it->found.tenant), db_text(it->found.job)), &sizes_shape,
                  &sizes, &found));
    struct cr_bytes none = {(const unsigned char *)"", 0};
    bool log_fits = sizes.log + (int64_t)progress->log.size <= NODE_LOG_MAX;
    int64_t log_lost = progress->dropped->log_bytes + (log_fits ? 0 : (int64_t)progress->log.size);
    if (progress->log.size > 0 || log_lost > 0)
        CR_TRY(insert_chunk(call, db, it, "log", sizes.log, log_fits ? progress->log : none,
                            log_lost));
    bool points_fit = sizes.points + (int64_t)progress->points.size <= NODE_POINTS_MAX;
    int64_t lost = progress->dropped->points +
                   (points_fit ? 0 : (int64_t)progress->points.size / PROTOCOL_POINT_SIZE);
    if (progress->points.size == 0 && lost == 0)
        return CR_OK;
    CR_TRY(write_series(call, db, it));
    return insert_chunk(call, db, it, "points", sizes.points, points_fit ? progress->points : none,
                        lost);
}

static enum cr_status write_checkpoint(struct cr_call *call, struct db *db,
                                       const struct message *it)
{
    const struct protocol_checkpoint *checkpoint = it->progress.checkpoint;
    if (!checkpoint)
        return CR_OK;
    unsigned char digest[32];

    if (!cr_hex_parse(checkpoint->digest, strlen(checkpoint->digest), digest, sizeof digest))
        return cr_fail_as(call, &cr_code_invalid_body, "digest of checkpoint is none");
    struct db_rows rows;
    CR_TRY(db_rows(call, db, &node_artifact_held,
                   DB_VALUES(db_text(it->found.tenant), db_bytes(digest, sizeof digest)), &rows));

    if (rows.row_count == 0)
        return cr_fail_as(call, &cr_code_state_forbids, "the checkpoint's bytes are not held");
    return db_exec(call, db, &node_checkpoint_insert,
                   DB_VALUES(db_text(it->found.tenant), db_text(it->found.job),
                             db_int(it->found.lease_epoch), db_int(checkpoint->step),
                             db_bytes(digest, sizeof digest), db_int(checkpoint->size),
                             db_int(checkpoint->held_ns)),
                   NULL);
}

static enum cr_status progress_work(struct cr_call *call, struct db *db, void *context)
{
    struct message *it = context;
    const struct node_lease *lease = &it->found;
    const struct protocol_progress *progress = &it->progress;
    CR_TRY(open_message(call, db, it, PROTOCOL_TYPE_PROGRESS, &protocol_progress_shape,
                        &it->progress));
    CR_TRY(protocol_progress_check(call, progress));
    CR_TRY(node_fence(call, lease, NODE_HEAD(progress), lease->boot));
    it->order = node_order(lease, cr_utc_us(call));
    bool is_new = false;
    CR_TRY(claim_progress(call, db, it, &is_new));
    if (!is_new)
        return CR_OK;
    CR_TRY(db_exec(call, db, &node_progress_step,
                   DB_VALUES(db_text(lease->tenant), db_text(lease->job),
                             db_int(lease->lease_epoch), db_int(progress->step),
                             db_int(progress->steps), db_text(progress->phase)),
                   NULL));
    it->told = true;
    CR_TRY(write_chunks(call, db, it));
    return write_checkpoint(call, db, it);
}

enum cr_status node_progress(struct cr_call *call, struct service *service,
                             const struct principal *who, const char *lease,
                             const struct protocol_envelope *envelope,
                             struct protocol_ordered *ret_order)
{
    struct message it = {.service = service, .who = who, .lease = lease, .envelope = envelope};
    CR_TRY(db_transaction(call, service->engine_db, NULL, DB_REPEATABLE, progress_work, &it));
    tell(call, &it);
    *ret_order = it.order;
    return CR_OK;
}
