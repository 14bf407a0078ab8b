/*
 * Where the server is, and with which key to ask.
 *
 * Two files of YAML, each with its keys in another that must be 0600:
 *
 *     context: dev                      dev:
 *     contexts:                           key: crs_dev_…
 *       dev:                              operator_key: crs_opr_…
 *         server: http://127.0.0.1:7070
 *         tenant: tnt_…
 *     credentials: path, from this file
 *
 * .cresset.yaml of this folder or one above it counts before the user's. A server out of one file
 * is never shown a key out of the other: a folder that somebody else wrote cannot draw keys away.
 */
#include "ops/cli/cli.h"

#include "base/core/file.h"
#include "base/yaml/yaml.h"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER_FILE ".cresset.yaml"

static enum cr_status read_yaml(struct cr_call *call, const char *path,
                                const struct json_value **ret_value)
{
    struct cr_bytes bytes;
    struct yaml_document document;
    CR_TRY(cr_file_read(call, path, CLI_FILE_MAX, &bytes));
    if (yaml_read(call, (const char *)bytes.data, bytes.size, &document) != CR_OK) {
        const char *reason = cr_format(call, "%s:%s", path, call->reason);
        cr_forgive(call);
        return cr_fail(call, CR_INVALID, "%s", reason);
    }
    return json_parse(call, NULL, document.json, document.length, ret_value);
}

/* Keys are read only from a file that nobody but its owner may read. */
static enum cr_status read_secrets(struct cr_call *call, const char *path,
                                   const struct json_value **ret_value)
{
    struct stat about;
    *ret_value = NULL;
    if (stat(path, &about) != 0)
        return CR_OK;
    if (about.st_mode & 077)
        return cr_fail(call, CR_DENIED, "%s may be read by others; try: chmod 600 %s", path, path);
    return read_yaml(call, path, ret_value);
}

static const char *user_folder(struct cr_call *call)
{
    const char *base = getenv("XDG_CONFIG_HOME");
    if (base && *base)
        return cr_format(call, "%s/cresset", base);
    base = getenv("HOME");
    if (!base || !*base) {
        const struct passwd *user = getpwuid(geteuid());
        base = user ? user->pw_dir : "/";
    }
    return cr_format(call, "%s/.config/cresset", base);
}

/* .cresset.yaml here or above; NULL: there is none. */
static const char *folder_file(struct cr_call *call)
{
    char folder[4096];
    if (!getcwd(folder, sizeof folder))
        return NULL;
    for (;;) {
        const char *path = cr_format(call, "%s/%s", folder, FOLDER_FILE);
        if (access(path, R_OK) == 0)
            return path;
        char *slash = strrchr(folder, '/');
        if (!slash || !*folder)
            return NULL;
        *slash = 0;
    }
}

static const char *beside(struct cr_call *call, const char *file, const char *name)
{
    if (name[0] == '/')
        return name;
    const char *slash = strrchr(file, '/');
    return cr_format(call, "%.*s/%s", slash ? (int)(slash - file) : 1, slash ? file : ".", name);
}

/* Takes the context of a file that names one; ret_found: it did. */
static enum cr_status take_file(struct cr_call *call, struct cli *cli, const char *path,
                                const char *wanted, bool *ret_found)
{
    const struct json_value *value, *secrets;
    struct cli_settings *settings = &cli->settings;
    *ret_found = false;
    CR_TRY(read_yaml(call, path, &value));
    const char *name = wanted ? wanted : json_member_text(value, "context");
    const struct json_value *context =
        name ? json_member(json_member(value, "contexts"), name) : NULL;
    if (!context)
        return CR_OK;
    const char *file = json_member_text(value, "credentials");
    const char *keys = beside(call, path, file ? file : "credentials.yaml");
    CR_TRY(read_secrets(call, keys, &secrets));
    settings->context = name;
    settings->server = json_member_text(context, "server");
    settings->tenant = json_member_text(context, "tenant");
    settings->key = json_member_text(json_member(secrets, name), "key");
    settings->operator_key = json_member_text(json_member(secrets, name), "operator_key");
    *ret_found = true;
    return CR_OK;
}

/* CRESSET_SERVER with its own keys; a server of the environment is shown no key of a file. */
static void take_environment(struct cli_settings *settings)
{
    const char *server = getenv("CRESSET_SERVER"), *key = getenv("CRESSET_KEY"),
               *operator_key = getenv("CRESSET_OPERATOR_KEY"), *tenant = getenv("CRESSET_TENANT");
    if (server && *server) {
        settings->server = server;
        settings->key = NULL;
        settings->operator_key = NULL;
        settings->tenant = NULL;
    }
    if (key && *key)
        settings->key = key;
    if (operator_key && *operator_key)
        settings->operator_key = operator_key;
    if (tenant && *tenant)
        settings->tenant = tenant;
}

enum cr_status cli_settings(struct cr_call *call, struct cli *cli)
{
    struct cli_settings *settings = &cli->settings;
    const char *wanted = cli->context ? cli->context : getenv("CRESSET_CONTEXT");
    const char *named = getenv("CRESSET_CONFIG"), *local = named ? NULL : folder_file(call);
    bool found = false;
    wanted = wanted && *wanted ? wanted : NULL;
    settings->file = named ? named : cr_format(call, "%s/config.yaml", user_folder(call));
    settings->secrets = beside(call, settings->file, "credentials.yaml");
    if (local)
        CR_TRY(take_file(call, cli, local, wanted, &found));
    if (!found && (named || access(settings->file, F_OK) == 0))
        CR_TRY(take_file(call, cli, settings->file, wanted, &found));
    if (wanted && !found)
        return cr_fail(call, CR_NOT_FOUND, "there is no context '%s'; try: %s context ls", wanted,
                       cli->program);
    take_environment(settings);
    if (cli->tenant)
        settings->tenant = cli->tenant;
    return CR_OK;
}

/* Contexts: reading and writing the user's two files ------------------------------------------- */

static const struct json_value *read_or_none(struct cr_call *call, const char *path)
{
    const struct json_value *value = NULL;
    if (access(path, F_OK) != 0 || read_yaml(call, path, &value) != CR_OK)
        cr_forgive(call);
    return value;
}

/* Writes an object without one member, and with another one in its place. */
static void add_members(struct cr_text *text, const struct json_value *object, const char *without,
                        const char *member, int indent)
{
    for (size_t i = 0; object && i < object->count; i++) {
        if (strcmp(object->names[i], without) == 0)
            continue;
        cr_text_add_format(text, "%*s%s:\n", indent, "", object->names[i]);
        cr_text_add_format(text, "%*s", indent + 2, "");
        cli_add_yaml(text, object->items[i].kind == JSON_KIND_OBJECT ? &object->items[i] : NULL,
                     indent + 2);
        cr_text_add(text, "\n");
    }
    if (member)
        cr_text_add(text, member);
}

static enum cr_status write_context(struct cr_call *call, struct cli *cli, const char *current,
                                    const char *name, const char *member, const char *secret)
{
    const struct json_value *old = read_or_none(call, cli->settings.file);
    const struct json_value *keys = read_or_none(call, cli->settings.secrets);
    struct cr_text text = cr_text_open(call), secrets = cr_text_open(call);
    cr_text_add_format(&text, "context: %s\ncontexts:\n", current);
    add_members(&text, json_member(old, "contexts"), name, member, 2);
    add_members(&secrets, keys, name, secret, 0);
    CR_TRY(cr_file_make_folder(call, beside(call, cli->settings.file, "."), 0700));
    CR_TRY(cr_file_replace(call, cli->settings.secrets, secrets.data, secrets.length, 0600));
    return cr_file_replace(call, cli->settings.file, text.data, text.length, 0600);
}

enum cr_status cli_save_context(struct cr_call *call, struct cli *cli, const char *name,
                                const char *server, const char *key)
{
    bool is_operator = strncmp(key, "crs_opr_", 8) == 0;
    return write_context(
        call, cli, name, name, cr_format(call, "  %s:\n    server: %s\n", name, server),
        cr_format(call, "%s:\n  %s: %s\n", name, is_operator ? "operator_key" : "key", key));
}

enum cr_status cli_logout(struct cr_call *call, struct cli *cli)
{
    const struct json_value *old = read_or_none(call, cli->settings.file);
    const char *current = json_member_text(old, "context");
    const char *name = cli->argument_count ? cli->arguments[0] : current;
    if (!name || !json_member(json_member(old, "contexts"), name))
        return cr_fail(call, CR_NOT_FOUND, "there is no context '%s' in %s", name ? name : "",
                       cli->settings.file);
    bool was = current && strcmp(current, name) == 0;
    return write_context(call, cli, was || !current ? "none" : current, name, NULL, NULL);
}

enum cr_status cli_context_rm(struct cr_call *call, struct cli *cli)
{
    return cli_logout(call, cli);
}

enum cr_status cli_context_use(struct cr_call *call, struct cli *cli)
{
    const struct json_value *old = read_or_none(call, cli->settings.file);
    const char *name = cli->arguments[0];
    if (!json_member(json_member(old, "contexts"), name))
        return cr_fail(call, CR_NOT_FOUND, "there is no context '%s' in %s", name,
                       cli->settings.file);
    return write_context(call, cli, name, "", NULL, NULL);
}

enum cr_status cli_context_ls(struct cr_call *call, struct cli *cli)
{
    struct cr_text text = cr_text_open(call);
    const char *files[] = {folder_file(call), cli->settings.file};
    cr_text_add(&text, "{\"data\":[");
    for (size_t f = 0, n = 0; f < 2; f++) {
        const struct json_value *contexts =
            files[f] ? json_member(read_or_none(call, files[f]), "contexts") : NULL;
        for (size_t i = 0; contexts && i < contexts->count; i++, n++) {
            const char *name = contexts->names[i];
            bool used = cli->settings.context && strcmp(name, cli->settings.context) == 0;
            cr_text_add(&text, n ? ",{\"context\":" : "{\"context\":");
            json_add_text(&text, name);
            cr_text_add_format(&text, ",\"current\":%s,\"server\":", used ? "true" : "false");
            json_add_text(&text, json_member_text(&contexts->items[i], "server"));
            cr_text_add(&text, ",\"file\":");
            json_add_text(&text, files[f]);
            cr_text_add(&text, "}");
        }
    }
    cr_text_add(&text, "]}");
    const struct json_value *value;
    CR_TRY(json_parse(call, NULL, text.data, text.length, &value));
    cli_show(call, cli, value);
    return CR_OK;
}
