/*
 * cli: the command line of tenants and operators, from one table of commands (table.c).
 *
 * A row of it says the words, the operation of the REST interface, the flags and the columns; the
 * parser, the help, the completion, the manual and the reference are made of it. What a command
 * shows is drawn from the JSON that the server gave, by output.c; how a number is shown follows
 * from the end of its member's name (_ns, _microusd, size).
 *
 * Data goes to standard output, all else to standard error. A command ends with a status; the exit
 * code comes from the failure (error.c) but where the command sets cli->exit.
 *
 * Threads      one
 */
#pragma once

#include "base/core/text.h"
#include "base/fetch/fetch.h"
#include "base/json/json.h"

#include <stdio.h>

#define CLI_VERSION       "0.1.0"
#define CLI_FLAGS_MAX     16  /* of one command */
#define CLI_ARGUMENTS_MAX 64  /* of one command line */
#define CLI_REPEAT_MAX    32  /* of one flag that may be repeated */
#define CLI_LIMIT_USUAL   50  /* rows of a list */
#define CLI_PAGE_MAX      500 /* rows of one request */
#define CLI_PATH_MAX      2048
#define CLI_TRIES         5         /* of one request */
#define CLI_FILE_MAX      (1 << 20) /* bytes of a job's specification, and of a configuration */

/* Exit codes that no failure gives by itself (surface.md, section 6). */
enum {
    CLI_EXIT_FAILED = 1,
    CLI_EXIT_USAGE = 2,
    CLI_EXIT_LATER = 7,
    CLI_EXIT_TIME = 8,
    CLI_EXIT_JOB = 9,
    CLI_EXIT_CHANGES = 10,
    CLI_EXIT_INTERRUPT = 130,
};

/* Where a flag's value goes. */
enum cli_place {
    CLI_OWN,   /* the command looks at it */
    CLI_QUERY, /* a parameter of the request */
    CLI_TEXT,  /* a member of the body, as text */
    CLI_NUMBER,
    CLI_TEXTS, /* as an array of texts, one for each time that the flag is given */
};

struct cli_flag {
    const char *name;  /* "state": --state */
    char letter;       /* 0: none */
    const char *value; /* what its value is called; NULL: it has none */
    enum cli_place place;
    const char *member; /* of the query or the body; NULL: the name */
    bool repeat;
    const char *about;
};

struct cli_column {
    const char *title;
    const char *path; /* members, separated by dots */
    bool wide;        /* with -o wide alone */
};

enum {
    CLI_LIST = 1 << 0,     /* the answer is {"data", "next_after"}, and may have more pages */
    CLI_KEYED = 1 << 1,    /* an Idempotency-Key goes with it */
    CLI_REASON = 1 << 2,   /* an operator's reason, too */
    CLI_CONFIRM = 1 << 3,  /* the id is to be typed, or --yes */
    CLI_OPERATOR = 1 << 4, /* with the operator's key */
    CLI_LOCAL = 1 << 5,    /* no server is asked, so none need be known */
    CLI_IF_MATCH = 1 << 6, /* the version is read first, and sent as If-Match */
    CLI_PUBLIC = 1 << 7,   /* no credential is needed */
};

struct cli;

struct cli_command {
    const char *noun;      /* "job", "ops node" */
    const char *verb;      /* NULL: the noun stands alone */
    const char *arguments; /* "JOB", "[FILE]", "FILE..."; NULL: none */
    const char *summary;
    const char *operation;     /* of the REST interface; NULL: none, or several */
    const char *method, *path; /* of the operation; {…} are the arguments in their order */
    unsigned traits;
    const struct cli_flag *flags; /* the first without a name ends them; NULL: none */
    const struct cli_column *columns;
    enum cr_status (*run)(struct cr_call *call, struct cli *cli);
    const char *more;    /* further sentences for the manual; NULL: none */
    const char *example; /* a command that works; NULL: none */
};

extern const struct cli_command cli_commands[]; /* the first without a noun ends them */
extern const struct cli_flag cli_globals[];     /* flags of every command */

/* Settings: flag > environment > .cresset.yaml > the user's file. */
struct cli_settings {
    const char *context;
    const char *server;       /* "http://127.0.0.1:7070"; NULL: not known */
    const char *key;          /* of the tenant; NULL: none */
    const char *operator_key; /* NULL: none */
    const char *tenant;
    const char *file; /* of the user's configuration */
    const char *secrets;
};

enum cli_format {
    CLI_TABLE,
    CLI_WIDE,
    CLI_JSON,
    CLI_JSONL,
    CLI_YAML,
    CLI_CSV,
    CLI_NAME,
    CLI_JSONPATH,
};

/* One run of the program. */
struct cli {
    const char *program; /* argv[0], for what is printed to be run */
    const struct cli_command *command;
    const char *arguments[CLI_ARGUMENTS_MAX];
    size_t argument_count;
    const char *values[CLI_FLAGS_MAX][CLI_REPEAT_MAX]; /* by the place in command->flags */
    size_t value_counts[CLI_FLAGS_MAX];
    enum cli_format format;
    const char *jsonpath;
    const char *progress; /* auto plain json none */
    bool quiet, verbose, yes, all;
    bool color; /* of standard error */
    const char *reason;
    struct cli_settings settings;
    const char *context;              /* --context */
    const char *tenant;               /* --tenant */
    struct fetch *fetch;              /* NULL until it is needed */
    int exit;                         /* 0: as the status says */
    const struct json_value *problem; /* what the server said is wrong; NULL: nothing */
    const char *source;               /* name of the file in which faults are */
    const struct yaml_document *document;
};

/* parse.c: fills cli from the command line; CR_INVALID where it is wrong. *ret_help: only help. */
enum cr_status cli_parse(struct cr_call *call, struct cli *cli, int argc, char **argv,
                         bool *ret_help) CR_CHECK;
const char *cli_flag(const struct cli *cli, const char *name); /* the last value, or NULL */
size_t cli_flags(const struct cli *cli, const char *name, const char *const **ret_values);
bool cli_has(const struct cli *cli, const char *name);

/* help.c */
void cli_help(const struct cli *cli, FILE *out, int argc, char **argv);
const char *cli_words(struct cr_call *call, const struct cli_command *command);

/* config.c */
enum cr_status cli_settings(struct cr_call *call, struct cli *cli) CR_CHECK;
enum cr_status cli_save_context(struct cr_call *call, struct cli *cli, const char *name,
                                const char *server, const char *key) CR_CHECK;

/* client.c ---------------------------------------------------------------------------------------
 */

struct cli_request {
    const char *method;
    const char *path; /* with its query, percent-encoded */
    const char *body; /* JSON; NULL: none */
    const char *once; /* Idempotency-Key; NULL: none */
    const char *if_match, *if_none_match;
    const char *range;
    bool as_operator, is_public;
    bool no_retry;
    struct fetch_request *transfer; /* body and sink of a transfer; NULL: JSON */
    const char *content_range;
};

/*
 * Asks the server, again where that may help. An answer of 400 and above is a failure, its problem
 * kept in cli->problem; 304 is none.
 */
enum cr_status cli_ask(struct cr_call *call, struct cli *cli, const struct cli_request *request,
                       struct fetch_answer *ret_answer) CR_CHECK;

/* The same, and the answer read as JSON. */
enum cr_status cli_ask_json(struct cr_call *call, struct cli *cli,
                            const struct cli_request *request,
                            const struct json_value **ret_value) CR_CHECK;

/* A fresh Idempotency-Key. */
const char *cli_once(struct cr_call *call);

/* generic.c: what most commands do ----------------------------------------------------------------
 */

enum cr_status cli_run_get(struct cr_call *call, struct cli *cli) CR_CHECK;
enum cr_status cli_run_list(struct cr_call *call, struct cli *cli) CR_CHECK;
enum cr_status cli_run_change(struct cr_call *call, struct cli *cli) CR_CHECK;
const char *cli_path(struct cr_call *call, const struct cli *cli, const char *template);

/* output.c ---------------------------------------------------------------------------------------
 */

void cli_show(struct cr_call *call, const struct cli *cli, const struct json_value *value);
void cli_show_rows(struct cr_call *call, const struct cli *cli,
                   const struct json_value *const *rows, size_t count, const char *next_after);
/* What follows a dotted path of members, in words of people where human says so. */
const char *cli_cell(struct cr_call *call, const struct json_value *row, const char *path,
                     bool human);
const struct json_value *cli_follow(const struct json_value *value, const char *path);
/* The value as JSON of several lines, each after the first indented by so many blanks. */
void cli_add_pretty(struct cr_text *text, const struct json_value *value, int indent);
void cli_add_yaml(struct cr_text *text, const struct json_value *value, int indent);

/* jsonpath.c: the values that an expression finds, at most max; CR_INVALID where it is none. */
enum cr_status cli_jsonpath(struct cr_call *call, const struct json_value *root,
                            const char *expression, const struct json_value **ret_values,
                            size_t max, size_t *ret_count) CR_CHECK;

/* error.c: prints why the command failed, and gives the exit code. */
int cli_report(struct cr_call *call, const struct cli *cli);

/* Reads a job's specification, applies --set, and keeps the places of its members. */
enum cr_status cli_spec(struct cr_call *call, struct cli *cli, const char *file,
                        const char **ret_body) CR_CHECK;

/* progress.c: what follows a job sees -------------------------------------------------------------
 */

struct cli_progress {
    const struct cli *cli;
    bool redraw; /* a terminal: one block, drawn again */
    bool plain, json;
    int lines;         /* of the block that stands there */
    const char *state; /* that was told last */
    int64_t told_ns;
};
struct cli_progress cli_progress_open(const struct cli *cli, bool quiet);
void cli_progress_show(struct cr_call *call, struct cli_progress *progress,
                       const struct json_value *job, const char *blocker);
void cli_progress_done(struct cli_progress *progress);

/* Commands of their own
 * ---------------------------------------------------------------------------- */

enum cr_status cli_job_run(struct cr_call *call, struct cli *cli) CR_CHECK;
enum cr_status cli_job_submit(struct cr_call *call, struct cli *cli) CR_CHECK;
enum cr_status cli_job_plan(struct cr_call *call, struct cli *cli) CR_CHECK;
enum cr_status cli_job_wait(struct cr_call *call, struct cli *cli) CR_CHECK;
enum cr_status cli_job_logs(struct cr_call *call, struct cli *cli) CR_CHECK;
enum cr_status cli_job_top(struct cr_call *call, struct cli *cli) CR_CHECK;
enum cr_status cli_job_receipt(struct cr_call *call, struct cli *cli) CR_CHECK;
enum cr_status cli_artifact_push(struct cr_call *call, struct cli *cli) CR_CHECK;
enum cr_status cli_artifact_pull(struct cr_call *call, struct cli *cli) CR_CHECK;
enum cr_status cli_usage_verify(struct cr_call *call, struct cli *cli) CR_CHECK;
enum cr_status cli_event_tail(struct cr_call *call, struct cli *cli) CR_CHECK;
enum cr_status cli_api(struct cr_call *call, struct cli *cli) CR_CHECK;
enum cr_status cli_open(struct cr_call *call, struct cli *cli) CR_CHECK;
enum cr_status cli_doctor(struct cr_call *call, struct cli *cli) CR_CHECK;
enum cr_status cli_version(struct cr_call *call, struct cli *cli) CR_CHECK;
enum cr_status cli_login(struct cr_call *call, struct cli *cli) CR_CHECK;
enum cr_status cli_logout(struct cr_call *call, struct cli *cli) CR_CHECK;
enum cr_status cli_context_ls(struct cr_call *call, struct cli *cli) CR_CHECK;
enum cr_status cli_context_use(struct cr_call *call, struct cli *cli) CR_CHECK;
enum cr_status cli_context_rm(struct cr_call *call, struct cli *cli) CR_CHECK;
enum cr_status cli_completion(struct cr_call *call, struct cli *cli) CR_CHECK;
enum cr_status cli_print(struct cr_call *call, struct cli *cli) CR_CHECK;
enum cr_status cli_dev_up(struct cr_call *call, struct cli *cli) CR_CHECK;
enum cr_status cli_dev_down(struct cr_call *call, struct cli *cli) CR_CHECK;
enum cr_status cli_dev_status(struct cr_call *call, struct cli *cli) CR_CHECK;
enum cr_status cli_dev_login(struct cr_call *call, struct cli *cli) CR_CHECK;
enum cr_status cli_dev_logs(struct cr_call *call, struct cli *cli) CR_CHECK;
enum cr_status cli_dev_reset(struct cr_call *call, struct cli *cli) CR_CHECK;
