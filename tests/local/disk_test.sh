#!/usr/bin/env bash
# The agent on file systems that are full or read-only: it never grants what its successor would grant again.
# shellcheck source-path=SCRIPTDIR source=apart.sh
source "${BASH_SOURCE[0]%/*}/apart.sh"

# small_disk FOLDER: a file system of 64 KiB.
small_disk() {
    mkdir -p "$1"
    trap 'umount --lazy "$work/disk" 2>/dev/null || true; rm -rf "$work"' EXIT
    mount -t tmpfs -o size=64k none "$1"
}
fill() { dd if=/dev/zero of="$1/filler" bs=4k 2>/dev/null || true; }

# start_holder URL: holds ledger until the test writes into the pipe `go`.
start_holder() {
    mkfifo up go
    "$BATON" run --url "$1" -l ledger -- sh -c 'echo up >up; read -r _ <go' &
    holder=$!
    read -r _ <up
}
# The agent's process: the only one here.
agent() { pgrep -f 'baton agent'; }

# refuses URL DISK REASON: expects that no name is granted there and that the error has this reason; another address works.
refuses() {
    local option
    for option in --wait=5s --nonblock; do
        run "$BATON" run "$option" --url "$1" -l ledger -- true
        expect_equal "code with $option" 69 "$code"
        expect_match "message with $option" "$2" "$err"
        expect_match "message with $option" "$3" "$err"
    done
    run "$BATON" agent --foreground --address "$1"
    expect_equal 'code of the agent' 69 "$code"
    expect_match 'message of the agent' "$3" "$err"
    run "$BATON" run -n --url "local:$work/elsewhere" -l ledger -- true
    expect_equal 'code on another file system' 0 "$code"
}

# survives URL DISK: the agent dies while the disk is full and a holder works; new clients are not granted.
survives() {
    start_holder "$1"
    fill "$2"
    kill -9 "$(agent)"
    local i
    for i in 1 2 3; do
        run "$BATON" run -n --url "$1" -l ledger -- true
        expect_equal "code of newcomer $i" 75 "$code"
    done
    # The holder's agent is dead, and its successor may be, too.
    kill -9 "$(agent)"
    run "$BATON" run -n --url "$1" -l ledger -- true
    expect_equal 'code of a newcomer after two deaths' 75 "$code"
    echo >go
    wait "$holder" || die "the holder ended with $?"
}

AFullShmIsNamedAndNothingIsGranted() {
    small_disk /dev/shm && fill /dev/shm
    refuses local: /dev/shm/baton- 'No space left on device'
    expect_match 'what to do' 'BATON_URL=local:' "$(XDG_RUNTIME_DIR=/run/user/7 "$BATON" run -l x -- true 2>&1)"
    expect_equal 'files left' filler "$(ls /dev/shm)"
    rm /dev/shm/filler
    run "$BATON" run -n -l ledger -- true
    expect_equal 'code with room again' 0 "$code"
}

AReadOnlyShmIsNamedAndNothingIsGranted() {
    mount -o remount,ro /dev/shm
    refuses local: /dev/shm/baton- 'Read-only file system'
}

AFullDiskOfASocketFileIsNamedAndNothingIsGranted() {
    small_disk "$work/disk" && fill "$work/disk"
    refuses "local:$work/disk/agent" "$work/disk/agent.state" 'No space left on device'
}

AReadOnlyDiskOfASocketFileIsNamedAndNothingIsGranted() {
    small_disk "$work/disk" && mount -o remount,ro "$work/disk"
    refuses "local:$work/disk/agent" "$work/disk/agent.state" 'Read-only file system'
}

TheAgentsDeathWithAFullShmMakesNoSecondHolder() {
    small_disk /dev/shm
    survives local: /dev/shm
}

TheAgentsDeathWithAFullDiskMakesNoSecondHolder() {
    small_disk "$work/disk"
    survives "local:$work/disk/agent" "$work/disk"
}

# A record that an agent of an earlier version left: its clients may still live.
AnEmptyRecordMeansPaused() {
    small_disk /dev/shm
    : >"/dev/shm/baton-$(id -u)-$(stat -Lc %i /proc/self/ns/net)"
    run "$BATON" run -n -l ledger -- true
    expect_equal code 75 "$code"
    expect_match message 'ledger: the store has restarted' "$err"
    expect_match message 'grants nothing for another 1' "$err"
    run "$BATON" run --json -n -l ledger -- true
    expect_match 'in JSON' '"reason":"paused","paused_ms":1' "$err"
    run "$BATON" why ledger
    expect_equal 'code of why: it is not known to be free' 0 "$code"
    expect_match why 'grants nothing for another 1' "$out"
    run "$BATON" ls ledger
    expect_equal 'code of ls' 0 "$code"
    expect_match ls 'grants nothing for another 1' "$out"
    expect_match ls 'ledger: not granted yet' "$out"
}

ARecordThatWasRemovedIsMadeAgain() {
    start_holder local:
    rm /dev/shm/baton-*
    "$BATON" run -n -l other -- true
    kill -9 "$(agent)"
    run "$BATON" run -n -l ledger -- true
    expect_equal 'code of a newcomer' 75 "$code"
    echo >go
    wait "$holder" || die "the holder ended with $?"
}

"$1"
