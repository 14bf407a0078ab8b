/* file: what was replaced is there whole; what cannot be is named. */
#include "tests/unit/test.h"

#include "base/core/file.h"

#include <string.h>
#include <sys/stat.h>

struct place {
    struct cr_env env;
    struct cr_call call;
    char folder[32];
};

static int set_up(void **state)
{
    static struct place place;
    place.env = cr_env_system();
    place.call = cr_call_open(&place.env, INT64_MAX);
    memcpy(place.folder, "/tmp/cresset-test-XXXXXX", 25);
    *state = &place;
    return mkdtemp(place.folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    struct place *place = *state;
    cr_call_close(&place->call);
    return remove(place->folder);
}

static void a_file_is_replaced_whole(void **state)
{
    struct place *place = *state;
    struct cr_call *call = &place->call;
    const char *path = cr_format(call, "%s/a", place->folder);
    struct cr_bytes bytes;
    assert_ok(call, cr_file_replace(call, path, "one", 3, 0600));
    assert_ok(call, cr_file_replace(call, path, "two!", 4, 0640));
    assert_ok(call, cr_file_read(call, path, 4, &bytes));
    assert_string_equal((const char *)bytes.data, "two!");
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0640);
    assert_int_equal(cr_file_read(call, path, 3, &bytes), CR_TOO_LARGE);
    cr_forgive(call);
    assert_ok(call, cr_file_remove(call, path));
    assert_int_equal(cr_file_read(call, path, 3, &bytes), CR_NOT_FOUND);
    assert_non_null(strstr(call->reason, path));
    cr_forgive(call);
}

static void what_is_appended_follows_what_was_there(void **state)
{
    struct place *place = *state;
    struct cr_call *call = &place->call;
    const char *path = cr_format(call, "%s/journal", place->folder);
    struct cr_file file;
    for (int i = 0; i < 2; i++) {
        assert_ok(call, cr_file_open(call, path, CR_FILE_APPEND, 0600, &file));
        assert_ok(call, cr_file_append(call, &file, "abc", 3));
        cr_file_sync(call, &file);
        cr_file_close(&file);
    }
    assert_ok(call, cr_file_open(call, path, CR_FILE_WRITE, 0600, &file));
    assert_ok(call, cr_file_write_at(call, &file, 1, "X", 1));
    assert_ok(call, cr_file_cut(call, &file, 5));
    int64_t size;
    char read[8] = "";
    size_t got;
    assert_ok(call, cr_file_size(call, &file, &size));
    assert_int_equal(size, 5);
    assert_ok(call, cr_file_read_at(call, &file, 0, read, 8, &got));
    assert_int_equal(got, 5);
    assert_string_equal(read, "aXcab");
    cr_file_close(&file);
    cr_file_close(&file);
    assert_int_equal(cr_file_open(call, path, CR_FILE_CREATE, 0600, &file), CR_CONFLICT);
    cr_forgive(call);
    assert_ok(call, cr_file_remove(call, path));
}

static void folders_are_made_with_those_above(void **state)
{
    struct place *place = *state;
    struct cr_call *call = &place->call;
    const char *path = cr_format(call, "%s/x/y/", place->folder);
    int64_t free_size, total;
    assert_ok(call, cr_file_make_folder(call, path, 0700));
    assert_ok(call, cr_file_make_folder(call, path, 0700));
    assert_ok(call, cr_file_free_space(call, path, &free_size, &total));
    assert_true(free_size <= total);
    assert_ok(call, cr_file_remove(call, path));
    assert_ok(call, cr_file_remove(call, cr_format(call, "%s/x", place->folder)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_file_is_replaced_whole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_appended_follows_what_was_there, set_up, tear_down),
        cmocka_unit_test_setup_teardown(folders_are_made_with_those_above, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("file", tests, NULL, NULL);
}
