/* migrate: the schema of a region, applied file by file, forward only. */
#include "controlplane/service/service.h"

#include "base/core/file.h"
#include "base/core/parse.h"
#include "controlplane/service/migrate_sql.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>

#define FILES_MAX     999
#define FILE_SIZE_MAX ((size_t)1 << 20)
#define NUMBER_LENGTH 4 /* of "0001_ground.sql" */

struct migration {
    int64_t number;
    const char *name; /* of the file */
};
static const struct cr_member migration_members[] = {
    CR_MEMBER(struct migration, number, 1, FILES_MAX),
    CR_MEMBER(struct migration, name, 1, 255),
};
static const struct cr_shape migration_shape = CR_SHAPE(struct migration, migration_members);

struct begun {
    bool begun;
};
static const struct cr_member begun_members[] = {CR_MEMBER(struct begun, begun, 0, 0)};
static const struct cr_shape begun_shape = CR_SHAPE(struct begun, begun_members);

struct session {
    const struct cr_env *env;
    struct db *db;
};

static void session_close(struct session *session)
{
    db_close(session->env, session->db);
}

static bool is_migration(const char *name, int64_t *ret_number)
{
    size_t length = strlen(name);
    return length > NUMBER_LENGTH + 4 && name[NUMBER_LENGTH] == '_' &&
           strspn(name, "0123456789") == NUMBER_LENGTH && strcmp(name + length - 4, ".sql") == 0 &&
           cr_parse_integer(name + strspn(name, "0"), NUMBER_LENGTH - strspn(name, "0"), 1,
                            FILES_MAX, ret_number);
}

static void folder_close(DIR **folder)
{
    if (*folder)
        closedir(*folder);
}

/* The files of the folder by number: ret_files[n - 1] is file n, and none is missing. */
static enum cr_status files_of(struct cr_call *call, const char *path, struct migration *ret_files,
                               int64_t *ret_count)
{
    CR_SCOPED(folder_close) DIR *folder = opendir(path);
    if (!folder)
        return cr_fail(call, CR_NOT_FOUND, "no folder %s: %s", path, strerrordesc_np(errno));
    int64_t count = 0, number;
    for (const struct dirent *entry; (entry = readdir(folder));) {
        if (!is_migration(entry->d_name, &number))
            continue;
        if (ret_files[number - 1].name)
            return cr_fail(call, CR_CONFLICT, "two migrations have the number of %s",
                           entry->d_name);
        ret_files[number - 1] = (struct migration){number, cr_format(call, "%s", entry->d_name)};
        count++;
    }
    for (int64_t i = 0; i < count; i++)
        if (!ret_files[i].name)
            return cr_fail(call, CR_CONFLICT, "migration %lld is missing in %s", (long long)i + 1,
                           path);
    *ret_count = count;
    return CR_OK;
}

static enum cr_status applied_of(struct cr_call *call, struct db *db, const struct migration *files,
                                 int64_t count, int64_t *ret_applied)
{
    struct begun begun;
    bool found;
    CR_TRY(db_one(call, db, &migrate_begun, DB_NONE, &begun_shape, &begun, &found));
    *ret_applied = 0;
    if (!begun.begun)
        return CR_OK;

    struct cr_list applied;
    CR_TRY(db_list(call, db, &migrate_applied, DB_NONE, &migration_shape, &applied));
    const struct migration *rows = applied.items;
    for (size_t i = 0; i < applied.count; i++)
        if ((int64_t)i >= count || rows[i].number != (int64_t)i + 1 ||
            strcmp(rows[i].name, files[i].name) != 0)
            return cr_fail(call, CR_CONFLICT,
                           "the database has migration %s, which is not among these files",
                           rows[i].name);
    *ret_applied = (int64_t)applied.count;
    return CR_OK;
}

/* One file is one transaction, its row in schema_migration included. */
static enum cr_status apply(struct cr_call *call, struct db *db, const char *folder,
                            const struct migration *file)
{
    struct cr_bytes sql;
    CR_TRY(cr_file_read(call, cr_format(call, "%s/%s", folder, file->name), FILE_SIZE_MAX, &sql));
    return db_script(call, db,
                     cr_format(call,
                               "BEGIN;\n%s\n;INSERT INTO schema_migration (number, name) "
                               "VALUES (%lld, '%s');COMMIT",
                               (const char *)sql.data, (long long)file->number, file->name));
}

enum cr_status service_migrate(struct cr_call *call, const char *conninfo, const char *folder,
                               int64_t *ret_applied)
{
    struct migration *files = cr_new(call, struct migration, FILES_MAX);
    int64_t count, applied;
    CR_TRY(files_of(call, folder, files, &count));

    struct db_config config = {.conninfo = conninfo, .application = "cressetd migrate"};
    CR_SCOPED(session_close) struct session session = {.env = call->env};
    CR_TRY(db_open(call, &config, &session.db));
    CR_TRY(applied_of(call, session.db, files, count, &applied));
    for (int64_t i = applied; i < count; i++)
        CR_TRY(apply(call, session.db, folder, &files[i]));
    *ret_applied = count - applied;
    return CR_OK;
}
