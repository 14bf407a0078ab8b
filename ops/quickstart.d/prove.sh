# shellcheck shell=bash
# Steps 5 and 6: jobs, and the proof of what they used. Each "ok" is computed here, by the receipt's
# verifier or from the server's own numbers; none is repeated from an answer.

: "${log:=}" "${cresset:=}"

# value FILE PATH: one value of a JSON document, by the command line's own reader.
value() {
    "$cresset" print value "$1" "$2"
}

unpack_dataset() {
    local from=/usr/share/datasets/fashion-mnist name
    mkdir -p var/datasets
    for name in train-images-idx3 train-labels-idx1 t10k-images-idx3 t10k-labels-idx1; do
        [ -s "var/datasets/$name-ubyte" ] && continue
        gunzip -c "$from/$name-ubyte.gz" >"var/datasets/$name-ubyte.new" 2>>"$log" ||
            fail "the dataset $from is not there" 'apt-get install --reinstall dataset-fashion-mnist'
        mv "var/datasets/$name-ubyte.new" "var/datasets/$name-ubyte"
    done
}

# run_job FILE OUT WHAT [FLAGS]: runs it, says its states as they come.
run_job() {
    local file=$1 out=$2 what=$3 started=$SECONDS states job code=0
    shift 3
    "$cresset" job run "$file" "$@" -o jsonl --progress plain >"$out" 2>var/log/job.log || code=$?
    cat var/log/job.log >>"$log"
    job=$(grep -oE 'job_[0-9A-Z]{26}' var/log/job.log | head -n 1 || true)
    [ -n "$job" ] || fail "the job was not taken: $(sed -n 's/^error: //p' var/log/job.log | head -n 1)" \
        "$cresset job plan $file" var/log/job.log
    states=$(awk '{ sub(/,$/, "", $3); if ($3 ~ /^(queued|placing|running|stopping)$/ && $3 != last) { printf "%s, ", $3; last = $3 } }' var/log/job.log)
    if [ $code != 0 ]; then
        fail "$job ended otherwise than it should: $(value "$out" state) $(value "$out" code): $(value "$out" reason)" \
            "$cresset job logs $job" var/log/node.log
    fi
    say_line "${step_number-}" "${step_name-}" "$job $what: ${states}succeeded  $(minutes $((SECONDS - started)))"
}

step_jobs() {
    local step_number=5 step_name=jobs
    say_step 5 jobs
    unpack_dataset
    "$cresset" artifact push var/datasets/*-ubyte -o jsonl >var/receipts/inputs.jsonl 2>>"$log" ||
        fail 'the dataset cannot be stored' "$cresset artifact push var/datasets/*-ubyte"
    run_job ops/samples/fashion.yaml var/receipts/train.json 'train cnn on fashion-mnist'
    step_number='' step_name=''
    run_job ops/samples/fashion-batch.yaml var/receipts/batch.json 'batch on its 10,000 test images' \
        --set "program.artifact=$(value var/receipts/train.json outputs.model)"
}

# The receipt is there when the log's checkpoint covers it.
fetch_receipt() {
    local job=$1 try
    for try in 1 2 3 4 5 6 7 8 9 10; do
        "$cresset" job receipt "$job" -f var/receipts/last.json 2>>"$log" && return 0
        [ "$try" = 10 ] || sleep 1
    done
    fail "the receipt of $job does not come" "$cresset job receipt $job"
}

# Sum of lines equals the total of the invoice.
check_invoice() {
    local invoice=$1 sum total
    "$cresset" invoice lines "$invoice" --all -o json >var/receipts/lines.json 2>>"$log" || return 1
    "$cresset" invoice get "$invoice" -o json >var/receipts/invoice.json 2>>"$log" || return 1
    sum=$(value var/receipts/lines.json 'data[*].amount_microusd' | awk '{ s += $1 } END { printf "%.0f", s }')
    total=$(value var/receipts/invoice.json total_microusd)
    [ "$sum" = "$total" ]
}

step_proof() {
    local job started=$SECONDS verdict invoice agree=no line
    say_step 6 proof
    job=$(value var/receipts/train.json job)
    fetch_receipt "$job"
    verdict=no
    "$cresset" usage verify var/receipts/last.json -o json >var/receipts/verdict.json 2>>"$log" && verdict=ok
    [ $verdict = ok ] || fail "the receipt does not verify: $(cat var/receipts/verdict.json)" "$cresset usage verify var/receipts/last.json"
    invoice=$("$cresset" invoice ls --limit 1 -o name 2>>"$log")
    [ -n "$invoice" ] && check_invoice "$invoice" && agree=ok
    [ $agree = ok ] || fail 'the lines of the invoice do not sum to its total' "$cresset invoice lines $invoice"
    say_done 6 proof 'record signed, in the log, invoice agrees' ok $((SECONDS - started))
    say_table "$job" "$invoice"
}

say_table() {
    local job=$1 used accuracy rate seconds
    accuracy=$(value var/receipts/train.json metrics.test_accuracy | awk '{ printf "%.3f", $1 }')
    used=$(value var/receipts/train.json device_ns | awk '{ printf "%.3f", $1 / 1e9 }')
    seconds=$(value var/receipts/lines.json 'data[0].quantity' | awk '{ printf "%.3f", $1 / 1e9 }')
    rate=$(value var/receipts/lines.json 'data[0].rate_pico' | awk '{ printf "%.4g", $1 * 3600 / 1e12 }')
    awk "BEGIN { exit !($accuracy >= 0.88) }" ||
        fail "the test accuracy is $accuracy, and should be at least 0.88" "$cresset job metrics $job"
    echo
    printf '  job       %s  %s\n' "$job" "$(value var/receipts/train.json state)"
    printf '  result    test accuracy %-17s model %s\n' "$accuracy" "$(value var/receipts/train.json outputs.model)"
    printf '  ran on    region %s, %s\n' "$(value var/receipts/train.json region)" "$(ran_on)"
    printf '  usage     %s  %s device-s   signature ok   log leaf %s of %s: included\n' \
        "$(value var/receipts/verdict.json record)" "$used" \
        "$(value var/receipts/verdict.json index)" "$(value var/receipts/verdict.json size)"
    printf '  invoice   draft %s line %s            %s s x %s USD/h = %s USD   lines sum to total: ok\n' \
        "$(value var/receipts/invoice.json period)" "$(value var/receipts/lines.json 'data[0].line')" \
        "$seconds" "$rate" "$(value var/receipts/lines.json 'data[0].amount_microusd' | awk '{ printf "%.6f", $1 / 1e6 }')"
    printf '  console   %s  (once, 10 minutes; again: build/bin/cresset dev login)\n' "$("$cresset" dev login 2>>"$log")"
}

# "node local-1, cpu cpu/base, jailed": jailed is said where the node told its layers when it joined.
ran_on() {
    local name node jailed='not jailed'
    name=$(value var/receipts/train.json node)
    node=$("$cresset" ops node ls -o table 2>>"$log" | awk -v name="$name" '$2 == name { print $1 }')
    "$cresset" ops node get "$node" -o json >var/receipts/node.json 2>>"$log" || return 0
    [ -n "$(value var/receipts/node.json 'jail[0]')" ] && jailed=jailed
    printf 'node %s, %s, %s' "$name" "$(value var/receipts/train.json device)" "$jailed"
}
