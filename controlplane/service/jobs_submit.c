/* jobs_submit: a job is taken in, with its event, its leaf and its stored answer. */
#include "controlplane/service/blob.h"
#include "controlplane/service/jobs_internal.h"

#include "base/core/id.h"
#include "base/core/text.h"
#include "base/crypto/crypto.h"
#include "base/json/json.h"
#include "controlplane/service/jobs_sql.h"

#include <string.h>

static const char *const classes[] = {"critical", "high", "normal", "low", "spot", NULL};

const char *jobs_flavor(struct cr_call *call, const struct protocol_spec *spec)
{
    if (!spec->resources || spec->resources->gpus == CR_NO_INTEGER || spec->resources->gpus == 0)
        return JOBS_FLAVOR_CPU;
    const struct cr_texts *models = &spec->resources->models;
    return cr_format(call, "gpu-%s", models->count ? models->items[0] : "any");
}

int64_t jobs_devices(const struct protocol_spec *spec)
{
    bool gpus = spec->resources && spec->resources->gpus != CR_NO_INTEGER && spec->resources->gpus;
    return gpus ? spec->resources->gpus : protocol_spec_slots(spec);
}

enum cr_status jobs_check(struct cr_call *call, const struct protocol_spec *spec)
{
    CR_TRY(protocol_spec_check(call, spec));
    if (spec->queue && strcmp(spec->queue, JOBS_QUEUE_USUAL) != 0)
        cr_fault(call, CR_AT_POINTER, "/queue", "unknown_word", "queue must be one of %s",
                 JOBS_QUEUE_USUAL);
    bool known = !spec->class;
    for (const char *const *word = classes + 1; spec->class && *word; word++)
        known = known || strcmp(spec->class, *word) == 0;
    if (!known)
        cr_fault(call, CR_AT_POINTER, "/class", "unknown_word",
                 "class must be one of high, normal, low, spot");
    if (call->fault_count)
        return cr_fail_as(call, &cr_code_invalid_body, "%s", call->faults[0].detail);
    return CR_OK;
}

/* What it reads ------------------------------------------------------------------------------- */

struct held {
    const char *artifact, *sha256, *kind;
};
static const struct cr_member held_members[] = {
    CR_MEMBER(struct held, artifact, 0, 0),
    CR_MEMBER(struct held, sha256, 0, 0),
    CR_MEMBER(struct held, kind, 0, 0),
};
static const struct cr_shape held_shape = CR_SHAPE(struct held, held_members);

static const char *digest_in(const char *reference)
{
    return strncmp(reference, "sha256:", 7) == 0 ? reference + 7 : NULL;
}

static const struct held *find(const struct cr_list *list, const char *reference)
{
    const char *digest = digest_in(reference);
    const struct held *items = list->items;
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(digest ? items[i].sha256 : items[i].artifact, digest ? digest : reference) == 0)
            return &items[i];
    return NULL;
}

static void look_for(struct cr_call *call, const struct cr_list *list, const char *pointer,
                     const char *reference, const char *kind)
{
    const struct held *held = find(list, reference);
    if (!held)
        cr_fault(call, CR_AT_POINTER, pointer, "not_found", "no artifact %s is held", reference);
    else if (kind && strcmp(held->kind, kind) != 0)
        cr_fault(call, CR_AT_POINTER, pointer, "wrong_kind", "artifact %s is a %s, not a %s",
                 reference, held->kind, kind);
}

/* Whether all that the spec names is held by the tenant; names each that is not. */
static enum cr_status check_artifacts(struct cr_call *call, struct db *db, const char *tenant,
                                      const struct protocol_spec *spec)
{
    const char *ids[PROTOCOL_INPUTS_MAX + 1], *digests[PROTOCOL_INPUTS_MAX + 1];
    size_t id_count = 0, digest_count = 0;
    const char *model = spec->program ? spec->program->artifact : NULL;
    for (size_t i = 0; i < spec->inputs.count + (model != NULL); i++) {
        const char *reference = i < spec->inputs.count ? spec->inputs.items[i].value : model;
        const char *digest = digest_in(reference);
        if (digest)
            digests[digest_count++] = digest;
        else
            ids[id_count++] = reference;
    }
    struct cr_list list;
    CR_TRY(db_list(
        call, db, &jobs_artifacts,
        DB_VALUES(db_text(tenant), db_texts(ids, id_count), db_texts(digests, digest_count)),
        &held_shape, &list));
    for (size_t i = 0; i < spec->inputs.count; i++)
        look_for(call, &list, cr_format(call, "/inputs/%s", spec->inputs.items[i].name),
                 spec->inputs.items[i].value, "dataset");
    if (model)
        look_for(call, &list, "/program/artifact", model, "model");
    if (call->fault_count)
        return cr_fail_as(call, &cr_code_invalid_body, "%s", call->faults[0].detail);
    return CR_OK;
}

/* The transaction -------------------------------------------------------------------------------
 */

struct tenant {
    const char *state;
    int64_t job_limit, live, priority;
    const char *price;
};
static const struct cr_member tenant_members[] = {
    CR_MEMBER(struct tenant, state, 0, 0), CR_MEMBER(struct tenant, job_limit, 0, 0),
    CR_MEMBER(struct tenant, live, 0, 0),  CR_MEMBER(struct tenant, priority, 0, 0),
    CR_MEMBER(struct tenant, price, 0, 0),
};
static const struct cr_shape tenant_shape = CR_SHAPE(struct tenant, tenant_members);

static const char *class_of(const struct protocol_spec *spec)
{
    return spec->class ? spec->class : JOBS_CLASS_USUAL;
}

static enum cr_status read_tenant(struct cr_call *call, struct db *db,
                                  const struct service_work *work, const struct protocol_spec *spec,
                                  struct tenant *ret_tenant)
{
    bool found;
    const char *tenant = work->ask->who->tenant;
    CR_TRY(db_one(call, db, &jobs_tenant,
                  DB_VALUES(db_text(tenant), db_text(work->service->config->region),
                            db_text(jobs_flavor(call, spec)), db_text(class_of(spec))),
                  &tenant_shape, ret_tenant, &found));
    if (!found)
        return service_missing(call, "tenant", tenant);
    if (strcmp(ret_tenant->state, "active") != 0)
        return cr_fail_as(call, &cr_code_tenant_suspended, "the tenant is %s", ret_tenant->state);
    if (ret_tenant->live < ret_tenant->job_limit)
        return CR_OK;
    cr_extra_number(call, "limit", ret_tenant->job_limit);
    cr_extra_number(call, "used", ret_tenant->live);
    return cr_fail_as(call, &cr_code_quota_exceeded, "%lld jobs are live, which is the limit",
                      (long long)ret_tenant->live);
}

static const char *labels_json(struct cr_call *call, const struct cr_labels *labels)
{
    struct cr_text text = cr_text_open(call);
    for (size_t i = 0; i < labels->count; i++) {
        cr_text_add(&text, i ? "," : "{");
        cr_text_add_quoted(&text, labels->items[i].name, strlen(labels->items[i].name));
        cr_text_add(&text, ":");
        cr_text_add_quoted(&text, labels->items[i].value, strlen(labels->items[i].value));
    }
    cr_text_add(&text, labels->count ? "}" : "{}");
    return text.data;
}

static enum cr_status insert(struct cr_call *call, struct db *db, const struct service_work *work,
                             const char *job, const struct tenant *tenant)
{
    const struct protocol_spec *spec = work->request;
    const struct json_value *value;
    const char *text = json_write(call, &protocol_spec_shape, spec);
    CR_TRY(json_parse(call, NULL, text, strlen(text), &value));
    const char *canonical = json_canonical(call, value);
    unsigned char sha256[BASE_CRYPTO_SHA256_SIZE];
    base_crypto_sha256(canonical, strlen(canonical), sha256);

    const struct protocol_retry *retry = spec->retry;
    bool retries = retry && retry->max != CR_NO_INTEGER;
    return db_exec(call, db, &jobs_insert,
                   DB_VALUES(db_text(work->ask->who->tenant), db_text(job), db_text(spec->name),
                             db_text(labels_json(call, &spec->labels)), db_text(spec->kind),
                             db_text(JOBS_QUEUE_USUAL), db_text(class_of(spec)),
                             db_text(tenant->price), db_text(canonical),
                             db_bytes(sha256, sizeof sha256), db_int(protocol_spec_runtime_s(spec)),
                             db_int(protocol_spec_grace_s(spec)), db_int(retries ? retry->max : 0),
                             db_texts(retry ? retry->on.items : NULL, retry ? retry->on.count : 0),
                             db_text(work->ask->who->actor), db_int(tenant->priority),
                             db_int(spec->not_before), db_int(spec->queue_ttl_s)),
                   NULL);
}

static enum cr_status submit_work(struct cr_call *call, struct db *db, struct service_work *work)
{
    const struct protocol_spec *spec = work->request;
    const struct service_config *config = work->service->config;
    const char *owner = work->ask->who->tenant;
    struct tenant tenant;
    CR_TRY(read_tenant(call, db, work, spec, &tenant));
    CR_TRY(check_artifacts(call, db, owner, spec));

    const char *job = cr_id(call, "job");
    CR_TRY(insert(call, db, work, job, &tenant));
    struct job *reply = work->reply;
    CR_TRY(jobs_read(call, db, config, owner, job, reply));
    const char *body = json_write(call, &job_shape, reply);
    struct service_mutation mutation = {
        .tenant = owner, .action = "job.submitted", .object = job, .after = body};
    CR_TRY(service_audit(call, db, work->ask, &mutation, NULL));
    return service_outbox(call, db, owner, "job.queued", job, body);
}

enum cr_status jobs_submit(struct cr_call *call, struct service *service,
                           const struct service_ask *ask, const struct protocol_spec *spec,
                           struct job *ret_job)
{
    CR_TRY(jobs_check(call, spec));
    CR_TRY(jobs_check_picture(call, service, ask->who, spec));
    CR_TRY(blob_room(call, service->config)); /* DISK_STOP: nothing new that would write */
    CR_TRY(service_keyed(call, service, ask, &job_shape, submit_work, spec, ret_job));
    service_wake(call, service, ask->who->tenant, ret_job->job);
    return CR_OK;
}
