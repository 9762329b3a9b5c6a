# shellcheck shell=bash
# Functions that the tests of the commands share. ctest sets SOURCE (the tree), WORK (a work folder) and BATON (the
# program).
set -euo pipefail

# Each test has a temporary folder and writes nothing outside it.
work=$(mktemp -d "${WORK:?}/run.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"

die() {
    printf 'FAILED: %s\n' "$*" >&2
    exit 1
}

expect_equal() { [[ $2 == "$3" ]] || die "$1: wanted «$2», got «$3»"; }
expect_match() { [[ $3 == *"$2"* ]] || die "$1: wanted «$2» in «$3»"; }

# run COMMAND…: stores the output in $out and $err and the exit code in $code.
# shellcheck disable=SC2034  # the tests read them
run() {
    code=0
    "$@" >"$work/out" 2>"$work/err" || code=$?
    out=$(<"$work/out") err=$(<"$work/err")
}

# copy_tree FOLDER: copies the tree, with a tiny program in place of the real one.
copy_tree() {
    mkdir "$1"
    tar -C "$SOURCE" --exclude=./build --exclude=./.git -c . | tar -C "$1" -x
    cp -r "$SOURCE/tests/commands/fixture/." "$1"
}
