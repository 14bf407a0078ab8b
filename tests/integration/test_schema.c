/*
 * schema: what the tables themselves refuse, whoever asks: another tenant's rows, a changed end, an
 * epoch that falls, a device or a lease taken twice, a ledger that is edited, money that is wrong.
 */
#include "tests/integration/region.h"

static struct region region;

/* Runs one statement as a role, in a transaction of that tenant (NULL: of none); rolled back. */
static enum cr_status as(struct db *db, const char *tenant, const char *sql, char state[6])
{
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    assert_ok(&call, db_begin(&call, db, tenant, 0));
    enum cr_status status = db_script(&call, db, sql);
    snprintf(state, 6, "%s", db_sqlstate(&call, db));
    db_rollback(&call, db);
    return status;
}

struct refusal {
    const char *sql, *sqlstate;
};

static void refuse(struct db *db, const char *tenant, const struct refusal *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char state[6];
        enum cr_status status = as(db, tenant, cases[i].sql, state);
        if (status == CR_OK || strcmp(state, cases[i].sqlstate) != 0)
            fail_msg("%s: %s, not %s", cases[i].sql, state, cases[i].sqlstate);
    }
}
#define REFUSE(db, tenant, cases) refuse(db, tenant, cases, sizeof(cases) / sizeof *(cases))

#define JOB                       "job_01M8RHHQPNQ4ZK9W7V2X5T8RND"
#define LEASE                     "lse_01M8RHHQPNQ4ZK9W7V2X5T8RND"

static void without_a_tenant_nothing_can_be_read_or_written(void **state)
{
    (void)state;
    static const struct refusal cases[] = {
        {"SELECT * FROM job", "42501"},
        {"SELECT * FROM artifact", "42501"},
        {"SELECT * FROM usage_record", "42501"},
        {"SELECT * FROM event", "42501"},
        {"SELECT * FROM job_row", "42501"},
        {"SELECT * FROM tenant", "42501"},
        {"UPDATE job_live SET reason = 'x'", "42501"},
        {"INSERT INTO outbox (tenant_id, type, subject, body) VALUES ('" REGION_TENANT
         "', 'a.b', 's', '{}')",
         "42501"},
    };
    REFUSE(region.service.db, NULL, cases);
}

static void a_tenant_sees_and_touches_its_own_rows_alone(void **state)
{
    (void)state;
    static const struct refusal cases[] = {
        {"INSERT INTO outbox (tenant_id, type, subject, body) VALUES ('" REGION_TENANT
         "', 'a.b', 's', '{}')",
         "42501"},
        {"INSERT INTO idempotency (tenant_id, key, request_sha256) VALUES ('" REGION_TENANT
         "', 'k', decode(repeat('00', 32), 'hex'))",
         "42501"},
        /* Each of these finds nothing, and says so by a division. */
        {"SELECT 1 / count(*) FROM job", "22012"},
        {"SELECT 1 / count(*) FROM job_row", "22012"},
        {"SELECT 1 / count(*) FROM lease", "22012"},
        {"WITH u AS (UPDATE job_live SET reason = 'mine' RETURNING 1) SELECT 1 / count(*) FROM u",
         "22012"},
        {"WITH d AS (DELETE FROM job_live RETURNING 1) SELECT 1 / count(*) FROM d", "22012"},
    };
    REFUSE(region.service.db, REGION_OTHER, cases);
    char found[6];
    assert_int_equal(
        as(region.service.db, REGION_TENANT, "SELECT 1 / count(*) FROM job_row", found), CR_OK);
}

static void every_table_of_tenants_forces_row_level_security(void **state)
{
    (void)state;
    assert_int_equal(
        region_number(&region,
                      "SELECT count(*) FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid "
                      "JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'p') "
                      "AND n.nspname = 'public' AND a.attname = 'tenant_id' AND NOT "
                      "(c.relrowsecurity AND c.relforcerowsecurity) AND c.relname NOT IN "
                      "('session', 'login_code')"),
        0);
    /* Sessions and codes are found before a tenant is known: no tenant's worker may read them. */
    static const struct refusal cases[] = {
        {"SELECT * FROM session", "42501"},
        {"SELECT * FROM login_code", "42501"},
        {"SELECT * FROM enrollment", "42501"},
    };
    REFUSE(region.service.db, REGION_TENANT, cases);
    assert_int_equal(region_number(&region, "SELECT count(*) FROM pg_roles WHERE rolname LIKE "
                                            "'cresset\\_%login' AND (rolsuper OR rolbypassrls)"),
                     0);
}

static void what_is_append_only_cannot_be_edited_by_anybody(void **state)
{
    (void)state;
    static const char *const tables[] = {
        "usage_record", "usage_leg", "usage_reading", "charge",        "price",      "invoice",
        "invoice_line", "node_key",  "device_state",  "device_day",    "audit_leaf", "leaf_seq",
        "checkpoint",   "job_chunk", "completion",    "job_checkpoint"};
    struct db *connections[] = {region.service.db, region.service.engine_db};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (size_t c = 0; c < 2; c++) {
            char sql[120], found[6];
            /* Chunks age: the engine alone may take them away. */
            if (c == 1 && strcmp(tables[i], "job_chunk") == 0)
                continue;
            snprintf(sql, sizeof sql, "DELETE FROM %s", tables[i]);
            if (as(connections[c], REGION_TENANT, sql, found) == CR_OK ||
                strcmp(found, "42501") != 0)
                fail_msg("%s as %zu: %s", sql, c, found);
        }
    assert_int_equal(
        region_number(
            &region, "SELECT count(*) FROM information_schema.role_table_grants WHERE grantee LIKE "
                     "'cresset%' AND grantee <> 'cresset_owner' AND privilege_type IN ('UPDATE', "
                     "'TRUNCATE') AND table_name IN ('usage_record', 'usage_leg', "
                     "'usage_reading', 'charge', 'price', 'invoice', 'invoice_line', 'audit_leaf',"
                     " 'leaf_seq', 'checkpoint', 'device_state', 'device_day', 'completion')"),
        0);
}

static void ends_epochs_and_holdings_are_guarded(void **state)
{
    (void)state;
    static const struct refusal cases[] = {
        {"UPDATE job SET terminal = 'succeeded', code = 'OK', ended = 1 WHERE job_id = '" JOB "'; "
         "UPDATE job SET terminal = 'failed' WHERE job_id = '" JOB "'",
         "23514"},
        {"UPDATE job SET terminal = 'succeeded' WHERE job_id = '" JOB "'", "23514"},
        {"UPDATE job_live SET lease_epoch = 0 WHERE job_id = '" JOB "'", "23514"},
        {"UPDATE job_live SET state = 'stopping' WHERE job_id = '" JOB "'", "23514"},
        {"UPDATE engine SET epoch = 4", "23514"},
        {"UPDATE node SET node_epoch = 0", "23514"},
        {"UPDATE device SET stamp_us = 0", "23514"},
        {"UPDATE card SET held = 2000, holder = 'x'", "23514"},
        {"UPDATE card SET held = 100", "23514"},
        /* A second live lease of the same job and member. */
        {"INSERT INTO lease (tenant_id, job_id, lease_epoch, lease_id, node_id, node_epoch, "
         "devices,"
         " flavor, slices, state, attempt, granted) VALUES ('" REGION_TENANT "', '" JOB
         "', 3, 'lse_x', '" REGION_NODE "', 1, '{d}', 'cpu', 1, 'granted', 1, 1)",
         "23505"},
        {"UPDATE lease SET state = 'released'", "23514"},
        {"UPDATE lease SET state = 'released', ended = granted; UPDATE lease SET ended = ended + 1",
         "23514"},
        /* A completion without its record, and a record without its completion (M1). */
        {"INSERT INTO completion VALUES ('" REGION_TENANT "', '" JOB "', 2, 1, 'rec_x'); "
         "SET CONSTRAINTS ALL IMMEDIATE",
         "23503"},
    };
    REFUSE(region.owner, REGION_TENANT, cases);
}

static void usage_and_money_must_add_up(void **state)
{
    (void)state;
#define LEAF                                                                                      \
    "INSERT INTO audit_leaf (kind, actor, object, at_us, payload, entry) VALUES ('k', 'a', 'o', " \
    "1, '', ''); "
#define PRICE                                                                                 \
    "INSERT INTO price (price_id, region, flavor, meter, unit, rate_pico, from_us, payload, " \
    "signature, leaf_id) VALUES ('prc_1', 'local', 'cpu', 1, 'u', 100, 1, '', "               \
    "decode(repeat('00', 64), 'hex'), (SELECT max(leaf_id) FROM audit_leaf)); "
#define RECORD(kind, outcome, ns)                                                               \
    "INSERT INTO usage_record (tenant_id, record_id, region, home, job_id, lease_epoch, kind, " \
    "outcome, program, flavor, day, device_ns, at_us, payload, payload_sha256, signature, "     \
    "key_id, leaf_id) VALUES ('" REGION_TENANT "', 'rec_1', 'r', 'r', '" JOB "', 2, " #kind     \
    ", " #outcome ", 1, 'cpu', 1, " #ns ", 1, '', decode(repeat('00', 32), 'hex'), "            \
    "decode(repeat('00', 64), 'hex'), decode('00000000', 'hex'), "                              \
    "(SELECT max(leaf_id) FROM audit_leaf)); "
#define LEG(held, prior, billed, from, ended)                                                  \
    "INSERT INTO usage_leg (tenant_id, record_id, leg, node_id, devices, slices, granted_us, " \
    "ended_us, from_us, held_ns, prior_ns, billed_ns) VALUES ('" REGION_TENANT                 \
    "', 'rec_1', 0, 'n', '{d}', 1, 10, " #ended ", " #from ", " #held ", " #prior ", " #billed ")"
    static const struct refusal cases[] = {
        /* Time lost to the platform bills nothing (M3). */
        {LEAF RECORD(1, 6, 5), "23514"},
        {LEAF RECORD(1, 1, -5), "23514"},
        {LEAF RECORD(2, 1, 5), "23514"},
        /* An accepted record must have its completion at the commit. */
        {LEAF RECORD(1, 1, 5) "SET CONSTRAINTS ALL IMMEDIATE", "23503"},
        {LEAF RECORD(2, 7, 5) LEG(10, 5, 6, 10, 1000), "23514"},
        {LEAF RECORD(2, 7, 5) LEG(10000, 0, 5000, 9, 1000), "23514"},
        {LEAF RECORD(2, 7, 5) LEG(10000, 0, 5000, 10, 14), "23514"},
        {LEAF PRICE RECORD(2, 7,
                           5) "INSERT INTO charge (tenant_id, record_id, meter, price_id, "
                              "flavor, quantity, rate_pico, amount_zepto, period, day) VALUES "
                              "('" REGION_TENANT "', 'rec_1', 1, 'prc_1', 'cpu', 5, 100, 501, "
                              "202611, 1)",
         "23514"},
        {"INSERT INTO device_day VALUES ('" REGION_NODE "/cpu0', 1, 10, 5, 4, 0, 0, 0, 0)",
         "23514"},
        {"INSERT INTO device_day VALUES ('" REGION_NODE "/cpu0', 1, 10, 5, 4, 0, 0, 0, 1)",
         "23514"},
    };
    REFUSE(region.owner, REGION_TENANT, cases);
    char found[6];
    assert_int_equal(
        as(region.owner, REGION_TENANT, LEAF RECORD(2, 7, 5) LEG(10000, 0, 5000, 10, 15), found),
        CR_OK);
}

static void applying_the_schema_again_changes_nothing(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    int64_t applied = 7;
    assert_ok(&call, service_migrate(&call, region.conninfo[0], "ops/schema", &applied));
    assert_int_equal(applied, 0);
    region_sql(&region, "INSERT INTO schema_migration (number, name) VALUES (900, '0900_x.sql')");
    assert_int_equal(service_migrate(&call, region.conninfo[0], "ops/schema", &applied),
                     CR_CONFLICT);
    region_sql(&region, "DELETE FROM schema_migration WHERE number = 900");
}

static int open_all(void **state)
{
    (void)state;
    region_open(&region);
    region_node(&region, 2);
    region_sql(
        &region,
        "INSERT INTO engine (region, epoch) VALUES ('local', 5);"
        "UPDATE device SET stamp_us = 5;"
        "INSERT INTO job (tenant_id, job_id, kind, queue, class, spec, spec_sha256, max_runtime_s, "
        "stop_grace_s, submitted, submitted_by) VALUES ('" REGION_TENANT "', '" JOB
        "', 'train', 'default', 'normal', '{}', decode(repeat('00', 32), 'hex'), 60, 5, 1, 'key');"
        "INSERT INTO job_live (tenant_id, job_id, queue_id, priority, state, lease_epoch) VALUES "
        "('" REGION_TENANT "', '" JOB "', 'default', 0, 'running', 2);"
        "INSERT INTO lease (tenant_id, job_id, lease_epoch, lease_id, node_id, node_epoch, "
        "devices, "
        "flavor, slices, state, attempt, granted) VALUES ('" REGION_TENANT "', '" JOB
        "', 2, '" LEASE "', '" REGION_NODE "', 1, '{" REGION_NODE
        "/cpu0}', 'cpu', 1, 'running', 1, 1)");
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    region_close(&region);
    return 0;
}

int main(void)
{
    if (region_skipped())
        return 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_tenant_nothing_can_be_read_or_written),
        cmocka_unit_test(a_tenant_sees_and_touches_its_own_rows_alone),
        cmocka_unit_test(every_table_of_tenants_forces_row_level_security),
        cmocka_unit_test(what_is_append_only_cannot_be_edited_by_anybody),
        cmocka_unit_test(ends_epochs_and_holdings_are_guarded),
        cmocka_unit_test(usage_and_money_must_add_up),
        cmocka_unit_test(applying_the_schema_again_changes_nothing),
    };
    return cmocka_run_group_tests_name("schema", tests, open_all, close_all);
}
