#!/bin/bash
# The main path of a job: data in, trained, metered, signed, billed, proven, and gone without a rest.
# shellcheck source=tests/e2e/region.sh
. tests/e2e/region.sh
region_up
samples=$checkout/ops/samples

check 'the dataset is stored' push_dataset
check 'pushing it again sends nothing and names the same artifacts' equal \
    "$(cresset artifact push "$(dataset)"/t10k-labels-idx1-ubyte -o jsonpath='$.artifact')" \
    "$(cresset artifact get sha256:0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34 -o jsonpath='$.artifact')"
check 'an artifact that is pulled is what was pushed' cresset artifact pull \
    sha256:0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34 -f labels
check 'byte for byte' cmp "$region/labels" "$(dataset)/t10k-labels-idx1-ubyte"
check 'a plan tells a price and writes nothing' cresset job plan "$samples/fashion-mlp.yaml"

cresset job run "$samples/fashion-mlp.yaml" -o jsonl --progress plain >"$region/train.json" 2>"$region/run.log"
check 'job run exits 0 when the job has succeeded' equal $? 0
check 'it has succeeded' equal "$(value "$region/train.json" state)" succeeded
check 'it has learned something: test accuracy 0.8 and more after two epochs' awk \
    "BEGIN { exit !($(value "$region/train.json" metrics.test_accuracy) >= 0.8) }"
job=$(value "$region/train.json" job)

cresset job run "$samples/fashion-batch.yaml" --set "program.artifact=$(value "$region/train.json" outputs.model)" \
    -o jsonl --progress none >"$region/batch.json" 2>>"$region/run.log"
check 'a batch job over the trained model succeeds' equal $? 0
check 'its accuracy over the test images is that of the training' awk \
    "BEGIN { d = $(value "$region/batch.json" metrics.accuracy) - $(value "$region/train.json" metrics.test_accuracy); exit !(d < 0.001 && d > -0.001) }"
check 'its predictions are an artifact' says held cresset artifact get "$(value "$region/batch.json" outputs.predictions)"

check 'its log can be read' says . cresset job logs "$job"
check 'its series can be read' says loss cresset job metrics "$job"
check 'its attempts can be read' says finished cresset job attempts "$job" -o json
check 'its events end in success' says job.succeeded cresset job events "$job" -o json

for _ in 1 2 3 4 5 6 7 8 9 10; do
    cresset job receipt "$job" -f receipt.json 2>/dev/null && break
    sleep 1
done
check 'its receipt verifies' cresset usage verify receipt.json --trust var/receipts/trust
check 'and no more after any byte of it is changed' node tests/e2e/receipt.mjs \
    "$region/receipt.json" "$region/var/receipts/trust"
check 'one usage record was made for it' equal \
    "$(cresset usage records --all -o jsonpath='$.data[*].job' | grep -c "$job")" 1

invoice=$(cresset invoice ls -o name | head -n 1)
cresset invoice lines "$invoice" --all -o json >"$region/lines.json"
check 'the lines of the invoice sum to its total' equal \
    "$(value "$region/lines.json" 'data[*].amount_microusd' | awk '{ s += $1 } END { printf "%.0f", s }')" \
    "$(cresset invoice get "$invoice" -o jsonpath='$.lines_microusd')"

region_end
