#!/bin/bash
# What the edge costs, as ratios of what this machine gives in the same run (surface.md section 9).
# Prints lines of `name value unit`. Numbers of one run mean little: the ratios are what is compared.
# shellcheck source=tests/e2e/region.sh
. tests/e2e/region.sh
seconds=${SECONDS_EACH:-4} connections=32 submits=${SUBMITS:-1500} clients=8
load=$checkout/build/bin/bench-edge
bare_pid=""
own_pid=""

bench_clean() {
    [ -z "$bare_pid" ] || kill "$bare_pid" "$own_pid" 2>/dev/null
    region_clean
}
trap bench_clean EXIT

region_up
bare_port=$(free_port)
"$load" bare "$bare_port" &
bare_pid=$!
sleep 0.5

# A cressetd beside the region's, which does not hold one tenant to its rate.
own_port=$(free_port)
sed -e "s/127.0.0.1:$port\"/127.0.0.1:$own_port\"/" -e "s/\"ops_listen\": \"[^\"]*\"/\"ops_listen\": \"127.0.0.1:$(free_port)\"/" \
    -e 's/"workers":/"rate_read": 1000000, "rate_write": 1000000, "workers":/' \
    "$region/var/config/cressetd.json" >"$region/bench.json"
(cd "$region" && exec "$checkout/build/bin/cressetd" --config bench.json 2>bench.log) &
own_pid=$!
sleep 2

# In turns, so that whatever else this machine does meets both.
bare=0 ours=0
for _ in 1 2 3; do
    bare=$(awk "BEGIN { print $bare + $("$load" get "$bare_port" / $connections "$seconds") / 3 }")
    ours=$(awk "BEGIN { print $ours + $("$load" get "$own_port" /v1/auth $connections "$seconds") / 3 }")
done
echo "edge_bare_microhttpd $bare requests/s"
echo "edge_json $ours requests/s"
echo "edge_json_ratio $(awk "BEGIN { printf \"%.3f\", $ours / $bare }") of bare"

# Durable submits: rows that one writes, and as many rows by pgbench, in as many transactions.
query() {
    psql -qtA -h "$region/var/run" -U cresset_super cresset -c "$1"
}
# Rows of what a submit writes, but for the sequencer's and the sealer's.
inserted() {
    query "SELECT (SELECT count(*) FROM job) + (SELECT count(*) FROM job_live) + (SELECT count(*) FROM idempotency)
                + (SELECT count(*) FROM audit_leaf) + (SELECT count(*) FROM event) + (SELECT count(*) FROM outbox)"
}
node=$(cresset ops node ls -o jsonpath='$.data[0].node')
cresset ops node cordon "$node" --reason bench >/dev/null # what is submitted stays queued
head -c 4096 /dev/urandom >"$region/input"
input=$(cresset artifact push "$region/input" -o jsonpath='$.sha256')
body="{\"name\":\"bench\",\"kind\":\"train\",\"program\":{\"recipe\":\"mlp\",\"parameters\":{\"widths\":[8,10],\"activation\":\"relu\"}},
\"inputs\":{\"images\":\"sha256:$input\",\"labels\":\"sha256:$input\"},\"hyperparameters\":{\"epochs\":1,\"batch\":64},
\"resources\":{\"cpu_milli\":1000,\"memory_mib\":256},\"max_runtime_s\":600}"
key=$(cat "$region/var/credentials/demo.key")
before=$(inserted)
submitted=$("$load" submit "$own_port" "$key" $clients "$submits" "$body") || exit 1
rows=$(awk "BEGIN { printf \"%d\", ($(inserted) - $before) / $submits + 0.5 }")

query "CREATE TABLE bench (tenant text, id bigserial, body text, PRIMARY KEY (tenant, id))"
{
    echo "BEGIN;"
    for _ in $(seq "$rows"); do
        echo "INSERT INTO bench (tenant, body) VALUES ('tnt_bench', repeat('x', 400));"
    done
    echo "COMMIT;"
} >"$region/insert.sql"
inserts=$(pgbench -h "$region/var/run" -U cresset_super -n -M prepared -c $clients -j 1 -T "$seconds" \
    -f "$region/insert.sql" cresset 2>/dev/null | awk '/^tps/ { print $3 }')
echo "edge_submit $submitted submits/s"
echo "edge_submit_rows $rows rows"
echo "edge_pgbench $inserts transactions/s"
echo "edge_submit_ratio $(awk "BEGIN { printf \"%.3f\", $submitted / $inserts }") of pgbench"
