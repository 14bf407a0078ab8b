/* What most commands do: get one thing, list many, change one. */
#include "ops/cli/cli.h"

#include "base/core/parse.h"

#include <inttypes.h>
#include <unistd.h>

#define ROWS_MAX 100000 /* of one list, with --all */

/* The path of the operation, its {…} filled with the arguments in their order. */
const char *cli_path(struct cr_call *call, const struct cli *cli, const char *template)
{
    struct cr_text text = cr_text_open(call);
    size_t argument = 0;
    while (*template) {
        size_t length = strcspn(template, "{");
        cr_text_add_bytes(&text, template, length);
        template += length;
        if (*template != '{')
            break;
        const char *value = argument < cli->argument_count ? cli->arguments[argument] : "";
        cr_text_add(&text, cr_percent_print(call, value));
        argument++;
        template += strcspn(template, "}") + 1;
    }
    return text.data;
}

static const char *member_of(const struct cli_flag *flag)
{
    return flag->member ? flag->member : flag->name;
}

/* "?state=running&kind=train", or nothing. */
static void add_query(struct cr_call *call, const struct cli *cli, struct cr_text *text)
{
    const struct cli_flag *flags = cli->command->flags;
    char separator = '?';
    for (size_t i = 0; flags && flags[i].name; i++)
        for (size_t n = 0; flags[i].place == CLI_QUERY && n < cli->value_counts[i]; n++) {
            cr_text_add_format(text, "%c%s=%s", separator, member_of(&flags[i]),
                               cr_percent_print(call, cli->values[i][n]));
            separator = '&';
        }
}

/* The body of a change: one member for each flag that has one. */
static enum cr_status body_of(struct cr_call *call, const struct cli *cli, const char **ret_body)
{
    const struct cli_flag *flags = cli->command->flags;
    struct cr_text text = cr_text_open(call);
    size_t members = 0;
    cr_text_add(&text, "{");
    for (size_t i = 0; flags && flags[i].name; i++) {
        int64_t number;
        size_t count = cli->value_counts[i];
        if (flags[i].place == CLI_OWN || flags[i].place == CLI_QUERY || count == 0)
            continue;
        cr_text_add(&text, members++ ? "," : "");
        json_add_text(&text, member_of(&flags[i]));
        cr_text_add(&text, flags[i].place == CLI_TEXTS ? ":[" : ":");
        const char *last = cli->values[i][count - 1];
        if (flags[i].place == CLI_TEXT)
            json_add_text(&text, last);
        for (size_t n = 0; flags[i].place == CLI_TEXTS && n < count; n++) {
            cr_text_add(&text, n ? "," : "");
            json_add_text(&text, cli->values[i][n]);
        }
        if (flags[i].place == CLI_TEXTS)
            cr_text_add(&text, "]");
        if (flags[i].place != CLI_NUMBER)
            continue;
        if (!cr_parse_integer(last, strlen(last), INT64_MIN + 1, INT64_MAX, &number))
            return cr_fail(call, CR_INVALID, "--%s takes a whole number, not '%s'", flags[i].name,
                           last);
        cr_text_add_format(&text, "%" PRId64, number);
    }
    cr_text_add(&text, "}");
    *ret_body = text.data;
    return CR_OK;
}

static struct cli_request request_of(const struct cli *cli, const char *path)
{
    return (struct cli_request){.method = cli->command->method,
                                .path = path,
                                .as_operator = cli->command->traits & CLI_OPERATOR,
                                .is_public = cli->command->traits & CLI_PUBLIC};
}

enum cr_status cli_run_get(struct cr_call *call, struct cli *cli)
{
    struct cr_text path = cr_text_open(call);
    cr_text_add(&path, cli_path(call, cli, cli->command->path));
    add_query(call, cli, &path);
    const struct cli_request request = request_of(cli, path.data);
    const struct json_value *value;
    CR_TRY(cli_ask_json(call, cli, &request, &value));
    cli_show(call, cli, value);
    return call->status;
}

static enum cr_status limit_of(struct cr_call *call, const struct cli *cli, size_t *ret_limit)
{
    const char *text = cli_flag(cli, "limit");
    int64_t limit = CLI_LIMIT_USUAL;
    if (text && !cr_parse_integer(text, strlen(text), 1, ROWS_MAX, &limit))
        return cr_fail(call, CR_INVALID, "--limit takes a number from 1 to %d, not '%s'", ROWS_MAX,
                       text);
    *ret_limit = cli_has(cli, "all") ? ROWS_MAX : (size_t)limit;
    return CR_OK;
}

enum cr_status cli_run_list(struct cr_call *call, struct cli *cli)
{
    struct cr_text filters = cr_text_open(call);
    size_t limit, count = 0, size = 0;
    const struct json_value **rows = NULL;
    const char *after = cli_flag(cli, "after");
    CR_TRY(limit_of(call, cli, &limit));
    cr_text_add(&filters, cli_path(call, cli, cli->command->path));
    add_query(call, cli, &filters);
    do {
        size_t page = limit - count < CLI_PAGE_MAX ? limit - count : CLI_PAGE_MAX;
        char separator = strchr(filters.data, '?') ? '&' : '?';
        const char *path =
            cr_format(call, "%s%climit=%zu%s%s", filters.data, separator, page,
                      after ? "&after=" : "", after ? cr_percent_print(call, after) : "");
        const struct cli_request request = request_of(cli, path);
        const struct json_value *value;
        CR_TRY(cli_ask_json(call, cli, &request, &value));
        const struct json_value *data = json_member(value, "data");
        for (size_t i = 0; data && i < data->count; i++) {
            if (count == size) {
                size = 2 * size + 64;
                const struct json_value **grown = cr_new(call, const struct json_value *, size);
                if (count)
                    memcpy(grown, rows, count * sizeof *rows);
                rows = grown;
            }
            rows[count++] = &data->items[i];
        }
        after = json_member_text(value, "next_after");
        if (!data || data->count == 0)
            break;
    } while (after && count < limit);
    cli_show_rows(call, cli, rows, count, after);
    return call->status;
}

/* What cannot be undone wants the name typed, or --yes. */
static enum cr_status confirm(struct cr_call *call, const struct cli *cli)
{
    char line[256];
    const char *name = cli->argument_count ? cli->arguments[0] : "";
    if (!(cli->command->traits & CLI_CONFIRM) || cli_has(cli, "yes"))
        return CR_OK;
    if (!isatty(STDIN_FILENO) || cli->format == CLI_JSON)
        return cr_fail(call, CR_INVALID,
                       "this cannot be undone, and nobody can be asked; try: --yes");
    fprintf(stderr, "%s %s\nThis cannot be undone. Type %s to go on: ",
            cli_words((struct cr_call *)call, cli->command), name, name);
    if (!fgets(line, sizeof line, stdin) || strncmp(line, name, strlen(name)) != 0 ||
        line[strlen(name)] != '\n')
        return cr_fail(call, CR_CONFLICT, "not done: '%s' was not typed", name);
    return CR_OK;
}

/* The version that If-Match wants is read by a GET of the same path. */
static enum cr_status version_of(struct cr_call *call, struct cli *cli, const char *path,
                                 const char **ret_version)
{
    struct fetch_answer answer;
    struct cli_request request = request_of(cli, path);
    request.method = "GET";
    CR_TRY(cli_ask(call, cli, &request, &answer));
    *ret_version = fetch_header(&answer, "etag");
    return CR_OK;
}

enum cr_status cli_run_change(struct cr_call *call, struct cli *cli)
{
    const char *path = cli_path(call, cli, cli->command->path);
    struct cli_request request = request_of(cli, path);
    CR_TRY(confirm(call, cli));
    cli->reason = cli_flag(cli, "reason");
    if ((cli->command->traits & CLI_REASON) && !cli->reason)
        return cr_fail(call, CR_INVALID, "--reason is missing: it stands in the audit log");
    if (cli->command->traits & CLI_KEYED)
        request.once = cli_once(call);
    if (cli->command->traits & CLI_IF_MATCH)
        CR_TRY(version_of(call, cli, path, &request.if_match));
    if (strcmp(request.method, "DELETE") != 0)
        CR_TRY(body_of(call, cli, &request.body));
    const struct json_value *value;
    CR_TRY(cli_ask_json(call, cli, &request, &value));
    cli_show(call, cli, value);
    return call->status;
}
