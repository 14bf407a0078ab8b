/* artifacts: bytes come whole or not at all, and belong to one tenant. */
#include "tests/integration/region.h"

#include "base/core/file.h"
#include "base/core/text.h"
#include "base/crypto/crypto.h"
#include "controlplane/service/artifacts.h"
#include "controlplane/service/events.h"

#include <sys/mman.h>

static struct region region;
static const struct principal demo = {
    .kind = PRINCIPAL_TENANT, .tenant = REGION_TENANT, .actor = "key_test", .permissions = "*"};
static const struct principal stranger = {
    .kind = PRINCIPAL_TENANT, .tenant = REGION_OTHER, .actor = "key_other", .permissions = "*"};

static const char *digest_of(struct cr_call *call, const char *text)
{
    unsigned char hash[BASE_CRYPTO_SHA256_SIZE];
    base_crypto_sha256(text, strlen(text), hash);
    return cr_hex(call, hash, sizeof hash);
}

static struct artifact begin_as(struct cr_call *call, const struct principal *who, const char *text,
                                bool *made)
{
    static int count;
    struct artifact_begin begin = {.sha256 = digest_of(call, text),
                                   .size = (int64_t)strlen(text),
                                   .kind = "dataset",
                                   .name = "a text"};
    struct service_ask ask = region_ask(who, cr_format(call, "begin-%d", count++));
    struct artifact artifact;
    assert_ok(call, artifacts_begin(call, &region.service, &ask, &begin, &artifact, made));
    return artifact;
}

static struct artifact begun(struct cr_call *call, const char *text)
{
    bool made;
    return begin_as(call, &demo, text, &made);
}

/* Puts bytes at an offset, as a request with that body does. */
static enum cr_status put(struct cr_call *call, const char *artifact, int64_t first,
                          const char *bytes, int64_t total, struct artifact *ret_artifact)
{
    int body = memfd_create("body", 0);
    assert_int_equal(write(body, bytes, strlen(bytes)), (ssize_t)strlen(bytes));
    struct artifacts_part part = {
        .first = first, .size = (int64_t)strlen(bytes), .total = total, .descriptor = body};
    struct service_ask ask = region_ask(&demo, NULL);
    enum cr_status status =
        artifacts_put(call, &region.service, &ask, artifact, &part, ret_artifact);
    close(body);
    return status;
}

static void holds(struct cr_call *call, const char *artifact, const char *text)
{
    struct artifact found;
    struct cr_file file;
    assert_ok(call, artifacts_open(call, &region.service, &demo, artifact, &found, &file));
    char bytes[256] = "";
    size_t got;
    assert_ok(call, cr_file_read_at(call, &file, 0, bytes, sizeof bytes, &got));
    cr_file_close(&file);
    assert_int_equal(got, strlen(text));
    assert_memory_equal(bytes, text, got);
}

static void bytes_that_come_at_once_are_held(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    static const char text[] = "all at once";
    struct artifact artifact = begun(&call, text), held;
    assert_string_equal(artifact.state, "uploading");
    assert_ok(&call, put(&call, artifact.artifact, 0, text, CR_NO_INTEGER, &held));
    assert_string_equal(held.state, "held");
    assert_int_equal(held.offset, strlen(text));
    holds(&call, artifact.artifact, text);
    holds(&call, cr_format(&call, "sha256:%s", artifact.sha256), text);

    bool made; /* it is there already: nothing has to be sent */
    struct artifact again = begin_as(&call, &demo, text, &made);
    assert_false(made);
    assert_string_equal(again.artifact, artifact.artifact);
    assert_string_equal(again.state, "held");
}

static void an_upload_goes_on_where_it_stopped(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    static const char text[] = "first, second, third";
    struct artifact artifact = begun(&call, text), now;
    assert_ok(&call, put(&call, artifact.artifact, 0, "first, ", 20, &now));
    assert_string_equal(now.state, "uploading");
    assert_int_equal(now.offset, 7);
    assert_int_equal(put(&call, artifact.artifact, 15, "third", 20, &now), CR_CONFLICT);
    assert_ptr_equal(call.code, &cr_code_upload_mismatch);
    assert_string_equal(call.extras[0].name, "offset");
    assert_int_equal(call.extras[0].number, 7);
    cr_forgive(&call);
    assert_ok(&call, put(&call, artifact.artifact, 7, "second, third", 20, &now));
    assert_string_equal(now.state, "held");
    holds(&call, artifact.artifact, text);
}

static void bytes_of_another_digest_are_dropped(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    static const char text[] = "what was meant";
    struct artifact artifact = begun(&call, text), now;
    assert_int_equal(put(&call, artifact.artifact, 0, "what was sent!", 14, &now), CR_CONFLICT);
    assert_ptr_equal(call.code, &cr_code_upload_mismatch);
    assert_int_equal(call.extras[0].number, 0);
    cr_forgive(&call);
    struct cr_file file;
    assert_int_equal(artifacts_open(&call, &region.service, &demo, artifact.artifact, &now, &file),
                     CR_CONFLICT);
    cr_forgive(&call);
    assert_ok(&call, put(&call, artifact.artifact, 0, text, 14, &now)); /* and it can be mended */
    holds(&call, artifact.artifact, text);
}

static void a_truncated_upload_is_not_held(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    static const char text[] = "the whole of it";
    struct artifact artifact = begun(&call, text), now;
    assert_ok(&call, put(&call, artifact.artifact, 0, "the whole", CR_NO_INTEGER, &now));
    assert_string_equal(now.state, "uploading");
    assert_int_equal(now.offset, 9);
    struct cr_file file;
    assert_int_equal(artifacts_open(&call, &region.service, &demo, artifact.artifact, &now, &file),
                     CR_CONFLICT);
    assert_ptr_equal(call.code, &cr_code_state_forbids);
}

static void more_bytes_than_were_told_are_refused(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    struct artifact artifact = begun(&call, "short"), now;
    assert_int_equal(put(&call, artifact.artifact, 0, "short, and more", CR_NO_INTEGER, &now),
                     CR_CONFLICT);
    assert_ptr_equal(call.code, &cr_code_upload_mismatch);
    cr_forgive(&call);
    assert_int_equal(put(&call, artifact.artifact, 0, "short", 6, &now), CR_CONFLICT);
}

/* A process that ends behind the renaming and before the commit: the bytes are in their place. */
static void an_end_that_was_cut_off_is_mended(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    static const char text[] = "nearly done";
    struct artifact artifact = begun(&call, text), now;
    assert_ok(&call, put(&call, artifact.artifact, 0, "nearly ", 11, &now));
    assert_ok(&call, cr_file_replace(&call,
                                     cr_format(&call, "%s/%s/%s", region.config.artifacts_dir,
                                               REGION_TENANT, artifact.artifact),
                                     text, strlen(text), 0600));
    assert_ok(&call,
              cr_file_remove(&call, cr_format(&call, "%s/%s/%s.part", region.config.artifacts_dir,
                                              REGION_TENANT, artifact.artifact)));
    assert_ok(&call, put(&call, artifact.artifact, 7, "done", 11, &now));
    assert_string_equal(now.state, "held");
    holds(&call, artifact.artifact, text);
}

static void another_tenants_artifact_is_as_one_that_never_was(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    static const char text[] = "a secret of one tenant";
    struct artifact artifact = begun(&call, text), seen;
    assert_ok(&call, put(&call, artifact.artifact, 0, text, CR_NO_INTEGER, &seen));
    CR_SCOPED(cr_call_close) struct cr_call foreign = region_call(&region);
    assert_int_equal(artifacts_get(&foreign, &region.service, &stranger, artifact.artifact, &seen),
                     CR_NOT_FOUND);
    assert_string_equal(foreign.reason, cr_format(&call, "no artifact %s", artifact.artifact));
    cr_forgive(&foreign);
    assert_int_equal(artifacts_get(&foreign, &region.service, &stranger,
                                   cr_format(&call, "sha256:%s", artifact.sha256), &seen),
                     CR_NOT_FOUND);
    cr_forgive(&foreign);
    bool made; /* it has to send the bytes: that another holds them tells it nothing */
    struct artifact own = begin_as(&foreign, &stranger, text, &made);
    assert_true(made);
    assert_string_equal(own.state, "uploading");
}

static void what_is_deleted_is_gone_and_can_come_again(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    static const char text[] = "for a while";
    struct artifact artifact = begun(&call, text), seen;
    assert_ok(&call, put(&call, artifact.artifact, 0, text, CR_NO_INTEGER, &seen));
    struct service_ask ask = region_ask(&demo, "delete-1");
    assert_ok(&call, artifacts_delete(&call, &region.service, &ask, artifact.artifact));
    assert_ok(&call, artifacts_delete(&call, &region.service, &ask, artifact.artifact));
    assert_int_equal(artifacts_get(&call, &region.service, &demo, artifact.artifact, &seen),
                     CR_NOT_FOUND);
    cr_forgive(&call);
    struct artifact again = begun(&call, text);
    assert_string_not_equal(again.artifact, artifact.artifact);
    assert_ok(&call, put(&call, again.artifact, 0, text, CR_NO_INTEGER, &seen));
    holds(&call, again.artifact, text);
}

static void a_list_is_newest_first_and_by_pages(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    struct artifacts_filter none = {.job = NULL};
    struct cr_list all, first, rest;
    assert_ok(&call, artifacts_list(&call, &region.service, &demo, &none, NULL, 100, &all));
    assert_ok(&call, artifacts_list(&call, &region.service, &demo, &none, NULL, 2, &first));
    const struct artifact *items = first.items;
    assert_true(strcmp(items[0].artifact, items[1].artifact) > 0);
    assert_ok(&call,
              artifacts_list(&call, &region.service, &demo, &none, items[1].artifact, 100, &rest));
    assert_int_equal(first.count + rest.count, all.count);

    struct artifacts_filter one = {.sha256 = digest_of(&call, "all at once")};
    assert_ok(&call, artifacts_list(&call, &region.service, &demo, &one, NULL, 100, &all));
    assert_int_equal(all.count, 1);
}

/* Events -------------------------------------------------------------------------------------- */

static void make_events(int64_t first, int64_t last)
{
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    for (int64_t n = first; n <= last; n++)
        region_sql(
            &region,
            cr_format(&call,
                      "INSERT INTO event (region, seq, event_id, tenant_id, tenant_seq, type,"
                      " subject, body, timestamp) VALUES ('local', %lld, 'evt_%lld', '%s',"
                      " %lld, '%s', 'subject', '{\"n\":%lld}', cresset_now_us())",
                      (long long)n, (long long)n, REGION_TENANT, (long long)n,
                      n % 2 ? "job.succeeded" : "artifact.held", (long long)n));
}

static void a_stream_tells_each_event_once_in_order(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    make_events(100, 111);
    static const char *const types[] = {"job.*"};
    struct events_filter filter = {.types = {types, 1}};
    struct events_view view;
    struct cr_list list;
    assert_ok(&call, events_view(&call, &demo, &filter, &view));
    int64_t after, wanted = 101;
    assert_ok(&call, events_begin(&call, &region.service, &view, 99, &after));
    for (int turn = 0; turn < 3; turn++) {
        assert_ok(&call, events_next(&call, &region.service, &view, after, 5, &list));
        const struct event *events = list.items;
        for (size_t i = 0; i < list.count; i++) {
            after = events[i].seq;
            if (!events[i].type)
                continue;
            assert_int_equal(events[i].seq, wanted);
            assert_string_equal(events[i].type, "job.succeeded");
            wanted += 2;
        }
    }
    assert_int_equal(wanted, 113);
    assert_ok(&call, events_begin(&call, &region.service, &view, CR_NO_INTEGER, &after));
    assert_int_equal(after, 111);
}

static void a_history_that_is_gone_is_told_as_gone(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    struct events_filter filter = {.subject = NULL};
    struct events_view view;
    int64_t after;
    assert_ok(&call, events_view(&call, &demo, &filter, &view));
    assert_int_equal(events_begin(&call, &region.service, &view, 98, &after), CR_CONFLICT);
    assert_ptr_equal(call.code, &cr_code_history_expired);
    assert_string_equal(call.extras[0].text, "/v1/events");
    cr_forgive(&call);
    assert_int_equal(events_begin(&call, &region.service, &view, 112, &after), CR_CONFLICT);
}

static void an_event_needs_the_permission_of_its_subject(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    struct principal reader = demo;
    reader.permissions = "artifacts:read";
    struct events_filter filter = {.subject = NULL};
    struct events_view view;
    struct cr_list list;
    assert_ok(&call, events_view(&call, &reader, &filter, &view));
    assert_ok(&call, events_list(&call, &region.service, &view, CR_NO_INTEGER, 100, &list));
    assert_int_equal(list.count, 6);
    assert_int_equal(((struct event *)list.items)[0].seq, 110);
    assert_ok(&call, events_view(&call, &stranger, &filter, &view));
    assert_ok(&call, events_list(&call, &region.service, &view, CR_NO_INTEGER, 100, &list));
    assert_int_equal(list.count, 0);
}

static void a_pattern_that_is_none_is_named(void **state)
{
    (void)state;
    static const char *const bad[] = {"job", "*", "job.*.x", "Job.*", "job.%", ""};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
        struct events_filter filter = {.types = {&bad[i], 1}};
        struct events_view view;
        assert_int_equal(events_view(&call, &demo, &filter, &view), CR_INVALID);
        assert_string_equal(call.faults[0].at, "types");
    }
}

static int set_up(void **state)
{
    (void)state;
    region_open(&region);
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    assert_ok(&call, cr_file_make_folder(&call, region.config.artifacts_dir, 0700));
    return 0;
}

static int tear_down(void **state)
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
        cmocka_unit_test(bytes_that_come_at_once_are_held),
        cmocka_unit_test(an_upload_goes_on_where_it_stopped),
        cmocka_unit_test(bytes_of_another_digest_are_dropped),
        cmocka_unit_test(a_truncated_upload_is_not_held),
        cmocka_unit_test(more_bytes_than_were_told_are_refused),
        cmocka_unit_test(an_end_that_was_cut_off_is_mended),
        cmocka_unit_test(another_tenants_artifact_is_as_one_that_never_was),
        cmocka_unit_test(what_is_deleted_is_gone_and_can_come_again),
        cmocka_unit_test(a_list_is_newest_first_and_by_pages),
        cmocka_unit_test(a_stream_tells_each_event_once_in_order),
        cmocka_unit_test(a_history_that_is_gone_is_told_as_gone),
        cmocka_unit_test(an_event_needs_the_permission_of_its_subject),
        cmocka_unit_test(a_pattern_that_is_none_is_named),
    };
    return cmocka_run_group_tests_name("artifacts", tests, set_up, tear_down);
}
