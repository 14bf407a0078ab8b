/* identity: who shows a credential is told from who does not, and what was ended stays ended. */
#include "tests/integration/region.h"

#include "base/crypto/credential.h"
#include "controlplane/service/identity.h"
#include "controlplane/service/keys.h"
#include "controlplane/service/ops.h"
#include "controlplane/service/sessions.h"
#include "controlplane/service/tenants.h"

static struct region region;
static const struct principal maker = {.kind = PRINCIPAL_TENANT,
                                       .tenant = REGION_TENANT,
                                       .actor = "key_test",
                                       .permissions = "jobs:read,jobs:write,keys:read,keys:write"};
static const struct principal stranger = {
    .kind = PRINCIPAL_TENANT, .tenant = REGION_OTHER, .actor = "key_other", .permissions = "*"};
static const struct principal operator= {
    .kind = PRINCIPAL_OPERATOR, .actor = "key_ops", .permissions = "*"};

static struct key make(struct cr_call *call, const char *idempotency_key)
{
    static const char *const permissions[] = {"jobs:read"};
    struct key_create create = {
        .name = "ci", .permissions = {permissions, 1}, .expires = CR_NO_INTEGER};
    struct service_ask ask = region_ask(&maker, idempotency_key);
    ask.sealed = true;
    struct key key;
    assert_ok(call, keys_create(call, &region.service, &ask, &create, &key));
    return key;
}

static enum cr_status shows(struct cr_call *call, const char *credential,
                            const struct principal **ret_who)
{
    return identity_by_key(call, &region.service, credential, ret_who);
}

static void refused_as(const char *credential, const struct cr_code *code)
{
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    const struct principal *who;
    assert_int_equal(shows(&call, credential, &who), CR_UNAUTHENTICATED);
    assert_ptr_equal(call.code, code);
}

static void a_key_that_was_made_lets_in(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    struct key key = make(&call, "make-1");
    const struct principal *who;
    for (int i = 0; i < 2; i++) { /* the second time out of the cache */
        assert_ok(&call, shows(&call, key.secret, &who));
        assert_int_equal(who->kind, PRINCIPAL_TENANT);
        assert_string_equal(who->tenant, REGION_TENANT);
        assert_string_equal(who->actor, key.key);
        assert_string_equal(who->permissions, "jobs:read");
    }
    struct key seen;
    assert_ok(&call, keys_get(&call, &region.service, &maker, key.key, &seen));
    assert_string_equal(seen.state, "active");
    assert_true(seen.last_used != CR_NO_INTEGER);
    assert_int_equal(region_number(&region, "SELECT count(*) FROM audit_leaf WHERE kind = "
                                            "'key.created' AND tenant_id = '" REGION_TENANT "'"),
                     1);
}

static void the_same_request_shows_the_same_secret_and_keeps_none(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    struct key first = make(&call, "make-twice"), second = make(&call, "make-twice");
    assert_string_equal(first.key, second.key);
    assert_string_equal(first.secret, second.secret);
    assert_int_equal(
        region_number(&region,
                      cr_format(&call,
                                "SELECT count(*) FROM idempotency WHERE position('%s'::bytea"
                                " IN answer) > 0 OR key = 'make-twice'",
                                first.secret)),
        0);
}

static void what_is_no_credential_is_refused(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    struct key key = make(&call, "make-2");
    struct base_crypto_credential credential;
    assert_true(base_crypto_credential_parse(key.secret, strlen(key.secret), &credential));
    refused_as("", &cr_code_credential_rejected);
    refused_as("crs_live_k1abcdefghij_000000000000000000000000000000AAAAAA",
               &cr_code_credential_rejected);
    refused_as(cr_format(&call, "%s ", key.secret), &cr_code_credential_rejected);
    /* the id is known, the secret is not; then neither; then the key is of another installation */
    refused_as(
        base_crypto_credential_of(&call, "test", credential.id, "000000000000000000000000000000"),
        &cr_code_credential_rejected);
    refused_as(
        base_crypto_credential_of(&call, "test", "000000000000", "000000000000000000000000000000"),
        &cr_code_credential_rejected);
    refused_as(
        base_crypto_credential_of(&call, "live", credential.id, "000000000000000000000000000000"),
        &cr_code_credential_rejected);
}

static void an_expired_key_is_refused_as_expired(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    struct key key = make(&call, "make-3");
    region_sql(&region, cr_format(&call,
                                  "UPDATE api_key SET expires = cresset_now_us() - 1 "
                                  "WHERE key_id = '%s'",
                                  key.key));
    refused_as(key.secret, &cr_code_credential_expired);
    struct key seen;
    assert_ok(&call, keys_get(&call, &region.service, &maker, key.key, &seen));
    assert_string_equal(seen.state, "expired");
}

static void a_revoked_key_is_refused_at_once(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    struct key key = make(&call, "make-4");
    const struct principal *who;
    bool still;
    assert_ok(&call, shows(&call, key.secret, &who)); /* it is in the cache now */
    struct identity_proof proof = identity_proof_of(&region.config, who, NULL);
    assert_ok(&call, identity_still(&call, &region.service, &proof, &still));
    assert_true(still);
    struct service_ask ask = region_ask(&maker, "revoke-4");
    assert_ok(&call, keys_revoke(&call, &region.service, &ask, key.key, key.version));
    assert_ok(&call, identity_still(&call, &region.service, &proof, &still));
    assert_false(still);
    refused_as(key.secret, &cr_code_credential_rejected);

    struct service_ask again = region_ask(&maker, "revoke-5");
    assert_int_equal(keys_revoke(&call, &region.service, &again, key.key, key.version + 1),
                     CR_CONFLICT);
    assert_ptr_equal(call.code, &cr_code_state_forbids);
}

static void a_change_of_an_old_version_is_refused(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    struct key key = make(&call, "make-5"), changed;
    struct key_patch patch = {.name = "renamed"};
    struct service_ask ask = region_ask(&maker, "patch-5");
    assert_ok(&call,
              keys_patch(&call, &region.service, &ask, key.key, key.version, &patch, &changed));
    assert_string_equal(changed.name, "renamed");
    assert_int_equal(changed.version, key.version + 1);
    struct service_ask stale = region_ask(&maker, "patch-6");
    assert_int_equal(
        keys_patch(&call, &region.service, &stale, key.key, key.version, &patch, &changed),
        CR_CONFLICT);
    assert_ptr_equal(call.code, &cr_code_version_mismatch);
    assert_string_equal(call.extras[0].text, "\"2\"");
}

static void a_rotated_key_has_two_secrets_for_the_overlap(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    struct key key = make(&call, "make-6"), rotated;
    struct key_rotate overlap = {.overlap_s = 60}, none = {.overlap_s = 0};
    struct service_ask ask = region_ask(&maker, "rotate-6");
    ask.sealed = true;
    const struct principal *who;
    assert_ok(&call, keys_rotate(&call, &region.service, &ask, key.key, &overlap, &rotated));
    assert_ok(&call, shows(&call, key.secret, &who));
    assert_ok(&call, shows(&call, rotated.secret, &who));

    ask.key = "rotate-7";
    struct key last;
    assert_ok(&call, keys_rotate(&call, &region.service, &ask, key.key, &none, &last));
    refused_as(key.secret, &cr_code_credential_expired);
    refused_as(rotated.secret, &cr_code_credential_expired);
    assert_ok(&call, shows(&call, last.secret, &who));
}

static void a_key_may_do_no_more_than_its_maker(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    static const char *const more[] = {"billing:read"}, *const unknown[] = {"ops:write"};
    struct key_create create = {.name = "ci", .permissions = {more, 1}, .expires = CR_NO_INTEGER};
    struct service_ask ask = region_ask(&maker, "more-1");
    struct key key;
    assert_int_equal(keys_create(&call, &region.service, &ask, &create, &key), CR_DENIED);
    cr_forgive(&call);
    create.permissions.items = unknown;
    assert_int_equal(keys_create(&call, &region.service, &ask, &create, &key), CR_INVALID);
    assert_string_equal(call.faults[0].at, "/permissions/0");
}

/* tenant.5: what is another's answers as what never was. */
static void another_tenants_key_is_as_one_that_never_was(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    struct key key = make(&call, "make-8"), seen;
    const char *never = "key_01M8RHHQPNQ4ZK9W7V2X5T8RND";
    CR_SCOPED(cr_call_close) struct cr_call foreign = region_call(&region);
    CR_SCOPED(cr_call_close) struct cr_call absent = region_call(&region);
    assert_int_equal(keys_get(&foreign, &region.service, &stranger, key.key, &seen), CR_NOT_FOUND);
    assert_int_equal(keys_get(&absent, &region.service, &stranger, never, &seen), CR_NOT_FOUND);
    assert_string_equal(foreign.reason, cr_format(&call, "no key %s", key.key));
    assert_string_equal(absent.reason, cr_format(&call, "no key %s", never));
    assert_ptr_equal(foreign.code, absent.code);

    struct service_ask ask = region_ask(&stranger, "steal-8");
    assert_int_equal(keys_revoke(&foreign, &region.service, &ask, key.key, 1), CR_NOT_FOUND);
    struct cr_list list;
    assert_ok(&call, keys_list(&call, &region.service, &stranger, NULL, 10, &list));
    assert_int_equal(list.count, 0);
}

static void a_code_signs_in_once(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    static const struct principal nobody = {.kind = PRINCIPAL_NOBODY};
    const struct service_ask ask = {.who = &nobody, .request = "req_test"};
    const char *code;
    struct session session;
    const struct principal *who;
    assert_ok(&call, sessions_code(&call, &region.service, "demo", &code));
    assert_int_equal(strlen(code), SESSIONS_CODE_LENGTH);
    assert_ok(&call, sessions_open(&call, &region.service, &ask, code, &session));
    assert_string_equal(session.tenant, REGION_TENANT);
    assert_ok(&call, identity_by_session(&call, &region.service, session.session, &who));
    assert_int_equal(who->kind, PRINCIPAL_TENANT);
    assert_true(identity_holds(who->permissions, "jobs:write"));
    assert_int_equal(sessions_open(&call, &region.service, &ask, code, &session),
                     CR_UNAUTHENTICATED);
    cr_forgive(&call);

    bool still;
    struct identity_proof proof = identity_proof_of(&region.config, who, session.session);
    assert_ok(&call, identity_still(&call, &region.service, &proof, &still));
    assert_true(still);
    struct service_ask leave = {.who = who, .request = "req_test"};
    assert_ok(&call, sessions_close(&call, &region.service, &leave, session.session));
    assert_ok(&call, identity_still(&call, &region.service, &proof, &still));
    assert_false(still);
    assert_int_equal(identity_by_session(&call, &region.service, session.session, &who),
                     CR_UNAUTHENTICATED);
    assert_ptr_equal(call.code, &cr_code_session_expired);
}

static void an_operators_session_idles_out_sooner(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    static const struct principal nobody = {.kind = PRINCIPAL_NOBODY};
    const struct service_ask ask = {.who = &nobody, .request = "req_test"};
    const char *code;
    struct session session;
    const struct principal *who;
    assert_ok(&call, sessions_code(&call, &region.service, NULL, &code));
    assert_ok(&call, sessions_open(&call, &region.service, &ask, code, &session));
    assert_ok(&call, identity_by_session(&call, &region.service, session.session, &who));
    assert_int_equal(who->kind, PRINCIPAL_OPERATOR);
    region_sql(&region, "UPDATE session SET last_used = cresset_now_us() - 3601000000 "
                        "WHERE tenant_id = 'operators'");
    assert_int_equal(identity_by_session(&call, &region.service, session.session, &who),
                     CR_UNAUTHENTICATED);
}

static void a_new_tenants_first_key_lets_in(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    struct tenant_create create = {.name = "acme", .device_limit = 3, .job_limit = CR_NO_INTEGER};
    struct service_ask ask = region_ask(&operator, "tenant-1");
    ask.sealed = true;
    ask.reason = "a customer";
    struct tenant made, limited;
    assert_ok(&call, tenants_create(&call, &region.service, &ask, &create, &made));
    assert_int_equal(made.device_limit, 3);
    assert_int_equal(made.job_limit, 100000);
    const struct principal *who;
    assert_ok(&call, shows(&call, made.secret, &who));
    assert_string_equal(who->tenant, made.tenant);
    struct me me;
    assert_ok(&call, tenants_me(&call, &region.service, who, &me));
    assert_string_equal(me.tenant_name, "acme");
    assert_string_equal(me.name, "first");

    struct tenant_limits limits = {.device_limit = 5, .job_limit = 6};
    struct service_ask limit = region_ask(&operator, "limits-1");
    limit.reason = "they grow";
    assert_ok(&call, tenants_limit(&call, &region.service, &limit, made.tenant, made.version,
                                   &limits, &limited));
    struct cr_list list;
    assert_ok(&call, tenants_limits(&call, &region.service, who, &list));
    assert_int_equal(list.count, 2);
    assert_int_equal(((struct limit *)list.items)[0].maximum, 5);

    struct service_ask twin = region_ask(&operator, "tenant-2");
    twin.sealed = true;
    assert_int_equal(tenants_create(&call, &region.service, &twin, &create, &made), CR_CONFLICT);
    assert_ptr_equal(call.code, &cr_code_already_exists);
}

static void a_suspended_tenant_is_known_as_one(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    struct key key = make(&call, "make-9");
    region_sql(&region,
               "UPDATE tenant SET state = 'suspended' WHERE tenant_id = '" REGION_TENANT "'");
    const struct principal *who;
    assert_ok(&call, shows(&call, key.secret, &who));
    assert_true(who->suspended);
    region_sql(&region, "UPDATE tenant SET state = 'active' WHERE tenant_id = '" REGION_TENANT "'");
}

static void an_operators_key_is_made_on_this_machine(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    const char *key, *secret;
    const struct principal *who;
    assert_ok(&call, keys_bootstrap(&call, &region.service, &key, &secret));
    assert_ok(&call, shows(&call, secret, &who));
    assert_int_equal(who->kind, PRINCIPAL_OPERATOR);
    assert_null(who->tenant);
    assert_true(identity_holds(who->permissions, "tenants:write"));
}

static void a_node_is_turned_and_told_of(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    struct ops_node node;
    struct service_ask ask = region_ask(&operator, "cordon-1");
    ask.reason = "a fan is loud";
    assert_ok(&call, ops_nodes_turn(&call, &region.service, &ask, OPS_CORDON, REGION_NODE, &node));
    assert_string_equal(node.state, "cordoned");
    assert_string_equal(node.reason, "a fan is loud");
    assert_int_equal(node.devices.count, 2);
    ask.key = "uncordon-1";
    assert_ok(&call,
              ops_nodes_turn(&call, &region.service, &ask, OPS_UNCORDON, REGION_NODE, &node));
    assert_string_equal(node.state, "ready");
    ask.key = "uncordon-2"; /* it is so already */
    assert_ok(&call,
              ops_nodes_turn(&call, &region.service, &ask, OPS_UNCORDON, REGION_NODE, &node));
    ask.key = "drain-1";
    assert_ok(&call, ops_nodes_turn(&call, &region.service, &ask, OPS_DRAIN, REGION_NODE, &node));
    assert_string_equal(node.state, "draining");

    struct ops_status status;
    struct ops_scheduler scheduler;
    struct ops_metering metering;
    struct cr_list list;
    assert_ok(&call, ops_status(&call, &region.service, &status));
    assert_int_equal(status.nodes->draining, 1);
    assert_int_equal(status.devices->free, 2);
    assert_ok(&call, ops_scheduler(&call, &region.service, &scheduler));
    assert_ok(&call, ops_metering(&call, &region.service, &metering));
    assert_int_equal(metering.difference_ns, 0);
    assert_ok(&call, ops_flavors(&call, &region.service, &list));
    assert_int_equal(list.count, 1);
    assert_string_equal(((struct flavor *)list.items)[0].capacity, "none");
    assert_ok(&call, ops_nodes_list(&call, &region.service, NULL, 10, &list));
    assert_int_equal(list.count, 1);
}

static void an_enrollment_is_open_until_it_is_used(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    struct ops_enrollment_create create = {.name = "local-2"};
    struct service_ask ask = region_ask(&operator, "enroll-1");
    ask.sealed = true;
    ask.reason = "a second node";
    struct ops_enrollment made;
    struct cr_list list;
    assert_ok(&call, ops_enrollments_create(&call, &region.service, &ask, &create, &made));
    assert_int_equal(strncmp(made.token, "crs_enr_", 8), 0);
    assert_string_equal(made.state, "open");
    refused_as(made.token, &cr_code_credential_rejected); /* it is no identity */
    assert_ok(&call, ops_enrollments_list(&call, &region.service, NULL, 10, &list));
    assert_int_equal(list.count, 1);
}

static int set_up(void **state)
{
    (void)state;
    region_open(&region);
    region_node(&region, 2);
    region.config.identities = identity_cache_open();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    identity_cache_close(&region.config.identities);
    region_close(&region);
    return 0;
}

int main(void)
{
    if (region_skipped())
        return 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_that_was_made_lets_in),
        cmocka_unit_test(the_same_request_shows_the_same_secret_and_keeps_none),
        cmocka_unit_test(what_is_no_credential_is_refused),
        cmocka_unit_test(an_expired_key_is_refused_as_expired),
        cmocka_unit_test(a_revoked_key_is_refused_at_once),
        cmocka_unit_test(a_change_of_an_old_version_is_refused),
        cmocka_unit_test(a_rotated_key_has_two_secrets_for_the_overlap),
        cmocka_unit_test(a_key_may_do_no_more_than_its_maker),
        cmocka_unit_test(another_tenants_key_is_as_one_that_never_was),
        cmocka_unit_test(a_code_signs_in_once),
        cmocka_unit_test(an_operators_session_idles_out_sooner),
        cmocka_unit_test(a_new_tenants_first_key_lets_in),
        cmocka_unit_test(a_suspended_tenant_is_known_as_one),
        cmocka_unit_test(an_operators_key_is_made_on_this_machine),
        cmocka_unit_test(a_node_is_turned_and_told_of),
        cmocka_unit_test(an_enrollment_is_open_until_it_is_used),
    };
    return cmocka_run_group_tests_name("identity", tests, set_up, tear_down);
}
