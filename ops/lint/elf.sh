#!/bin/sh
# elf: what the released programs are linked as (reliability.md, section 14). The arguments are
# programs.
bad=0
say() {
    echo "   $1: $2"
    bad=1
}
for program in "$@"; do
    head=$(readelf -h "$program")
    dynamic=$(readelf -d "$program")
    segments=$(readelf -lW "$program")
    symbols=$(nm -D "$program")
    echo "$head" | grep -q 'Type:.*DYN' || say "$program" 'not position-independent'
    echo "$dynamic" | grep -qE 'BIND_NOW|FLAGS.*NOW' || say "$program" 'symbols are bound lazily'
    echo "$segments" | grep -q GNU_RELRO || say "$program" 'no RELRO'
    echo "$segments" | grep GNU_STACK | grep -q 'RWE' && say "$program" 'an executable stack'
    echo "$dynamic" | grep -qE 'RPATH|RUNPATH' && say "$program" 'a library path of its own'
    echo "$dynamic" | grep -q TEXTREL && say "$program" 'relocations in its text'
    echo "$symbols" | grep -q __stack_chk_fail || say "$program" 'no stack protector'
    echo "$symbols" | grep -qE '__[a-z]+_chk(@|$)' || say "$program" 'no _FORTIFY_SOURCE'
done
exit $bad
