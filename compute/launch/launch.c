/* launch: preparing, speaking with, and reaping a runner. */
#include "compute/launch/launch_internal.h"

#include "base/json/json.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define STANDARD_ERROR_SIZE 4096
#define CONTROL_BUFFER      (1 << 20)
#define FILES_MAX           128 /* RLIMIT_NOFILE of a runner */
#define REAP_NS             INT64_C(2000000000)
#define REAP_LOOK_NS        INT64_C(2000000)

struct launch {
    int control, warden, errors; /* the agent's ends */
    pid_t pid;                   /* of the warden */
    unsigned layers;
    uint64_t heard, told, kept;
    bool has_end;
    struct launch_report end;
    unsigned char buffer[PROTOCOL_FRAME_SIZE_MAX + 1];
};

static void close_one(int *descriptor)
{
    if (*descriptor >= 0)
        close(*descriptor);
    *descriptor = -1;
}

/* What both sides hold while a runner is being made; the children's ends close with the scope. */
struct making {
    int spec, table, control, warden, null;
    struct jail *jail;
};

static void making_done(struct making *making)
{
    close_one(&making->spec);
    close_one(&making->table);
    close_one(&making->control);
    close_one(&making->warden);
    close_one(&making->null);
    jail_close(&making->jail);
}

/* A file in memory of these bytes, which nobody can change any more. -1: none. */
static int sealed_file(const char *name, const void *bytes, size_t size)
{
    int file = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0)
        return -1;
    if ((size == 0 || write(file, bytes, size) == (ssize_t)size) &&
        fcntl(file, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) == 0)
        return file;
    close(file);
    return -1;
}

/* Standard error of a runner: a page that cannot grow, of which the first line may be told. */
static int errors_file(void)
{
    int file = memfd_create("errors", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file >= 0 && ftruncate(file, STANDARD_ERROR_SIZE) == 0 &&
        fcntl(file, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW) == 0)
        return file;
    if (file >= 0)
        close(file);
    return -1;
}

static struct cr_list numbered(struct cr_call *call, struct launch_plan *plan,
                               const struct launch_file *files, size_t count)
{
    struct protocol_descriptor *items = cr_new(call, struct protocol_descriptor, count);
    for (size_t i = 0; i < count; i++) {
        items[i] = (struct protocol_descriptor){files[i].name, (int64_t)plan->descriptor_count};
        assert(plan->descriptor_count < LAUNCH_DESCRIPTORS_MAX);
        plan->descriptors[plan->descriptor_count++] = files[i].descriptor;
    }
    return (struct cr_list){items, count};
}

/* Numbers the files behind the fixed descriptors, and writes the table that says so. */
static const char *table_of(struct cr_call *call, const struct launch_config *config,
                            struct launch_plan *plan)
{
    struct launch_file slots[PROTOCOL_CHECKPOINT_SLOTS] = {{NULL, 0}};
    for (size_t i = 0; config->slots && i < PROTOCOL_CHECKPOINT_SLOTS; i++)
        slots[i] = (struct launch_file){"slot", config->slots[i]};
    struct protocol_table table = {
        .inputs = numbered(call, plan, config->inputs, config->input_count),
        .outputs = numbered(call, plan, config->outputs, config->output_count),
        .slots = numbered(call, plan, slots, config->slots ? PROTOCOL_CHECKPOINT_SLOTS : 0),
        .resume_step = config->resume_step,
        .threads = config->core_count ? (int64_t)config->core_count : 1,
        .memory_size = config->memory_size,
        .checkpoint_s = config->checkpoint_s,
    };
    return json_write(call, &protocol_table_shape, &table);
}

static enum cr_status make_files(struct cr_call *call, const struct launch_config *config,
                                 struct launch_plan *plan, struct launch *launch,
                                 struct making *making)
{
    int control[2], warden[2], size = CONTROL_BUFFER;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control) != 0)
        return cr_fail(call, CR_UNAVAILABLE, "no socket for the runner: %s", strerror(errno));
    launch->control = control[0];
    making->control = control[1];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, warden) != 0)
        return cr_fail(call, CR_UNAVAILABLE, "no socket for the warden: %s", strerror(errno));
    launch->warden = warden[0];
    making->warden = warden[1];
    setsockopt(making->control, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);

    launch->errors = errors_file();
    making->null = open("/dev/null", O_RDWR | O_CLOEXEC);
    making->spec = sealed_file("spec", config->spec.data, config->spec.size);
    plan->descriptor_count = PROTOCOL_FD_FIRST;
    const char *table = table_of(call, config, plan);
    making->table = sealed_file("table", table, strlen(table));
    if (launch->errors < 0 || making->null < 0 || making->spec < 0 || making->table < 0)
        return cr_fail(call, CR_UNAVAILABLE, "no file for the runner: %s", strerror(errno));

    plan->descriptors[0] = plan->descriptors[1] = making->null;
    plan->descriptors[2] = launch->errors;
    plan->descriptors[PROTOCOL_FD_CONTROL] = making->control;
    plan->descriptors[PROTOCOL_FD_SPEC] = making->spec;
    plan->descriptors[PROTOCOL_FD_TABLE] = making->table;
    plan->warden = making->warden;
    return CR_OK;
}

static enum cr_status make_jail(struct cr_call *call, const struct launch_config *config,
                                struct making *making)
{
    int64_t memory = config->memory_size + LAUNCH_OVERHEAD;
    struct jail_config jail = {
        .program = config->program,
        .data_size = memory + memory / 4, /* the warden comes first, and says why */
        .file_size = config->file_size,
        .file_count = FILES_MAX,
        .libraries = jail_libraries,
    };
    return jail_open(call, &jail, &making->jail);
}

enum cr_status launch_open(struct cr_call *call, const struct launch_config *config,
                           struct launch **ret_launch)
{
    static char name[] = "cresset-runner";
    CR_SCOPED(making_done)
    struct making making = {.spec = -1, .table = -1, .control = -1, .warden = -1, .null = -1};
    struct launch *launch = calloc(1, sizeof *launch);
    if (!launch)
        abort();
    launch->control = launch->warden = launch->errors = -1;

    struct launch_plan plan = {
        .agent = getpid(),
        .memory_max = config->memory_size + LAUNCH_OVERHEAD,
        .until_ns = config->until_ns,
        .insecure = config->insecure,
        .bound = config->core_count > 0,
    };
    char task[16];
    snprintf(task, sizeof task, "%s", config->task);
    plan.argv[0] = name;
    plan.argv[1] = task;
    CPU_ZERO(&plan.cores);
    for (size_t i = 0; i < config->core_count; i++)
        CPU_SET((size_t)config->cores[i], &plan.cores);

    enum cr_status status = make_files(call, config, &plan, launch, &making);
    if (status == CR_OK)
        status = make_jail(call, config, &making);
    if (status == CR_OK) {
        plan.jail = making.jail;
        launch->pid = fork();
        if (launch->pid == 0)
            launch_warden_run(&plan);
        if (launch->pid < 0)
            status = cr_fail(call, CR_UNAVAILABLE, "no process: %s", strerror(errno));
    }
    if (status != CR_OK)
        launch_close(&launch);
    else
        *ret_launch = launch;
    return status;
}

int launch_control(const struct launch *launch)
{
    return launch->control;
}

int launch_warden(const struct launch *launch)
{
    return launch->warden;
}

unsigned launch_layers(const struct launch *launch)
{
    return launch->layers;
}

enum launch_heard launch_hear(struct launch *launch, struct protocol_frame *ret_frame,
                              const char **ret_fault)
{
    ssize_t size =
        recv(launch->control, launch->buffer, sizeof launch->buffer, MSG_DONTWAIT | MSG_TRUNC);
    if (size < 0 && (errno == EAGAIN || errno == EINTR))
        return LAUNCH_NOTHING;
    if (size <= 0)
        return LAUNCH_CLOSED;
    *ret_fault =
        (size_t)size > PROTOCOL_FRAME_SIZE_MAX
            ? "the datagram is too long"
            : protocol_frame_read(launch->buffer, (size_t)size, 'r', launch->heard, ret_frame);
    if (*ret_fault)
        return LAUNCH_GARBAGE;
    launch->heard++;
    return LAUNCH_FRAME;
}

static bool send_frame(int to, uint64_t *seq, const struct protocol_frame *frame)
{
    unsigned char bytes[PROTOCOL_FRAME_HEAD_SIZE + 16]; /* frames of an agent are short */
    struct protocol_frame numbered = *frame;
    numbered.seq = *seq;
    size_t size = protocol_frame_write(&numbered, bytes);
    if (send(to, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)size)
        return false;
    (*seq)++;
    return true;
}

bool launch_tell(struct launch *launch, const struct protocol_frame *frame)
{
    return send_frame(launch->control, &launch->told, frame);
}

void launch_keep(struct launch *launch, int64_t until_ns)
{
    struct protocol_frame frame = {.type = PROTOCOL_FRAME_KEEP, .until_ns = (uint64_t)until_ns};
    send_frame(launch->warden, &launch->kept,
               &frame); /* one that is lost is made good by the next */
}

void launch_kill(struct launch *launch)
{
    shutdown(launch->warden, SHUT_WR);
}

/* The first line of what the runner wrote on standard error. */
static void detail_of(const struct launch *launch, char *ret_detail)
{
    ssize_t size = pread(launch->errors, ret_detail, LAUNCH_DETAIL_SIZE - 1, 0);
    ret_detail[size > 0 ? size : 0] = '\0';
    for (char *at = ret_detail; *at; at++) {
        if (*at == '\n')
            *at = '\0';
        else if (*at < ' ' || *at > '~')
            *at = '?';
        if (!*at)
            break;
    }
}

static void keep_report(struct launch *launch, const struct launch_report *report)
{
    if (!report->is_end) {
        launch->layers = report->layers;
        return;
    }
    launch->end = *report;
    launch->has_end = true;
}

bool launch_ended(struct launch *launch, struct launch_end *ret_end)
{
    struct launch_report report;
    ssize_t size = 1;
    while (!launch->has_end && size > 0) {
        size = recv(launch->warden, &report, sizeof report, MSG_DONTWAIT);
        if (size == sizeof report)
            keep_report(launch, &report);
    }
    if (!launch->has_end && size < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (!launch->has_end) /* the warden is gone, and the runner with it */
        launch->end = (struct launch_report){.status = SIGKILL, .reason = LAUNCH_BY_ITSELF};
    launch->has_end = true;

    int status = launch->end.status;
    *ret_end = (struct launch_end){
        .reason = (enum launch_reason)launch->end.reason,
        .exited = WIFEXITED(status),
        .code = WIFEXITED(status) ? WEXITSTATUS(status) : 0,
        .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
        .memory_peak = launch->end.memory_peak,
    };
    detail_of(launch, ret_end->detail);
    return true;
}

/* Waits for the warden as long as it may need, then ends it too. */
static void reap(pid_t pid)
{
    struct timespec look = {.tv_nsec = REAP_LOOK_NS};
    for (int64_t waited = 0; waited < REAP_NS; waited += REAP_LOOK_NS) {
        pid_t reaped = waitpid(pid, NULL, WNOHANG);
        if (reaped == pid || (reaped < 0 && errno != EINTR))
            return;
        nanosleep(&look, NULL);
    }
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

void launch_close(struct launch **launch)
{
    if (!*launch)
        return;
    if ((*launch)->warden >= 0)
        launch_kill(*launch);
    if ((*launch)->pid > 0)
        reap((*launch)->pid);
    close_one(&(*launch)->control);
    close_one(&(*launch)->warden);
    close_one(&(*launch)->errors);
    free(*launch);
    *launch = NULL;
}
