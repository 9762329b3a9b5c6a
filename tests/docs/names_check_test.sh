#!/usr/bin/env bash
# shellcheck disable=SC2016  # the backticks are those of Markdown
# Tests that names_check.sh reports the wrong names of a page, and only these.
set -euo pipefail
check=$1
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

mkdir "$work/src"
printf 'add_test(%s true)\n' Engine.IsFair Stores/Contract.IsFair/memory Fleet.TwoHoldWithoutThe-pause >"$work/CTestTestfile.cmake"
page() {
    printf '%s\n' 'The code is in `src/`.' '' '| feature | here | shown by |' '|---|---|---|' \
        "| \`seeds/own.php\` a \\| b | \`src/\` | \`Engine.IsFair\`, \`Contract.IsFair\`; $1 |" >"$work/page.md"
}
expect() {
    local what=$1 wanted=$2 found
    found=$("$check" "$what" "$work/page.md" "$work" | tail -n +2) || true
    [[ $found == "$wanted" ]] && return
    printf 'wanted "%s" from the check of %s, got "%s"\n' "$wanted" "$what" "$found"
    exit 1
}

page 'nothing wrong'
"$check" tests "$work/page.md" "$work"
"$check" paths "$work/page.md" "$work"
page '`Fleet.TwoHoldWithoutThe-pause`'
"$check" tests "$work/page.md" "$work"
page '`Engine.IsUnfair`, `Fleet.TwoHoldWithoutThe-clock`, `no test`'
expect tests $'Engine.IsUnfair\nFleet.TwoHoldWithoutThe-clock\nno test'
page '`src/nowhere.cpp`'
expect paths src/nowhere.cpp
