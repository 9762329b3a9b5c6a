#!/usr/bin/env bash
# lua_test.sh FOLDER LEAST: the scripts in it, so many at least, are Lua 5.1, clean to luacheck, and have a head.
set -euo pipefail
folder=$1 least=$2
command -v luac5.1 luacheck >/dev/null || { echo 'skipped: lua5.1 and lua-check are not installed'; exit 77; }
failed=0 count=0
for script in "$folder"/*.lua; do
    head -n 1 "$script" | grep -qE '^#!lua( flags=[a-z-]+)?$' || { echo "$script has no head"; failed=1; }
    # The head of a script: five lines of comment.
    lines=$(awk 'NR > 1 && !/^--/ { exit } NR > 1 { n++ } END { print n + 0 }' "$script")
    ((lines >= 5)) || { echo "$script: too short a head"; failed=1; }
    whole=$(tail -n +2 "$script")
    luac5.1 -p - <<<"$whole" || failed=1
    luacheck --std lua51 --globals KEYS ARGV redis --max-line-length 120 --no-color -q - \
        <<<"$whole" || { echo "in $script"; failed=1; }
    if grep -nE "call\('(KEYS|SCAN|CONFIG)'" "$script"; then failed=1; fi
    count=$((count + 1))
done
((count >= least)) || { echo "only $count scripts"; failed=1; }
exit "$failed"
