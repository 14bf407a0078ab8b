#!/bin/bash
# The matrix of permissions, asked of a region of its own.
# shellcheck source=tests/e2e/region.sh
. tests/e2e/region.sh
region_up
head -c 64 /dev/urandom >"$region/input"
input=$(cresset artifact push "$region/input" -o jsonpath='$.sha256')
sed "s/sha256:[0-9a-f]*/sha256:$input/" "$checkout/ops/samples/fashion-mlp.yaml" >"$region/job.yaml"
job=$(cresset job submit "$region/job.yaml" -o jsonpath='$.job')
ops=$(sed -n 's/.*"ops_listen": "\([^"]*\)".*/\1/p' "$region/var/config/cressetd.json")
check 'every route treats four principals as the matrix says' node tests/contract/matrix.mjs \
    "$origin" "http://$ops" "$(cat "$region/var/credentials/operator.key")" \
    "$(cat "$region/var/credentials/demo.key")" "$job"
region_end
