/* Help, and the other texts that are made of the table: completion, manual, reference. */
#include "ops/cli/cli.h"

#include "base/core/file.h"

#define CLI_VALUE_MAX ((size_t)8 << 20) /* bytes of a file of print value */

const char *cli_words(struct cr_call *call, const struct cli_command *command)
{
    return command->verb ? cr_format(call, "%s %s", command->noun, command->verb) : command->noun;
}

static bool is_operators(const struct cli_command *command)
{
    return strncmp(command->noun, "ops", 3) == 0;
}

static void print_flags(const struct cli_flag *flags, FILE *out)
{
    for (; flags && flags->name; flags++) {
        char left[64], letter[8] = "    ";
        if (flags->letter)
            snprintf(letter, sizeof letter, "-%c, ", flags->letter);
        snprintf(left, sizeof left, "%s--%s%s%s", letter, flags->name, flags->value ? " " : "",
                 flags->value ? flags->value : "");
        fprintf(out, "  %-28s %s\n", left, flags->about);
    }
}

static void print_command(const struct cli *cli, FILE *out)
{
    const struct cli_command *command = cli->command;
    fprintf(out, "%s\n\nUsage: cresset %s%s%s%s%s%s\n", command->summary, command->noun,
            command->verb ? " " : "", command->verb ? command->verb : "",
            command->arguments ? " " : "", command->arguments ? command->arguments : "",
            command->flags ? " [FLAGS]" : "");
    if (command->more)
        fprintf(out, "\n%s\n", command->more);
    if (command->flags) {
        fputs("\nFlags:\n", out);
        print_flags(command->flags, out);
    }
    fputs("\nFlags of every command:\n", out);
    print_flags(cli_globals, out);
    if (command->operation)
        fprintf(out, "\nOperation: %s (%s %s)\n", command->operation, command->method,
                command->path);
    if (command->example)
        fprintf(out, "\nExample:\n  %s\n", command->example);
}

/* All commands of a noun, or all of them; those of operators only where they are asked for. */
static void print_all(const char *noun, bool operators, FILE *out)
{
    for (const struct cli_command *command = cli_commands; command->noun; command++) {
        char left[80];
        bool wanted = noun ? strncmp(command->noun, noun, strlen(noun)) == 0
                           : operators || !is_operators(command);
        if (!wanted)
            continue;
        snprintf(left, sizeof left, "%s%s%s%s%s", command->noun, command->verb ? " " : "",
                 command->verb ? command->verb : "", command->arguments ? " " : "",
                 command->arguments ? command->arguments : "");
        fprintf(out, "  %-34s %s\n", left, command->summary);
    }
}

void cli_help(const struct cli *cli, FILE *out, int argc, char **argv)
{
    bool operators = false;
    const char *noun = NULL;
    if (cli->command) {
        print_command(cli, out);
        return;
    }
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--all") == 0)
            operators = true;
        else if (argv[i][0] != '-' && strcmp(argv[i], "help") != 0 && !noun)
            noun = argv[i];
    }
    for (const struct cli_command *command = cli_commands; noun && command->noun; command++) {
        bool known = strncmp(command->noun, noun, strlen(noun)) == 0;
        if (known)
            break;
        if (!(command + 1)->noun)
            noun = NULL;
    }
    fputs("cresset: run work on a Cresset region, see what it did and what it cost\n\n"
          "Usage: cresset [FLAGS] NOUN VERB [ARGUMENTS] [FLAGS]\n\nCommands:\n",
          out);
    print_all(noun, operators, out);
    if (!noun && !operators)
        fputs("  ops …                              those of operators: cresset help --all\n", out);
    fputs("\nFlags of every command:\n", out);
    print_flags(cli_globals, out);
    fputs("\ncresset NOUN VERB --help tells more of one.\n", out);
}

/* The manual
 * --------------------------------------------------------------------------------------- */

static void manual_flags(const struct cli_flag *flags)
{
    for (; flags && flags->name; flags++) {
        printf("`--%s%s%s`", flags->name, flags->value ? " " : "",
               flags->value ? flags->value : "");
        if (flags->letter)
            printf(", `-%c`", flags->letter);
        printf("\n:   %s%s.\n\n", flags->about, flags->repeat ? "; may be repeated" : "");
    }
}

static void manual_command(const struct cli_command *command)
{
    printf("## cresset %s%s%s\n\n%s.\n\n", command->noun, command->verb ? " " : "",
           command->verb ? command->verb : "", command->summary);
    printf("    cresset %s%s%s%s%s%s\n\n", command->noun, command->verb ? " " : "",
           command->verb ? command->verb : "", command->arguments ? " " : "",
           command->arguments ? command->arguments : "", command->flags ? " [FLAGS]" : "");
    if (command->more)
        printf("%s\n\n", command->more);
    manual_flags(command->flags);
    if (command->operation)
        printf("Operation `%s`: `%s %s`.\n\n", command->operation, command->method, command->path);
    if (command->example)
        printf("Example:\n\n    %s\n\n", command->example);
}

/* Markdown of one noun ("job"), or of all: what the pages and the manual are made of. */
static void print_manual(const char *noun)
{
    for (const struct cli_command *command = cli_commands; command->noun; command++) {
        size_t length = strcspn(command->noun, " ");
        if (!noun || (strlen(noun) == length && strncmp(command->noun, noun, length) == 0))
            manual_command(command);
    }
    if (!noun) {
        puts("## Flags of every command\n");
        manual_flags(cli_globals);
    }
}

static void print_nouns(void)
{
    const char *last = "";
    for (const struct cli_command *command = cli_commands; command->noun; command++) {
        size_t length = strcspn(command->noun, " ");
        if (strlen(last) != length || strncmp(last, command->noun, length) != 0) {
            printf("%.*s\n", (int)length, command->noun);
            last = cli_commands == command ? command->noun : command->noun;
        }
        if (strchr(last, ' '))
            last = "ops";
    }
}

/* The table itself, for the checks: one line of JSON a command. */
static void print_table(struct cr_call *call)
{
    for (const struct cli_command *command = cli_commands; command->noun; command++) {
        struct cr_text text = cr_text_open(call);
        cr_text_add(&text, "{\"command\":");
        json_add_text(&text, cli_words(call, command));
        cr_text_add(&text, ",\"operation\":");
        json_add_text(&text, command->operation);
        cr_text_add(&text, ",\"method\":");
        json_add_text(&text, command->method);
        cr_text_add(&text, ",\"path\":");
        json_add_text(&text, command->path);
        cr_text_add_format(&text, ",\"list\":%s,\"keyed\":%s,\"reason\":%s,\"query\":[",
                           command->traits & CLI_LIST ? "true" : "false",
                           command->traits & CLI_KEYED ? "true" : "false",
                           command->traits & CLI_REASON ? "true" : "false");
        size_t count = 0;
        for (const struct cli_flag *flag = command->flags; flag && flag->name; flag++)
            if (flag->place == CLI_QUERY) {
                cr_text_add(&text, count++ ? "," : "");
                json_add_text(&text, flag->member ? flag->member : flag->name);
            }
        cr_text_add(&text, "],\"body\":[");
        count = 0;
        for (const struct cli_flag *flag = command->flags; flag && flag->name; flag++)
            if (flag->place != CLI_QUERY && flag->place != CLI_OWN) {
                cr_text_add(&text, count++ ? "," : "");
                json_add_text(&text, flag->member ? flag->member : flag->name);
            }
        cr_text_add(&text, "]}");
        puts(text.data);
    }
}

/* One value of a JSON file: what scripts need of documents that they have. */
static enum cr_status print_value(struct cr_call *call, struct cli *cli)
{
    const struct json_limits limits = {.size = CLI_VALUE_MAX, .members = JSON_MEMBERS_MAX};
    const struct json_value *value;
    struct cr_bytes bytes;
    if (cli->argument_count != 3)
        return cr_fail(call, CR_INVALID, "print value takes FILE and JSONPATH");
    CR_TRY(cr_file_read(call, cli->arguments[1], CLI_VALUE_MAX, &bytes));
    CR_TRY(json_parse(call, &limits, (const char *)bytes.data, bytes.size, &value));
    cli->format = CLI_JSONPATH;
    cli->jsonpath = cli->arguments[2];
    cli_show(call, cli, value);
    return call->status;
}

enum cr_status cli_print(struct cr_call *call, struct cli *cli)
{
    const char *what = cli->arguments[0];
    if (strcmp(what, "manual") == 0)
        print_manual(cli->argument_count > 1 ? cli->arguments[1] : NULL);
    else if (strcmp(what, "nouns") == 0)
        print_nouns();
    else if (strcmp(what, "table") == 0)
        print_table(call);
    else if (strcmp(what, "value") == 0)
        return print_value(call, cli);
    else
        return cr_fail(call, CR_INVALID, "print takes manual, nouns, table or value, not '%s'",
                       what);
    return CR_OK;
}
