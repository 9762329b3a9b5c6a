#!/usr/bin/env bash
# Tests of the program: help, version, wrong usage, and output that cannot be written.
# shellcheck source-path=SCRIPTDIR source=lib.sh
source "${BASH_SOURCE[0]%/*}/lib.sh"

PrintTheVersion() {
    run "$BATON" --version
    expect_equal code 0 "$code"
    [[ $out =~ ^baton\ [0-9]+\.[0-9]+\.[0-9]+$ ]] || die "no version: $out"
}

PrintHelpOnStdout() {
    run "$BATON" --help
    expect_equal code 0 "$code"
    expect_match help 'Usage: baton' "$out"
    expect_equal stderr '' "$err"
}

RefuseWrongUsage() {
    local word
    for word in frobnicate --frobnicate -x ''; do
        run "$BATON" "$word"
        expect_equal "code of «$word»" 64 "$code"
        expect_equal "stdout of «$word»" '' "$out"
        expect_match "what is allowed instead of «$word»" '--version' "$err"
    done
    run "$BATON" frobnicate
    expect_match verb 'unknown verb: frobnicate' "$err"
    run "$BATON" --frobnicate
    expect_match option 'unknown option: --frobnicate' "$err"
}

PrintHelpOnStderrWithoutArguments() {
    run "$BATON"
    expect_equal code 64 "$code"
    expect_equal stdout '' "$out"
    expect_match help 'Usage: baton' "$err"
}

ReportFailedWrites() {
    code=0
    err=$("$BATON" --help 2>&1 >/dev/full) || code=$?
    expect_equal 'code on a full device' 70 "$code"
    expect_match 'message on a full device' 'cannot write to standard output: No space left' "$err"

    # The reader closes the pipe before the program writes; SIGPIPE is ignored, as under many service managers.
    mkfifo pipe
    exec 7<>pipe
    exec 8>pipe 7>&-
    code=0
    err=$(trap '' PIPE && exec "$BATON" --help 2>&1 >&8) || code=$?
    expect_equal 'code without a reader' 70 "$code"
    expect_match 'message without a reader' 'cannot write to standard output: Broken pipe' "$err"

    # With the default action, SIGPIPE ends the program, as it ends every filter.
    code=0
    "$BATON" --help >&8 || code=$?
    expect_equal 'code after SIGPIPE' 141 "$code"
}

"$1"
