/*
 * jobs_picture: whether a recipe can be built for the pictures that it is given, told at submission
 * rather than by a runner. Looks at the head of the images' file alone; what is no dataset at all
 * is for the runner to say, who reads all of it.
 */
#include "controlplane/service/blob.h"
#include "controlplane/service/jobs_internal.h"
#include "controlplane/service/jobs_sql.h"

#include <string.h>

#define IMAGES   "images" /* the input by this name */
#define HEAD     16       /* bytes of an IDX file of rank 3: magic, count, rows, columns */
#define IDX_RANK 3
#define IDX_U8   0x08

static const char *images_of(const struct protocol_spec *spec)
{
    for (size_t i = 0; i < spec->inputs.count; i++)
        if (strcmp(spec->inputs.items[i].name, IMAGES) == 0)
            return spec->inputs.items[i].value;
    return NULL;
}

struct found {
    const char *artifact, *sha256, *kind;
};
static const struct cr_member found_members[] = {
    CR_MEMBER(struct found, artifact, 0, 0),
    CR_MEMBER(struct found, sha256, 0, 0),
    CR_MEMBER(struct found, kind, 0, 0),
};
static const struct cr_shape found_shape = CR_SHAPE(struct found, found_members);

struct search {
    const char *tenant, *reference, *artifact; /* artifact: NULL where it is not held */
};

static enum cr_status search_work(struct cr_call *call, struct db *db, void *context)
{
    struct search *it = context;
    static const char scheme[] = "sha256:";
    bool digest = strncmp(it->reference, scheme, sizeof scheme - 1) == 0;
    const char *wanted = it->reference + (digest ? sizeof scheme - 1 : 0);
    struct found found;
    bool there;
    CR_TRY(db_one(
        call, db, &jobs_artifacts,
        DB_VALUES(db_text(it->tenant), db_texts(&wanted, !digest), db_texts(&wanted, digest)),
        &found_shape, &found, &there));
    it->artifact = there ? found.artifact : NULL;
    return CR_OK;
}

static void file_close(struct cr_file *file)
{
    cr_file_close(file);
}

static int64_t big_endian(const unsigned char *bytes)
{
    return (int64_t)bytes[0] << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3];
}

enum cr_status jobs_check_picture(struct cr_call *call, struct service *service,
                                  const struct principal *who, const struct protocol_spec *spec)
{
    struct search search = {.tenant = service_tenant(who), .reference = images_of(spec)};
    if (!spec->program || !spec->program->recipe || !search.reference)
        return CR_OK;
    CR_TRY(jobs_look(call, service, who, search_work, &search));
    if (!search.artifact)
        return CR_OK; /* the submission names it */

    CR_SCOPED(file_close) struct cr_file file = CR_FILE_CLOSED;
    enum cr_status status = blob_open(call, service->config, search.tenant, search.artifact, &file);
    if (status == CR_NOT_FOUND) {
        cr_forgive(call); /* the runner will say that it is missing */
        return CR_OK;
    }
    CR_TRY(status);
    unsigned char head[HEAD];
    size_t size;
    CR_TRY(cr_file_read_at(call, &file, 0, head, sizeof head, &size));
    bool pictures = size == sizeof head && head[0] == 0 && head[1] == 0 && head[2] == IDX_U8 &&
                    head[3] == IDX_RANK;
    return pictures ? protocol_recipe_check(call, spec, big_endian(head + 8), big_endian(head + 12))
                    : CR_OK;
}
