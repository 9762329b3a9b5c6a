#!/usr/bin/env bash
# broken_test.sh PROGRAM FAULT CASE: the contract suite on a store with this fault must fail in this case. The other cases
# are not run; with the fault "none" the case must pass.
set -euo pipefail
program=$1 fault=$2 case=$3
for now in none "$fault"; do
    code=0
    output=$(BATON_FAULT=$now "$program" --gtest_filter="broken/$case") || code=$?
    if [[ $now == none ]]; then
        wanted="no failure"
        ((code == 0)) && continue
    else
        wanted="[  FAILED  ] broken/$case"
        [[ $code != 0 && $output == *"$wanted"* ]] && continue
    fi
    printf '%s\nwith the fault %s, %s was wanted (exit code %s)\n' "$output" "$now" "$wanted" "$code"
    exit 1
done
