/* check: what the shapes of protocol.h cannot say. */
#include "compute/protocol/protocol.h"

#include "base/core/id.h"
#include "base/core/parse.h"
#include "base/crypto/crypto.h"
#include "base/json/json.h"

#define SLICES_MAX   65536
#define UUID_LENGTH  36
#define NAME_CHARS   "abcdefghijklmnopqrstuvwxyz0123456789-."
#define DEVICE_CHARS "abcdefghijklmnopqrstuvwxyz0123456789."

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

bool protocol_is_digest(const char *text)
{
    for (size_t i = 0; i < PROTOCOL_DIGEST_LENGTH; i++)
        if (!is_hex(text[i]))
            return false;
    return text[PROTOCOL_DIGEST_LENGTH] == '\0';
}

bool protocol_is_boot(const char *text)
{
    for (size_t i = 0; i < UUID_LENGTH; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? text[i] != '-' : !is_hex(text[i]))
            return false;
    }
    return text[UUID_LENGTH] == '\0';
}

static enum cr_status wrong(struct cr_call *call, const char *what)
{
    return cr_fail(call, CR_INVALID, "%s", what);
}

static bool within(int64_t value, int64_t min, int64_t max)
{
    return value >= min && value <= max;
}

static bool spelled(const char *text, const char *letters)
{
    return *text && text[strspn(text, letters)] == '\0';
}

static bool is_device(const char *text)
{
    return text[0] >= 'a' && text[0] <= 'z' && spelled(text, DEVICE_CHARS);
}

/* Whether no two of count texts are the same. The counts are at most PROTOCOL_DEVICES_MAX. */
static bool all_differ(const char *const *texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(texts[i], texts[j]) == 0)
                return false;
    return true;
}

static enum cr_status check_device(struct cr_call *call, const struct protocol_device *device)
{
    if (!is_device(device->device) || !is_device(device->card))
        return wrong(call, "a device and a card begin with a letter and hold a-z, 0-9 and .");
    if (!spelled(device->model, NAME_CHARS))
        return wrong(call, "model of a device holds a-z, 0-9, - and .");
    if (!within(device->memory_mib, 0, PROTOCOL_MEMORY_MIB_MAX))
        return wrong(call, "memory_mib of a device must be at most 16777216");
    if (!within(device->slices, 1, SLICES_MAX))
        return wrong(call, "slices of a device must be 1 to 65536");
    return CR_OK;
}

enum cr_status protocol_join_check(struct cr_call *call, const struct protocol_join *join)
{
    if (!protocol_is_boot(join->boot))
        return wrong(call, "boot must be a UUID");
    if (join->node[0] && !cr_id_is(join->node, "node"))
        return wrong(call, "node must be a node id, or empty");
    if (!join->node[0] != (strcmp(join->cause, "enrol") == 0))
        return wrong(call, "node is empty at enrol, and only then");
    if (!spelled(join->name, NAME_CHARS))
        return wrong(call, "name holds a-z, 0-9, - and .");
    if (!within(join->protocol, 1, CR_SAFE_INTEGER) ||
        !within(join->cpu_milli, 0, PROTOCOL_CPU_MILLI_MAX * 8) ||
        !within(join->memory_mib, 0, PROTOCOL_MEMORY_MIB_MAX) ||
        !within(join->disk_mib, 0, CR_SAFE_INTEGER))
        return wrong(call, "protocol, cpu_milli, memory_mib or disk_mib is out of range");

    const struct protocol_device *devices = join->devices.items;
    const char **names = cr_new(call, const char *, join->devices.count);
    for (size_t i = 0; i < join->devices.count; i++) {
        CR_TRY(check_device(call, &devices[i]));
        names[i] = devices[i].device;
    }
    if (!all_differ(names, join->devices.count))
        return wrong(call, "two devices have the same name");
    return CR_OK;
}

enum cr_status protocol_progress_check(struct cr_call *call,
                                       const struct protocol_progress *progress)
{
    if (!within(progress->step, 0, CR_SAFE_INTEGER) || !within(progress->steps, 0, CR_SAFE_INTEGER))
        return wrong(call, "step and steps are safe integers");
    for (size_t i = 0; i < progress->series.count; i++)
        if (!spelled(progress->series.items[i], "abcdefghijklmnopqrstuvwxyz0123456789_") ||
            strlen(progress->series.items[i]) > PROTOCOL_SERIES_NAME_MAX)
            return wrong(call, "a series is named by at most 64 of a-z, 0-9 and _");
    if (!all_differ(progress->series.items, progress->series.count))
        return wrong(call, "two series have the same name");
    const struct protocol_checkpoint *checkpoint = progress->checkpoint;
    if (!checkpoint)
        return CR_OK;
    if (!protocol_is_digest(checkpoint->digest))
        return wrong(call, "digest of checkpoint must be 64 lower hex digits");
    if (!within(checkpoint->size, 1, CR_SAFE_INTEGER) ||
        !within(checkpoint->step, 0, CR_SAFE_INTEGER))
        return wrong(call, "size or step of checkpoint is out of range");
    return CR_OK;
}

enum cr_status protocol_result_sha256(struct cr_call *call,
                                      const struct protocol_complete *complete,
                                      const char **ret_hex)
{
    static const char *const parts[] = {"word", "detail", "metrics", "outputs", "steps"};
    const char *text = json_write(call, &protocol_complete_shape, complete);
    const struct json_value *whole;
    CR_TRY(json_parse(call, NULL, text, strlen(text), &whole));

    const size_t count = sizeof parts / sizeof parts[0];
    struct json_value *items = cr_new(call, struct json_value, count);
    for (size_t i = 0; i < count; i++)
        items[i] = *json_member(whole, parts[i]);
    struct json_value result = {
        .kind = JSON_KIND_OBJECT, .items = items, .names = parts, .count = count};
    const char *canonical = json_canonical(call, &result);
    unsigned char hash[BASE_CRYPTO_SHA256_SIZE];
    base_crypto_sha256(canonical, strlen(canonical), hash);
    *ret_hex = cr_hex(call, hash, sizeof hash);
    return CR_OK;
}

enum cr_status protocol_complete_check(struct cr_call *call,
                                       const struct protocol_complete *complete)
{
    const struct protocol_output *outputs = complete->outputs.items;
    const char **names = cr_new(call, const char *, complete->outputs.count);
    for (size_t i = 0; i < complete->outputs.count; i++) {
        names[i] = outputs[i].name;
        if (!protocol_is_digest(outputs[i].digest) || !within(outputs[i].size, 0, CR_SAFE_INTEGER))
            return wrong(call, "digest or size of an output is wrong");
    }
    if (!all_differ(names, complete->outputs.count))
        return wrong(call, "two outputs have the same name");
    for (size_t i = 0; i < complete->metrics.count; i++) {
        double value;
        const char *text = complete->metrics.items[i].value;
        if (!cr_parse_number(text, strlen(text), &value))
            return wrong(call, "each of metrics is a decimal number");
    }
    if (!within(complete->steps, 0, CR_SAFE_INTEGER))
        return wrong(call, "steps must be a safe integer");
    const char *hex;
    CR_TRY(protocol_result_sha256(call, complete, &hex));
    if (strcmp(hex, complete->result_sha256) != 0)
        return wrong(call, "result_sha256 is not that of the result");
    return CR_OK;
}

enum cr_status protocol_account_check(struct cr_call *call, const struct protocol_account *account)
{
    if (strcmp(account->type, PROTOCOL_ACCOUNT_TYPE) != 0)
        return wrong(call, "type of account is another");
    if (account->mono_ns < account->start_ns)
        return wrong(call, "mono_ns of account is before start_ns");
    const struct protocol_account_device *devices = account->devices.items;
    for (size_t i = 0; i < account->devices.count; i++) {
        int64_t sum;
        if (!is_device(devices[i].device) || !within(devices[i].slices, 1, SLICES_MAX))
            return wrong(call, "device or slices of an account is wrong");
        if (__builtin_add_overflow(devices[i].held_ns, devices[i].idle_ns, &sum) ||
            __builtin_add_overflow(sum, devices[i].maintenance_ns, &sum) ||
            sum != account->mono_ns - account->start_ns)
            return wrong(call, "held, idle and maintenance of a device do not sum to its time");
    }
    return CR_OK;
}

enum cr_status protocol_leases_check(struct cr_call *call, const struct protocol_leases *leases)
{
    const struct protocol_lease *all = leases->leases.items;
    const char **ids = cr_new(call, const char *, leases->leases.count);
    for (size_t i = 0; i < leases->leases.count; i++) {
        ids[i] = all[i].lease;
        for (size_t j = 0; j < all[i].devices.count; j++)
            if (!is_device(all[i].devices.items[j]))
                return wrong(call, "a device of a lease is not named as devices are");
        if (!all_differ(all[i].devices.items, all[i].devices.count))
            return wrong(call, "a lease names a device twice");
    }
    if (!all_differ(ids, leases->leases.count))
        return wrong(call, "a lease is listed twice");
    return CR_OK;
}

enum cr_status protocol_assignment_check(struct cr_call *call,
                                         const struct protocol_assignment *assignment)
{
    const struct protocol_input *inputs = assignment->inputs.items;
    const char **names = cr_new(call, const char *, assignment->inputs.count);
    for (size_t i = 0; i < assignment->inputs.count; i++) {
        names[i] = inputs[i].name;
        if (!protocol_is_digest(inputs[i].digest))
            return wrong(call, "digest of an input must be 64 lower hex digits");
    }
    if (!all_differ(names, assignment->inputs.count))
        return wrong(call, "two inputs have the same name");
    if (assignment->resume && !protocol_is_digest(assignment->resume->digest))
        return wrong(call, "digest of resume must be 64 lower hex digits");

    const struct json_value *spec;
    unsigned char hash[BASE_CRYPTO_SHA256_SIZE];
    CR_TRY(json_parse(call, NULL, assignment->spec.text, assignment->spec.length, &spec));
    const char *canonical = json_canonical(call, spec);
    base_crypto_sha256(canonical, strlen(canonical), hash);
    if (strcmp(cr_hex(call, hash, sizeof hash), assignment->spec_sha256) != 0)
        return wrong(call, "spec_sha256 is not that of the spec");
    return CR_OK;
}
