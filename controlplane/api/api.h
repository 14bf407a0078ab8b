/*
 * api: the REST interface, as tables of routes.
 *
 * A route says all that is true of an endpoint: where it is, who may call it, what goes in, what
 * comes out, how it may fail, and the one function that does the work. api_handle does the rest,
 * for every endpoint alike and always in this order:
 *
 *     find the route  >  who asks  >  rate  >  permission  >  headers by flags  >  body  >  run  >
 * write
 *
 * So a handler meets only what is permitted and well formed, and sees neither HTTP nor JSON. The
 * reference, nginx's map, the matrix of permissions and the list of errors are printed from the
 * rows.
 *
 *     static enum cr_status get(struct cr_call *call, const struct api *api, const void *request,
 *                               void *ret_job)
 *     {
 *         (void)request;
 *         return jobs_get(call, api->service, api->who, api_id(api, "job"), ret_job);
 *     }
 *
 *     const struct api_route jobs_routes[] = {
 *         {.method = "GET", .path = "/v1/jobs/{job}", .operation = "jobs_get",
 *          .summary = "One job", .permission = "jobs:read", .scope = API_TENANT, .class = 3,
 *          .success = 200, .flags = API_PARK, .query = &jobs_wait_shape, .gives = &job_shape,
 *          .fails = (const struct cr_code *const[]){&service_code_stale_lease, NULL}, .run = get},
 *         {0},
 *     };
 *
 * and one line in tables.c. A path's {job} tells the kind of the object as well: it must be an id
 * with the prefix job_ (api_id_kinds in match.c), or a name, where no prefix is known for the word.
 *
 * Threads   a table is constant; a struct api belongs to one call on one worker
 * Source    surface.md sections 2 and 3
 */
#pragma once

#include "base/core/shape.h"
#include "base/http/http.h"

struct principal;   /* controlplane/service/service.h: who asks, and what they may */
struct service;     /* the same: the work of this worker, with its database connection */
struct service_ask; /* the same: the key, hash and reason under which a mutation is done */
struct api_answer;
struct api;

#define API_PATH_VALUES_MAX 4
#define API_LIMIT_USUAL     50
#define API_LIMIT_MAX       500
#define API_CURSOR_SIZE_MAX 512
#define API_KEY_SIZE_MAX    255 /* of an Idempotency-Key */
#define API_REASON_SIZE_MAX 200 /* letters of Cresset-Reason */
#define API_WAIT_S_MAX      30
#define API_STREAMS_MAX     64 /* of one tenant */

enum api_scope { API_PUBLIC, API_TENANT, API_OPERATOR, API_NODE, API_PEER, API_ANY };
enum api_group {
    API_GROUP_API,
    API_GROUP_STREAM,
    API_GROUP_GATEWAY,
    API_GROUP_BULK,
    API_GROUP_NODE,
    API_GROUP_PEER,
    API_GROUP_OPS,
};

enum {
    API_MUTATES = 1 << 0,     /* changes something: no caller that is suspended, CSRF for cookies */
    API_KEYED = 1 << 1,       /* Idempotency-Key is required; api->ask carries it */
    API_IF_MATCH = 1 << 2,    /* If-Match is required; api->version is it */
    API_LIST = 1 << 3,        /* takes limit and after; gives {"data","next_after"} */
    API_PARK = 1 << 4,        /* takes wait=1..30; the handler may api_park */
    API_SSE = 1 << 5,         /* the handler may api_stream */
    API_FILE_IN = 1 << 6,     /* the body is bytes, in api->body_fd */
    API_FILE_OUT = 1 << 7,    /* the handler answers by api_file or api_bytes */
    API_SECRET_ONCE = 1 << 8, /* the answer holds a secret: its kept copy is sealed */
    API_REASON = 1 << 9,      /* Cresset-Reason is required */
    API_TWO = 1 << 10,        /* two persons */
    API_ETAG = 1 << 11,       /* the reply has a version: ETag, and 304 for If-None-Match */
    API_RAW_JSON = 1 << 12,   /* gives JSON that is told by schema alone (api_json) */
};

struct api_route {
    const char *method, *path;
    const char *operation, *summary;
    const char *permission; /* "jobs:read"; NULL: none is needed beyond the scope */
    enum api_scope scope;   /* API_ANY: whoever shows a credential */
    enum api_group group;
    int class; /* 0 to 6: reliability section 11 */
    unsigned flags;
    int success;                                  /* 200 201 202 204 */
    const struct cr_shape *query, *takes, *gives; /* NULL: none */
    const struct cr_code *const *fails; /* its own; those of its flags are added. NULL: none */
    const char *media; /* of what FILE_OUT answers; NULL: application/octet-stream */
    enum cr_status (*run)(struct cr_call *call, const struct api *api, const void *request,
                          void *ret_reply);
};

/* One thing that this process needs, and whether it is there. */
struct api_need {
    const char *name; /* "database" */
    bool ok;
    const char *detail; /* a sentence; NULL for none */
};

/* What is the same for all calls of the process. Read-only. */
struct api_settings {
    const char *region, *public_origin, *version;
    const char *console_dir, *docs_dir; /* "": none is served here */
    unsigned char cursor_key[32];
    bool cookie_secure;            /* __Host-cresset; else cresset_dev */
    int64_t rate_read, rate_write; /* of a tenant, in requests a second; bursts last 2 s */
    bool ops_apart; /* health and metrics are served by the listener named "ops" alone */
    size_t ops_listener;
    /* What only the program knows: its needs, struct api_need, and its metrics. */
    void (*needs)(struct cr_call *call, void *program, struct service *service,
                  struct cr_list *ret_needs);
    const char *(*metrics)(struct cr_call *call, void *program);
    void *program;
    struct api_rate *rate; /* api_rate_open */
};

/* The buckets of all tenants, of this process. */
struct api_rate;
struct api_rate *api_rate_open(void);
void api_rate_close(struct api_rate *rate);

/* What a handler works with: of one call. */
struct api {
    const struct api_settings *settings;
    const struct api_route *route;
    struct service *service;
    const struct principal *who;   /* never NULL: PRINCIPAL_NOBODY where no credential was shown */
    const struct service_ask *ask; /* of every MUTATES route: who, key, hash, reason, trace */
    const char *path[API_PATH_VALUES_MAX]; /* values of {…}, in their order */
    const void *query;                     /* struct of route->query, NULL without */
    int64_t limit;                         /* of API_LIST */
    const char *after;     /* of API_LIST: the last key of the page before, NULL: the first */
    int64_t wait_until_ns; /* of API_PARK: 0 where nothing is to be waited for */
    int64_t version;       /* of If-Match; CR_NO_INTEGER without one */
    int64_t seen;          /* of If-None-Match: what parks waits for another version than this */
    const char *session; /* the cookie's value; NULL for callers with a key, and for public ones */
    const char *body;    /* as it came, without API_FILE_IN */
    size_t body_size;
    int body_fd;                     /* with API_FILE_IN */
    const struct http_request *http; /* for the few that need a header of their own */
    struct api_answer *answer;       /* private */
};

/* The value of a path's {name}, for example api_id(api, "job"). Static text of the call. */
const char *api_id(const struct api *api, const char *name);

/* For lists: turns the last key of a page into `next_after`, bound to tenant, route and filters. */
const char *api_cursor(struct cr_call *call, const struct api *api, const char *last_key);

/* Things that a handler may say besides its reply. Texts live as long as the call. */
void api_location(const struct api *api, const char *path);
void api_field(const struct api *api, const char *name, const char *value);
void api_status(const struct api *api, int status); /* another success than the row's */
void api_cookie(const struct api *api, const char *value, int64_t max_age_s); /* "" drops it */

/* The Cresset-CSRF that goes with a session, 64 digits of hex as in the cookie. */
const char *api_csrf(struct cr_call *call, const char *session);

/* Answers by bytes, or by a file (whose descriptor is taken over; Range is served). */
void api_bytes(const struct api *api, const char *media, const void *bytes, size_t size);
void api_file(const struct api *api, const char *media, int fd, int64_t size);

/* Answers by an event stream, fed by source (base/http/http.h). Its feed_context is a struct
 * service. */
void api_stream(const struct api *api, const struct http_source *source);

/*
 * Of API_PARK routes: where `wait` was asked for and its time has not come, the call is parked on
 * the key and will run again; the result is true and the handler returns CR_OK at once. Otherwise
 * false: answer what there is.
 */
bool api_park(const struct api *api, const char *key);

/* Every table of the interface; NULL ends the list. In tables.c. */
extern const struct api_route *const api_tables[];

/* The codes of every module, for the list of errors; NULL ends each and all. */
extern const struct cr_code *const *const api_code_tables[];

/* What the program gives the server as handle, plan and ended of http_config. */
struct api_worker {
    const struct api_settings *settings;
    struct service *service;
};
/* The operation that a request was matched to, for the log; NULL: none. */
const struct api_route *api_route_of(const struct http_request *request);

void api_plan(void *owner, const struct http_request *head, struct http_plan *ret_plan);
enum http_next api_handle(struct cr_call *call, void *worker, struct http_request *request,
                          struct http_response *response);

/* The printed forms of the tables. Each is a text of the call. */
const char *api_print_openapi(struct cr_call *call, const char *public_origin);
const char *api_print_nginx_map(struct cr_call *call);
const char *api_print_permissions(struct cr_call *call);
const char *api_print_matrix(struct cr_call *call);
const char *api_print_errors(struct cr_call *call);
const char *api_print_routes(struct cr_call *call);
