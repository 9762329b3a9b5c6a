#!/usr/bin/env bash
# Fails if a page names a test or path, in backticks, that does not exist.
#   names_check.sh tests PAGE BUILD_FOLDER    each word in a column "shown by": a test of this build
#   names_check.sh paths PAGE SOURCE_FOLDER   `a/path` anywhere but in a table's first column, where seeds.md quotes
set -euo pipefail
what=$1 page=$2 folder=$3
test_name='[A-Z][A-Za-z0-9_]*(/[A-Za-z0-9_]+)?(\.[A-Z][A-Za-z0-9_-]*)+(/[A-Za-z0-9_]+)?'

# Prints lines "shown WORD" for the column "shown by", and "other WORD" for the rest of the page.
words() {
    sed 's/\\|/ /g' "$page" | awk -F '|' '
        function emit(kind, text) {
            for (; match(text, /`[^`]+`/); text = substr(text, RSTART + RLENGTH))
                print kind, substr(text, RSTART + 1, RLENGTH - 2)
        }
        !/^\|/ { table = 0; emit("other", $0); next }
        !table { table = 1; shown = 0; for (i = 2; i < NF; i++) if ($i ~ /^ *shown by *$/) shown = i }
        { for (i = 3; i < NF; i++) emit(i == shown ? "shown" : "other", $i) }'
}

# A parameterised test is named Prefix/Suite.Name/parameter; the page may leave out the prefix and the parameter.
tests_of_build() {
    local list
    list=$(mktemp -d)
    # ctest writes a log into its folder; in the build folder it would overwrite the log of the ctest that runs this
    # test.
    printf 'subdirs("%s")\n' "$folder" >"$list/CTestTestfile.cmake"
    ctest --test-dir "$list" -N | sed -nE 's/^ *Test +#[0-9]+: //p' |
        sed -E 'p; s#^[^/.]*/##; s#(\.[^/]*)/.*#\1#'
    rm -r "$list"
}

unknown_tests() {
    words | sed -n 's/^shown //p' | sort -u | comm -23 - <(tests_of_build | sort -u)
}

unknown_paths() {
    local path
    words | cut -d ' ' -f 2- | { grep -xE '[^[:space:]:]*/[^[:space:]:]*' || true; } |
        { grep -vxE "$test_name" || true; } |
        while read -r path; do [[ -e $folder/$path ]] || printf '%s\n' "$path"; done
}

unknown=$("unknown_$what")
if [[ -n $unknown ]]; then
    printf '%s names %s that do not exist:\n%s\n' "$page" "$what" "$unknown"
    exit 1
fi
