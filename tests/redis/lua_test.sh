#!/usr/bin/env bash
# lua_test.sh FOLDER LIBRARY: the library as it is sent is Lua 5.1 and clean to luacheck, and every verb in FOLDER has a
# head: what it does, KEYS, ARGV, reply.
set -euo pipefail
folder=$1 library=$2
command -v luac5.1 luacheck >/dev/null || { echo 'skipped: lua5.1 and lua-check are not installed'; exit 77; }
failed=0
for verb in "$folder"/verbs/*.lua; do
    name=$(basename "$verb" .lua)
    head -n 1 "$verb" | grep -q "^-- $name: " || { echo "$verb does not say what it does"; failed=1; }
    for field in KEYS ARGV reply; do
        head -n 8 "$verb" | grep -q "^-- $field " || { echo "$verb does not name its $field"; failed=1; }
    done
    grep -q "^register('$name'" "$verb" || { echo "$verb registers another function"; failed=1; }
done
head -n 1 "$library" | grep -qE '^#!lua name=baton_[0-9a-f]{12}$' || { echo "$library has no head"; failed=1; }
whole=$(tail -n +2 "$library")
luac5.1 -p - <<<"$whole" || failed=1
luacheck --std lua51 --globals redis --max-line-length 120 --no-color -q - <<<"$whole" || failed=1
if grep -nE "call\('(KEYS|SCAN|CONFIG)'" "$library"; then failed=1; fi
# `hello` checks the caller's rights to exactly the commands that the library calls.
called=$(grep -oE "call\('[A-Z]+'" "$library" | sort -u | tr -cd 'A-Z\n')
for word in $called; do
    grep -qE "(\{|may\()'$word'" "$folder/verbs/hello.lua" || { echo "hello does not check the right to $word"; failed=1; }
done
exit "$failed"
