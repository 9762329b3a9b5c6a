#!/usr/bin/env bash
# The user's own address, and other users. The address is abstract and follows from the uid, so these tests run in a
# network namespace of their own, where no agent of the user's can be met, with a /dev/shm of their own.
# ctest sets BATON (the program) and ACTOR (tests/local/actor.cpp).
# shellcheck source-path=SCRIPTDIR source=../commands/lib.sh
source "${BASH_SOURCE[0]%/*}/../commands/lib.sh"
readonly skipped=77

# Runs this script's case again, inside.
if [[ ${INSIDE:-} == '' ]]; then
    apart=(unshare --net --mount)
    (($(id -u) == 0)) || apart=(unshare --user --map-root-user --net --mount)
    if ! "${apart[@]}" mount -t tmpfs none /dev/shm 2>/dev/null; then
        echo 'skipped: no namespaces to be had here' >&2
        exit "$skipped"
    fi
    cd / && rm -rf "$work"
    exec env INSIDE=yes "${apart[@]}" --kill-child --fork --pid --mount-proc "${BASH_SOURCE[0]}" "$1"
fi
mount -t tmpfs none /dev/shm

# as_nobody COMMAND…: in a world of one user there is no other.
as_nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
need_nobody() {
    as_nobody true 2>/dev/null && return
    echo 'skipped: no other user to be had here' >&2
    exit "$skipped"
}

# hold NAME [WRAPPER…]: takes a lock, and says what came of it.
hold() { "${@:2}" "$ACTOR" local: 1000 "$1" <<<quit; }

OneAddressFromTheUidAlone() {
    # A login shell, cron and a service differ in all but the uid.
    expect_match 'in a shell' 'held ' "$(hold ledger)"
    local -r cron=(env -i HOME=/nonexistent TMPDIR=/nowhere XDG_RUNTIME_DIR=/none)
    expect_match 'in cron' 'held ' "$(cd / && hold ledger "${cron[@]}")"
    expect_equal 'number of agents' 1 "$(pgrep -fc 'baton agent' || true)"
    expect_match 'the address' "@baton/$(id -u)" "$(cat /proc/net/unix)"
    expect_match 'the state' ' clean ' "$(cat "/dev/shm/baton-$(id -u)-"*)"
}

EveryEnvironmentMeetsTheSameLock() {
    local holder
    mkfifo held
    "$BATON" run -l ledger -- sh -c 'echo up; exec sleep 1000' >held &
    holder=$!
    read -r _ <held
    local -r cron=(SHELL=/bin/sh HOME=/nonexistent PATH=/usr/bin:/bin LOGNAME=somebody)
    run env -i "$BATON" run -n -l ledger -- true
    expect_equal 'with no environment' 75 "$code"
    run env -i HOME=/nonexistent bash -lc "'$BATON' run -n -l ledger -- true"
    expect_equal 'in a login shell' 75 "$code"
    run env -i -C / "${cron[@]}" sh -c "'$BATON' run -n -l ledger -- true"
    expect_equal 'in cron' 75 "$code"
    expect_match 'in another environment' 'ledger: held' "$(env -i "$BATON" ls)"
    kill "$holder"
    wait "$holder" || true
    env -i "$BATON" run -n -l ledger -- true || die 'and when it is free, it is free'
}

TheAgentRefusesOtherUsers() {
    need_nobody
    expect_match 'an agent' 'held ' "$(hold ledger)"
    # It knocks where it does not belong.
    run as_nobody "$ACTOR" --ask "@baton/0" PING
    expect_match answer 'DENIED this agent serves user 0 only' "$out"
    run "$ACTOR" --ask "@baton/0" PING
    expect_match answer PONG "$out"
}

AClientRefusesTheAgentOfAnotherUser() {
    need_nobody
    coproc squatter { as_nobody "$ACTOR" --squat "@baton/0"; }
    read -r line <&"${squatter[0]}"
    expect_equal squatter listening "$line"
    run hold ledger
    expect_match answer 'failed the agent belongs to another user' "$out"
}

ASocketFileServesWhomItsModeAllows() {
    need_nobody
    chmod 755 "$work"
    "$BATON" agent --foreground --address "local:$work/own" &
    "$BATON" agent --foreground --address "local:$work/all" --mode 0666 &
    until [[ -S own && -S all ]]; do :; done
    expect_equal 'mode of the one' 600 "$(stat -c %a own)"
    expect_equal 'mode of the other' 666 "$(stat -c %a all)"
    run as_nobody "$ACTOR" "local:$work/own" 1000 ledger </dev/null
    expect_match 'with 0600' 'failed the agent belongs to another user' "$out"
    run as_nobody "$ACTOR" "local:$work/all" 1000 ledger </dev/null
    expect_match 'with 0666' 'held ' "$out"
    run as_nobody "$BATON" run --url "local:$work/own" -l ledger -- true
    expect_equal 'code with 0600' 77 "$code"
    run as_nobody "$BATON" run --url "local:$work/all" -l ledger -- true
    expect_equal 'code with 0666' 0 "$code"
}

AStateFileOfAnotherUserIsNotTrusted() {
    need_nobody
    chmod 1777 /dev/shm
    local -r state=/dev/shm/baton-0-$(stat -Lc %i /proc/self/ns/net)
    as_nobody sh -c "echo baton 2 x clean 1 1 15000 >$state"
    "$BATON" agent --foreground &
    until run "$ACTOR" --ask "@baton/0" BATON.INSPECT && [[ $out == *paused_until_us* ]]; do :; done
    expect_equal 'what stands in it' 'baton 2 x clean 1 1 15000' "$(cat "$state")"
}

"$1"
