#include "base/core/log.h"

#include "base/core/text.h"
#include "base/core/time.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static void add_text(struct cr_text *line, const char *name, const char *text)
{
    cr_text_add(line, ",");
    cr_text_add_quoted(line, name, strlen(name));
    cr_text_add(line, ":");
    cr_text_add_quoted(line, text, strlen(text));
}

static void add_number(struct cr_text *line, const char *name, int64_t number)
{
    cr_text_add(line, ",");
    cr_text_add_quoted(line, name, strlen(name));
    cr_text_add_format(line, ":%lld", (long long)number);
}

static void add_fields(struct cr_text *line, const struct cr_log_field *fields, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (fields[i].text)
            add_text(line, fields[i].name, fields[i].text);
        else
            add_number(line, fields[i].name, fields[i].number);
}

static struct cr_text begin(struct cr_call *call, const char *what)
{
    char at[CR_TIME_SIZE];
    cr_time_print(cr_utc_us(call), at);
    struct cr_text line = cr_text_open(call);
    cr_text_add_format(&line, "{\"time\":\"%s\"", at);
    add_text(&line, "what", what);
    return line;
}

/* One write, so that lines of several threads do not mix. A log that is full stops nothing. */
static void finish(struct cr_text *line)
{
    cr_text_add(line, "}\n");
    while (write(STDERR_FILENO, line->data, line->length) < 0 && errno == EINTR)
        continue;
}

void cr_log_call(const struct cr_call *ended, const char *what, int64_t started_ns,
                 const struct cr_log_field *fields, size_t field_count)
{
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(ended->env, INT64_MAX);
    struct cr_text line = begin(&call, what);
    add_text(&line, "status", cr_status_word(ended->status));
    if (ended->code)
        add_text(&line, "code", ended->code->word);
    if (ended->status != CR_OK)
        add_text(&line, "reason", ended->reason);
    if (ended->trace)
        add_text(&line, "trace", ended->trace);
    add_number(&line, "duration_us", (cr_now_ns(&call) - started_ns) / 1000);
    add_fields(&line, fields, field_count);
    finish(&line);
}

void cr_log_event(const struct cr_env *env, const char *level, const char *what,
                  const struct cr_log_field *fields, size_t field_count)
{
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(env, INT64_MAX);
    struct cr_text line = begin(&call, what);
    add_text(&line, "level", level);
    add_fields(&line, fields, field_count);
    finish(&line);
}
