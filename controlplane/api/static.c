/*
 * static: the files of console and docs, where no nginx serves them. The path has been decoded and
 * holds no dot segment (base/http/head.h). A path without an ending is a place in the console,
 * which finds its way by itself: it gets index.html.
 */
#include "base/core/file.h"
#include "controlplane/api/api_internal.h"

#include <string.h>

#define STATIC_PATH_MAX 512

static const char policy[] = "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; "
                             "require-trusted-types-for 'script'";

/* What is not the console's, so that a typing error in an address of the API is told as one. */
static const char *const others[] = {"/v1/",     "/log/",   "/.well-known/", "/openapi.json",
                                     "/healthz", "/readyz", "/metrics",      NULL};

bool api_serves_files(const struct api_settings *settings, const struct http_request *request)
{
    bool reads = strcmp(request->method, "GET") == 0 || strcmp(request->method, "HEAD") == 0;
    bool ops = settings->ops_apart && request->listener == settings->ops_listener;
    for (size_t i = 0; others[i]; i++)
        if (strncmp(request->path, others[i], strlen(others[i])) == 0)
            return false;
    const char *dir =
        strncmp(request->path, "/docs/", 6) == 0 ? settings->docs_dir : settings->console_dir;
    return reads && !ops && dir && *dir && strlen(request->path) < STATIC_PATH_MAX;
}

static const char *media_of(const char *path)
{
    static const struct {
        const char *ending, *media;
    } known[] = {
        {".html", "text/html; charset=utf-8"},
        {".js", "text/javascript; charset=utf-8"},
        {".css", "text/css; charset=utf-8"},
        {".json", "application/json"},
        {".svg", "image/svg+xml"},
        {".png", "image/png"},
        {".ico", "image/x-icon"},
        {".woff2", "font/woff2"},
        {".txt", "text/plain; charset=utf-8"},
        {".md", "text/markdown; charset=utf-8"},
        {".webmanifest", "application/manifest+json"},
    };
    const char *ending = strrchr(path, '.');
    for (size_t i = 0; ending && i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].ending, ending) == 0)
            return known[i].media;
    return "application/octet-stream";
}

static bool has_ending(const char *path)
{
    const char *name = strrchr(path, '/');
    return name && strchr(name, '.');
}

/* The file that a path means; docs have a page for each name, the console has one page. */
static const char *file_of(struct cr_call *call, const struct api_settings *settings,
                           const char *path)
{
    bool docs = strncmp(path, "/docs/", 6) == 0;
    if (docs) {
        const char *page = path + 6;
        bool folder = !*page || page[strlen(page) - 1] == '/';
        return cr_format(call, "%s/%s%s", settings->docs_dir, page,
                         folder             ? "index.html"
                         : has_ending(path) ? ""
                                            : ".html");
    }
    return cr_format(call, "%s%s", settings->console_dir, has_ending(path) ? path : "/index.html");
}

enum cr_status api_static(struct cr_call *call, struct api_exchange *exchange)
{
    const char *path = exchange->http->path;
    const char *file_path = file_of(call, exchange->worker->settings, path);
    struct cr_file file = CR_FILE_CLOSED;
    int64_t size = 0;
    if (cr_file_open(call, file_path, CR_FILE_READ, 0, &file) != CR_OK ||
        cr_file_size(call, &file, &size) != CR_OK) {
        cr_file_close(&file);
        cr_forgive(call);
        return cr_fail_as(call, &cr_code_no_such_route, "there is no file %.100s", path);
    }
    bool asset = strncmp(path, "/assets/", 8) == 0; /* named by their content */
    struct api_answer *answer = &exchange->answer;
    answer->status = 200;
    api_file(&exchange->api, media_of(file_path), file.descriptor, size);
    api_field(&exchange->api, "Cache-Control",
              asset ? "public, max-age=31536000, immutable" : "no-cache");
    api_field(&exchange->api, "Content-Security-Policy", policy);
    api_field(&exchange->api, "Referrer-Policy", "same-origin");
    return CR_OK;
}
