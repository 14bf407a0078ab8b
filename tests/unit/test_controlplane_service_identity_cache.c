/* identity_cache: what it says is what was looked up, for whoever shows that credential, for a
 * while. */
#include "tests/unit/test.h"

#include "controlplane/service/identity_cache.h"

#include <string.h>

static int64_t now_ns;
static int64_t tell_now(void *context)
{
    (void)context;
    return now_ns;
}
static const struct cr_env env = {.now_ns = tell_now};

static const unsigned char hash[32] = {1}, other_hash[32] = {2};
static const struct principal who = {.kind = PRINCIPAL_TENANT,
                                     .tenant = "tnt_01M8RHHQPNQ4ZK9W7V2X5T8RND",
                                     .actor = "key_01M8RHHQPNQ4ZK9W7V2X5T8RND",
                                     .permissions = "jobs:read",
                                     .suspended = true};

static bool knows(struct cr_call *call, struct identity_cache *cache, const unsigned char shown[32],
                  const struct principal **ret_who)
{
    return identity_cache_get(call, cache, "0123456789AB", shown, ret_who);
}

static void it_knows_the_credential_that_was_looked_up(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
    CR_SCOPED(identity_cache_close) struct identity_cache *cache = identity_cache_open();
    const struct principal *found;
    now_ns = 100;
    assert_false(knows(&call, cache, hash, &found));
    identity_cache_put(cache, identity_cache_age(cache), "0123456789AB", hash, &who, 200);
    assert_true(knows(&call, cache, hash, &found));
    assert_string_equal(found->tenant, who.tenant);
    assert_string_equal(found->actor, who.actor);
    assert_string_equal(found->permissions, who.permissions);
    assert_null(found->node);
    assert_true(found->suspended);
    assert_false(knows(&call, cache, other_hash, &found)); /* the id alone is not enough */
    now_ns = 200;
    assert_false(knows(&call, cache, hash, &found));
}

static void a_dropped_key_is_not_brought_back_by_an_older_look(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
    CR_SCOPED(identity_cache_close) struct identity_cache *cache = identity_cache_open();
    const struct principal *found;
    now_ns = 100;
    uint64_t age = identity_cache_age(cache); /* a look begins */
    identity_cache_put(cache, age, "0123456789AB", hash, &who, 200);
    identity_cache_drop(cache, who.actor); /* the key is revoked meanwhile */
    assert_false(knows(&call, cache, hash, &found));
    identity_cache_put(cache, age, "0123456789AB", hash, &who, 200); /* the look ends */
    assert_false(knows(&call, cache, hash, &found));
    identity_cache_put(cache, identity_cache_age(cache), "0123456789AB", hash, &who, 200);
    assert_true(knows(&call, cache, hash, &found));
}

static void a_permission_is_held_whole_or_not_at_all(void **state)
{
    (void)state;
    assert_true(identity_holds("jobs:read,jobs:write", "jobs:write"));
    assert_true(identity_holds("jobs:read", "jobs:read"));
    assert_true(identity_holds("*", "ops:write"));
    assert_true(identity_holds("jobs:read,*", "ops:write"));
    assert_false(identity_holds("", "jobs:read"));
    assert_false(identity_holds("jobs:readx", "jobs:read"));
    assert_false(identity_holds("xjobs:read", "jobs:read"));
    assert_false(identity_holds("jobs:read", "jobs:rea"));
    assert_false(identity_holds("jobs:*", "jobs:read"));
}

static void the_lists_of_permissions_agree(void **state)
{
    (void)state;
    static const struct {
        enum principal_kind kind;
        const char *const *list;
    } cases[] = {{PRINCIPAL_TENANT, identity_tenant_permissions},
                 {PRINCIPAL_OPERATOR, identity_operator_permissions}};
    for (size_t i = 0; i < 2; i++) {
        const char *all = identity_all_permissions(cases[i].kind);
        size_t length = 0;
        for (const char *const *one = cases[i].list; *one; one++) {
            assert_true(identity_holds(all, *one));
            length += strlen(*one) + 1;
        }
        assert_int_equal(strlen(all), length - 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_knows_the_credential_that_was_looked_up),
        cmocka_unit_test(a_dropped_key_is_not_brought_back_by_an_older_look),
        cmocka_unit_test(a_permission_is_held_whole_or_not_at_all),
        cmocka_unit_test(the_lists_of_permissions_agree),
    };
    return cmocka_run_group_tests_name("identity cache", tests, NULL, NULL);
}
