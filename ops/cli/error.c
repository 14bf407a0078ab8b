/*
 * Why a command failed, for people, and its exit code (surface.md, sections 3 and 6):
 *
 *     error: WHAT (CODE)
 *       why:      the sentence of the server or of the library
 *       try:      a command
 *       docs:     page of the code
 *       request:  id to quote
 *
 * Faults of a specification come first, each as file:line:column: member: what.
 */
#include "ops/cli/cli.h"

#include "base/yaml/yaml.h"

static int exit_of(const struct cr_call *call, const char *code)
{
    static const int exits[] = {
        [CR_OK] = 0,        [CR_INVALID] = 2,  [CR_UNAUTHENTICATED] = 4, [CR_DENIED] = 4,
        [CR_NOT_FOUND] = 3, [CR_CONFLICT] = 5, [CR_TOO_LARGE] = 2,       [CR_MISMATCH] = 5,
        [CR_EXHAUSTED] = 6, [CR_INTERNAL] = 7, [CR_UNAVAILABLE] = 7,     [CR_UNKNOWN] = 7,
        [CR_TIMEOUT] = 8,
    };
    if (code && (strcmp(code, "wrong_region") == 0 || strcmp(code, "too_early") == 0))
        return CLI_EXIT_LATER;
    return exits[call->status];
}

/* "/inputs/images" as "inputs.images"; the whole body is "body" */
static const char *member_of(struct cr_call *call, const char *pointer)
{
    if (!*pointer)
        return "body";
    char *name = cr_new(call, char, strlen(pointer) + 1), *end = name;
    for (const char *at = pointer + 1; *at; at++) {
        if (at[0] == '~' && (at[1] == '0' || at[1] == '1')) {
            *end++ = at[1] == '0' ? '~' : '/';
            at++;
        } else {
            *end++ = *at == '/' ? '.' : *at;
        }
    }
    return name;
}

static void print_fault(struct cr_call *call, const struct cli *cli, const struct json_value *fault)
{
    const char *pointer = json_member_text(fault, "pointer");
    const char *detail = json_member_text(fault, "detail");
    const char *place = json_member_text(fault, "parameter");
    if (!place)
        place = json_member_text(fault, "header");
    if (!pointer) {
        fprintf(stderr, "  %s: %s\n", place ? place : "request", detail ? detail : "");
        return;
    }
    if (cli->document) {
        const struct yaml_mark *mark = yaml_mark_of(cli->document, pointer);
        fprintf(stderr, "%s:%zu:%zu: ", cli->source, mark->line, mark->column);
    } else {
        fputs("  ", stderr);
    }
    fprintf(stderr, "%s: %s\n", member_of(call, pointer), detail ? detail : "");
}

static void print_faults(struct cr_call *call, const struct cli *cli)
{
    const struct json_value *faults = json_member(cli->problem, "errors");
    for (size_t i = 0; faults && i < faults->count; i++)
        print_fault(call, cli, &faults->items[i]);
}

/* A command that may help, where the code tells one. */
static const char *advice(struct cr_call *call, const struct cli *cli, const char *code)
{
    static const struct {
        const char *code, *advice; /* "%s" is the program */
    } rows[] = {
        {"credential_missing", "login"},
        {"credential_rejected", "login"},
        {"credential_expired", "login"},
        {"permission_denied", "whoami"},
        {"not_found", NULL},
        {"quota_exceeded", "limit ls"},
        {"unavailable", "doctor"},
        {"overloaded", NULL},
    };
    bool local = cli->settings.context && strcmp(cli->settings.context, "dev") == 0;
    for (size_t i = 0; code && i < sizeof rows / sizeof *rows; i++)
        if (rows[i].advice && strcmp(rows[i].code, code) == 0)
            return cr_format(call, "%s %s", cli->program,
                             local && strcmp(rows[i].advice, "login") == 0 ? "dev up"
                                                                           : rows[i].advice);
    if (call->status == CR_UNAVAILABLE && local)
        return cr_format(call, "%s dev up", cli->program);
    if (call->status == CR_INVALID && !cli->problem && cli->command)
        return cr_format(call, "%s %s --help", cli->program, cli_words(call, cli->command));
    return NULL;
}

/* A reason may end in "; try: command". */
static const char *split_advice(struct cr_call *call, const char *reason, const char **ret_why)
{
    const char *mark = strstr(reason, "; try: ");
    *ret_why = mark ? cr_copy(call, reason, (size_t)(mark - reason)) : reason;
    return mark ? mark + 7 : NULL;
}

int cli_report(struct cr_call *call, const struct cli *cli)
{
    if (call->status == CR_OK)
        return cli->exit;
    const char *code = json_member_text(cli->problem, "code");
    const char *detail = json_member_text(cli->problem, "detail");
    const char *docs = json_member_text(cli->problem, "type");
    const char *request = json_member_text(cli->problem, "request_id");
    const char *why, *try = split_advice(call, call->reason, &why);
    bool faults = json_member(cli->problem, "errors") && cli->document;
    print_faults(call, cli);
    fprintf(stderr, "error: %s (%s)\n", why, code ? code : cr_status_word(call->status));
    if (detail && *detail && !faults)
        fprintf(stderr, "  why:      %s\n", detail);
    if (!try)
        try = advice(call, cli, code);
    if (try)
        fprintf(stderr, "  try:      %s\n", try);
    if (docs)
        fprintf(stderr, "  docs:     %s\n", docs);
    if (request)
        fprintf(stderr, "  request:  %s\n", request);
    return cli->exit ? cli->exit : exit_of(call, code);
}
