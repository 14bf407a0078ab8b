/* holding: files and buffers of a lease, from its program to its end. */
#include "compute/node/node.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* What each kind of job writes, and what that is. */
static const struct {
    const char *kind, *output, *artifact_kind;
} made[] = {{"train", "model", "model"}, {"batch", "predictions", "predictions"}};

/* A file of ours without a name: it is gone with its last descriptor. */
static int nameless(const char *dir)
{
    return open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

static int unlinked(struct cr_call *call, const char *dir, const char *lease, const char *name)
{
    int file = nameless(dir);
    if (file >= 0 || errno != EOPNOTSUPP)
        return file;
    const char *path = cr_format(call, "%s/%s-%s", dir, lease, name);
    file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file >= 0)
        unlink(path);
    return file;
}

static enum cr_status open_files(struct cr_call *call, struct agent *agent, struct holding *holding)
{
    const char *dir = cr_format(call, "%s/work", agent->config.state_dir);
    CR_TRY(cr_file_make_folder(call, dir, 0700));
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++) {
        if (strcmp(made[i].kind, holding->assignment.kind) != 0)
            continue;
        struct upload *output = &holding->outputs[holding->output_count++];
        *output = (struct upload){.name = made[i].output, .kind = made[i].artifact_kind};
        output->descriptor = unlinked(call, dir, holding->lease, output->name);
        if (output->descriptor < 0)
            return cr_fail(call, CR_UNAVAILABLE, "no file for %s: %s", output->name,
                           strerror(errno));
    }
    for (int i = 0; i < PROTOCOL_CHECKPOINT_SLOTS; i++) {
        holding->slots[i] = unlinked(call, dir, holding->lease, i ? "slot1" : "slot0");
        if (holding->slots[i] < 0)
            return cr_fail(call, CR_UNAVAILABLE, "no file for a checkpoint: %s", strerror(errno));
    }
    return CR_OK;
}

enum cr_status holding_open(struct cr_call *call, struct agent *agent, int entry,
                            const struct protocol_assignment *assignment)
{
    struct holding *holding = &agent->holdings[entry];
    const struct lease_entry *it = &agent->book.entries[entry];
    *holding = (struct holding){.used = true, .word = -1, .held_slot = -1};
    memcpy(holding->lease, it->lease, sizeof holding->lease);
    holding->call = cr_call_open(&agent->env, INT64_MAX);
    for (size_t i = 0; i <= PROTOCOL_INPUTS_MAX; i++)
        holding->inputs[i] = -1;
    for (int i = 0; i < PROTOCOL_CHECKPOINT_SLOTS; i++)
        holding->slots[i] = -1;
    holding->points = malloc((size_t)NODE_POINTS_MAX * PROTOCOL_POINT_SIZE);
    holding->log = malloc(NODE_LOG_MAX);
    if (!holding->points || !holding->log)
        abort();

    /* The assignment is another call's: what is kept is read again from its own text. */
    const char *text = json_write(&holding->call, &protocol_assignment_shape, assignment);
    CR_TRY(json_read(&holding->call, &protocol_assignment_shape, text, strlen(text),
                     &holding->assignment));
    CR_TRY(protocol_assignment_check(&holding->call, &holding->assignment));
    CR_TRY(json_read(&holding->call, &protocol_spec_shape, holding->assignment.spec.text,
                     holding->assignment.spec.length, &holding->spec));
    (void)call;
    return open_files(&holding->call, agent, holding);
}

void holding_close(struct holding *holding)
{
    if (!holding->used)
        return;
    launch_close(&holding->launch);
    for (size_t i = 0; i <= PROTOCOL_INPUTS_MAX; i++)
        if (holding->inputs[i] >= 0)
            close(holding->inputs[i]);
    for (size_t i = 0; i < holding->output_count; i++)
        if (holding->outputs[i].descriptor >= 0)
            close(holding->outputs[i].descriptor);
    for (int i = 0; i < PROTOCOL_CHECKPOINT_SLOTS; i++)
        if (holding->slots[i] >= 0)
            close(holding->slots[i]);
    free(holding->points);
    free(holding->log);
    cr_call_close(&holding->call);
    memset(holding, 0, sizeof *holding);
}

/* Makes room by the oldest lines; a line in their place says so. */
static void drop_oldest(struct holding *holding, size_t wanted)
{
    size_t gone = wanted > NODE_LOG_MAX / 4 ? wanted : NODE_LOG_MAX / 4;
    if (gone > holding->log_size)
        gone = holding->log_size;
    const char *end = memchr(holding->log + gone, '\n', holding->log_size - gone);
    if (end)
        gone = (size_t)(end + 1 - holding->log);
    memmove(holding->log, holding->log + gone, holding->log_size - gone);
    holding->log_size -= gone;
    holding->log_dropped += (int64_t)gone;
}

static void append(struct holding *holding, const char *text, size_t size)
{
    memcpy(holding->log + holding->log_size, text, size);
    holding->log_size += size;
}

void holding_log(struct holding *holding, const char *text, size_t size)
{
    char escaped[PROTOCOL_LOG_TEXT_MAX * 4 + 1];
    size_t length = 0;
    if (size > PROTOCOL_LOG_TEXT_MAX)
        size = PROTOCOL_LOG_TEXT_MAX;
    if (size > 0 && text[size - 1] == '\n')
        size--;
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        if ((c < ' ' && c != '\t') || c == 0x7f)
            length += (size_t)snprintf(escaped + length, 5, "\\x%02x", c);
        else
            escaped[length++] = (char)c;
    }
    escaped[length++] = '\n';
    char line[96];
    if (holding->log_size + length + sizeof line > NODE_LOG_MAX)
        drop_oldest(holding, length + sizeof line);
    if (holding->log_dropped > holding->log_marked) {
        int marked = snprintf(line, sizeof line,
                              "cresset: %lld bytes of log dropped here (limit 256 KiB/s)\n",
                              (long long)(holding->log_dropped - holding->log_marked));
        append(holding, line, (size_t)marked);
        holding->log_marked = holding->log_dropped;
    }
    append(holding, escaped, length);
    holding->changed = true;
}

/* Keeps every second of what waits, and counts the others. */
static void halve_points(struct holding *holding)
{
    size_t kept = 0;
    for (size_t i = 0; i < holding->point_count; i += 2)
        memmove(holding->points + kept++ * PROTOCOL_POINT_SIZE,
                holding->points + i * PROTOCOL_POINT_SIZE, PROTOCOL_POINT_SIZE);
    holding->points_dropped += (int64_t)(holding->point_count - kept);
    holding->point_count = kept;
}

static int series_of(struct holding *holding, const char *name, size_t length)
{
    for (size_t i = 0; i < holding->series_count; i++)
        if (strlen(holding->series[i]) == length && memcmp(holding->series[i], name, length) == 0)
            return (int)i;
    if (holding->series_count == NODE_SERIES_MAX)
        return -1;
    snprintf(holding->series[holding->series_count], PROTOCOL_METRIC_NAME_MAX + 1, "%.*s",
             (int)length, name);
    return (int)holding->series_count++;
}

void holding_point(struct holding *holding, const struct protocol_frame *frame, int64_t now_ns)
{
    int series = series_of(holding, frame->text, frame->text_size);
    if (series < 0) {
        holding->points_dropped++;
        return;
    }
    if (holding->point_count == NODE_POINTS_MAX)
        halve_points(holding);
    struct protocol_point point = {.series = (uint8_t)series,
                                   .step = frame->step,
                                   .mono_ns = (uint64_t)(now_ns - holding->go_ns),
                                   .value = frame->value};
    protocol_point_write(&point, holding->points + holding->point_count++ * PROTOCOL_POINT_SIZE);
    holding->changed = true;
}
