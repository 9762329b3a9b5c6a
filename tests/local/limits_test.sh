#!/usr/bin/env bash
# The limits of the process that starts the agent stay with the agent, which serves all other clients too.
# shellcheck source-path=SCRIPTDIR source=apart.sh
source "${BASH_SOURCE[0]%/*}/apart.sh"

# within LIMITS COMMAND…: with these arguments of ulimit.
within() {
    (
        # shellcheck disable=SC2086  # several words
        ulimit $1
        "${@:2}"
    )
}
# limit_of_agent WHAT: soft and hard, from /proc.
limit_of_agent() { awk -v what="$1" 'index($0, what) == 1 { print $(NF - 2), $(NF - 1) }' "/proc/$(pgrep -f 'baton agent')/limits"; }

AnAgentThatMayOpenTooFewFilesDoesNotServe() {
    run within '-n 14' "$BATON" run -l ledger -- true
    expect_equal 'code of the first client' 69 "$code"
    expect_match reason 'it may have 14 open files (ulimit -Hn) and needs at least 44' "$err"
    run "$BATON" run -n -l ledger -- true
    expect_equal 'code of the next client' 0 "$code"
}

TheAgentRaisesItsSoftLimits() {
    within '-S -n 30 -f 100 -t 100' "$BATON" run -l ledger -- true
    expect_equal 'open files' "$(ulimit -Hn) $(ulimit -Hn)" "$(limit_of_agent 'Max open files')"
    expect_equal 'file size' 'unlimited unlimited' "$(limit_of_agent 'Max file size')"
    expect_equal 'cpu time' 'unlimited unlimited' "$(limit_of_agent 'Max cpu time')"
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
