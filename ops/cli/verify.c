/* usage verify: whether a receipt is true, without any server. */
#include "ops/cli/cli.h"

#include "base/core/file.h"
#include "billing/receipt.h"

#include <inttypes.h>

#define TRUST_MAX (64 * 1024) /* bytes of a policy, and of the keys */

/* What the verifier pins. It stands beside the receipts of a region of cresset dev. */
static enum cr_status read_trust(struct cr_call *call, const struct cli *cli, const char *file,
                                 struct tlog_policy *ret_policy, struct tlog_keys *ret_keys)
{
    const char *trust = cli_flag(cli, "trust"), *slash = strrchr(file, '/');
    struct cr_bytes policy, keys;
    if (!trust)
        trust = cr_format(call, "%.*s/trust", slash ? (int)(slash - file) : 1, slash ? file : ".");
    CR_TRY(cr_file_read(call, cr_format(call, "%s/policy", trust), TRUST_MAX, &policy));
    CR_TRY(cr_file_read(call, cr_format(call, "%s/keys", trust), TRUST_MAX, &keys));
    if (!tlog_policy_read(call, (const char *)policy.data, policy.size, ret_policy))
        return cr_fail(call, CR_INVALID, "%s/policy is no policy", trust);
    if (!tlog_keys_read(call, (const char *)keys.data, keys.size, ret_keys))
        return cr_fail(call, CR_INVALID, "%s/keys holds no keys", trust);
    return CR_OK;
}

static void print_json(struct cr_call *call, const struct billing_verdict *verdict)
{
    struct cr_text text = cr_text_open(call);
    bool valid = verdict->step == BILLING_STEP_COUNT;
    cr_text_add_format(&text, "{\"ok\":%s,\"step\":", valid ? "true" : "false");
    json_add_text(&text, valid ? NULL : billing_step_words[verdict->step]);
    cr_text_add(&text, ",\"reason\":");
    json_add_text(&text, valid ? NULL : verdict->reason);
    cr_text_add(&text, ",\"record\":");
    json_add_text(&text, verdict->record.record);
    cr_text_add(&text, ",\"job\":");
    json_add_text(&text, verdict->record.job);
    cr_text_add_format(&text,
                       ",\"index\":%" PRId64 ",\"size\":%" PRId64 ",\"cost\":", verdict->index,
                       verdict->checkpoint.size);
    json_add_text(&text, verdict->cost);
    cr_text_add(&text, ",\"currency\":");
    json_add_text(&text, verdict->currency);
    cr_text_add(&text, "}");
    puts(text.data);
}

static void print_steps(const struct billing_verdict *verdict)
{
    for (int step = 0; step < BILLING_STEP_COUNT; step++) {
        bool failed = step == (int)verdict->step;
        printf("%-20s %s%s%s\n", billing_step_words[step], failed ? "FAILED" : "ok",
               failed ? ": " : "", failed ? verdict->reason : "");
        if (failed)
            return;
    }
    printf("\nrecord    %s of %s, %s\n", verdict->record.record, verdict->record.job,
           verdict->record.outcome);
    printf("log       leaf %" PRId64 " of %" PRId64 ": included\n", verdict->index,
           verdict->checkpoint.size);
    if (verdict->cost)
        printf("cost      %s %s\n", verdict->cost, verdict->currency);
    puts("valid");
}

static enum cr_status verify_one(struct cr_call *call, struct cli *cli, const char *file)
{
    struct cr_bytes receipt;
    struct tlog_policy policy;
    struct tlog_keys keys;
    CR_TRY(cr_file_read(call, file, BILLING_RECEIPT_SIZE_MAX, &receipt));
    CR_TRY(read_trust(call, cli, file, &policy, &keys));
    struct billing_verdict verdict = billing_receipt_verify(call, receipt, &keys, &policy);
    if (verdict.step != BILLING_STEP_COUNT)
        cli->exit = CLI_EXIT_FAILED;
    if (cli->format == CLI_JSON || cli->format == CLI_JSONL) {
        print_json(call, &verdict);
        return CR_OK;
    }
    if (cli->argument_count > 1)
        printf("%s:\n", file);
    print_steps(&verdict);
    return CR_OK;
}

/* Each receipt in memory of its own. */
enum cr_status cli_usage_verify(struct cr_call *call, struct cli *cli)
{
    for (size_t i = 0; i < cli->argument_count; i++) {
        CR_SCOPED(cr_call_close)
        struct cr_call one = cr_call_open(call->env, call->deadline_ns);
        if (verify_one(&one, cli, cli->arguments[i]) != CR_OK) {
            cli->exit = CLI_EXIT_USAGE;
            return cr_fail(call, one.status, "%s", one.reason);
        }
    }
    return CR_OK;
}
