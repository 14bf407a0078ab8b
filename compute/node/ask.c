/* ask: one request to the region, and what it answers. */
#include "compute/node/node.h"

#include "policy/provenance/provenance.h"

#include <string.h>

#define PROBLEM_SIZE_MAX 65536

struct cr_bytes agent_canonical(struct cr_call *call, const struct cr_shape *shape,
                                const void *value)
{
    const char *text = json_write(call, shape, value);
    const struct json_value *parsed;
    if (json_parse(call, NULL, text, strlen(text), &parsed) != CR_OK)
        abort(); /* what we have written is JSON */
    const char *canonical = json_canonical(call, parsed);
    return (struct cr_bytes){(const unsigned char *)canonical, strlen(canonical)};
}

const char *agent_sign(struct cr_call *call, const struct agent *agent, const char *type,
                       struct cr_bytes payload)
{
    struct provenance_envelope envelope = provenance_sign(
        call, type, payload, agent->node ? agent->node : agent->config.name, agent->signer);
    return provenance_envelope_write(call, &envelope);
}

/* The word of a problem document; "": it is none. */
static const char *code_of(struct cr_call *call, const struct fetch_answer *answer)
{
    const struct json_value *problem;
    if (answer->body_size > PROBLEM_SIZE_MAX ||
        json_parse(call, NULL, answer->body, answer->body_size, &problem) != CR_OK) {
        cr_forgive(call);
        return "";
    }
    const char *code = json_member_text(problem, "code");
    return code ? code : "";
}

enum cr_status agent_ask(struct cr_call *call, const struct agent *agent, struct fetch *fetch,
                         const struct fetch_header *more, struct task *task)
{
    struct fetch_header headers[] = {
        {"Content-Type", "application/json"},
        {agent->credential ? "Authorization" : "Accept",
         agent->credential ? agent->credential : "application/json"},
        {more ? more->name : NULL, more ? more->value : NULL},
        {NULL, NULL},
    };
    struct fetch_request request = {
        .method = task->method,
        .url = cr_format(call, "%s%s", agent->config.url, task->path),
        .headers = headers,
        .body = task->body,
        .body_size = task->body ? strlen(task->body) : 0,
        .body_max = (size_t)PROTOCOL_ANSWER_SIZE_MAX,
    };
    struct fetch_answer answer;
    task->http = 0;
    task->code = "";
    CR_TRY(fetch_run(call, fetch, &request, &answer));
    task->http = answer.http;
    if (answer.http / 100 != 2) {
        if (answer.http != 304)
            task->code = code_of(call, &answer);
        return CR_OK;
    }
    const char *etag = fetch_header(&answer, "etag");
    if (etag)
        task->code = etag;
    if (!task->gives)
        return CR_OK;
    task->answer = cr_alloc(call, 1, task->gives->size);
    enum cr_status status =
        json_read(call, task->gives, answer.body, answer.body_size, task->answer);
    if (status != CR_OK)
        task->http = 0; /* an answer that is not ours is none */
    return status;
}
