/* journal: what is written before it is told. A sync that fails ends the process. */
#include "compute/node/node.h"

#include <string.h>

static const char *path_of(struct cr_call *call, const struct agent *agent)
{
    return cr_format(call, "%s/journal", agent->config.state_dir);
}

enum cr_status journal_read(struct cr_call *call, const struct agent *agent,
                            struct lease_past *ret_past)
{
    struct cr_bytes bytes;
    enum cr_status status =
        cr_file_read(call, path_of(call, agent), (size_t)NODE_JOURNAL_MAX * 4, &bytes);
    if (status == CR_NOT_FOUND) {
        cr_forgive(call);
        bytes = (struct cr_bytes){0};
        status = CR_OK;
    }
    CR_TRY(status);
    return lease_replay(call, bytes, ret_past);
}

static void add(struct cr_call *call, struct cr_text *text, const struct protocol_record *record)
{
    struct cr_bytes bytes = protocol_record_write(call, record);
    cr_text_add_bytes(text, bytes.data, bytes.size);
}

/* What of a result must stand for it to be replayed again: that it was accepted, and its request.
 */
static void add_result(struct cr_call *call, struct cr_text *text, const struct agent *agent,
                       const struct lease_left *left)
{
    add(call, text,
        &(struct protocol_record){.type = PROTOCOL_RECORD_ACCEPT,
                                  .lease = left->lease,
                                  .lease_epoch = left->lease_epoch,
                                  .node_epoch = agent->node_epoch,
                                  .tenant = left->tenant,
                                  .job = left->job,
                                  .devices = left->devices,
                                  .boot = left->boot});
    add(call, text,
        &(struct protocol_record){.type = PROTOCOL_RECORD_RESULT,
                                  .lease = left->lease,
                                  .lease_epoch = left->lease_epoch,
                                  .request = left->request});
}

enum cr_status journal_begin(struct cr_call *call, struct agent *agent,
                             const struct lease_past *past)
{
    struct cr_text text = cr_text_open(call);
    add(call, &text,
        &(struct protocol_record){.type = PROTOCOL_RECORD_BOOT,
                                  .node = agent->node,
                                  .node_epoch = agent->node_epoch,
                                  .boot = agent->boot,
                                  .start_ns = agent->book.start_ns});
    const struct lease_left *results = past->results.items;
    for (size_t i = 0; i < past->results.count; i++)
        add_result(call, &text, agent, &results[i]);
    const char *path = path_of(call, agent);
    CR_TRY(cr_file_replace(call, path, text.data, text.length, 0600));
    CR_TRY(cr_file_open(call, path, CR_FILE_APPEND, 0600, &agent->journal.file));
    agent->journal.size = (int64_t)text.length;
    return CR_OK;
}

/* The live records in a new file: those of leases that are in the book, and of old results. */
static enum cr_status compact(struct cr_call *call, struct agent *agent)
{
    struct cr_bytes bytes;
    struct cr_text text = cr_text_open(call);
    size_t at = 0;
    CR_TRY(cr_file_read(call, path_of(call, agent), (size_t)NODE_JOURNAL_MAX * 4, &bytes));
    struct protocol_record record;
    while (protocol_record_read(call, bytes, &at, &record) == PROTOCOL_REPLAY_RECORD) {
        bool live = !record.lease || lease_find(&agent->book, record.lease) >= 0;
        for (size_t i = 0; !live && i < agent->old_count; i++)
            live = !agent->olds[i].answered && strcmp(agent->olds[i].lease, record.lease) == 0;
        if (live && record.type != PROTOCOL_RECORD_ANSWERED)
            add(call, &text, &record);
    }
    cr_file_close(&agent->journal.file);
    CR_TRY(cr_file_replace(call, path_of(call, agent), text.data, text.length, 0600));
    CR_TRY(cr_file_open(call, path_of(call, agent), CR_FILE_APPEND, 0600, &agent->journal.file));
    agent->journal.size = (int64_t)text.length;
    return CR_OK;
}

enum cr_status journal_write(struct cr_call *call, struct agent *agent,
                             const struct protocol_record *record)
{
    if (agent->journal.size > NODE_JOURNAL_MAX)
        CR_TRY(compact(call, agent));
    struct cr_bytes bytes = protocol_record_write(call, record);
    CR_TRY(cr_file_append(call, &agent->journal.file, bytes.data, bytes.size));
    cr_file_sync(call, &agent->journal.file);
    agent->journal.size += (int64_t)bytes.size;
    return CR_OK;
}
