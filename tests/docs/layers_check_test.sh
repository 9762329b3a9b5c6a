#!/usr/bin/env bash
# Tests that layers_check.py finds wrong includes.
set -euo pipefail
check=$1
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
mkdir -p "$work"/{include/baton,src/low,src/high,cli/run,tests}
touch "$work"/include/baton/a.hpp "$work"/src/{low,high}/{a,b}.hpp "$work"/cli/run/a.hpp
printf '#include "low/a.hpp"\n' >"$work/src/high/a.hpp"
table() { printf '| `%s` | %s | text |\n' "$@" >"$work/layers.md"; }
table include/baton '' src/low '`include/baton`' src/high '`asio` `src/low`' cli '`src/high`' tests everything
holds() { "$check" "$work/layers.md" "$work" >"$work/said" 2>&1; }

# FILE INCLUDE: the check passes; FILE INCLUDE WORDS: it fails and prints these words.
try() {
    printf '// A file.\n#include %s\n' "$2" >"$work/$1"
    if holds; then said=passed; else said=$(grep -F "${3:-?}" "$work/said" || echo "another failure"); fi
    rm "$work/$1"
    case ${3:-} in
        '') [ "$said" = passed ] ;;
        *) [[ $said == "$1:2: "* ]] ;;
    esac || { printf '%s with %s: %s\n' "$1" "$2" "$said"; cat "$work/said"; exit 1; }
}
try src/low/c.cpp '<vector>'
try src/low/c.cpp '<sys/socket.h>'
try src/low/c.cpp '<baton/a.hpp>'
try src/low/c.cpp '"low/b.hpp"'
try src/low/c.cpp '"b.hpp"'
try src/high/c.cpp '"low/a.hpp"'
try src/high/c.cpp '<asio/post.hpp>'
try cli/c.cpp '"run/a.hpp"'
try tests/c.cpp '"high/a.hpp"'
try src/low/c.cpp '"high/a.hpp"' 'src/low includes high/a.hpp of src/high; it may include include/baton'
try src/low/c.cpp '"../high/a.hpp"' 'of src/high'
try src/low/c.cpp '<asio.hpp>' 'src/low includes asio.hpp of asio'
try src/high/c.cpp.in '"baton/a.hpp"' 'of include/baton'
try include/baton/c.hpp '"low/a.hpp"' 'may include nothing of ours'
try cli/run/c.cpp '"low/a.hpp"' 'cli includes low/a.hpp of src/low'
try cli/c.cpp '"gone.hpp"' 'gone.hpp is in none of our folders'

printf '#include <vector>\n' >"$work/src/low/c.cpp"
fails() { ! holds && grep -qF "$1" "$work/said" || { cat "$work/said"; exit 1; }; }
mkdir "$work/src/new" && touch "$work/src/new/a.cpp"
fails 'src/new/a.cpp:1: no row'
rm -r "$work/src/new"
table include/baton '' src/low '`src/high`' src/high '`src/low`' cli ''
fails 'the row of src/low names src/high, which is not a row above it'
