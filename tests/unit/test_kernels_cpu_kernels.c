#include "tests/unit/cpu_tiers.h"
#include "tests/unit/engine.h"

/*
 * check-ops: every row on every sample that its kernels accept, in every layout and tier, against
 * the meaning in f64; and the same bytes from all of them.
 */

#define TOLERANCE    4e-6 /* of the largest value of a result, and of the value */
#define STORAGES_MAX 4096 /* of one sample */
#define ULP          0x1p-24

enum layout { PLAIN, TURNED, STEPPED, LAYOUTS };

struct sample_run {
    struct cr_call *call;
    struct op_site site;
    struct tensor plain[OP_INPUTS_MAX];
    struct tensor wants[OP_OUTPUTS_MAX];
    void *firsts[OP_OUTPUTS_MAX]; /* what the first device gave */
    struct storage *storages[STORAGES_MAX];
    int storage_count;
};

static struct tensor kept(struct sample_run *run, struct tensor tensor)
{
    assert_true(run->storage_count < STORAGES_MAX);
    run->storages[run->storage_count++] = tensor.storage;
    return tensor;
}

/* The same elements in another arrangement: axes stored in reverse, or every second element. */
static struct tensor arranged(struct sample_run *run, const struct tensor *plain,
                              enum layout layout)
{
    struct cr_call *call = run->call;
    struct tensor room = *plain, view;
    int axes[TENSOR_RANK_MAX];
    if (layout == PLAIN)
        return *plain;
    for (int i = 0; i < plain->rank; i++) {
        axes[i] = plain->rank - 1 - i;
        room.shape[i] = layout == TURNED ? plain->shape[axes[i]] : 2 * plain->shape[i] + 1;
    }
    assert_ok(call, tensor_alloc(call, plain->dtype, plain->rank, room.shape, &room));
    kept(run, room);
    view = layout == TURNED ? tensor_permute(&room, axes) : room;
    for (int i = 0; layout == STEPPED && i < plain->rank; i++)
        view = tensor_slice(&view, i, 1, plain->shape[i], 2);

    int64_t elements = tensor_elements(plain);
    for (int64_t e = 0; e < elements; e++) {
        int64_t at = view.offset, rest = e;
        for (int i = view.rank - 1; i >= 0; i--) {
            at += rest % view.shape[i] * view.stride[i];
            rest /= view.shape[i];
        }
        dtype_write(view.dtype, view.storage->bytes, at, tensor_at(plain, e));
    }
    return view;
}

/* What sums of many may be off by: (log2 n + 4) ulp of the sum of the absolute values. */
static double sum_bound(const struct sample_run *run)
{
    const struct tensor *x = &run->plain[0];
    double n = (double)tensor_elements(x) / fmax(1, (double)tensor_elements(&run->wants[0]));
    double largest = 0;
    if (run->site.op->row->kind != OP_REDUCE)
        return 0;
    for (int64_t e = 0; e < tensor_elements(x); e++)
        largest = fmax(largest, fabs(tensor_at(x, e)));
    return (log2(n + 1) + 4) * ULP * n * largest * fmax(1, largest);
}

static void compare(const struct sample_run *run, int output, const struct tensor *got)
{
    const struct tensor *want = &run->wants[output];
    int64_t elements = tensor_elements(want);
    double largest = 0, more = sum_bound(run);
    for (int64_t e = 0; e < elements; e++)
        if (isfinite(tensor_at(want, e)))
            largest = fmax(largest, fabs(tensor_at(want, e)));
    for (int64_t e = 0; e < elements; e++) {
        double g = tensor_at(got, e), w = tensor_at(want, e);
        if (g == w || (isnan(g) && isnan(w)))
            continue;
        if (!(fabs(g - w) <= TOLERANCE * (largest + fabs(w)) + more))
            fail_msg("%s, output %d, element %lld is %a, not %a", run->site.op->row->name, output,
                     (long long)e, g, w);
    }
}

/* Runs it on one device; false: the device has no kernel for it. */
static bool run_on(struct sample_run *run, struct device *device, enum layout layout)
{
    const struct op_site *site = &run->site;
    const struct device_kernel *kernel = device_find(device, site->op->row->id, site);
    if (!kernel || (layout != PLAIN && !kernel->strided))
        return kernel != NULL;

    struct tensor inputs[OP_INPUTS_MAX], outputs[OP_OUTPUTS_MAX];
    const struct tensor *input_list[OP_INPUTS_MAX];
    struct tensor *output_list[OP_OUTPUTS_MAX];
    for (int i = 0; i < site->input_count; i++) {
        inputs[i] = arranged(run, &run->plain[i], layout);
        input_list[i] = &inputs[i];
    }
    for (int i = 0; i < site->output_count; i++) {
        const struct op_type *type = &site->outputs[i];
        assert_ok(run->call,
                  tensor_alloc(run->call, type->dtype, type->rank, type->dims, &outputs[i]));
        kept(run, outputs[i]);
        output_list[i] = &outputs[i];
    }
    size_t size = device_scratch_size(device, kernel, site);
    void *scratch;
    assert_ok(run->call, device_allocate(run->call, device, size, &scratch));
    struct device_launch launch = {device, site, input_list, output_list, scratch};
    assert_ok(run->call, device_run(run->call, kernel, &launch));
    device_release(device, scratch, size);

    for (int i = 0; i < site->output_count; i++) {
        size_t bytes = (size_t)tensor_elements(&outputs[i]) * dtype_size(outputs[i].dtype);
        if (run->firsts[i])
            assert_memory_equal(tensor_bytes(&outputs[i]), run->firsts[i], bytes);
        else
            compare(run, i, &outputs[i]);
        run->firsts[i] = tensor_bytes(&outputs[i]);
    }
    return true;
}

static bool check_sample(struct cpu_tiers *tiers, const struct op *op,
                         const struct op_sample *sample)
{
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&tiers->env, INT64_MAX);
    const struct graph *graph = sample_graph(&call, op, sample, false);
    struct op_type inputs[OP_INPUTS_MAX], outputs[OP_OUTPUTS_MAX];
    struct sample_run run = {.call = &call};
    if (graph->node_count == 0)
        return true;
    const struct graph_node *node = &graph->nodes[0];
    for (int i = 0; i < node->input_count; i++) {
        inputs[i] = graph->values[node->inputs[i]].type;
        run.plain[i] = kept(&run, sample_tensor(&call, sample, &inputs[i], (uint64_t)i + 1));
    }
    for (int i = 0; i < node->output_count; i++)
        outputs[i] = graph->values[node->first_output + i].type;
    run.site = (struct op_site){.op = op,
                                .input_count = node->input_count,
                                .output_count = node->output_count,
                                .inputs = inputs,
                                .outputs = outputs,
                                .attrs = node->attrs};
    run_reference(&call, graph, run.plain, run.wants);

    bool found = true;
    for (int d = 0; d < tiers->count && found; d++)
        for (int layout = PLAIN; layout < LAYOUTS && found; layout++)
            found = run_on(&run, tiers->devices[d], (enum layout)layout);
    for (int i = 0; i < run.storage_count; i++)
        storage_close(run.storages[i]);
    return found;
}

static void every_row_agrees_with_its_meaning_in_every_tier_and_layout(void **state)
{
    (void)state;
    struct cpu_tiers *tiers = cpu_tiers_open();
    int count, checked = 0, without = 0;
    const struct op *const *ops = op_all(&count);
    for (int i = 0; i < count; i++) {
        const struct op_row *row = ops[i]->row;
        for (const struct op_sample *sample = row->samples; sample && sample->inputs; sample++) {
            if (row->kind == OP_VIEW)
                continue;
            bool found = check_sample(tiers, ops[i], sample);
            checked += found;
            without += !found;
            if (!found && !row->meaning)
                fail_msg("%s has neither kernel nor meaning", row->name);
        }
    }
    print_message("%d samples checked, %d left to their meaning\n", checked, without);
    assert_true(checked > 50);
    cpu_tiers_close(tiers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_agrees_with_its_meaning_in_every_tier_and_layout),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
