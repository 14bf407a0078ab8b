/* A job's specification: YAML or JSON of a file, changed by --set, with the place of each member.
 */
#include "ops/cli/cli.h"

#include "base/core/file.h"
#include "base/yaml/yaml.h"

#include <unistd.h>

static enum cr_status read_input(struct cr_call *call, const char *file, struct cr_bytes *ret_bytes)
{
    if (strcmp(file, "-") != 0)
        return cr_file_read(call, file, CLI_FILE_MAX, ret_bytes);
    unsigned char *bytes = cr_new(call, unsigned char, CLI_FILE_MAX + 1);
    size_t size = 0;
    for (ssize_t got = 1; got > 0 && size <= CLI_FILE_MAX; size += (size_t)(got > 0 ? got : 0))
        got = read(STDIN_FILENO, bytes + size, CLI_FILE_MAX + 1 - size);
    if (size > CLI_FILE_MAX)
        return cr_fail(call, CR_TOO_LARGE, "standard input has more than %d bytes", CLI_FILE_MAX);
    *ret_bytes = (struct cr_bytes){bytes, size};
    return CR_OK;
}

/* Adds object with what path leads to being value, a JSON text; members on the way are made. */
static void add_with(struct cr_text *text, const struct json_value *object, const char *path,
                     const char *value)
{
    size_t length = strcspn(path, "."), count = object ? object->count : 0;
    const char *name = cr_copy(text->call, path, length);
    bool written = false;
    if (object && object->kind != JSON_KIND_OBJECT)
        count = 0;
    cr_text_add(text, "{");
    for (size_t i = 0; i < count || !written; i++) {
        bool here = i >= count || strcmp(object->names[i], name) == 0;
        cr_text_add(text, i ? "," : "");
        json_add_text(text, here ? name : object->names[i]);
        cr_text_add(text, ":");
        if (!here)
            json_add_value(text, &object->items[i]);
        else if (path[length])
            add_with(text, i < count ? &object->items[i] : NULL, path + length + 1, value);
        else
            cr_text_add(text, value);
        written = written || here;
    }
    cr_text_add(text, "}");
}

/* "hyperparameters.epochs=1": the value is read as YAML, so 1 is a number and x a text. */
static enum cr_status set(struct cr_call *call, const char *assignment, const char **body)
{
    const char *equals = strchr(assignment, '=');
    struct yaml_document value;
    const struct json_value *whole;
    if (!equals || equals == assignment)
        return cr_fail(call, CR_INVALID, "--set takes MEMBER=VALUE, not '%s'", assignment);
    CR_TRY(yaml_read(call, equals + 1, strlen(equals + 1), &value));
    CR_TRY(json_parse(call, NULL, *body, strlen(*body), &whole));
    struct cr_text text = cr_text_open(call);
    add_with(&text, whole, cr_copy(call, assignment, (size_t)(equals - assignment)), value.json);
    *body = text.data;
    return CR_OK;
}

static enum cr_status set_all(struct cr_call *call, const struct cli *cli, const char **body)
{
    const char *const *values = NULL;
    size_t count = cli_flags(cli, "set", &values);
    for (size_t i = 0; i < count; i++)
        CR_TRY(set(call, values[i], body));
    count = cli_flags(cli, "label", &values);
    for (size_t i = 0; i < count; i++) {
        const char *equals = strchr(values[i], '=');
        if (!equals || memchr(values[i], '.', (size_t)(equals - values[i])))
            return cr_fail(call, CR_INVALID, "--label takes NAME=VALUE, not '%s'", values[i]);
        struct cr_text text = cr_text_open(call);
        json_add_text(&text, equals + 1);
        CR_TRY(
            set(call,
                cr_format(call, "labels.%.*s=%s", (int)(equals - values[i]), values[i], text.data),
                body));
    }
    const char *name = cli_flag(cli, "name");
    if (name) {
        struct cr_text text = cr_text_open(call);
        json_add_text(&text, name);
        CR_TRY(set(call, cr_format(call, "name=%s", text.data), body));
    }
    return CR_OK;
}

enum cr_status cli_spec(struct cr_call *call, struct cli *cli, const char *file,
                        const char **ret_body)
{
    struct cr_bytes bytes;
    struct yaml_document *document = cr_new(call, struct yaml_document, 1);
    CR_TRY(read_input(call, file, &bytes));
    if (yaml_read(call, (const char *)bytes.data, bytes.size, document) != CR_OK) {
        const char *reason = cr_format(call, "%s:%s", file, call->reason);
        cr_forgive(call);
        return cr_fail(call, CR_INVALID, "%s", reason);
    }
    if (document->json[0] != '{')
        return cr_fail(call, CR_INVALID, "%s:1:1: a job's specification is an object", file);
    cli->source = file;
    cli->document = document;
    *ret_body = document->json;
    return set_all(call, cli, ret_body);
}
