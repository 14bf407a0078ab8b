/* node_leases: what a node should hold, and what to run under a lease. */
#include "controlplane/service/node_internal.h"

#include "base/crypto/crypto.h"
#include "base/json/json.h"
#include "compute/protocol/table.h"

static enum cr_status only_nodes(struct cr_call *call, const struct principal *who)
{
    if (who && who->kind == PRINCIPAL_NODE && who->node)
        return CR_OK;
    return cr_fail_as(call, &cr_code_permission_denied, "this is for nodes");
}

/* "node_…/cpu0" as the node itself says it: "cpu0". */
static void shorten(struct cr_call *call, struct cr_texts *devices)
{
    const char **items = cr_new(call, const char *, devices->count);
    for (size_t i = 0; i < devices->count; i++) {
        const char *slash = strchr(devices->items[i], '/');
        items[i] = slash ? slash + 1 : devices->items[i];
    }
    devices->items = items;
}

enum cr_status node_leases(struct cr_call *call, struct service *service,
                           const struct principal *who, struct protocol_leases *ret_leases,
                           const char **ret_etag)
{
    CR_TRY(only_nodes(call, who));
    struct protocol_leases leases;
    CR_TRY(db_list(call, service->engine_db, &node_live_leases, DB_VALUES(db_text(who->node)),
                   &protocol_lease_shape, &leases.leases));
    struct protocol_lease *items = leases.leases.items;
    for (size_t i = 0; i < leases.leases.count; i++)
        shorten(call, &items[i].devices);
    const char *text = json_write(call, &protocol_leases_shape, &leases);
    unsigned char hash[BASE_CRYPTO_SHA256_SIZE];
    base_crypto_sha256(text, strlen(text), hash);
    *ret_etag = cr_format(call, "\"%.32s\"", cr_hex(call, hash, sizeof hash));
    *ret_leases = leases;
    return CR_OK;
}

struct job_of {
    const char *kind, *spec;
    struct cr_bytes spec_sha256;
    int64_t max_runtime_s;
};
struct held {
    const char *artifact;
    struct cr_bytes sha256;
    int64_t size;
    const char *kind;
};
struct saved {
    struct cr_bytes digest;
    int64_t size, step;
};
/* clang-format off */
static const struct cr_member job_members[] = {
    CR_WORD(struct job_of, kind, protocol_kinds),
    CR_MEMBER(struct job_of, spec, 2, PROTOCOL_SPEC_SIZE_MAX),
    CR_BYTES(struct job_of, spec_sha256, 32, 32),
    CR_MEMBER(struct job_of, max_runtime_s, 1, INT64_MAX),
};
static const struct cr_shape job_of_shape = CR_SHAPE(struct job_of, job_members);
static const struct cr_member held_members[] = {
    CR_ID(struct held, artifact, "art"),
    CR_BYTES(struct held, sha256, 32, 32),
    CR_MEMBER(struct held, size, 0, INT64_MAX),
    CR_MEMBER(struct held, kind, 1, 32),
};
static const struct cr_shape held_shape = CR_SHAPE(struct held, held_members);
static const struct cr_member saved_members[] = {
    CR_BYTES(struct saved, digest, 32, 32),
    CR_MEMBER(struct saved, size, 0, INT64_MAX),
    CR_MEMBER(struct saved, step, 0, INT64_MAX),
};
static const struct cr_shape saved_shape = CR_SHAPE(struct saved, saved_members);
/* clang-format on */

/* The artifacts of a spec by role: its inputs, and the artifact of its program. */
static struct cr_labels wanted_of(struct cr_call *call, const struct protocol_spec *spec)
{
    struct cr_label *items = cr_new(call, struct cr_label, spec->inputs.count + 1);
    size_t count = spec->inputs.count;
    if (count)
        memcpy(items, spec->inputs.items, count * sizeof *items);
    if (spec->program->artifact)
        items[count++] = (struct cr_label){PROTOCOL_INPUT_PROGRAM, spec->program->artifact};
    return (struct cr_labels){items, count};
}

static bool names(struct cr_call *call, const struct held *held, const char *reference)
{
    if (strcmp(held->artifact, reference) == 0)
        return true;
    return strcmp(cr_format(call, "sha256:%s", cr_hex(call, held->sha256.data, 32)), reference) ==
           0;
}

/* What of the wanted is held, with digest and size; one that is gone is left out. */
static enum cr_status inputs_of(struct cr_call *call, struct db *db, const char *tenant,
                                const struct cr_labels *wanted, struct cr_list *ret_inputs)
{
    const char **ids = cr_new(call, const char *, wanted->count);
    struct cr_bytes *digests = cr_new(call, struct cr_bytes, wanted->count);
    size_t digest_count = 0;
    for (size_t i = 0; i < wanted->count; i++) {
        const char *reference = ids[i] = wanted->items[i].value;
        unsigned char *digest = cr_new(call, unsigned char, 32);
        if (strncmp(reference, "sha256:", 7) == 0 &&
            cr_hex_parse(reference + 7, strlen(reference + 7), digest, 32))
            digests[digest_count++] = (struct cr_bytes){digest, 32};
    }
    struct cr_list rows;
    CR_TRY(db_list(
        call, db, &node_artifacts_of,
        DB_VALUES(db_text(tenant), db_texts(ids, wanted->count), db_byteses(digests, digest_count)),
        &held_shape, &rows));
    const struct held *held = rows.items;
    struct protocol_input *inputs = cr_new(call, struct protocol_input, wanted->count);
    size_t count = 0;
    for (size_t i = 0; i < wanted->count; i++)
        for (size_t j = 0; j < rows.count; j++)
            if (names(call, &held[j], wanted->items[i].value)) {
                inputs[count++] = (struct protocol_input){wanted->items[i].name,
                                                          cr_hex(call, held[j].sha256.data, 32),
                                                          held[j].size, held[j].kind};
                break;
            }
    *ret_inputs = (struct cr_list){inputs, count};
    return CR_OK;
}

static enum cr_status resume_of(struct cr_call *call, struct db *db, const struct node_lease *lease,
                                const struct protocol_resume **ret_resume)
{
    struct saved saved;
    bool found;
    CR_TRY(db_one(call, db, &node_resume_of, DB_VALUES(db_text(lease->tenant), db_text(lease->job)),
                  &saved_shape, &saved, &found));
    *ret_resume = NULL;
    if (!found)
        return CR_OK;
    struct protocol_resume *resume = cr_new(call, struct protocol_resume, 1);
    *resume = (struct protocol_resume){cr_hex(call, saved.digest.data, 32), saved.size, saved.step};
    *ret_resume = resume;
    return CR_OK;
}

static enum cr_status live(struct cr_call *call, const struct node_lease *lease)
{
    if (lease->ended != CR_NO_INTEGER || lease->lease_epoch < lease->highest_epoch)
        return cr_fail_as(call, &service_code_stale_lease, "%s is over", lease->lease);
    return CR_OK;
}

enum cr_status node_program(struct cr_call *call, struct service *service,
                            const struct principal *who, const char *lease_id,
                            struct protocol_assignment *ret_assignment)
{
    CR_TRY(only_nodes(call, who));
    struct db *db = service->engine_db;
    struct node_lease lease;
    CR_TRY(node_lease_read(call, db, who->node, lease_id, &lease));
    CR_TRY(live(call, &lease));

    struct job_of job;
    struct protocol_spec spec;
    bool found;
    CR_TRY(db_one(call, db, &node_job_of, DB_VALUES(db_text(lease.tenant), db_text(lease.job)),
                  &job_of_shape, &job, &found));
    if (!found)
        return cr_fail(call, CR_INTERNAL, "%s has no job", lease.lease);
    CR_TRY(json_read(call, &protocol_spec_shape, job.spec, strlen(job.spec), &spec));

    struct protocol_assignment assignment = {
        .tenant = lease.tenant,
        .job = lease.job,
        .kind = job.kind,
        .spec = {job.spec, strlen(job.spec)},
        .spec_sha256 = cr_hex(call, job.spec_sha256.data, 32),
        .memory_mib = protocol_spec_memory_mib(&spec),
        .cpu_milli = protocol_spec_slots(&spec) * 1000,
        .max_runtime_s = job.max_runtime_s,
        .checkpoint_s = spec.checkpoint_s == CR_NO_INTEGER ? 0 : spec.checkpoint_s,
        .output_max = PROTOCOL_OUTPUT_MAX,
        .traceparent = "",
    };
    struct cr_labels wanted = wanted_of(call, &spec);
    CR_TRY(inputs_of(call, db, lease.tenant, &wanted, &assignment.inputs));
    CR_TRY(resume_of(call, db, &lease, &assignment.resume));
    *ret_assignment = assignment;
    return CR_OK;
}
