/* The receipt of a job, as it is: byte for byte. */
#include "ops/cli/cli.h"

#include "base/core/file.h"

#define RECEIPT_MAX ((size_t)4 << 20) /* bytes (ledger.md, section 12) */

enum cr_status cli_job_receipt(struct cr_call *call, struct cli *cli)
{
    struct fetch_answer answer;
    const char *file = cli_flag(cli, "file");
    struct fetch_request transfer = {.body_max = RECEIPT_MAX};
    const struct cli_request request = {
        .method = "GET",
        .path = cr_format(call, "/v1/jobs/%s/receipt", cr_percent_print(call, cli->arguments[0])),
        .transfer = &transfer,
    };
    CR_TRY(cli_ask(call, cli, &request, &answer));
    if (file)
        return cr_file_replace(call, file, answer.body, answer.body_size, 0644);
    fwrite(answer.body, 1, answer.body_size, stdout);
    return CR_OK;
}
