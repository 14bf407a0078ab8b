#!/bin/bash
# What is wrong is refused, and says where: specifications, artifacts, keys, ids of others.
# shellcheck source=tests/e2e/region.sh
. tests/e2e/region.sh
region_up
cd "$region" || exit 1

cat >bad.yaml <<'YAML'
name: x
kind: train
program:
  recipe: cnn
  parameters: {channels: [16], kernel: 4, pool: 2, classes: 10}
inputs: {}
resources:
  gpus: 99
YAML
check 'a wrong specification exits 2' exits 2 cresset job plan bad.yaml
check 'and each fault names file, line and column' says 'bad.yaml:' cresset job submit bad.yaml
check 'and the member' says gpus cresset job submit bad.yaml
printf 'name: x\nkind: train\nsurprise: 1\n' >unknown.yaml
check 'an unknown member is refused by name' says surprise cresset job submit unknown.yaml
printf 'name: [x\n' >broken.yaml
check 'what is no YAML says where' says 'broken.yaml:' cresset job submit broken.yaml
check 'and exits 2' exits 2 cresset job submit broken.yaml
check 'a file that is not there exits 3' exits 3 cresset job submit none.yaml

sed 's/sha256:c59f/sha256:0000/' "$checkout/ops/samples/fashion-mlp.yaml" >nodata.yaml
check 'a dataset that nobody has is refused' says inputs cresset job submit nodata.yaml

check 'an id that never was is 404, exit 3' exits 3 cresset job get job_00000000000000000000000000
check 'an id of another kind exits 2' exits 2 cresset job get art_00000000000000000000000000
check 'a wrong key exits 4' env CRESSET_SERVER="$origin" CRESSET_KEY=crs_dev_0123456789AB_CDEFGHIJKLMNOPQRSTUVWXYZabcdef000000 \
    bash -c "! $program job ls 2>/dev/null && $program job ls 2>&1 | grep -q credential"
check 'no server exits 7' env CRESSET_SERVER=http://127.0.0.1:9 CRESSET_KEY=x bash -c "$program job ls --timeout 2s; code=\$?; [ \$code = 7 ] || [ \$code = 8 ]"
check 'an unknown command exits 2' exits 2 cresset nonsense
check 'an unknown flag exits 2' exits 2 cresset job ls --nonsense

head -c 1000000 /dev/urandom >one.bin
id=$(cresset artifact push one.bin --kind other -o jsonpath='$.artifact')
check 'an artifact of the tenant is there' cresset artifact get "$id"
cresset ops tenant create --name other --reason test -o json >other.json
other=$(value other.json secret)
as_other() { CRESSET_SERVER=$origin CRESSET_KEY=$other "$program" "$@"; }
check "another tenant's id is not found" exits 3 as_other artifact get "$id"
mine=$(curl -s -H "Authorization: Bearer $other" "$origin/v1/artifacts/$id" | sed 's/"request_id":"[^"]*"//; s/art_[0-9A-Z]*//g')
never=$(curl -s -H "Authorization: Bearer $other" "$origin/v1/artifacts/art_00000000000000000000000000" | sed 's/"request_id":"[^"]*"//; s/art_[0-9A-Z]*//g')
check 'and says the same as one that never was' equal "$mine" "$never"

digest=$(printf x | sha256sum | cut -d' ' -f1)
wrong=$(curl -s -X POST "$origin/v1/artifacts" -H "Authorization: Bearer $(key)" -H 'Content-Type: application/json' \
    -H "Idempotency-Key: wrong-$RANDOM" -d "{\"sha256\":\"$digest\",\"size\":4,\"kind\":\"other\",\"name\":\"w\"}")
artifact=$(printf '%s' "$wrong" | grep -oE 'art_[0-9A-Z]{26}' | head -n 1)
status=$(curl -s -o /dev/null -w '%{http_code}' -X PUT "$origin/v1/artifacts/$artifact/content" \
    -H "Authorization: Bearer $(key)" -H 'Content-Range: bytes 0-3/4' --data-binary 'abcd')
check 'bytes of another digest are refused' equal "$status" 409
# An upload that breaks off leaves the artifact as it was; one that is too long is not read.
upload() { # FIELDS BODY: sends it and hangs up
    exec 3<>"/dev/tcp/127.0.0.1/${origin##*:}"
    printf 'PUT /v1/artifacts/%s/content HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n%b\r\n%s' \
        "$artifact" "${origin#http://}" "$(key)" "$1" "$2" >&3
    [ -n "$2" ] || head -n 1 <&3
    exec 3>&-
}
upload 'Content-Range: bytes 0-3/4\r\nContent-Length: 4\r\n' ab
sleep 1
check 'an upload that broke off has brought nothing' says '"offset":0' curl -s -H "Authorization: Bearer $(key)" "$origin/v1/artifacts/$artifact"
check 'an upload of over 256 MiB is 413' says 413 upload 'Content-Length: 300000000\r\n' ''
status=$(curl -s -o /dev/null -w '%{http_code}' -X PUT "$origin/v1/artifacts/$artifact/content" \
    -H "Authorization: Bearer $(key)" -H 'Content-Range: bytes 0-8/9' --data-binary 'ninebytes')
check 'more bytes than the artifact has are refused' equal "$status" 409

# Keys that are no more.
make_key() { # MEMBERS: prints the answer
    curl -s -X POST "$origin/v1/keys" -H "Authorization: Bearer $(key)" -H 'Content-Type: application/json' \
        -H "Idempotency-Key: key-$RANDOM$RANDOM" -d "{\"name\":\"soon\",\"permissions\":[\"jobs:read\"]$1}"
}
secret_of() { grep -oE 'crs_dev_[0-9A-Za-z_]+'; }
as_key() { curl -s -H "Authorization: Bearer $1" "$origin/v1/jobs"; }
short=$(make_key ",\"expires\":\"$(date -u -d '+2 seconds' +%Y-%m-%dT%H:%M:%SZ)\"" | secret_of)
made=$(make_key '')
long=$(secret_of <<<"$made")
check 'a fresh key lets in' says '"data":' as_key "$long"
cresset key revoke "$(grep -oE 'key_[0-9A-Z]{26}' <<<"$made" | head -n 1)" --yes >/dev/null
check 'a revoked key is refused at once' says '"code":"credential_rejected"' as_key "$long"
sleep 2
check 'an expired key is told that it is' says '"code":"credential_expired"' as_key "$short"

status=$(curl -s -o /dev/null -w '%{http_code}' -X POST "$origin/v1/jobs" -H "Authorization: Bearer $(key)" \
    -H 'Content-Type: application/json' -H 'Idempotency-Key: big' --data-binary "@$region/one.bin")
check 'a body that is no JSON is 400' equal "$status" 400
head -c 1200000 /dev/zero | tr '\0' ' ' >big.json
status=$(curl -s -o /dev/null -w '%{http_code}' -X POST "$origin/v1/jobs" -H "Authorization: Bearer $(key)" \
    -H 'Content-Type: application/json' -H 'Idempotency-Key: big' --data-binary "@$region/big.json")
check 'a body over 1 MiB is 413' equal "$status" 413

region_end
