#!/bin/bash
# The command line itself: formats, settings, errors, completion; against a region of its own.
# shellcheck source=tests/e2e/region.sh
. tests/e2e/region.sh
region_up
cd "$region" || exit 1
printf 'hello\n' >hello.txt
printf 'world\n' >world.txt
cresset artifact push hello.txt world.txt --kind other -q >/dev/null

check 'json is JSON' bash -c "cd $region && $program artifact ls -o json | node -e 'JSON.parse(require(\"fs\").readFileSync(0))'"
check 'jsonl has a line a row' equal "$(cresset artifact ls -o jsonl | wc -l)" 2
check 'name has an id a row' equal "$(cresset artifact ls -o name | grep -c '^art_')" 2
check 'csv has a head and a line a row' equal "$(cresset artifact ls -o csv | wc -l)" 3
check 'jsonpath finds values' equal "$(cresset artifact ls -o jsonpath='$.data[0].name')" world.txt
check 'a table has a head' says ARTIFACT cresset artifact ls
check 'the same on a terminal and in a pipe' equal "$(cresset artifact ls)" \
    "$(script -qec "$program artifact ls" /dev/null | tr -d '\r')"
check 'pages: one row, then the next' equal \
    "$(cresset artifact ls --limit 1 -o json >p.json && cresset artifact ls --limit 1 --after "$(value p.json next_after)" -o jsonpath='$.data[0].name')" hello.txt
check '--all gives all of them' equal "$(cresset artifact ls --all -o name | wc -l)" 2

check 'keys that others may read are refused' bash -c "
    chmod 644 $region/var/credentials/cresset.yaml; cd $region
    $program whoami; code=\$?; chmod 600 $region/var/credentials/cresset.yaml; [ \$code = 4 ]"
check 'a server of the environment is shown no key of a file' bash -c \
    "cd $region && CRESSET_SERVER=$origin $program whoami; [ \$? = 4 ]"
mkdir -p home
check 'login keeps a server and a key' env XDG_CONFIG_HOME="$region/home" "$program" login --server "$origin" \
    --key-file var/credentials/demo.key --name mine
check 'in a file that is closed to others' equal "$(stat -c %a home/cresset/credentials.yaml)" 600
as_mine() { (cd / && XDG_CONFIG_HOME=$region/home "$program" "$@"); }
check 'which is then used' says demo as_mine whoami
check 'context ls shows it' says mine as_mine context ls
check 'logout forgets it' as_mine logout mine
check 'and then no server is known' exits 2 as_mine whoami
check 'a context that is not there exits 3' exits 3 cresset --context none whoami

for shell in bash zsh fish; do
    check "completion for $shell" says artifact "$program" completion $shell
done
check 'completion of bash is bash' bash -n <("$program" completion bash)
check 'completion completes' equal "$(bash -c "
    source <($program completion bash); COMP_WORDS=(cresset artifact pu); COMP_CWORD=2; _cresset; echo \${COMPREPLY[*]}")" 'push pull'
check 'every command has a help' bash -c "
    $program print table | grep -o '\"command\":\"[^\"]*' | cut -d'\"' -f4 | while read -r words; do
        $program \$words --help </dev/null | grep -q Usage || exit 1; done"
check 'a time limit ends it with 8 or 7' bash -c "cd $region && $program event tail --timeout 1s; [ \$? = 0 ]"
check 'api shows any answer' says '"tenant"' cresset api GET /v1/me
check 'doctor finds nothing' cresset doctor
region_end
