#!/usr/bin/env bash
# examples_check.sh FOLDER: checks that its README.md names every example and shows the output that the source states.
set -euo pipefail
folder=$1
failed=0
for source in "$folder"/[0-9]*.cpp "$folder"/[0-9]*/main.cpp; do
    name=${source#"$folder"/}
    link=${name%/main.cpp}
    grep -qF "($link)" "$folder/README.md" || { printf 'README.md does not name %s\n' "$link"; failed=1; }
    # The output is below the example's name, indented by four spaces.
    shown=$(awk -v link="($link)" 'index($0, link) { on = 1; next } /^## / { on = 0 } on && /^    / { print substr($0, 5) }' \
        "$folder/README.md")
    wanted=$(sed -n '/^\/\/ Output:$/,$ { /^\/\/ Output:$/d; s|^// \{0,1\}||; p }' "$source")
    [[ $shown == "$wanted" ]] || { printf 'README.md shows for %s:\n%s\ninstead of\n%s\n' "$link" "$shown" "$wanted"; failed=1; }
done
exit "$failed"
