/* Values as indented JSON, and as YAML that reads back as the same value. */
#include "ops/cli/cli.h"

#include "base/yaml/yaml.h"

void cli_add_pretty(struct cr_text *text, const struct json_value *value, int indent)
{
    bool object = value->kind == JSON_KIND_OBJECT;
    if ((!object && value->kind != JSON_KIND_ARRAY) || value->count == 0) {
        json_add_value(text, value);
        return;
    }
    cr_text_add(text, object ? "{\n" : "[\n");
    for (size_t i = 0; i < value->count; i++) {
        cr_text_add_format(text, "%*s", indent + 2, "");
        if (object) {
            json_add_text(text, value->names[i]);
            cr_text_add(text, ": ");
        }
        cli_add_pretty(text, &value->items[i], indent + 2);
        cr_text_add(text, i + 1 < value->count ? ",\n" : "\n");
    }
    cr_text_add_format(text, "%*s%s", indent, "", object ? "}" : "]");
}

/* Letters that mean nothing to YAML wherever they stand, so that a text of them needs no quotes. */
static bool is_bare(const char *text)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+";
    size_t length = strspn(text, safe);
    while (text[length] == '-' || (text[length] == ':' && text[length + 1] != ' ' &&
                                   text[length + 1] != 0 && text[length + 1] != '\n')) {
        if (length == 0)
            return false;
        length += 1 + strspn(text + length + 1, safe);
    }
    return *text && !text[length] && yaml_reads_as_text(text);
}

static void add_scalar(struct cr_text *text, const char *value)
{
    if (is_bare(value))
        cr_text_add(text, value);
    else
        json_add_text(text, value); /* JSON is YAML */
}

void cli_add_yaml(struct cr_text *text, const struct json_value *value, int indent)
{
    bool object = value && value->kind == JSON_KIND_OBJECT;
    if (!value || (!object && value->kind != JSON_KIND_ARRAY) || value->count == 0) {
        if (value && value->kind == JSON_KIND_TEXT)
            add_scalar(text, value->text);
        else if (value)
            json_add_value(text, value);
        else
            cr_text_add(text, "null");
        return;
    }
    for (size_t i = 0; i < value->count; i++) {
        const struct json_value *item = &value->items[i];
        bool nested =
            item->count && (item->kind == JSON_KIND_OBJECT || item->kind == JSON_KIND_ARRAY);
        if (i)
            cr_text_add_format(text, "\n%*s", indent, "");
        if (!object) {
            cr_text_add(text, "- ");
            cli_add_yaml(text, item, indent + 2);
            continue;
        }
        add_scalar(text, value->names[i]);
        cr_text_add(text, ":");
        if (nested)
            cr_text_add_format(text, "\n%*s", indent + 2, "");
        else
            cr_text_add(text, " ");
        cli_add_yaml(text, item, indent + 2);
    }
}
