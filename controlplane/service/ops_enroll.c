/* ops_enroll: tokens, each of which lets one node join, once. */
#include "controlplane/service/ops.h"

#include "base/core/id.h"
#include "base/crypto/credential.h"
#include "base/json/json.h"
#include "controlplane/service/identity.h"
#include "controlplane/service/ops_enroll_sql.h"
#include "controlplane/service/secrets.h"

static const char *const states[] = {"open", "used", "expired", NULL};

/* clang-format off */
#define ENROLLMENT_MEMBERS                                                         \
    CR_ID(struct ops_enrollment, enrollment, "enr"),                               \
    CR_MEMBER(struct ops_enrollment, name, 1, 63, .flags = CR_NULLABLE,            \
              .about = "Of the node that may use it; null: any"),                  \
    CR_WORD(struct ops_enrollment, state, states),                                 \
    CR_ID(struct ops_enrollment, node, "node", .flags = CR_NULLABLE),              \
    CR_TIME(struct ops_enrollment, created),                                       \
    CR_TIME(struct ops_enrollment, until),                                         \
    CR_MEMBER(struct ops_enrollment, created_by, 1, 64)

static const struct cr_member enrollment_members[] = {ENROLLMENT_MEMBERS};
static const struct cr_member made_members[] = {
    ENROLLMENT_MEMBERS,
    CR_MEMBER(struct ops_enrollment, token, 1, BASE_CRYPTO_CREDENTIAL_LENGTH_MAX,
              .about = "Shown this once"),
    CR_MEMBER(struct ops_enrollment, durability, 1, 16),
};
static const struct cr_member create_members[] = {
    CR_MEMBER(struct ops_enrollment_create, name, 1, 63, .flags = CR_OPTIONAL | CR_PRINTABLE),
};
/* clang-format on */

const struct cr_shape ops_enrollment_shape =
    CR_SHAPE(struct ops_enrollment, enrollment_members, .name = "Enrollment");
const struct cr_shape ops_enrollment_made_shape =
    CR_SHAPE(struct ops_enrollment, made_members, .name = "EnrollmentMade");
const struct cr_shape ops_enrollment_create_shape =
    CR_SHAPE(struct ops_enrollment_create, create_members, .name = "EnrollmentCreate");

static enum cr_status create_work(struct cr_call *call, struct db *db, struct service_work *work)
{
    const struct ops_enrollment_create *create = work->request;
    const struct service_config *config = work->service->config;
    struct ops_enrollment *made = work->reply;
    struct base_crypto_credential credential;
    const char *token = base_crypto_credential_make(call, "enr", &credential);
    const char *enrollment = cr_id(call, "enr");
    unsigned char hash[32];
    identity_hash(config, token, hash);
    CR_TRY(
        db_exec(call, db, &ops_enrollment_insert,
                DB_VALUES(db_text(credential.id), db_text(enrollment), db_bytes(hash, sizeof hash),
                          db_text(config->secrets->pepper_id), db_text(create->name),
                          db_text(work->ask->who->actor), db_int(OPS_ENROLLMENT_US)),
                NULL));
    bool found;
    CR_TRY(db_one(call, db, &ops_enrollment_one, DB_VALUES(db_text(enrollment)),
                  &ops_enrollment_shape, made, &found));

    const char *body = json_write(call, &ops_enrollment_shape, made);
    struct service_mutation mutation = {
        .action = "enrollment.created", .object = enrollment, .after = body};
    CR_TRY(service_audit(call, db, work->ask, &mutation, NULL));
    CR_TRY(service_outbox(call, db, NULL, mutation.action, enrollment, body));
    made->token = token;
    made->durability = config->durability;
    return CR_OK;
}

enum cr_status ops_enrollments_create(struct cr_call *call, struct service *service,
                                      const struct service_ask *ask,
                                      const struct ops_enrollment_create *create,
                                      struct ops_enrollment *ret_enrollment)
{
    return service_keyed(call, service, ask, &ops_enrollment_made_shape, create_work, create,
                         ret_enrollment);
}

enum cr_status ops_enrollments_list(struct cr_call *call, struct service *service,
                                    const char *after, int64_t limit,
                                    struct cr_list *ret_enrollments)
{
    return db_list(call, service->engine_db, &ops_enrollment_page,
                   DB_VALUES(db_text(after), db_int(limit)), &ops_enrollment_shape,
                   ret_enrollments);
}
