# shellcheck shell=bash
# region: what the end-to-end tests share: a region of their own, in a folder of its own, on free
# ports, that is gone when the test ends, however it ends.
#
#     . tests/e2e/region.sh        from the checkout's root
#     region_up                    $region is its folder; cresset speaks to it
#     check "sentence" command…    counts what holds and what does not
#     region_end                   stops it; exits 1 where something did not hold

set -uo pipefail
checkout=$PWD
program=$checkout/build/bin/cresset
region=
passed=0
failed=0

cresset() {
    (cd "$region" && "$program" "$@")
}

dev() {
    (cd "$region" && "$program" dev "$1" --var "$region/var" "${@:2}")
}

# A port that is free now, found by asking for it.
free_port() {
    local port
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        port=$((20000 + RANDOM % 20000))
        (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || {
            echo $port
            return
        }
    done
    return 1
}

region_clean() {
    [ -n "$region" ] || return 0
    dev down -q >/dev/null 2>&1
    [ -n "${KEEP:-}" ] || rm -rf "$region"
}
trap region_clean EXIT
trap 'exit 130' INT TERM

region_up() {
    region=$(mktemp -d /tmp/cresset-e2e.XXXXXX)
    chmod 755 "$region"
    port=$(free_port)
    export origin=http://127.0.0.1:$port
    if ! dev up --port "$port" >"$region/up.log" 2>&1; then
        cat "$region/up.log"
        tail -n 20 "$region"/var/log/*.log
        echo "the region does not come up"
        exit 1
    fi
}

check() {
    local what=$1
    shift
    if "$@" >"$region/check.log" 2>&1; then
        passed=$((passed + 1))
        echo "  ok    $what"
    else
        failed=$((failed + 1))
        echo "  FAIL  $what"
        tail -n 12 "$region/check.log" | sed 's/^/        /'
    fi
}

# exits CODE command…: the command ends with this code.
exits() {
    local wanted=$1 code=0
    shift
    "$@" || code=$?
    [ "$code" = "$wanted" ] || {
        echo "exit $code, not $wanted"
        return 1
    }
}

# says TEXT command…: what it prints, on either stream, holds the text.
says() {
    local wanted=$1 output
    shift
    output=$("$@" 2>&1)
    case $output in
    *"$wanted"*) return 0 ;;
    esac
    echo "no '$wanted' in: $output"
    return 1
}

# equal A B
equal() {
    [ "$1" = "$2" ] || {
        echo "'$1' is not '$2'"
        return 1
    }
}

# value FILE JSONPATH
value() {
    "$program" print value "$1" "$2"
}

# key: the tenant's key of the region.
key() {
    cat "$region/var/credentials/demo.key"
}

# nothing_runs: no process of the region is left.
nothing_runs() {
    ! pgrep -af "$region/var" | grep -v "^$$ "
}

# The four files of Fashion-MNIST, unpacked once for all tests.
dataset() {
    local from=/usr/share/datasets/fashion-mnist to=$checkout/build/datasets name
    mkdir -p "$to"
    for name in train-images-idx3 train-labels-idx1 t10k-images-idx3 t10k-labels-idx1; do
        [ -s "$to/$name-ubyte" ] && continue
        gunzip -c "$from/$name-ubyte.gz" >"$to/$name-ubyte.$$" && mv "$to/$name-ubyte.$$" "$to/$name-ubyte"
    done
    echo "$to"
}

push_dataset() {
    cresset artifact push "$(dataset)"/*-ubyte -o jsonl >"$region/inputs.jsonl"
}

region_end() {
    echo "$passed hold, $failed do not"
    [ "$failed" = 0 ] || tail -n 5 "$region"/var/log/*.log
    [ "$failed" = 0 ]
    exit
}
