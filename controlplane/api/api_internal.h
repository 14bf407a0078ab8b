/* api_internal: what the files of controlplane/api share. */
#pragma once

#include "base/core/codes.h"
#include "base/core/text.h"
#include "controlplane/api/api.h"
#include "controlplane/service/service.h"

#define API_FIELDS_MAX     8 /* that a handler adds */
#define API_ROUTES_MAX     256
#define API_SEGMENT_MAX    128 /* bytes of a value in a path */
#define API_CSRF_SIZE      16
#define API_SESSION_DIGITS 64
#define API_EMPTY_BODY     "{}"

/* What the handler said besides its reply. */
struct api_answer {
    int status; /* 0: the row's */
    const char *location, *cookie, *park_key;
    char cookie_text[256];
    struct http_field fields[API_FIELDS_MAX];
    size_t field_count;
    const char *media; /* of bytes or file; NULL: the reply is JSON */
    const void *bytes;
    size_t size;
    int fd; /* -1: no file */
    struct http_source source;
    bool replayed;
};

/* One call, on its way through the order of api.h. */
struct api_exchange {
    struct http_request *http;
    struct http_response *response;
    const struct api_worker *worker;
    struct api api;
    struct api_answer answer;
    struct principal nobody;
    struct service_ask ask;
    const char *trace;
    int64_t run_ns;
};

/* Codes that only this library finds. */
extern const struct cr_code api_unsupported_media_type;

/* match.c: pure. NULL: no route; then ret_allowed has the methods of the path, "" for no such path.
 */
struct api_match {
    const struct api_route *route;
    char allowed[64];
};
void api_match(const char *method, const char *path, struct api_match *ret_match);
enum cr_status api_match_values(struct cr_call *call, const struct api_route *route,
                                const char *path, const char **ret_values) CR_CHECK;
/* The name of the n-th {…} of a path, and its length; NULL: there are fewer. */
const char *api_path_name(const char *path, size_t n, size_t *ret_length);
const char *api_id_prefix(const char *name, size_t length); /* of an id; NULL: any text */

/* Steps of the order, each in its own file. */
enum cr_status api_authenticate(struct cr_call *call, struct api_exchange *exchange) CR_CHECK;
enum cr_status api_permit(struct cr_call *call, struct api_exchange *exchange) CR_CHECK;
enum cr_status api_admit(struct cr_call *call, struct api_exchange *exchange) CR_CHECK; /* rate */
enum cr_status api_read_fields(struct cr_call *call, struct api_exchange *exchange) CR_CHECK;
enum cr_status api_read_query(struct cr_call *call, struct api_exchange *exchange) CR_CHECK;
enum cr_status api_read_body(struct cr_call *call, struct api_exchange *exchange,
                             void **ret_taken) CR_CHECK;
enum cr_status api_cursor_read(struct cr_call *call, const struct api *api, const char *cursor,
                               const char **ret_after) CR_CHECK;

/* write.c */
void api_write_reply(struct cr_call *call, struct api_exchange *exchange, void *reply);
void api_write_problem(struct cr_call *call, struct api_exchange *exchange);
void api_write_times(struct cr_call *call, struct api_exchange *exchange);

/* static.c: files of console and docs. False: the path is none of theirs. */
bool api_serves_files(const struct api_settings *settings, const struct http_request *request);
enum cr_status api_static(struct cr_call *call, struct api_exchange *exchange) CR_CHECK;

/* tables.c */
size_t api_routes(const struct api_route *ret_routes[API_ROUTES_MAX]);

/* Which codes a route may answer: its own, and those that its flags and scope imply. */
#define API_CODES_MAX 48
size_t api_route_codes(const struct api_route *route,
                       const struct cr_code *ret_codes[API_CODES_MAX]);

/* "read", "write" or NULL: the bucket that a route draws from, and how much. */
const char *api_rate_policy(const struct api_route *route, int64_t *ret_cost);

struct artifacts_part; /* controlplane/service/artifacts.h */

/*
 * Which bytes of an upload the body of an API_FILE_IN route is: by Content-Range, or all from the
 * first without one. fails with cr_code_invalid_header
 */
enum cr_status api_part(struct cr_call *call, const struct api *api,
                        struct artifacts_part *ret_part) CR_CHECK;
