/*
 * Completion scripts: static, made of the table. Ids are completed from a file that earlier
 * commands wrote; completing opens no socket.
 */
#include "ops/cli/cli.h"

static void word_list(const char *noun)
{
    for (const struct cli_command *command = cli_commands; command->noun; command++) {
        size_t length = noun ? strlen(noun) : 0;
        if (!noun) {
            printf("%.*s ", (int)strcspn(command->noun, " "), command->noun);
            continue;
        }
        bool same = strncmp(command->noun, noun, length) == 0;
        if (same && command->noun[length] == 0 && command->verb)
            printf("%s ", command->verb);
        if (same && command->noun[length] == ' ')
            printf("%s ", command->noun + length + 1);
    }
}

static void flag_list(const struct cli_flag *flags)
{
    for (; flags && flags->name; flags++)
        printf("--%s ", flags->name);
}

/* "NOUN" and "NOUN VERB" to the words that may follow. */
static void bash_cases(void)
{
    for (const struct cli_command *command = cli_commands; command->noun; command++) {
        printf("    '%s%s%s') words='", command->noun, command->verb ? " " : "",
               command->verb ? command->verb : "");
        flag_list(command->flags);
        flag_list(cli_globals);
        fputs("' ;;\n", stdout);
    }
    const char *last = "";
    for (const struct cli_command *command = cli_commands; command->noun; command++) {
        if (!command->verb || strcmp(command->noun, last) == 0)
            continue;
        last = command->noun;
        printf("    '%s') words='", command->noun);
        word_list(command->noun);
        fputs("' ;;\n", stdout);
    }
    fputs("    'ops') words='", stdout);
    word_list("ops");
    fputs("' ;;\n    '') words='", stdout);
    word_list(NULL);
    fputs("' ;;\n", stdout);
}

static void print_bash(void)
{
    fputs("# bash completion of cresset; put it where bash-completion looks, or source it.\n"
          "_cresset() {\n"
          "  local current=${COMP_WORDS[COMP_CWORD]} said='' words='' i\n"
          "  for ((i = 1; i < COMP_CWORD && i < 4; i++)); do\n"
          "    [[ ${COMP_WORDS[i]} == -* || ${COMP_WORDS[i]} == *_* ]] && break\n"
          "    said=\"${said:+$said }${COMP_WORDS[i]}\"\n"
          "  done\n"
          "  case $said in\n",
          stdout);
    bash_cases();
    fputs(
        "  esac\n"
        "  if [[ $current != -* && -n $said ]]; then\n"
        "    words=\"$words $(cat \"${XDG_CACHE_HOME:-$HOME/.cache}/cresset/ids\" 2>/dev/null)\"\n"
        "  fi\n"
        "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
        "}\n"
        "complete -o default -F _cresset cresset\n",
        stdout);
}

static void print_zsh(void)
{
    fputs("#compdef cresset\n"
          "autoload -U +X bashcompinit && bashcompinit\n",
          stdout);
    print_bash();
}

static void print_fish(void)
{
    fputs("# fish completion of cresset\ncomplete -c cresset -f\n", stdout);
    const char *last = "";
    for (const struct cli_command *command = cli_commands; command->noun; command++) {
        size_t first = strcspn(command->noun, " ");
        if (strncmp(last, command->noun, first) != 0 || last[first] > ' ')
            printf("complete -c cresset -n __fish_use_subcommand -a %.*s\n", (int)first,
                   command->noun);
        last = command->noun;
        if (command->verb && !command->noun[first])
            printf("complete -c cresset -n '__fish_seen_subcommand_from %s' -a %s -d '%s'\n",
                   command->noun, command->verb, command->summary);
        for (const struct cli_flag *flag = command->flags; flag && flag->name; flag++)
            if (command->verb && !command->noun[first])
                printf("complete -c cresset -n '__fish_seen_subcommand_from %s; and "
                       "__fish_seen_subcommand_from %s' -l %s%s\n",
                       command->noun, command->verb, flag->name, flag->value ? " -r" : "");
    }
    for (const struct cli_flag *flag = cli_globals; flag->name; flag++)
        printf("complete -c cresset -l %s%s\n", flag->name, flag->value ? " -r" : "");
    fputs("complete -c cresset -a '(cat ~/.cache/cresset/ids 2>/dev/null)'\n", stdout);
}

enum cr_status cli_completion(struct cr_call *call, struct cli *cli)
{
    const char *shell = cli->arguments[0];
    if (strcmp(shell, "bash") == 0)
        print_bash();
    else if (strcmp(shell, "zsh") == 0)
        print_zsh();
    else if (strcmp(shell, "fish") == 0)
        print_fish();
    else
        return cr_fail(call, CR_INVALID, "completion is for bash, zsh or fish, not '%s'", shell);
    return CR_OK;
}
