/* jobs_shapes: what of jobs travels, under which name and within which bounds. */
#include "controlplane/service/jobs_internal.h"

#include "base/core/time.h"

#define COUNT_MAX    CR_SAFE_INTEGER
#define SENTENCE_MAX 1024
#define JSON_MAX     (64 * 1024)

const char *const jobs_states[] = {"queued", "placing",   "running", "stopping", "succeeded",
                                   "failed", "cancelled", "expired", NULL};

static const struct cr_member progress_members[] = {
    CR_MEMBER(struct jobs_progress, step, 0, COUNT_MAX),
    CR_MEMBER(struct jobs_progress, steps, 0, COUNT_MAX),
    CR_MEMBER(struct jobs_progress, phase, 0, 32),
};
static const struct cr_shape progress_shape =
    CR_SHAPE(struct jobs_progress, progress_members, .name = "Progress");

static const struct cr_member job_members[] = {
    CR_ID(struct job, job, "job"),
    CR_MEMBER(struct job, name, 1, JOBS_NAME_MAX, .flags = CR_NULLABLE),
    CR_LABELS(struct job, labels, 32),
    CR_WORD(struct job, kind, protocol_kinds),
    CR_WORD(struct job, state, jobs_states),
    CR_MEMBER(struct job, code, 1, 64, .flags = CR_NULLABLE),
    CR_MEMBER(struct job, reason, 0, SENTENCE_MAX, .flags = CR_NULLABLE),
    CR_MEMBER(struct job, mark, 1, 32, .flags = CR_NULLABLE),
    CR_MEMBER(struct job, queue, 1, 63),
    CR_MEMBER(struct job, class, 1, 63),
    CR_OBJECT(struct job, program, &protocol_program_shape, .flags = CR_NULLABLE),
    CR_LABELS(struct job, inputs, PROTOCOL_INPUTS_MAX),
    CR_OBJECT(struct job, hyperparameters, &protocol_hyperparameters_shape, .flags = CR_NULLABLE),
    CR_OBJECT(struct job, resources, &protocol_resources_shape, .flags = CR_NULLABLE),
    CR_MEMBER(struct job, max_runtime_s, 0, COUNT_MAX),
    CR_MEMBER(struct job, stop_grace_s, 0, COUNT_MAX),
    CR_OBJECT(struct job, retry, &protocol_retry_shape, .flags = CR_NULLABLE),
    CR_ID(struct job, price, "prc", .flags = CR_NULLABLE),
    CR_TIME(struct job, submitted),
    CR_TIME(struct job, started, .flags = CR_NULLABLE),
    CR_TIME(struct job, ended, .flags = CR_NULLABLE),
    CR_MEMBER(struct job, attempt, 0, COUNT_MAX),
    CR_MEMBER(struct job, lease_epoch, 0, COUNT_MAX),
    CR_OBJECT(struct job, progress, &progress_shape, .flags = CR_NULLABLE),
    CR_MEMBER(struct job, node, 1, 63, .flags = CR_NULLABLE),
    CR_MEMBER(struct job, device, 1, 128, .flags = CR_NULLABLE),
    CR_JSON(struct job, outputs, JSON_MAX, .flags = CR_NULLABLE),
    CR_JSON(struct job, metrics, JSON_MAX, .flags = CR_NULLABLE),
    CR_ID(struct job, record, "rec", .flags = CR_NULLABLE),
    CR_MEMBER(struct job, device_ns, INT64_MIN, INT64_MAX),
    CR_MEMBER(struct job, cost_microusd, INT64_MIN, INT64_MAX),
    CR_MEMBER(struct job, region, 1, 63),
    CR_MEMBER(struct job, version, 0, COUNT_MAX),
    CR_MEMBER(struct job, durability, 1, 16),
};
const struct cr_shape job_shape = CR_SHAPE(struct job, job_members, .name = "Job");

static const struct cr_member filter_members[] = {
    CR_WORD(struct jobs_filter, state, jobs_states, .flags = CR_OPTIONAL),
    CR_WORD(struct jobs_filter, kind, protocol_kinds, .flags = CR_OPTIONAL),
    CR_MEMBER(struct jobs_filter, label, 3, CR_LABEL_NAME_MAX + CR_LABEL_VALUE_MAX + 1,
              .flags = CR_OPTIONAL, .about = "NAME=VALUE"),
    CR_MEMBER(struct jobs_filter, name, 1, JOBS_NAME_MAX, .flags = CR_OPTIONAL,
              .about = "How the name begins"),
    CR_TIME(struct jobs_filter, since, .flags = CR_OPTIONAL),
    CR_TIME(struct jobs_filter, until, .flags = CR_OPTIONAL),
};
const struct cr_shape jobs_filter_shape = CR_SHAPE(struct jobs_filter, filter_members);

static const struct cr_member count_members[] = {
    CR_MEMBER(struct jobs_count, day, 10, 10),
    CR_WORD(struct jobs_count, state, jobs_states),
    CR_MEMBER(struct jobs_count, jobs, 0, COUNT_MAX),
};
static const struct cr_shape count_shape =
    CR_SHAPE(struct jobs_count, count_members, .name = "JobCount");
static const struct cr_member summary_members[] = {
    CR_LIST(struct jobs_summary, data, &count_shape, 0, 1000),
    CR_JSON(struct jobs_summary, total, JSON_MAX),
};
const struct cr_shape jobs_summary_shape =
    CR_SHAPE(struct jobs_summary, summary_members, .name = "JobSummary");

static const struct cr_member attempt_members[] = {
    CR_ID(struct jobs_attempt, lease, "lse"),
    CR_MEMBER(struct jobs_attempt, lease_epoch, 0, COUNT_MAX),
    CR_MEMBER(struct jobs_attempt, attempt, 0, COUNT_MAX),
    CR_MEMBER(struct jobs_attempt, state, 1, 16),
    CR_MEMBER(struct jobs_attempt, node, 1, 63),
    CR_TEXTS(struct jobs_attempt, devices, 1, 512),
    CR_MEMBER(struct jobs_attempt, engine_class, 0, 64, .flags = CR_NULLABLE),
    CR_TIME(struct jobs_attempt, granted),
    CR_TIME(struct jobs_attempt, started, .flags = CR_NULLABLE),
    CR_TIME(struct jobs_attempt, ended, .flags = CR_NULLABLE),
    CR_MEMBER(struct jobs_attempt, revoke_reason, 0, 64, .flags = CR_NULLABLE),
    CR_MEMBER(struct jobs_attempt, word, 1, 32, .flags = CR_NULLABLE),
    CR_MEMBER(struct jobs_attempt, detail, 0, SENTENCE_MAX, .flags = CR_NULLABLE),
};
const struct cr_shape jobs_attempt_shape =
    CR_SHAPE(struct jobs_attempt, attempt_members, .name = "Attempt");

static const struct cr_member output_members[] = {
    CR_MEMBER(struct jobs_output, name, 1, 63),
    CR_ID(struct jobs_output, artifact, "art"),
    CR_MEMBER(struct jobs_output, kind, 1, 32),
    CR_MEMBER(struct jobs_output, sha256, 64, 64),
    CR_MEMBER(struct jobs_output, size, 0, COUNT_MAX),
    CR_TIME(struct jobs_output, created),
};
const struct cr_shape jobs_output_shape =
    CR_SHAPE(struct jobs_output, output_members, .name = "JobOutput");

static const struct cr_member point_members[] = {
    CR_MEMBER(struct jobs_point, step, 0, COUNT_MAX),
    CR_MEMBER(struct jobs_point, value, -1e308, 1e308),
};
static const struct cr_shape point_shape =
    CR_SHAPE(struct jobs_point, point_members, .name = "Point");
static const struct cr_member series_members[] = {
    CR_MEMBER(struct jobs_series, name, 1, 64),
    CR_LIST(struct jobs_series, points, &point_shape, 0, JOBS_SERIES_MAX),
    CR_MEMBER(struct jobs_series, point_count, 0, COUNT_MAX),
};
static const struct cr_shape series_shape =
    CR_SHAPE(struct jobs_series, series_members, .name = "Series");
static const struct cr_member metrics_members[] = {
    CR_LIST(struct jobs_metrics, series, &series_shape, 0, 256),
    CR_MEMBER(struct jobs_metrics, dropped, 0, COUNT_MAX),
};
const struct cr_shape jobs_metrics_shape =
    CR_SHAPE(struct jobs_metrics, metrics_members, .name = "JobMetrics");

static const struct cr_member blocker_members[] = {
    CR_MEMBER(struct jobs_blocker, code, 1, 64),
    CR_MEMBER(struct jobs_blocker, tier, 1, 7),
    CR_MEMBER(struct jobs_blocker, sentence, 1, SENTENCE_MAX),
    CR_JSON(struct jobs_blocker, numbers, JSON_MAX),
};
static const struct cr_shape blocker_shape =
    CR_SHAPE(struct jobs_blocker, blocker_members, .name = "Blocker");
static const struct cr_member change_members[] = {
    CR_MEMBER(struct jobs_change, change, 1, 64),
    CR_MEMBER(struct jobs_change, detail, 1, SENTENCE_MAX),
};
static const struct cr_shape change_shape =
    CR_SHAPE(struct jobs_change, change_members, .name = "Change");
static const struct cr_member position_members[] = {
    CR_MEMBER(struct jobs_position, jobs, 0, COUNT_MAX),
};
static const struct cr_shape position_shape =
    CR_SHAPE(struct jobs_position, position_members, .name = "Position");
static const struct cr_member why_members[] = {
    CR_TIME(struct jobs_why, as_of),
    CR_WORD(struct jobs_why, state, jobs_states),
    CR_LIST(struct jobs_why, blockers, &blocker_shape, 0, JOBS_BLOCKERS_MAX),
    CR_LIST(struct jobs_why, would_start_if, &change_shape, 0, JOBS_BLOCKERS_MAX),
    CR_JSON(struct jobs_why, counts, JSON_MAX, .flags = CR_NULLABLE),
    CR_OBJECT(struct jobs_why, position, &position_shape, .flags = CR_NULLABLE),
    CR_JSON(struct jobs_why, eta, JSON_MAX, .flags = CR_NULLABLE),
};
const struct cr_shape jobs_why_shape = CR_SHAPE(struct jobs_why, why_members, .name = "JobWhy");

static const struct cr_member cost_members[] = {
    CR_MEMBER(struct jobs_cost, low, 0, INT64_MAX),
    CR_MEMBER(struct jobs_cost, high, 0, INT64_MAX),
};
static const struct cr_shape cost_shape =
    CR_SHAPE(struct jobs_cost, cost_members, .name = "CostRange");
static const char *const decisions[] = {"start", "wait", "never", NULL};
static const struct cr_member plan_members[] = {
    CR_WORD(struct jobs_plan, decision, decisions),
    CR_TIME(struct jobs_plan, as_of),
    CR_MEMBER(struct jobs_plan, region, 1, 63),
    CR_LIST(struct jobs_plan, blockers, &blocker_shape, 0, JOBS_BLOCKERS_MAX),
    CR_OBJECT(struct jobs_plan, cost_microusd, &cost_shape, .flags = CR_NULLABLE),
    CR_JSON(struct jobs_plan, eta, JSON_MAX, .flags = CR_NULLABLE),
};
const struct cr_shape jobs_plan_shape = CR_SHAPE(struct jobs_plan, plan_members, .name = "JobPlan");
