# shellcheck shell=bash
# What quickstart says: a line a step, on a terminal as it goes, else with its time.

: "${progress:=auto}" "${log:=}" "${cresset:=}" "${began:=0}" "${downloads:=0}"

is_plain() {
    [ "$progress" = plain ] || [ ! -t 1 ]
}

minutes() {
    printf '%d:%02d' $(($1 / 60)) $(($1 % 60))
}

say_header() {
    local os cores memory disk
    os=$(. /etc/os-release && echo "${NAME%% *} ${VERSION_ID:-}")
    cores=$(nproc)
    memory=$(awk '/^MemAvailable/ { printf "%.1f", $2 / 1048576 }' /proc/meminfo)
    disk=$(df -Pk . | awk 'NR == 2 { printf "%.0f", $4 / 1048576 }')
    echo "Cresset quickstart: $os, $cores cores, $memory GiB free memory, $disk GiB free disk.  Log: $log"
}

# say_step N NAME: what is being done now; on a terminal alone, since the line of the end follows.
say_step() {
    is_plain || printf '[%s/6] %-10s …' "$1" "$2"
}

# say_done N NAME WHAT WORD SECONDS [MORE]
say_done() {
    local line dots
    line=$(printf '[%s/6] %-10s %s ' "$1" "$2" "$3")
    dots=$((65 - ${#line}))
    [ $dots -gt 0 ] || dots=1
    is_plain && printf '%s ' "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
    is_plain || printf '\r\033[K'
    printf '%s%s %-6s %s%s\n' "$line" "$(printf '%*s' $dots '' | tr ' ' .)" "$4" "$(minutes "$5")" \
        "${6:+   ($6)}"
}

# say_line N NAME TEXT: a line of a step, without dots.
say_line() {
    is_plain && printf '%s ' "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
    is_plain || printf '\r\033[K'
    printf '%-6s%-10s %s\n' "${1:+[$1/6]}" "$2" "$3"
}

stop_all() {
    trap - EXIT INT TERM
    [ ! -x "$cresset" ] || "$cresset" dev down -q >>"$log" 2>&1 || true
    exit 1
}

# fail WHAT TRY [LOG]: says it, shows the end of a log, and leaves nothing running.
fail() {
    is_plain || printf '\r\033[K'
    {
        echo "error: $1"
        echo "  try:      $2"
        if [ -s "${3:-$log}" ]; then
            echo "  the end of ${3:-$log}:"
            tail -n 20 "${3:-$log}" | sed 's/^/    /'
        fi
    } >&2
    stop_all
}

say_end() {
    echo
    echo "Ready in $(minutes $((SECONDS - began))), of which downloads $(minutes "$downloads").  Nothing outside this folder changed but the packages above."
    cat <<TEXT
Next:
  build/bin/cresset job run ops/samples/fashion.yaml      the same job, watched live
  build/bin/cresset usage verify var/receipts/last.json   check the receipt without the server
  build/bin/cresset dev down                              stop everything; var/ keeps its state
TEXT
}
