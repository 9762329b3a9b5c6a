# shellcheck shell=bash
# What the tests of the commands share. ctest sets SOURCE (the tree), WORK (a folder to work in), BATON (the program).
set -euo pipefail

# Each test has a folder of its own, gone afterwards; nothing outside it is written.
work=$(mktemp -d "${WORK:?}/run.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"

die() {
    printf 'FAILED: %s\n' "$*" >&2
    exit 1
}

expect_equal() { [[ $2 == "$3" ]] || die "$1: wanted «$2», got «$3»"; }
expect_match() { [[ $3 == *"$2"* ]] || die "$1: wanted «$2» in «$3»"; }

# run COMMAND…: its output in $out and $err, its exit code in $code.
# shellcheck disable=SC2034  # the tests read them
run() {
    code=0
    "$@" >"$work/out" 2>"$work/err" || code=$?
    out=$(<"$work/out") err=$(<"$work/err")
}

# copy_tree FOLDER: the tree as it is, with a tiny program in the place of the real one.
copy_tree() {
    mkdir "$1"
    tar -C "$SOURCE" --exclude=./build --exclude=./.git -c . | tar -C "$1" -x
    cp -r "$SOURCE/tests/commands/fixture/." "$1"
}
