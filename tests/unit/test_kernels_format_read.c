#include "tests/unit/test_data.h"

#include "kernels/format/format.h"

/* Each row of the manifest that is a safetensors file, and what must become of it. */
static void hostile_files_get_the_status_of_the_manifest(void **state)
{
    (void)state;
    struct cr_env env = cr_env_system();
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
    struct cr_bytes manifest = test_data(&call, "engine/hostile/manifest.tsv");
    const char *at = cr_copy(&call, manifest.data, manifest.size), *line;
    size_t length;
    int rows = 0;
    while ((line = test_line(&call, &at, &length))) {
        const char *tab = strchr(line, '\t');
        const char *name = tab ? cr_copy(&call, line, (size_t)(tab - line)) : "";
        if (!strstr(name, ".safetensors"))
            continue;
        struct cr_bytes bytes = test_data(&call, cr_format(&call, "engine/hostile/%s", name));
        CR_SCOPED(cr_call_close) struct cr_call read = cr_call_open(&env, INT64_MAX);
        struct format_safetensors file;
        enum cr_status status = format_read_safetensors(&read, bytes.data, bytes.size, &file);
        enum cr_status want = strncmp(tab + 1, "ok\t", 3) == 0 ? CR_OK : CR_INVALID;
        if (status != want)
            fail_msg("%s: %s (%s), not %s", name, cr_status_word(status), read.reason,
                     cr_status_word(want));
        rows++;
    }
    assert_int_equal(rows, 29);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_files_get_the_status_of_the_manifest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
