#!/bin/sh
# symbols: libraries of floors 1 to 4 get clock, randomness, files and services from their call
# (rule proc.1). The arguments are archives; those of kernels/ may make threads.
bad=0
for archive in "$@"; do
    banned='clock_gettime|gettimeofday|time|getrandom|open|open64|openat|openat64|fopen|fopen64|socket|connect|fsync|fdatasync|PQ[a-z].*|nats[A-Z].*|curl_.*'
    case $archive in
    */kernels/*) ;;
    */compute/launch.a) banned='PQ[a-z].*|nats[A-Z].*|curl_.*|socket|connect|getrandom' ;; # it is the parent of processes
    *) banned="$banned|pthread_create" ;;
    esac
    found=$(nm -u "$archive" 2>/dev/null | awk '{ print $2 }' | sed 's/@.*//' | grep -xE "$banned" | sort -u | tr '\n' ' ')
    if [ -n "$found" ]; then
        echo "   $archive calls ${found}: it has a call->env for that"
        bad=1
    fi
done
exit $bad
