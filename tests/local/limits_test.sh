#!/usr/bin/env bash
# The limits of the process that starts the agent stay with the agent, which serves all other clients too.
# shellcheck source-path=SCRIPTDIR source=apart.sh
source "${BASH_SOURCE[0]%/*}/apart.sh"

# within LIMITS COMMAND…: runs the command with these arguments of ulimit.
within() {
    (
        # shellcheck disable=SC2086  # several words
        ulimit $1
        "${@:2}"
    )
}
# expect_raised WHAT: the agent's soft limit is the hard one of this shell.
expect_raised() {
    local -r limits='index($0, what) == 1 { print $(NF - 2), $(NF - 1) }'
    local soft hard wanted
    read -r _ wanted < <(awk -v what="$1" "$limits" "/proc/$$/limits")
    read -r soft hard < <(awk -v what="$1" "$limits" "/proc/$(pgrep -f 'baton agent')/limits")
    expect_equal "hard limit: $1" "$wanted" "$hard"
    expect_equal "soft limit: $1" "$wanted" "$soft"
}

AnAgentThatMayOpenTooFewFilesDoesNotServe() {
    run within '-n 30' "$BATON" run -l ledger -- true
    expect_equal 'code of the first client' 69 "$code"
    expect_match reason 'it may have 30 open files (ulimit -Hn) and needs at least 44' "$err"
    run within '-n 14' "$BATON" run -l ledger -- true
    expect_equal 'code of a client that has too few for itself' 70 "$code"
    expect_match reason 'Too many open files' "$err"
    run "$BATON" run -n -l ledger -- true
    expect_equal 'code of the next client' 0 "$code"
}

TheAgentRaisesItsSoftLimits() {
    within '-S -n 30 -f 100 -t 100' "$BATON" run -l ledger -- true
    expect_raised 'Max open files'
    expect_raised 'Max file size'
    expect_raised 'Max cpu time'
}

TheReasonOfALimitReachesTheUser() {
    local -r url=local:$work/agent
    within '-n 44' "$BATON" agent --foreground --address "$url" &
    until [[ -S agent ]]; do :; done
    local i
    for i in 1 2 3 4 5 6 7 8; do
        mkfifo "say$i"
        "$ACTOR" "$url" 10000 "name$i" <"say$i" >"heard$i" &
        eval "exec {hold$i}>say$i"
        until grep -q '^held ' "heard$i"; do :; done
    done
    run "$BATON" run -n --url "$url" -l ledger -- true
    expect_equal 'code of run' 69 "$code"
    expect_match 'reason for run' 'serves at most 8 clients at a time, as it may have 44 open files (ulimit -Hn)' "$err"
    run "$BATON" ls --url "$url"
    expect_equal 'code of ls' 69 "$code"
    expect_match 'reason for ls' 'serves at most 8 clients at a time' "$err"
}

AFileSizeLimitOfZeroIsNamed() {
    # Standard error is a pipe: a file could not be written, either.
    local said
    said=$(within '-f 0' "$BATON" agent --foreground --address "local:$work/agent" 2>&1) && die 'the agent served'
    expect_match reason "$work/agent.state that it has clients: File too large" "$said"
}

"$1"
