/* The command line: which command, then its flags by getopt_long. */
#include "ops/cli/cli.h"

#include "base/core/parse.h"

#include <getopt.h>
#include <unistd.h>

#define OPTION_FLAG   512 /* values of getopt_long that stand for flags of the command */
#define OPTION_GLOBAL 256 /* and for those of all */
#define GLOBALS_MAX   16

const struct cli_flag cli_globals[] = {
    {"context", 0, "NAME", CLI_OWN, NULL, false, "Which context of the configuration to use"},
    {"tenant", 0, "TENANT", CLI_OWN, NULL, false,
     "Say for which tenant, to be refused if it differs"},
    {"output", 'o', "FORMAT", CLI_OWN, NULL, false,
     "table, wide, json, jsonl, yaml, csv, name or jsonpath=EXPR"},
    {"quiet", 'q', NULL, CLI_OWN, NULL, false, "Say nothing that was not asked for"},
    {"verbose", 'v', NULL, CLI_OWN, NULL, false, "Show each request on standard error"},
    {"progress", 0, "MODE", CLI_OWN, NULL, false, "auto, plain, json or none"},
    {"timeout", 0, "DURATION", CLI_OWN, NULL, false, "Give up after so long, for example 90s"},
    {"help", 'h', NULL, CLI_OWN, NULL, false, "Show what the command does"},
    {0},
};

static size_t flag_count(const struct cli_flag *flags)
{
    size_t count = 0;
    while (flags && flags[count].name)
        count++;
    return count;
}

static void add_options(const struct cli_flag *flags, int base, struct option *options,
                        size_t *count, char *letters, size_t *letter_count)
{
    for (size_t i = 0; i < flag_count(flags); i++) {
        options[(*count)++] = (struct option){
            flags[i].name, flags[i].value ? required_argument : no_argument, NULL, base + (int)i};
        if (!flags[i].letter)
            continue;
        letters[(*letter_count)++] = flags[i].letter;
        if (flags[i].value)
            letters[(*letter_count)++] = ':';
    }
}

/* The flag of a letter, as the value that its long form has. */
static int of_letter(const struct cli_flag *flags, int base, int letter)
{
    for (size_t i = 0; i < flag_count(flags); i++)
        if (flags[i].letter == letter)
            return base + (int)i;
    return 0;
}

static enum cr_status usage(struct cr_call *call, const char *what, const char *which)
{
    return cr_fail(call, CR_INVALID, "%s '%s'", what, which);
}

static enum cr_status set_format(struct cr_call *call, struct cli *cli, const char *text)
{
    static const char *const words[] = {"table", "wide", "json", "jsonl", "yaml", "csv", "name"};
    if (strncmp(text, "jsonpath=", 9) == 0 && text[9]) {
        cli->format = CLI_JSONPATH;
        cli->jsonpath = text + 9;
        return CR_OK;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(text, words[i]) == 0) {
            cli->format = (enum cli_format)i;
            return CR_OK;
        }
    return usage(call, "no output format is called", text);
}

static enum cr_status set_timeout(struct cr_call *call, const char *text)
{
    int64_t ns;
    if (!cr_parse_duration(text, strlen(text), &ns) || ns <= 0)
        return usage(call, "--timeout takes a duration such as 90s, not", text);
    call->deadline_ns = cr_now_ns(call) + ns;
    return CR_OK;
}

static enum cr_status set_progress(struct cr_call *call, struct cli *cli, const char *text)
{
    static const char *const words[] = {"auto", "plain", "json", "none"};
    for (size_t i = 0; i < 4; i++)
        if (strcmp(text, words[i]) == 0) {
            cli->progress = words[i];
            return CR_OK;
        }
    return usage(call, "no progress mode is called", text);
}

static enum cr_status set_global(struct cr_call *call, struct cli *cli, size_t index,
                                 bool *ret_help)
{
    switch (index) {
    case 0:
        cli->context = optarg;
        return CR_OK;
    case 1:
        cli->tenant = optarg;
        return CR_OK;
    case 2:
        return set_format(call, cli, optarg);
    case 3:
        cli->quiet = true;
        return CR_OK;
    case 4:
        cli->verbose = true;
        return CR_OK;
    case 5:
        return set_progress(call, cli, optarg);
    case 6:
        return set_timeout(call, optarg);
    default:
        *ret_help = true;
        return CR_OK;
    }
}

static enum cr_status set_flag(struct cr_call *call, struct cli *cli, size_t index)
{
    const struct cli_flag *flag = &cli->command->flags[index];
    size_t *count = &cli->value_counts[index];
    if (!flag->repeat)
        *count = 0;
    if (*count == CLI_REPEAT_MAX)
        return usage(call, "given too often: flag", flag->name);
    cli->values[index][(*count)++] = flag->value ? optarg : "true";
    return CR_OK;
}

/* Parses flags up to the end, or, where leading says so, up to the first word. */
static enum cr_status parse_flags(struct cr_call *call, struct cli *cli, int argc, char **argv,
                                  bool leading, bool *ret_help)
{
    struct option options[CLI_FLAGS_MAX + GLOBALS_MAX + 1] = {{0}};
    char letters[2 * (CLI_FLAGS_MAX + GLOBALS_MAX) + 3] = {leading ? '+' : ':', ':', 0};
    size_t count = 0, letter_count = leading ? 2 : 1;
    const struct cli_flag *own = leading ? NULL : cli->command->flags;
    add_options(cli_globals, OPTION_GLOBAL, options, &count, letters, &letter_count);
    add_options(own, OPTION_FLAG, options, &count, letters, &letter_count);
    letters[letter_count] = 0;
    optind = 0; /* GNU: begin anew */
    opterr = 0;
    for (;;) {
        int found = getopt_long(argc, argv, letters, options, NULL);
        if (found == -1)
            return CR_OK;
        if (found == '?')
            return usage(call, "there is no flag", argv[optind > 0 ? optind - 1 : 0]);
        if (found == ':')
            return usage(call, "a value is missing behind", argv[optind - 1]);
        if (found < OPTION_GLOBAL) {
            int letter = found;
            found = of_letter(own, OPTION_FLAG, letter);
            found = found ? found : of_letter(cli_globals, OPTION_GLOBAL, letter);
        }
        if (found >= OPTION_FLAG)
            CR_TRY(set_flag(call, cli, (size_t)(found - OPTION_FLAG)));
        else
            CR_TRY(set_global(call, cli, (size_t)(found - OPTION_GLOBAL), ret_help));
    }
}

/* How many words of argv are the noun and verb of the command; 0: it is another. */
static int words_of(const struct cli_command *command, int argc, char **argv)
{
    int used = 0;
    const char *noun = command->noun;
    while (*noun) {
        size_t length = strcspn(noun, " ");
        if (used >= argc || strlen(argv[used]) != length || strncmp(argv[used], noun, length) != 0)
            return 0;
        used++;
        noun += length + (noun[length] == ' ');
    }
    if (!command->verb)
        return used;
    return used < argc && strcmp(argv[used], command->verb) == 0 ? used + 1 : 0;
}

static enum cr_status find_command(struct cr_call *call, struct cli *cli, int argc, char **argv,
                                   int *ret_words)
{
    int best = 0;
    for (const struct cli_command *command = cli_commands; command->noun; command++) {
        int words = words_of(command, argc, argv);
        if (words > best) {
            best = words;
            cli->command = command;
        }
    }
    *ret_words = best;
    if (best == 0)
        return usage(call, "there is no command",
                     argc > 1 ? cr_format(call, "%s %s", argv[0], argv[1]) : argv[0]);
    return CR_OK;
}

/* "JOB", "[FILE]", "FILE..." say how many arguments there may be. */
static enum cr_status check_arguments(struct cr_call *call, const struct cli *cli)
{
    size_t least = 0, most = 0;
    const char *word = cli->command->arguments ? cli->command->arguments : "";
    while (*word) {
        size_t length = strcspn(word, " ");
        least += *word != '[';
        most = length > 3 && memmem(word, length, "...", 3) ? CLI_ARGUMENTS_MAX : most + 1;
        word += length + (word[length] == ' ');
    }
    if (cli->argument_count < least)
        return cr_fail(call, CR_INVALID, "%s is missing", cli->command->arguments);
    if (cli->argument_count > most)
        return usage(call, "one argument too many:", cli->arguments[most]);
    return CR_OK;
}

enum cr_status cli_parse(struct cr_call *call, struct cli *cli, int argc, char **argv,
                         bool *ret_help)
{
    int words;
    *ret_help = false;
    CR_TRY(parse_flags(call, cli, argc, argv, true, ret_help));
    int first = optind;
    if (first >= argc) {
        *ret_help = true;
        return CR_OK;
    }
    if (*ret_help || strcmp(argv[first], "help") == 0) {
        *ret_help = true;
        return CR_OK;
    }
    CR_TRY(find_command(call, cli, argc - first, argv + first, &words));
    argv += first + words - 1; /* argv[0] is not looked at */
    argc -= first + words - 1;
    CR_TRY(parse_flags(call, cli, argc, argv, false, ret_help));
    if (*ret_help)
        return CR_OK;
    for (int i = optind; i < argc; i++) {
        if (cli->argument_count == CLI_ARGUMENTS_MAX)
            return usage(call, "one argument too many:", argv[i]);
        cli->arguments[cli->argument_count++] = argv[i];
    }
    return check_arguments(call, cli);
}

static size_t index_of(const struct cli *cli, const char *name)
{
    size_t count = flag_count(cli->command->flags);
    for (size_t i = 0; i < count; i++)
        if (strcmp(cli->command->flags[i].name, name) == 0)
            return i;
    return CLI_FLAGS_MAX;
}

size_t cli_flags(const struct cli *cli, const char *name, const char *const **ret_values)
{
    size_t index = index_of(cli, name);
    if (index == CLI_FLAGS_MAX)
        return 0;
    *ret_values = cli->values[index];
    return cli->value_counts[index];
}

const char *cli_flag(const struct cli *cli, const char *name)
{
    const char *const *values;
    size_t count = cli_flags(cli, name, &values);
    return count ? values[count - 1] : NULL;
}

bool cli_has(const struct cli *cli, const char *name)
{
    return cli_flag(cli, name) != NULL;
}
