/* db: what goes in comes out; a commit whose end is not known is neither lost nor done twice. */
#include "tests/integration/region.h"

#include "base/json/json.h"
#include "tests/harness/pg_cut.h"

static struct region region;
static struct pg_proxy proxy;
static struct db *cut_db; /* through the proxy, as the application */
static const struct principal demo = {
    .kind = PRINCIPAL_TENANT, .tenant = REGION_TENANT, .actor = "key_test", .permissions = "*"};

static const struct db_statement all_kinds = {
    "test_all_kinds",
    "SELECT $1::bigint AS integer, $2::text AS text, $3::boolean AS yes, $4::bytea AS bytes, "
    "$5::text[] AS texts, $6::bigint[] AS integers, "
    "(SELECT array_agg(b) FROM unnest($7::bytea[]) b) = ARRAY['\\x00ff'::bytea, ''] AS same, "
    "cresset_labels($8::jsonb) AS labels, NULL::text AS nothing"};
static const struct db_statement sleep_long = {"test_sleep", "SELECT pg_sleep(20)"};
static const struct db_statement one = {"test_one", "SELECT 1 AS one"};
static const struct db_statement add = {"test_add", "INSERT INTO test_row (n) VALUES ($1)"};
static const struct db_statement claim = {
    "test_claim", "INSERT INTO test_row (n) VALUES ($1) ON CONFLICT DO NOTHING"};
static const struct db_statement count_down = {"test_count_down", "SELECT test_count_down()"};

struct kinds {
    int64_t integer;
    const char *text, *nothing;
    bool yes, same;
    struct cr_bytes bytes;
    struct cr_texts texts;
    struct cr_integers integers;
    struct cr_labels labels;
};
static const struct cr_member kinds_members[] = {
    CR_MEMBER(struct kinds, integer, 0, 0), CR_MEMBER(struct kinds, text, 0, 0),
    CR_MEMBER(struct kinds, nothing, 0, 0), CR_MEMBER(struct kinds, yes, 0, 0),
    CR_MEMBER(struct kinds, same, 0, 0),    CR_BYTES(struct kinds, bytes, 0, 100),
    CR_TEXTS(struct kinds, texts, 0, 100),  CR_INTEGERS(struct kinds, integers, 0, 100, 0, 0),
    CR_LABELS(struct kinds, labels, 100),
};
static const struct cr_shape kinds_shape = CR_SHAPE(struct kinds, kinds_members);

static void what_goes_in_comes_out(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    static const char *const texts[] = {"", "a,b", "\"quoted\\\"", "{}", "\xc3\xa9", "NULL"};
    static const int64_t integers[] = {INT64_MIN, -1, 0, INT64_MAX};
    static const unsigned char raw[] = {0, 255};
    const struct cr_bytes byteses[] = {{raw, 2}, {raw, 0}};
    struct kinds got;
    bool found;
    assert_ok(&call,
              db_one(&call, region.service.db, &all_kinds,
                     DB_VALUES(db_int(-7), db_text("it's \\ \""), db_bool(true),
                               db_bytes("a\0b", 3), db_texts(texts, 6), db_ints(integers, 4),
                               db_byteses(byteses, 2), db_text("{\"z\":\"1,\\\"\",\"a\":\"\"}")),
                     &kinds_shape, &got, &found));
    assert_true(found);
    assert_int_equal(got.integer, -7);
    assert_string_equal(got.text, "it's \\ \"");
    assert_null(got.nothing);
    assert_true(got.yes && got.same);
    assert_int_equal(got.bytes.size, 3);
    assert_memory_equal(got.bytes.data, "a\0b", 3);
    assert_int_equal(got.texts.count, 6);
    for (size_t i = 0; i < 6; i++)
        assert_string_equal(got.texts.items[i], texts[i]);
    assert_memory_equal(got.integers.items, integers, sizeof integers);
    assert_int_equal(got.labels.count, 2);
    assert_string_equal(got.labels.items[0].name, "a");
    assert_string_equal(got.labels.items[1].value, "1,\"");
}

static void a_deadline_cancels_the_statement_and_keeps_the_connection(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close)
    struct cr_call late = cr_call_open(&region.env, region.env.now_ns(NULL) + 300000000);
    int64_t began = region.env.now_ns(NULL);
    assert_int_equal(db_exec(&late, region.service.db, &sleep_long, DB_NONE, NULL), CR_TIMEOUT);
    assert_true(region.env.now_ns(NULL) - began < 3 * CR_NS_A_SECOND);
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    assert_ok(&call, db_exec(&call, region.service.db, &one, DB_NONE, NULL));
}

static void a_connection_that_the_server_closed_is_opened_again(void **state)
{
    (void)state;
    region_sql(&region, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                        "WHERE usename = 'cresset_app_login' AND datname = current_database()");
    usleep(200000);
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    assert_ok(&call, db_exec(&call, region.service.db, &one, DB_NONE, NULL));
}

/* Transactions ----------------------------------------------------------------------------------
 */

static enum cr_status work_add(struct cr_call *call, struct db *db, void *context)
{
    return db_exec(call, db, &add, DB_VALUES(db_int(*(int64_t *)context)), NULL);
}

static enum cr_status work_claim(struct cr_call *call, struct db *db, void *context)
{
    return db_exec(call, db, &claim, DB_VALUES(db_int(*(int64_t *)context)), NULL);
}

static enum cr_status work_count_down(struct cr_call *call, struct db *db, void *context)
{
    (void)context;
    return db_exec(call, db, &count_down, DB_NONE, NULL);
}

static int64_t rows_of(int64_t n)
{
    char sql[80];
    snprintf(sql, sizeof sql, "SELECT count(*) FROM test_row WHERE n = %lld", (long long)n);
    return region_number(&region, sql);
}

static void a_lost_commit_is_unknown_where_the_work_claims_nothing(void **state)
{
    (void)state;
    for (int cut = PG_CUT_BEFORE; cut <= PG_CUT_AFTER; cut++) {
        CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
        int64_t n = 100 + cut;
        atomic_store(&proxy.armed, cut);
        assert_int_equal(db_transaction(&call, cut_db, NULL, 0, work_add, &n), CR_UNKNOWN);
        assert_int_equal(rows_of(n), cut == PG_CUT_AFTER);
    }
}

static void a_lost_commit_is_learnt_where_the_work_claims_its_key(void **state)
{
    (void)state;
    for (int cut = PG_CUT_BEFORE; cut <= PG_CUT_AFTER; cut++) {
        CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
        int64_t n = 200 + cut;
        atomic_store(&proxy.armed, cut);
        assert_ok(&call, db_transaction(&call, cut_db, NULL, DB_REPEATABLE, work_claim, &n));
        assert_int_equal(rows_of(n), 1);
    }
}

static void a_warning_at_commit_is_unknown_too(void **state)
{
    (void)state;
    region_sql(&region, "CREATE CONSTRAINT TRIGGER warns AFTER INSERT ON test_row DEFERRABLE "
                        "INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.n = 300) EXECUTE FUNCTION "
                        "test_warn()");
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    int64_t n = 300;
    assert_int_equal(db_transaction(&call, region.service.db, NULL, 0, work_add, &n), CR_UNKNOWN);
    assert_int_equal(rows_of(n), 1);
    region_sql(&region, "DROP TRIGGER warns ON test_row");
}

static void a_lost_race_is_run_again_and_other_failures_are_not(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    region_sql(&region, "SELECT setval('test_left', 3)");
    assert_ok(&call, db_transaction(&call, region.service.db, NULL, 0, work_count_down, NULL));
    int64_t n = 400;
    assert_ok(&call, db_transaction(&call, region.service.db, NULL, 0, work_add, &n));
    assert_int_equal(db_transaction(&call, region.service.db, NULL, 0, work_add, &n), CR_CONFLICT);
    assert_string_equal(db_constraint(&call, region.service.db), "test_row_pkey");
}

/* The same, of a use case -----------------------------------------------------------------------
 */

static void a_submit_whose_commit_was_cut_is_answered_by_its_one_effect(void **state)
{
    (void)state;
    static const char text[] =
        "{\"name\":\"cut\",\"kind\":\"train\",\"program\":{\"recipe\":\"mlp\",\"parameters\":{"
        "\"widths\":[16,10],"
        "\"activation\":\"relu\"}},\"inputs\":{\"images\":\"art_00000000000000000000000001\","
        "\"labels\":\"art_00000000000000000000000002\"}}";
    enum { TIMES = 200 };
    struct service service = region.service;
    service.db = cut_db;
    for (int i = 0; i < TIMES; i++) {
        CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
        struct protocol_spec spec;
        assert_ok(&call, json_read(&call, &protocol_spec_shape, text, strlen(text), &spec));
        struct service_ask ask = region_ask(&demo, cr_format(&call, "cut-%d", i));
        struct job first, second;
        atomic_store(&proxy.spare, i % 4 / 2); /* the look at the pictures commits first */
        atomic_store(&proxy.armed, i % 2 ? PG_CUT_AFTER : PG_CUT_BEFORE);
        assert_ok(&call, jobs_submit(&call, &service, &ask, &spec, &first));
        assert_int_equal(atomic_load(&proxy.armed), PG_CUT_NEVER);
        bool replayed = false;
        ask.ret_replayed = &replayed;
        assert_ok(&call, jobs_submit(&call, &service, &ask, &spec, &second));
        assert_true(replayed);
        assert_string_equal(json_write(&call, &job_shape, &first),
                            json_write(&call, &job_shape, &second));
    }
    assert_int_equal(region_number(&region, "SELECT count(*) FROM job"), TIMES);
    assert_int_equal(region_number(&region, "SELECT count(*) FROM outbox"), TIMES);
    assert_int_equal(region_number(&region, "SELECT count(*) FROM idempotency"), TIMES);
}

static int open_all(void **state)
{
    (void)state;
    region_open(&region);
    region_sql(&region,
               "CREATE TABLE test_row (n bigint PRIMARY KEY);"
               "GRANT SELECT, INSERT ON test_row TO cresset_app;"
               "CREATE SEQUENCE test_left INCREMENT -1 MINVALUE -100 MAXVALUE 100 START 3;"
               "GRANT ALL ON test_left TO cresset_app;"
               "CREATE FUNCTION test_count_down() RETURNS void LANGUAGE plpgsql AS $$ BEGIN "
               "IF nextval('test_left') > 0 THEN RAISE EXCEPTION 'again' USING ERRCODE = '40001'; "
               "END IF; END $$;"
               "CREATE FUNCTION test_warn() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
               "RAISE WARNING 'cut'; RETURN NULL; END $$;"
               "INSERT INTO artifact (tenant_id, artifact_id, sha256, size, kind, state, received, "
               "held) SELECT '" REGION_TENANT "', 'art_' || lpad(i::text, 26, '0'), "
               "decode(lpad(i::text, 64, '0'), 'hex'), 10, 'dataset', 'held', 10, 1 "
               "FROM generate_series(1, 2) i");
    char folder[80];
    snprintf(folder, sizeof folder, "%s/cut", getenv("CRESSET_TEST_FOLDER"));
    assert_true(pg_proxy_open(&proxy, getenv("CRESSET_TEST_POSTGRES"), folder));
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    struct db_config config = {
        .conninfo =
            cr_format(&call, "host=%s user=cresset_app_login dbname=%s", folder, region.database),
        .application = "test cut"};
    assert_ok(&call, db_open(&call, &config, &cut_db));
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    db_close(&region.env, cut_db);
    pg_proxy_close(&proxy);
    region_close(&region);
    return 0;
}

int main(void)
{
    if (region_skipped())
        return 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_goes_in_comes_out),
        cmocka_unit_test(a_deadline_cancels_the_statement_and_keeps_the_connection),
        cmocka_unit_test(a_connection_that_the_server_closed_is_opened_again),
        cmocka_unit_test(a_lost_commit_is_unknown_where_the_work_claims_nothing),
        cmocka_unit_test(a_lost_commit_is_learnt_where_the_work_claims_its_key),
        cmocka_unit_test(a_warning_at_commit_is_unknown_too),
        cmocka_unit_test(a_lost_race_is_run_again_and_other_failures_are_not),
        cmocka_unit_test(a_submit_whose_commit_was_cut_is_answered_by_its_one_effect),
    };
    return cmocka_run_group_tests_name("db", tests, open_all, close_all);
}
