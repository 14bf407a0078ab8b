#!/bin/bash
# kill -9 of every process, one after the other, in the middle of a job: it still ends once, with one
# usage record. Then NATS goes for good, and jobs still run.
# shellcheck source=tests/e2e/region.sh
. tests/e2e/region.sh
region_up
check 'the dataset is stored' push_dataset

pid_of() {
    cut -d' ' -f1 "$region/var/run/$1.pid"
}

# The runner of a lease: the child of a warden, which is a child of this region's node.
runner_pid() {
    local warden
    for warden in $(pgrep -P "$(pid_of node)"); do
        pgrep -P "$warden" | head -n 1
    done
}

state_of() {
    cresset job get "$1" --timeout 5s -o jsonpath='$.state' 2>/dev/null
}

wait_for_state() {
    local job=$1 wanted=$2
    for _ in $(seq 1 "${3:-120}"); do
        [ "$(state_of "$job")" = "$wanted" ] && return 0
        sleep 0.5
    done
    echo "$job is $(state_of "$job"), not $wanted"
    return 1
}

# Kills a service by its pid, and lets dev up repair.
kill_and_repair() {
    local pid
    pid=$(pid_of "$1")
    kill -9 "$pid" || return 1
    sleep 1
    dev up -q >"$region/repair.log" 2>&1 || {
        cat "$region/repair.log"
        return 1
    }
    [ "$(pid_of "$1")" != "$pid" ]
}

kill_runner() {
    local pid
    pid=$(runner_pid)
    [ -n "$pid" ] && kill -9 "$pid"
}

job=$(cresset job submit "$checkout/ops/samples/fashion.yaml" --set resources.cpu_milli=1000 \
    --set hyperparameters.epochs=3 --set checkpoint_s=5 --set retry.max=5 -o name)
check 'a job is taken' [ -n "$job" ]
check 'and runs' wait_for_state "$job" running
sleep 2
check 'kill -9 of cressetd' kill_and_repair cressetd
check 'kill -9 of nats-server' kill_and_repair nats
check 'kill -9 of PostgreSQL' kill_and_repair postgres
check 'the job still runs' wait_for_state "$job" running
check 'kill -9 of the runner' kill_runner
check 'it runs again' wait_for_state "$job" running
check 'kill -9 of the node' kill_and_repair node
cresset job wait "$job" --progress plain --timeout 300s -o jsonl >"$region/job.json" 2>"$region/wait.log"
check 'the job ends, in success' equal "$(value "$region/job.json" state)" succeeded
cresset usage records --all -o json >"$region/records.json"
accepted=$(cresset usage records --all -o jsonl | grep "$job" | grep '"kind":"final"' | grep -c '"outcome":"completed"')
check 'one usage record of it says that it was completed' equal "$accepted" 1
check 'it ended once' equal "$(cresset job events "$job" --all -o jsonpath='$.data[*].type' | grep -c 'job.succeeded')" 1
for _ in 1 2 3 4 5 6 7 8 9 10; do
    cresset job receipt "$job" -f receipt.json 2>/dev/null && break
    sleep 1
done
check 'its receipt verifies' cresset usage verify receipt.json --trust var/receipts/trust

kill -9 "$(pid_of nats)"
rm -f "$region/var/run/nats.pid"
cresset job run "$checkout/ops/samples/fashion-mlp.yaml" --set hyperparameters.epochs=1 --progress none \
    -o jsonl --timeout 120s >"$region/quiet.json" 2>"$region/quiet.log"
check 'without NATS a job runs to its end' equal "$(value "$region/quiet.json" state)" succeeded

dev down -q
check 'dev down leaves no process' nothing_runs
check 'after dev up all is there still' dev up -q
check 'the job too' wait_for_state "$job" succeeded 10
region_end
