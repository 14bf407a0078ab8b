#!/bin/bash
# make.sh TO: the handbook as HTML in TO, and manual pages in TO/man. What has a table is printed
# from it: commands, errors, routes. Needs lowdown, and the programs in build/bin.
set -euo pipefail
cd "$(dirname "$0")/../.."
to=${1:?make.sh takes a folder}
command -v lowdown >/dev/null || {
    echo "  docs    skipped: lowdown is not installed (apt-get install lowdown)"
    exit 0
}
work=$to.work
rm -rf "$work" "$to.new"
mkdir -p "$work/reference" "$work/errors" "$to.new/man"
cp -r web/docs/tutorials web/docs/how-to web/docs/reference web/docs/explanation web/docs/index.md "$work/"

{
    printf 'title: Commands\n\n# Commands\n\nPrinted from the table that the program itself is made of.\n\n'
    build/bin/cresset print manual
} >"$work/reference/commands.md"

# One row a code: word, HTTP, exit, retryable, title.
errors=$(build/bin/cressetd print errors)
{
    printf 'title: Errors\n\n# Errors\n\nEvery answer that is no success is `application/problem+json` and has one of these codes.\n\n'
    printf '| code | HTTP | exit of cresset | try again | meaning |\n|---|---|---|---|---|\n'
    printf '%s\n' "$errors" | awk -F'\t' 'NR > 1 { printf "| [`%s`](/docs/errors/%s) | %s | %s | %s | %s |\n", $1, $1, $2, $3, $4, $5 }'
} >"$work/reference/errors.md"
printf '%s\n' "$errors" | awk -F'\t' -v to="$work/errors" 'NR > 1 {
    file = to "/" $1 ".md"
    printf "title: %s\n\n# %s\n\n%s.\n\nHTTP status %s; `cresset` exits %s. ", $1, $1, $5, $2, $3 > file
    if ($4 == "true" || $4 == "yes")
        printf "The same request may succeed later: send it again, with the same `Idempotency-Key`, after the seconds of `Retry-After` where they are given.\n" > file
    else
        printf "The same request will fail again: change it as `detail` and `errors` of the answer say.\n" > file
    printf "\nTo report it, quote `request_id` of the answer. [All codes](/docs/reference/errors)\n" > file
    close(file)
}'

{
    printf 'title: Routes\n\n# Routes\n\nThe whole interface, with its bodies, is told by [/openapi.json](/openapi.json).\n\n'
    printf '| method | path | permission | operation |\n|---|---|---|---|\n'
    build/bin/cressetd print routes | awk -F'\t' 'NR > 1 { printf "| %s | `%s` | %s | `%s` |\n", $1, $2, $4, $3 }'
} >"$work/reference/routes.md"

find "$work" -name '*.md' -printf '%P\n' | while read -r page; do
    html=$to.new/${page%.md}.html
    mkdir -p "$(dirname "$html")"
    {
        cat web/docs/head.html
        lowdown -Thtml --html-no-skiphtml --html-no-escapehtml "$work/$page"
        cat web/docs/foot.html
    } >"$html"
done
cp web/docs/docs.css "$to.new/"

build/bin/cresset print nouns | while read -r noun; do
    {
        printf 'title: cresset-%s\nsection: 1\nvolume: Cresset\nsource: Cresset\n\n# NAME\n\ncresset-%s - commands of cresset\n\n' "$noun" "$noun"
        build/bin/cresset print manual "$noun"
    } | lowdown -s -Tman >"$to.new/man/cresset-$noun.1"
done
rm -rf "$to" "$work"
mv "$to.new" "$to"
