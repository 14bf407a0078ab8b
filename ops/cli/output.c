/*
 * Everything that is shown is drawn from JSON: tables by the columns of the command, one object by
 * its members. In tables, what a number means follows from the end of its name: _ns is seconds,
 * _microusd dollars, size bytes; times are cut to the second. Every other format has the raw value.
 */
#include "ops/cli/cli.h"

#include "base/core/parse.h"

#include <inttypes.h>
#include <utf8proc.h>

#define COLUMNS_MAX 16
#define GAP         "  "

const struct json_value *cli_follow(const struct json_value *value, const char *path)
{
    char name[128];
    while (value && *path) {
        size_t length = strcspn(path, ".");
        snprintf(name, sizeof name, "%.*s", (int)length, path);
        value = json_member(value, name);
        path += length + (path[length] == '.');
    }
    return value;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), size = strlen(end);
    return length >= size && strcmp(text + length - size, end) == 0;
}

static const char *bytes_for_people(struct cr_call *call, int64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes;
    size_t unit = 0;
    for (; value >= 1024 && unit < 4; unit++)
        value /= 1024;
    return cr_format(call, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
}

static const char *number_for_people(struct cr_call *call, const char *name, int64_t value)
{
    if (ends_with(name, "_microusd"))
        return cr_format(call, "%s%" PRId64 ".%06" PRId64 " USD", value < 0 ? "-" : "",
                         (value < 0 ? -value : value) / 1000000,
                         (value < 0 ? -value : value) % 1000000);
    if (ends_with(name, "_ns"))
        return cr_format(call, "%.3f s", (double)value / 1e9);
    if (strcmp(name, "size") == 0 || ends_with(name, "_size") || ends_with(name, "_bytes"))
        return bytes_for_people(call, value);
    return cr_format(call, "%" PRId64, value);
}

/* 2026-11-30T21:03:07.000250Z without its micros */
static const char *time_for_people(struct cr_call *call, const struct json_value *value)
{
    if (value->length == 27 && value->text[10] == 'T' && value->text[19] == '.' &&
        value->text[26] == 'Z')
        return cr_format(call, "%.19sZ", value->text);
    return value->text;
}

static void add_compact(struct cr_text *text, const struct json_value *value)
{
    bool plain = true;
    for (size_t i = 0; i < value->count; i++)
        plain = plain && value->items[i].kind != JSON_KIND_OBJECT &&
                value->items[i].kind != JSON_KIND_ARRAY;
    if (!plain) {
        json_add_value(text, value);
        return;
    }
    for (size_t i = 0; i < value->count; i++) {
        cr_text_add(text, i ? "," : "");
        if (value->names)
            cr_text_add_format(text, "%s=", value->names[i]);
        if (value->items[i].kind == JSON_KIND_TEXT)
            cr_text_add(text, value->items[i].text);
        else
            json_add_value(text, &value->items[i]);
    }
}

static const char *cell_of(struct cr_call *call, const struct json_value *value, const char *name,
                           bool human)
{
    int64_t integer;
    if (!value || value->kind == JSON_KIND_NULL)
        return "";
    if (value->kind == JSON_KIND_INTEGER && human)
        return number_for_people(call, name, value->integer);
    if (value->kind == JSON_KIND_TEXT && human &&
        (ends_with(name, "_ns") || ends_with(name, "_microusd")) &&
        cr_parse_integer(value->text, value->length, INT64_MIN + 1, INT64_MAX, &integer))
        return number_for_people(call, name, integer);
    if (value->kind == JSON_KIND_TEXT)
        return human ? time_for_people(call, value) : value->text;
    struct cr_text text = cr_text_open(call);
    if (value->kind == JSON_KIND_ARRAY || value->kind == JSON_KIND_OBJECT)
        add_compact(&text, value);
    else
        json_add_value(&text, value);
    return text.data;
}

const char *cli_cell(struct cr_call *call, const struct json_value *row, const char *path,
                     bool human)
{
    const char *dot = strrchr(path, '.');
    return cell_of(call, cli_follow(row, path), dot ? dot + 1 : path, human);
}

/* Columns that a terminal gives to a text in UTF-8. */
static size_t width_of(const char *text)
{
    size_t width = 0;
    const utf8proc_uint8_t *at = (const utf8proc_uint8_t *)text;
    while (*at) {
        utf8proc_int32_t letter;
        utf8proc_ssize_t length = utf8proc_iterate(at, -1, &letter);
        if (length <= 0)
            return width + strlen((const char *)at);
        int columns = utf8proc_charwidth(letter);
        width += columns > 0 ? (size_t)columns : 0;
        at += length;
    }
    return width;
}

/* What stands in a table comes from others: nothing in it may move the cursor. */
static void print_safe(const char *text)
{
    for (; *text; text++)
        putchar((unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text);
}

static void print_padded(const char *text, size_t width, bool last)
{
    print_safe(text);
    for (size_t have = width_of(text); !last && have < width; have++)
        putchar(' ');
    fputs(last ? "\n" : GAP, stdout);
}

static size_t columns_of(const struct cli *cli, const struct cli_column **ret_columns)
{
    size_t count = 0;
    for (const struct cli_column *column = cli->command->columns; column && column->title; column++)
        if (count < COLUMNS_MAX &&
            (!column->wide || cli->format == CLI_WIDE || cli->format == CLI_CSV))
            ret_columns[count++] = column;
    return count;
}

static void show_table(struct cr_call *call, const struct cli *cli,
                       const struct json_value *const *rows, size_t count)
{
    const struct cli_column *columns[COLUMNS_MAX];
    size_t column_count = columns_of(cli, columns), widths[COLUMNS_MAX];
    for (size_t c = 0; c < column_count; c++) {
        widths[c] = width_of(columns[c]->title);
        for (size_t r = 0; r < count; r++) {
            size_t width = width_of(cli_cell(call, rows[r], columns[c]->path, true));
            widths[c] = width > widths[c] ? width : widths[c];
        }
    }
    for (size_t c = 0; c < column_count && count; c++)
        print_padded(columns[c]->title, widths[c], c + 1 == column_count);
    for (size_t r = 0; r < count; r++)
        for (size_t c = 0; c < column_count; c++)
            print_padded(cli_cell(call, rows[r], columns[c]->path, true), widths[c],
                         c + 1 == column_count);
    if (count == 0 && !cli->quiet)
        fputs("nothing\n", stderr);
}

/* RFC 4180; and a cell that a spreadsheet would compute is quoted by a leading apostrophe. */
static void print_csv(const char *text, bool last)
{
    bool formula = *text && strchr("=+@\t\r", *text);
    if (formula || strpbrk(text, "\",\r\n")) {
        putchar('"');
        if (formula)
            putchar('\'');
        for (; *text; text++) {
            if (*text == '"')
                putchar('"');
            putchar(*text);
        }
        putchar('"');
    } else {
        fputs(text, stdout);
    }
    fputs(last ? "\r\n" : ",", stdout);
}

static void show_csv(struct cr_call *call, const struct cli *cli,
                     const struct json_value *const *rows, size_t count)
{
    const struct cli_column *columns[COLUMNS_MAX];
    size_t column_count = columns_of(cli, columns);
    for (size_t c = 0; c < column_count; c++)
        print_csv(columns[c]->path, c + 1 == column_count);
    for (size_t r = 0; r < count; r++)
        for (size_t c = 0; c < column_count; c++)
            print_csv(cli_cell(call, rows[r], columns[c]->path, false), c + 1 == column_count);
}

/* The members of one object, those of nested ones under dotted names; first only measured. */
static void show_members(struct cr_call *call, const struct json_value *value, const char *prefix,
                         size_t *width, bool measure)
{
    for (size_t i = 0; i < value->count; i++) {
        const struct json_value *item = &value->items[i];
        const char *name = cr_format(call, "%s%s", prefix, value->names[i]);
        if (item->kind == JSON_KIND_OBJECT && item->count) {
            show_members(call, item, cr_format(call, "%s.", name), width, measure);
        } else if (measure) {
            *width = strlen(name) > *width ? strlen(name) : *width;
        } else {
            print_padded(name, *width, false);
            print_padded(cell_of(call, item, value->names[i], true), 0, true);
        }
    }
}

static void show_object(struct cr_call *call, const struct json_value *value)
{
    size_t width = 0;
    show_members(call, value, "", &width, true);
    show_members(call, value, "", &width, false);
}

static void show_jsonpath(struct cr_call *call, const struct cli *cli,
                          const struct json_value *value)
{
    const struct json_value *found[CLI_PAGE_MAX];
    size_t count = 0;
    if (cli_jsonpath(call, value, cli->jsonpath, found, CLI_PAGE_MAX, &count) != CR_OK)
        return; /* the failure stays in the call */
    for (size_t i = 0; i < count; i++) {
        struct cr_text text = cr_text_open(call);
        if (found[i]->kind == JSON_KIND_TEXT)
            cr_text_add(&text, found[i]->text);
        else
            json_add_value(&text, found[i]);
        puts(text.data);
    }
}

static void show_text(struct cr_call *call, const struct cli *cli, const struct json_value *value)
{
    struct cr_text text = cr_text_open(call);
    if (cli->format == CLI_YAML)
        cli_add_yaml(&text, value, 0);
    else if (cli->format == CLI_JSON)
        cli_add_pretty(&text, value, 0);
    else
        json_add_value(&text, value);
    puts(text.data);
}

/* The id of a thing: the first column, or else the first member. */
static const char *name_of(struct cr_call *call, const struct cli *cli,
                           const struct json_value *row)
{
    const struct cli_column *column = cli->command->columns;
    if (column && column->title)
        return cli_cell(call, row, column->path, false);
    return row && row->count ? cell_of(call, &row->items[0], "", false) : "";
}

void cli_show_rows(struct cr_call *call, const struct cli *cli,
                   const struct json_value *const *rows, size_t count, const char *next_after)
{
    struct json_value *items = cr_new(call, struct json_value, count + 2);
    static const char *const names[] = {"data", "next_after"};
    for (size_t i = 0; i < count; i++)
        items[i] = *rows[i];
    struct json_value members[2] = {
        {.kind = JSON_KIND_ARRAY, .items = items, .count = count},
        {.kind = next_after ? JSON_KIND_TEXT : JSON_KIND_NULL,
         .text = next_after,
         .length = next_after ? strlen(next_after) : 0},
    };
    const struct json_value whole = {
        .kind = JSON_KIND_OBJECT, .items = members, .names = names, .count = 2};
    switch (cli->format) {
    case CLI_TABLE:
    case CLI_WIDE:
        show_table(call, cli, rows, count);
        break;
    case CLI_CSV:
        show_csv(call, cli, rows, count);
        break;
    case CLI_JSONL:
        for (size_t i = 0; i < count; i++)
            show_text(call, cli, rows[i]);
        break;
    case CLI_NAME:
        for (size_t i = 0; i < count; i++)
            puts(name_of(call, cli, rows[i]));
        break;
    case CLI_JSONPATH:
        show_jsonpath(call, cli, &whole);
        break;
    case CLI_JSON:
    case CLI_YAML:
        show_text(call, cli, &whole);
        break;
    }
    if (next_after && !cli->quiet && (cli->format == CLI_TABLE || cli->format == CLI_WIDE))
        fprintf(stderr, "more: --after %s\n", next_after);
}

void cli_show(struct cr_call *call, const struct cli *cli, const struct json_value *value)
{
    const struct json_value *data = json_member(value, "data");
    if (data && data->kind == JSON_KIND_ARRAY) {
        const struct json_value **rows = cr_new(call, const struct json_value *, data->count + 1);
        for (size_t i = 0; i < data->count; i++)
            rows[i] = &data->items[i];
        cli_show_rows(call, cli, rows, data->count, json_member_text(value, "next_after"));
        return;
    }
    if (!value)
        return;
    switch (cli->format) {
    case CLI_TABLE:
    case CLI_WIDE:
        if (value->kind == JSON_KIND_OBJECT)
            show_object(call, value);
        else
            show_text(call, cli, value);
        break;
    case CLI_CSV:
        show_csv(call, cli, &value, 1);
        break;
    case CLI_NAME:
        puts(name_of(call, cli, value));
        break;
    case CLI_JSONPATH:
        show_jsonpath(call, cli, value);
        break;
    case CLI_JSON:
    case CLI_JSONL:
    case CLI_YAML:
        show_text(call, cli, value);
        break;
    }
}
