/* Every command. A row whose operation the server does not have fails ops/check. */
#include "ops/cli/cli.h"

/* clang-format off */
#define FLAGS(...)   (const struct cli_flag[]){__VA_ARGS__, {0}}
#define COLUMNS(...) (const struct cli_column[]){__VA_ARGS__, {0}}

#define PAGES                                                                                       \
    {"limit", 0, "N", CLI_OWN, NULL, false, "How many rows; 50 where it is not said"},              \
    {"after", 0, "CURSOR", CLI_OWN, NULL, false, "Go on behind the last row of an earlier list"},   \
    {"all", 0, NULL, CLI_OWN, NULL, false, "All rows"}
#define REASON {"reason", 0, "TEXT", CLI_OWN, NULL, false, "Why; it stands in the audit log"}
#define YES    {"yes", 'y', NULL, CLI_OWN, NULL, false, "Do not ask"}
#define SPEC                                                                                        \
    {"set", 0, "MEMBER=VALUE", CLI_OWN, NULL, true, "Change a member, as in hyperparameters.epochs=1"}, \
    {"name", 0, "NAME", CLI_OWN, NULL, false, "Another name for the job"},                          \
    {"label", 'l', "NAME=VALUE", CLI_OWN, NULL, true, "Add a label"}
#define ONCE {"idempotency-key", 0, "KEY", CLI_OWN, NULL, false, "Submit once for this key, however often it is sent"}
#define VAR                                                                                         \
    {"var", 0, "DIR", CLI_OWN, NULL, false, "Where the region is kept; ./var of the checkout where it is not said"}
#define QUERY(name, value, about) {name, 0, value, CLI_QUERY, NULL, false, about}

#define JOB_COLUMNS                                                                                 \
    {"JOB", "job", false}, {"NAME", "name", false}, {"KIND", "kind", false},                        \
    {"STATE", "state", false}, {"CODE", "code", true}, {"STEP", "progress.step", false},            \
    {"OF", "progress.steps", false}, {"NODE", "node", true}, {"ATTEMPT", "attempt", true},          \
    {"USED", "device_ns", false}, {"COST", "cost_microusd", false}, {"SUBMITTED", "submitted", false}, \
    {"ENDED", "ended", true}
#define ARTIFACT_COLUMNS                                                                            \
    {"ARTIFACT", "artifact", false}, {"NAME", "name", false}, {"KIND", "kind", false},              \
    {"SIZE", "size", false}, {"STATE", "state", false}, {"CREATED", "created", false},              \
    {"SHA256", "sha256", true}, {"JOB", "job", true}
#define DEV_COLUMNS                                                                                 \
    {"SERVICE", "service", false}, {"STATE", "state", false}, {"PID", "pid", false},                \
    {"ADDRESS", "address", false}, {"LOG", "log", true}
#define CONTEXT_COLUMNS                                                                             \
    {"CONTEXT", "context", false}, {"CURRENT", "current", false}, {"SERVER", "server", false},      \
    {"FILE", "file", true}
#define KEY_COLUMNS                                                                                 \
    {"KEY", "key", false}, {"NAME", "name", false}, {"STATE", "state", false},                      \
    {"PERMISSIONS", "permissions", false}, {"EXPIRES", "expires", false},                           \
    {"LAST USED", "last_used", false}, {"CREATED", "created", true}
#define NODE_COLUMNS                                                                                \
    {"NODE", "node", false}, {"NAME", "name", false}, {"STATE", "state", false},                    \
    {"MODEL", "model", false}, {"SEEN", "seen", false}, {"CORES", "cpu_milli", true},               \
    {"MEMORY", "memory_mib", true}, {"JAIL", "jail", true}, {"REASON", "reason", true}
#define AUDIT_COLUMNS                                                                               \
    {"LEAF", "leaf", false}, {"AT", "at", false}, {"KIND", "kind", false}, {"ACTOR", "actor", false}, \
    {"OBJECT", "object", false}, {"INDEX", "index", true}
#define EVENT_COLUMNS                                                                               \
    {"SEQ", "seq", false}, {"TIME", "timestamp", false}, {"TYPE", "type", false},                   \
    {"SUBJECT", "subject", false}, {"EVENT", "id", true}
#define RECORD_COLUMNS                                                                              \
    {"RECORD", "record", false}, {"JOB", "job", false}, {"KIND", "kind", false},                    \
    {"OUTCOME", "outcome", false}, {"FLAVOR", "flavor", false}, {"USED", "device_ns", false},       \
    {"AT", "at", false}

const struct cli_command cli_commands[] = {
    /* A region on this machine */
    {.noun = "dev", .verb = "up", .summary = "Bring up a region on this machine, or repair it",
     .traits = CLI_LOCAL, .flags = FLAGS({"port", 'p', "N", CLI_OWN, NULL, false, "Port of the API and the console; 7070 where it is not said"}, VAR),
     .columns = COLUMNS(DEV_COLUMNS), .run = cli_dev_up, .example = "cresset dev up --port 7071",
     .more = "PostgreSQL, nats-server, cressetd and a node on the CPU, on loopback, with all state in ./var. "
             "What runs is kept, what is dead is started again."},
    {.noun = "dev", .verb = "down", .summary = "Stop the region; its state is kept",
     .traits = CLI_LOCAL, .flags = FLAGS(VAR), .run = cli_dev_down},
    {.noun = "dev", .verb = "status", .summary = "What of the region runs",
     .traits = CLI_LOCAL, .flags = FLAGS(VAR), .columns = COLUMNS(DEV_COLUMNS), .run = cli_dev_status,
     .more = "Exits 1 where a service does not run."},
    {.noun = "dev", .verb = "login", .summary = "Print the address at which a browser signs in, once",
     .traits = CLI_LOCAL, .flags = FLAGS({"operator", 0, NULL, CLI_OWN, NULL, false, "As an operator of the region"}, VAR),
     .run = cli_dev_login},
    {.noun = "dev", .verb = "logs", .arguments = "[SERVICE]", .summary = "The logs of the region's services",
     .traits = CLI_LOCAL, .flags = FLAGS({"follow", 'f', NULL, CLI_OWN, NULL, false, "Go on as they grow"}, VAR),
     .run = cli_dev_logs},
    {.noun = "dev", .verb = "reset", .summary = "Stop the region and delete all that it holds",
     .traits = CLI_LOCAL, .flags = FLAGS(YES, VAR), .run = cli_dev_reset},

    /* Who and where */
    {.noun = "login", .summary = "Keep a server and a key for it",
     .traits = CLI_LOCAL,
     .flags = FLAGS({"server", 0, "URL", CLI_OWN, NULL, false, "Address of the region"},
                    {"key-file", 0, "FILE", CLI_OWN, NULL, false, "File that holds the key; else it is read from standard input"},
                    {"name", 0, "NAME", CLI_OWN, NULL, false, "Name of the context; default"}),
     .run = cli_login, .example = "cresset login --server http://127.0.0.1:7070 --key-file key.txt"},
    {.noun = "logout", .arguments = "[CONTEXT]", .summary = "Forget a server and its key",
     .traits = CLI_LOCAL, .run = cli_logout},
    {.noun = "whoami", .summary = "Who the key is, and what it may do",
     .operation = "me_get", .method = "GET", .path = "/v1/me", .run = cli_run_get},
    {.noun = "context", .verb = "ls", .summary = "The servers that are known here",
     .traits = CLI_LOCAL, .columns = COLUMNS(CONTEXT_COLUMNS), .run = cli_context_ls},
    {.noun = "context", .verb = "use", .arguments = "CONTEXT", .summary = "Use another server from now on",
     .traits = CLI_LOCAL, .run = cli_context_use},
    {.noun = "context", .verb = "rm", .arguments = "CONTEXT", .summary = "Forget a server and its key",
     .traits = CLI_LOCAL, .run = cli_context_rm},
    {.noun = "doctor", .summary = "Look for what is wrong between here and the region",
     .columns = COLUMNS({"CHECK", "check", false}, {"STATE", "state", false}, {"DETAIL", "detail", false}),
     .run = cli_doctor},
    {.noun = "version", .summary = "The version of this program", .traits = CLI_LOCAL, .run = cli_version},

    /* Jobs */
    {.noun = "job", .verb = "run", .arguments = "FILE", .summary = "Submit a job and follow it to its end",
     .operation = "jobs_submit", .method = "POST", .path = "/v1/jobs", .traits = CLI_KEYED,
     .flags = FLAGS(SPEC, ONCE), .columns = COLUMNS(JOB_COLUMNS), .run = cli_job_run,
     .more = "Exits 0 when the job has succeeded and 9 when it has not. Ctrl-C leaves the job running.",
     .example = "cresset job run ops/samples/fashion.yaml --set hyperparameters.epochs=1"},
    {.noun = "job", .verb = "submit", .arguments = "FILE", .summary = "Submit a job",
     .operation = "jobs_submit", .method = "POST", .path = "/v1/jobs", .traits = CLI_KEYED,
     .flags = FLAGS(SPEC, ONCE), .columns = COLUMNS(JOB_COLUMNS), .run = cli_job_submit},
    {.noun = "job", .verb = "plan", .arguments = "FILE", .summary = "What a job would cost, and what is wrong with it",
     .operation = "jobs_plan", .method = "POST", .path = "/v1/jobs/plan",
     .flags = FLAGS(SPEC, {"detailed-exitcode", 0, NULL, CLI_OWN, NULL, false, "Exit 10 where it could be submitted"}),
     .run = cli_job_plan},
    {.noun = "job", .verb = "ls", .summary = "Jobs, newest first",
     .operation = "jobs_list", .method = "GET", .path = "/v1/jobs", .traits = CLI_LIST,
     .flags = FLAGS(QUERY("state", "STATE", "Only those in this state"), QUERY("kind", "KIND", "Only train or batch"), PAGES),
     .columns = COLUMNS(JOB_COLUMNS), .run = cli_run_list},
    {.noun = "job", .verb = "get", .arguments = "JOB", .summary = "One job",
     .operation = "jobs_get", .method = "GET", .path = "/v1/jobs/{job}", .run = cli_run_get},
    {.noun = "job", .verb = "why", .arguments = "JOB", .summary = "Why a job waits",
     .operation = "jobs_why", .method = "GET", .path = "/v1/jobs/{job}/why", .run = cli_run_get},
    {.noun = "job", .verb = "events", .arguments = "JOB", .summary = "What happened to a job",
     .operation = "events_list", .method = "GET", .path = "/v1/events?subject={job}", .traits = CLI_LIST,
     .flags = FLAGS(PAGES), .columns = COLUMNS(EVENT_COLUMNS), .run = cli_run_list},
    {.noun = "job", .verb = "attempts", .arguments = "JOB", .summary = "Where and when a job ran, and how each attempt ended",
     .operation = "jobs_attempts", .method = "GET", .path = "/v1/jobs/{job}/attempts",
     .columns = COLUMNS({"LEASE", "lease", false}, {"EPOCH", "lease_epoch", false}, {"NODE", "node", false},
                        {"DEVICES", "devices", false}, {"STATE", "state", false}, {"WORD", "word", false},
                        {"GRANTED", "granted", false}, {"ENDED", "ended", false}, {"DETAIL", "detail", true}),
     .run = cli_run_get},
    {.noun = "job", .verb = "logs", .arguments = "JOB", .summary = "What a job wrote",
     .operation = "jobs_logs", .method = "GET", .path = "/v1/jobs/{job}/logs",
     .flags = FLAGS({"follow", 'f', NULL, CLI_OWN, NULL, false, "Go on until the job ends"}), .run = cli_job_logs},
    {.noun = "job", .verb = "metrics", .arguments = "JOB", .summary = "The series that a job measured",
     .operation = "jobs_metrics", .method = "GET", .path = "/v1/jobs/{job}/metrics", .run = cli_run_get},
    {.noun = "job", .verb = "top", .summary = "The jobs that run, again and again",
     .operation = "jobs_list", .method = "GET", .path = "/v1/jobs",
     .traits = CLI_LIST,
     .flags = FLAGS({"once", 0, NULL, CLI_OWN, NULL, false, "Show them once"}), .columns = COLUMNS(JOB_COLUMNS), .run = cli_job_top},
    {.noun = "job", .verb = "outputs", .arguments = "JOB", .summary = "The artifacts that a job made",
     .operation = "jobs_outputs", .method = "GET", .path = "/v1/jobs/{job}/outputs",
     .columns = COLUMNS({"ARTIFACT", "artifact", false}, {"OUTPUT", "name", false}, {"KIND", "kind", false},
                        {"SIZE", "size", false}, {"CREATED", "created", false}, {"SHA256", "sha256", true}), .run = cli_run_get},
    {.noun = "job", .verb = "wait", .arguments = "JOB", .summary = "Follow a job to its end",
     .operation = "jobs_get", .method = "GET", .path = "/v1/jobs/{job}", .columns = COLUMNS(JOB_COLUMNS), .run = cli_job_wait,
     .more = "Exits as job run does."},
    {.noun = "job", .verb = "receipt", .arguments = "JOB", .summary = "The signed receipt of a job",
     .operation = "jobs_receipt", .method = "GET", .path = "/v1/jobs/{job}/receipt",
     .flags = FLAGS({"file", 'f', "FILE", CLI_OWN, NULL, false, "Write it there, byte for byte"}), .run = cli_job_receipt},
    {.noun = "job", .verb = "cancel", .arguments = "JOB", .summary = "Stop a job",
     .operation = "jobs_cancel", .method = "POST", .path = "/v1/jobs/{job}/cancel", .traits = CLI_KEYED,
     .columns = COLUMNS(JOB_COLUMNS), .run = cli_run_change},

    /* Artifacts */
    {.noun = "artifact", .verb = "push", .arguments = "FILE...", .summary = "Store files; a file that is held already is not sent",
     .operation = "artifacts_begin", .method = "POST", .path = "/v1/artifacts", .traits = CLI_KEYED,
     .flags = FLAGS({"kind", 0, "KIND", CLI_OWN, NULL, false, "dataset, model, checkpoint, predictions or other"},
                    {"name", 0, "NAME", CLI_OWN, NULL, false, "Another name than the file's"}),
     .columns = COLUMNS(ARTIFACT_COLUMNS), .run = cli_artifact_push},
    {.noun = "artifact", .verb = "pull", .arguments = "ARTIFACT", .summary = "Fetch an artifact and check its digest",
     .operation = "artifacts_content", .method = "GET", .path = "/v1/artifacts/{artifact}/content",
     .flags = FLAGS({"file", 'f', "FILE", CLI_OWN, NULL, false, "Where it goes; else its own name"},
                    {"force", 0, NULL, CLI_OWN, NULL, false, "Replace a file that is there"}),
     .run = cli_artifact_pull},
    {.noun = "artifact", .verb = "ls", .summary = "Artifacts, newest first",
     .operation = "artifacts_list", .method = "GET", .path = "/v1/artifacts", .traits = CLI_LIST,
     .flags = FLAGS(QUERY("kind", "KIND", "Only those of this kind"), PAGES), .columns = COLUMNS(ARTIFACT_COLUMNS), .run = cli_run_list},
    {.noun = "artifact", .verb = "get", .arguments = "ARTIFACT", .summary = "One artifact; by id or sha256:DIGEST",
     .operation = "artifacts_get", .method = "GET", .path = "/v1/artifacts/{artifact}", .run = cli_run_get},
    {.noun = "artifact", .verb = "rm", .arguments = "ARTIFACT", .summary = "Delete an artifact",
     .operation = "artifacts_delete", .method = "DELETE", .path = "/v1/artifacts/{artifact}",
     .traits = CLI_KEYED | CLI_CONFIRM, .flags = FLAGS(YES), .run = cli_run_change},

    /* Money */
    {.noun = "usage", .verb = "show", .summary = "What was used, by day, kind or flavor",
     .operation = "usage_summary", .method = "GET", .path = "/v1/usage/summary",
     .flags = FLAGS(QUERY("by", "WHAT", "day, kind, flavor or label"), QUERY("from", "DAY", "From this day on"), QUERY("to", "DAY", "To this day")),
     .columns = COLUMNS({"DAY", "day", false}, {"KIND", "kind", false}, {"FLAVOR", "flavor", false},
                        {"USED", "device_ns", false}, {"COST", "cost_microusd", false}),
     .run = cli_run_get},
    {.noun = "usage", .verb = "records", .summary = "Signed usage records, newest first",
     .operation = "usage_records_list", .method = "GET", .path = "/v1/usage/records", .traits = CLI_LIST,
     .flags = FLAGS(PAGES), .columns = COLUMNS(RECORD_COLUMNS), .run = cli_run_list},
    {.noun = "usage", .verb = "verify", .arguments = "FILE...", .summary = "Whether receipts are true; asks no server",
     .traits = CLI_LOCAL,
     .flags = FLAGS({"trust", 0, "DIR", CLI_OWN, NULL, false, "Folder with the files policy and keys that you trust"}),
     .run = cli_usage_verify, .example = "cresset usage verify var/receipts/last.json",
     .more = "Each step is printed; the first that fails is the answer. Exits 0 where the receipt is valid, 1 where it is "
             "not, 2 where a file cannot be read."},
    {.noun = "invoice", .verb = "ls", .summary = "Invoices, the draft of this month first",
     .operation = "invoices_list", .method = "GET", .path = "/v1/invoices", .traits = CLI_LIST, .flags = FLAGS(PAGES),
     .columns = COLUMNS({"INVOICE", "invoice", false}, {"PERIOD", "period", false}, {"STATE", "state", false},
                        {"TOTAL", "total_microusd", false}),
     .run = cli_run_list},
    {.noun = "invoice", .verb = "get", .arguments = "INVOICE", .summary = "One invoice",
     .operation = "invoices_get", .method = "GET", .path = "/v1/invoices/{invoice}", .run = cli_run_get},
    {.noun = "invoice", .verb = "lines", .arguments = "INVOICE", .summary = "The lines of an invoice",
     .operation = "invoices_lines", .method = "GET", .path = "/v1/invoices/{invoice}/lines", .traits = CLI_LIST, .flags = FLAGS(PAGES),
     .columns = COLUMNS({"LINE", "line", false}, {"FLAVOR", "flavor", false}, {"METER", "meter", false},
                        {"QUANTITY", "quantity", false}, {"RECORDS", "record_count", false}, {"AMOUNT", "amount_microusd", false}),
     .run = cli_run_list},
    {.noun = "price", .verb = "ls", .summary = "What is charged for what",
     .operation = "prices_list", .method = "GET", .path = "/v1/prices", .traits = CLI_LIST | CLI_PUBLIC, .flags = FLAGS(PAGES),
     .columns = COLUMNS({"PRICE", "price", false}, {"FLAVOR", "flavor", false}, {"METER", "meter", false},
                        {"RATE PICO", "rate_pico", false}, {"UNIT", "unit", false}, {"FROM", "from", false}),
     .run = cli_run_list},
    {.noun = "quote", .summary = "What a stated usage would cost",
     .operation = "quotes_create", .method = "POST", .path = "/v1/quotes",
     .flags = FLAGS({"flavor", 0, "FLAVOR", CLI_TEXT, NULL, false, "Of which device"},
                    {"device-count", 0, "N", CLI_NUMBER, "device_count", false, "How many"},
                    {"duration-s", 0, "S", CLI_NUMBER, "duration_s", false, "For how many seconds"}),
     .run = cli_run_change},
    {.noun = "limit", .verb = "ls", .summary = "What will stop you next",
     .operation = "limits_list", .method = "GET", .path = "/v1/limits",
     .columns = COLUMNS({"LIMIT", "limit", false}, {"MAXIMUM", "maximum", false}, {"USED", "used", false},
                        {"RESERVED", "reserved", false}, {"UNIT", "unit", false}),
     .run = cli_run_get},
    {.noun = "flavor", .verb = "ls", .summary = "The kinds of devices that there are",
     .operation = "flavors_list", .method = "GET", .path = "/v1/flavors",
     .columns = COLUMNS({"FLAVOR", "flavor", false}, {"CAPACITY", "capacity", false}, {"MEMORY MIB", "memory_mib", false},
                        {"REGION", "region", false}),
     .run = cli_run_get},
    {.noun = "region", .verb = "ls", .summary = "The regions that there are",
     .operation = "regions_list", .method = "GET", .path = "/v1/regions",
     .columns = COLUMNS({"REGION", "region", false}, {"DOMAIN", "domain", false}, {"HOME", "home", false}, {"URL", "url", true}),
     .run = cli_run_get},

    /* Keys, audit, events */
    {.noun = "key", .verb = "create", .summary = "Make a key; it is shown once",
     .operation = "keys_create", .method = "POST", .path = "/v1/keys", .traits = CLI_KEYED,
     .flags = FLAGS({"name", 0, "NAME", CLI_TEXT, NULL, false, "What it is for"},
                    {"permission", 0, "PERMISSION", CLI_TEXTS, "permissions", true, "One that it has, as in jobs:read"}),
     .run = cli_run_change},
    {.noun = "key", .verb = "ls", .summary = "Keys",
     .operation = "keys_list", .method = "GET", .path = "/v1/keys", .traits = CLI_LIST, .flags = FLAGS(PAGES),
     .columns = COLUMNS(KEY_COLUMNS), .run = cli_run_list},
    {.noun = "key", .verb = "rotate", .arguments = "KEY", .summary = "Give a key a second secret; it is shown once",
     .operation = "keys_rotate", .method = "POST", .path = "/v1/keys/{key}/rotate", .traits = CLI_KEYED,
     .flags = FLAGS({"overlap-s", 0, "S", CLI_NUMBER, "overlap_s", false, "How long the first secret lives on"}), .run = cli_run_change},
    {.noun = "key", .verb = "revoke", .arguments = "KEY", .summary = "End a key",
     .operation = "keys_revoke", .method = "DELETE", .path = "/v1/keys/{key}",
     .traits = CLI_KEYED | CLI_CONFIRM | CLI_IF_MATCH, .flags = FLAGS(YES), .run = cli_run_change},
    {.noun = "audit", .verb = "ls", .summary = "Who changed what, newest first",
     .operation = "audit_list", .method = "GET", .path = "/v1/audit", .traits = CLI_LIST, .flags = FLAGS(PAGES),
     .columns = COLUMNS(AUDIT_COLUMNS), .run = cli_run_list},
    {.noun = "audit", .verb = "proof", .arguments = "LEAF", .summary = "The proof that a leaf is in the log",
     .operation = "audit_proof", .method = "GET", .path = "/v1/audit/{leaf}/proof", .run = cli_run_get},
    {.noun = "event", .verb = "tail", .summary = "Events as they happen, a line of JSON each",
     .operation = "events_stream", .method = "GET", .path = "/v1/events/stream",
     .flags = FLAGS(QUERY("types", "TYPES", "Only these, as in job.*,usage.*"), QUERY("after", "SEQ", "Those behind this number"),
                    {"count", 'n', "N", CLI_OWN, NULL, false, "End after so many"}),
     .run = cli_event_tail},

    /* Anything */
    {.noun = "api", .arguments = "METHOD PATH", .summary = "Any request, its answer as it is",
     .flags = FLAGS({"data", 'd', "JSON", CLI_OWN, NULL, false, "Body, or @FILE"},
                    {"include", 'i', NULL, CLI_OWN, NULL, false, "Show status and header fields"},
                    {"if-match", 0, "ETAG", CLI_OWN, NULL, false, "Only if its version is this"},
                    {"operator", 0, NULL, CLI_OWN, NULL, false, "With the operator's key"}, ONCE, REASON),
     .run = cli_api, .example = "cresset api GET /v1/jobs?limit=1"},
    {.noun = "open", .arguments = "[ID]", .summary = "Print the console's address of a thing", .run = cli_open},
    {.noun = "completion", .arguments = "SHELL", .summary = "Completion for bash, zsh or fish",
     .traits = CLI_LOCAL, .run = cli_completion, .example = "source <(cresset completion bash)"},
    {.noun = "print", .arguments = "WHAT [ARGUMENT...]", .summary = "The manual, the table of commands, or a value of a JSON file",
     .traits = CLI_LOCAL, .run = cli_print},

    /* Operators */
    {.noun = "ops", .verb = "status", .summary = "The region at a glance",
     .operation = "ops_status", .method = "GET", .path = "/v1/ops/status", .traits = CLI_OPERATOR, .run = cli_run_get},
    {.noun = "ops node", .verb = "ls", .summary = "Nodes",
     .operation = "ops_nodes_list", .method = "GET", .path = "/v1/ops/nodes", .traits = CLI_LIST | CLI_OPERATOR,
     .flags = FLAGS(PAGES), .columns = COLUMNS(NODE_COLUMNS), .run = cli_run_list},
    {.noun = "ops node", .verb = "get", .arguments = "NODE", .summary = "One node, its devices and leases",
     .operation = "ops_nodes_get", .method = "GET", .path = "/v1/ops/nodes/{node}", .traits = CLI_OPERATOR, .run = cli_run_get},
    {.noun = "ops node", .verb = "enroll", .summary = "A token by which one node may join, once, within ten minutes",
     .operation = "ops_enrollments_create", .method = "POST", .path = "/v1/ops/enrollments",
     .traits = CLI_OPERATOR | CLI_KEYED | CLI_REASON,
     .flags = FLAGS({"name", 0, "NAME", CLI_TEXT, NULL, false, "What the node will be called"}, REASON), .run = cli_run_change},
    {.noun = "ops node", .verb = "cordon", .arguments = "NODE", .summary = "Grant a node nothing new",
     .operation = "ops_nodes_cordon", .method = "POST", .path = "/v1/ops/nodes/{node}/cordon",
     .traits = CLI_OPERATOR | CLI_KEYED | CLI_REASON, .flags = FLAGS(REASON), .run = cli_run_change},
    {.noun = "ops node", .verb = "uncordon", .arguments = "NODE", .summary = "Grant a node work again",
     .operation = "ops_nodes_uncordon", .method = "POST", .path = "/v1/ops/nodes/{node}/uncordon",
     .traits = CLI_OPERATOR | CLI_KEYED | CLI_REASON, .flags = FLAGS(REASON), .run = cli_run_change},
    {.noun = "ops node", .verb = "drain", .arguments = "NODE", .summary = "Stop what runs on a node, and grant it nothing new",
     .operation = "ops_nodes_drain", .method = "POST", .path = "/v1/ops/nodes/{node}/drain",
     .traits = CLI_OPERATOR | CLI_KEYED | CLI_REASON | CLI_CONFIRM, .flags = FLAGS(REASON, YES), .run = cli_run_change},
    {.noun = "ops tenant", .verb = "ls", .summary = "Tenants",
     .operation = "ops_tenants_list", .method = "GET", .path = "/v1/ops/tenants", .traits = CLI_LIST | CLI_OPERATOR,
     .flags = FLAGS(PAGES),
     .columns = COLUMNS({"TENANT", "tenant", false}, {"NAME", "name", false}, {"STATE", "state", false}, {"CREATED", "created", false}),
     .run = cli_run_list},
    {.noun = "ops tenant", .verb = "get", .arguments = "TENANT", .summary = "One tenant",
     .operation = "ops_tenants_get", .method = "GET", .path = "/v1/ops/tenants/{tenant}", .traits = CLI_OPERATOR, .run = cli_run_get},
    {.noun = "ops tenant", .verb = "create", .summary = "Make a tenant; its first key is shown once",
     .operation = "ops_tenants_create", .method = "POST", .path = "/v1/ops/tenants",
     .traits = CLI_OPERATOR | CLI_KEYED | CLI_REASON,
     .flags = FLAGS({"name", 0, "NAME", CLI_TEXT, NULL, false, "What it is called"}, REASON), .run = cli_run_change},
    {.noun = "ops tenant", .verb = "limit", .arguments = "TENANT", .summary = "How many devices and jobs a tenant may hold",
     .operation = "ops_tenants_limits", .method = "PUT", .path = "/v1/ops/tenants/{tenant}/limits",
     .traits = CLI_OPERATOR | CLI_KEYED | CLI_REASON | CLI_IF_MATCH,
     .flags = FLAGS({"devices", 0, "N", CLI_NUMBER, "device_limit", false, "Devices at the same time"},
                    {"jobs", 0, "N", CLI_NUMBER, "job_limit", false, "Jobs that have not ended"}, REASON), .run = cli_run_change},
    {.noun = "ops sched", .verb = "status", .summary = "The engine: epoch, backlog, rounds",
     .operation = "ops_scheduler", .method = "GET", .path = "/v1/ops/scheduler", .traits = CLI_OPERATOR, .run = cli_run_get},
    {.noun = "ops meter", .verb = "lag", .summary = "How far metering is behind, and whether it adds up",
     .operation = "ops_metering", .method = "GET", .path = "/v1/ops/metering", .traits = CLI_OPERATOR, .run = cli_run_get},
    {.noun = "ops audit", .verb = "ls", .summary = "Every leaf of the region's audit log",
     .operation = "ops_audit", .method = "GET", .path = "/v1/ops/audit", .traits = CLI_LIST | CLI_OPERATOR,
     .flags = FLAGS(PAGES), .columns = COLUMNS(AUDIT_COLUMNS), .run = cli_run_list},
    {0},
};
/* clang-format on */
