/* format: safetensors come back as they were written, and what is malformed is refused by name. */
#include "tests/unit/test.h"

#include "kernels/format/format.h"

#include <sys/mman.h>
#include <unistd.h>

static const float numbers[] = {1, 2, 3, 4, 5, 6};
static const int64_t places[] = {7, -8};

static size_t write_some(struct cr_call *call, bool turned, unsigned char *ret_bytes, size_t room)
{
    const struct format_tensor tensors[] = {
        {"b.weight", DTYPE_F32, 2, {2, 3}, numbers, sizeof numbers},
        {"a\"quoted\"", DTYPE_I64, 1, {2}, places, sizeof places},
        {"empty", DTYPE_F32, 2, {0, 3}, numbers, 0},
    };
    const struct format_tensor others[] = {tensors[2], tensors[1], tensors[0]};
    const struct cr_label labels[] = {{"step", "12"}, {"recipe", "m\nlp"}};
    const struct cr_labels metadata = {labels, 2};
    int descriptor = memfd_create("file", 0);
    assert_int_equal(pwrite(descriptor, "what was there before", 21, 400), 21);
    assert_ok(call,
              format_write_safetensors(call, descriptor, turned ? others : tensors, 3, &metadata));
    ssize_t size = pread(descriptor, ret_bytes, room, 0);
    close(descriptor);
    assert_true(size > 0 && (size_t)size < 400);
    return (size_t)size;
}

static void what_is_written_is_read_again(void **state)
{
    (void)state;
    struct cr_env env = cr_env_system();
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
    unsigned char bytes[1024], others[1024];
    struct format_safetensors file;
    size_t size = write_some(&call, false, bytes, sizeof bytes);
    assert_ok(&call, format_read_safetensors(&call, bytes, size, &file));
    assert_int_equal(file.count, 3);
    const struct format_tensor *weight = format_find(&file, "b.weight");
    assert_int_equal(weight->dtype, DTYPE_F32);
    assert_int_equal(weight->rank, 2);
    assert_int_equal(weight->shape[1], 3);
    assert_memory_equal(weight->bytes, numbers, sizeof numbers);
    assert_memory_equal(format_find(&file, "a\"quoted\"")->bytes, places, sizeof places);
    assert_int_equal(format_find(&file, "empty")->size, 0);
    assert_null(format_find(&file, "c"));
    assert_string_equal(format_metadata(&file, "recipe"), "m\nlp");
    assert_null(format_metadata(&file, "recipes"));
    assert_int_equal(write_some(&call, true, others, sizeof others), size);
    assert_memory_equal(bytes, others, size);
}

/* A file of the header given and so many bytes of data. */
static enum cr_status read_header(struct cr_call *call, const char *header, size_t data)
{
    unsigned char bytes[1024] = {0};
    struct format_safetensors file;
    size_t length = strlen(header);
    bytes[0] = (unsigned char)length;
    bytes[1] = (unsigned char)(length >> 8);
    memcpy(bytes + 8, header, length);
    return format_read_safetensors(call, bytes, 8 + length + data, &file);
}

static void what_is_malformed_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        size_t data;
        const char *reason; /* NULL: it is well-formed */
    } cases[] = {
        {"{}", 0, NULL},
        {"{}  ", 0, NULL},
        {" {}", 0, "the header does not begin with '{'"},
        {"{}", 1, "bytes behind the last tensor"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8, NULL},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 9,
         "bytes behind the last tensor"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 7,
         "tensor 'a': data_offsets leave the file"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0,8]}}", 8,
         "tensor 'a': data_offsets are not as long as dtype and shape say"},
        {"{\"a\":{\"dtype\":\"F31\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8,
         "tensor 'a': an unknown dtype"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[-2],\"data_offsets\":[0,8]}}", 8,
         "tensor 'a': shape must have sizes of 0 or more"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[281474976710656,281474976710656],"
         "\"data_offsets\":[0,8]}}",
         8, "a tensor of more than 2^56 elements"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},"
         "\"b\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[4,12]}}",
         12, "tensor 'b': a hole before it, or an overlap"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[4,12]}}", 12,
         "tensor 'a': a hole before it, or an overlap"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8],\"more\":1}}", 8,
         "tensor 'a': dtype, shape and data_offsets are expected, and nothing else"},
        {"{\"__metadata__\":{\"a\":1}}", 0, "__metadata__ must be an object of texts"},
        {"{\"__metadata__\":[]}", 0, "__metadata__ must be an object of texts"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct cr_env env = cr_env_system();
        CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
        enum cr_status status = read_header(&call, cases[i].header, cases[i].data);
        assert_int_equal(status, cases[i].reason ? CR_INVALID : CR_OK);
        if (cases[i].reason)
            assert_string_equal(call.reason, cases[i].reason);
    }
}

static void every_cut_is_refused(void **state)
{
    (void)state;
    struct cr_env env = cr_env_system();
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
    unsigned char bytes[1024];
    size_t size = write_some(&call, false, bytes, sizeof bytes);
    for (size_t cut = 0; cut < size; cut++) {
        CR_SCOPED(cr_call_close) struct cr_call one = cr_call_open(&env, INT64_MAX);
        struct format_safetensors file;
        assert_int_not_equal(format_read_safetensors(&one, bytes, cut, &file), CR_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read_again),
        cmocka_unit_test(what_is_malformed_is_refused),
        cmocka_unit_test(every_cut_is_refused),
    };
    return cmocka_run_group_tests_name("format", tests, NULL, NULL);
}
