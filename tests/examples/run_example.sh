#!/usr/bin/env bash
# run_example.sh PROGRAM SOURCE: the program must print the text under "// Output:" at the end of its source, where
# <number> is any number.
set -euo pipefail
program=$1 source=$2
mapfile -t wanted < <(sed -n '/^\/\/ Output:$/,$ { /^\/\/ Output:$/d; s|^// \{0,1\}||; p }' "$source")
mapfile -t printed < <("$program" 2>&1 || printf 'exit code %s\n' $?)

differs() {
    printf '%s\nprinted:\n' "$1"
    printf '  %s\n' "${printed[@]}"
    printf 'its source says:\n'
    printf '  %s\n' "${wanted[@]}"
    exit 1
}
((${#wanted[@]} > 0)) || differs "$source does not say what it prints"
((${#wanted[@]} == ${#printed[@]})) || differs "not as many lines"
for i in "${!wanted[@]}"; do
    pattern=$(sed -E 's/[][\.*^$+?(){}|/]/\\&/g; s/<number>/[0-9]+/g' <<<"${wanted[i]}")
    [[ ${printed[i]} =~ ^$pattern$ ]] || differs "line $((i + 1)) differs"
done
