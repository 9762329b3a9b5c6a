#!/usr/bin/env bash
# The user's own address, and other users.
# shellcheck source-path=SCRIPTDIR source=apart.sh
source "${BASH_SOURCE[0]%/*}/apart.sh"

# hold NAME [WRAPPER…]: acquires a lock and prints the result.
hold() { "${@:2}" "$ACTOR" local: 1000 "$1" <<<quit; }

TheAddressDependsOnTheUidOnly() {
    # A login shell, cron and a service differ in everything except the uid.
    expect_match 'in a shell' 'held ' "$(hold ledger)"
    local -r cron=(env -i HOME=/nonexistent TMPDIR=/nowhere XDG_RUNTIME_DIR=/none)
    expect_match 'in cron' 'held ' "$(cd / && hold ledger "${cron[@]}")"
    expect_equal 'number of agents' 1 "$(pgrep -fc 'baton agent' || true)"
    expect_match 'the address' "@baton/$(id -u)" "$(cat /proc/net/unix)"
    expect_match 'the state' ' clean ' "$(cat "/dev/shm/baton-$(id -u)-"*)"
}

EveryEnvironmentSharesTheSameLock() {
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
    # Another user connects to the agent.
    run as_nobody "$ACTOR" --ask "@baton/0" PING
    expect_match answer 'DENIED this agent serves user 0 only' "$out"
    run "$ACTOR" --ask "@baton/0" PING
    expect_match answer PONG "$out"
}

# start_squatter NAME: another user listens there; its process id is in $squatter_id.
start_squatter() {
    coproc squatter { exec setpriv --reuid 65534 --regid 65534 --clear-groups "$ACTOR" --squat "$1"; }
    squatter_id=$squatter_PID
    read -r line <&"${squatter[0]}"
    expect_equal squatter listening "$line"
}

AnAgentOfAnotherUserIsRefusedAndNamed() {
    need_nobody
    start_squatter "@baton/0"
    run hold ledger
    expect_match 'the library' 'failed not permitted' "$out"
    run env XDG_RUNTIME_DIR=/run/user/7 "$BATON" run -l ledger -- true
    expect_equal 'code of run' 77 "$code"
    expect_match 'who' "local: is taken by process $squatter_id of user 65534" "$err"
    expect_match 'what to do' 'set BATON_URL=local:/run/user/7/baton for all programs' "$err"
    run "$BATON" agent
    expect_equal 'code of agent' 77 "$code"
    expect_match 'who, of agent' "local: is taken by process $squatter_id of user 65534" "$err"
    run "$BATON" agent --foreground
    expect_equal 'code of agent --foreground' 77 "$code"
    expect_match 'who, of agent --foreground' "process $squatter_id of user 65534" "$err"
    run env BATON_URL="local:$work/baton" "$BATON" run -n -l ledger -- true
    expect_equal 'code of run elsewhere' 0 "$code"
}

ASocketFileIsServedByTheUserRootOrTheOwnerOfItsFolder() {
    need_nobody
    chmod 755 "$work"
    mkdir -m 1777 everybody
    start_squatter "$work/everybody/agent"
    chmod 666 everybody/agent
    run "$BATON" run --url "local:$work/everybody/agent" -l ledger -- true
    expect_equal 'code for a foreign server' 77 "$code"
    expect_match 'who' "process $squatter_id of user 65534, which is neither this user nor root nor the owner of" "$err"
    run "$BATON" agent --foreground --address "local:$work/everybody/agent"
    expect_equal 'code of an agent there' 77 "$code"
    expect_match 'who, of an agent there' "process $squatter_id of user 65534" "$err"
    [[ -S everybody/agent ]] || die 'the socket of another user was removed'

    mkdir team
    chown 65534 team
    as_nobody "$BATON" agent --foreground --address "local:$work/team/agent" --mode 0666 &
    until [[ -S team/agent ]]; do :; done
    run "$BATON" run --url "local:$work/team/agent" -l ledger -- true
    expect_equal "code for the folder's owner" 0 "$code"
    mkdir roots
    "$BATON" agent --foreground --address "local:$work/roots/agent" --mode 0666 &
    until [[ -S roots/agent ]]; do :; done
    run as_nobody "$BATON" run --url "local:$work/roots/agent" -l ledger -- true
    expect_equal 'code for root' 0 "$code"
}

TheProgramReportsWhichAgentItUses() {
    local -r agent="local:, the agent of user $(id -u) in network namespace $(stat -Lc %i /proc/self/ns/net)"
    run "$BATON" run -v -l ledger -- true
    expect_match 'run -v' "baton: using $agent" "$err"
    run "$BATON" run --json -l ledger -- true
    expect_match 'run --json' "\"event\":\"using\"" "$err"
    run env SUDO_UID=1000 "$BATON" run -v -l ledger -- true
    expect_match 'under sudo' "$agent; user 1000, who ran sudo, has another" "$err"
    run "$BATON" ls
    expect_equal ls "at $agent" "$out"
    run "$BATON" ls ledger
    expect_equal 'ls of a name' "at $agent"$'\n'"ledger: free" "$out"
    run "$BATON" ls --url "local:$work/agent" ledger
    expect_equal 'ls at a socket file, which is named already' 'ledger: free' "$out"
    for verb in '' run agent; do
        run "$BATON" ${verb:+"$verb"} --help
        expect_match "help of $verb" 'local:' "$out"
        expect_match "help of $verb" 'sudo' "$out"
    done
}

# The command of the packaged unit, and the variable that the documentation sets for all users.
TheSharedAgentServesAllUsersOfTheMachine() {
    need_nobody
    local -r unit=${BASH_SOURCE[0]%/*}/../../packaging/baton-agent.service
    local command url
    command=$(sed -n 's|^ExecStart=/usr/local/bin/baton ||p' "$unit")
    url=$(sed -n 's|^ExecStart=.*--address \(local:[^ ]*\).*|\1|p' "$unit")
    mount -t tmpfs -o mode=755 none /run
    local -r folder=${url#local:}
    mkdir "${folder%/*}"  # RuntimeDirectory= of the unit
    # shellcheck disable=SC2086  # several words
    "$BATON" $command &
    until [[ -S ${url#local:} ]]; do :; done
    mkfifo up
    "$BATON" run -l ledger -- sh -c 'echo up >up; exec sleep 1000' &
    read -r _ <up
    run as_nobody "$BATON" run -n -l ledger -- true
    expect_equal 'code of another user with an agent of its own' 0 "$code"
    export BATON_URL=$url
    "$BATON" run -l ledger -- sh -c 'echo up >up; exec sleep 1000' &
    read -r _ <up
    run as_nobody "$BATON" run -n -l ledger -- true
    expect_equal 'code of another user with the shared agent' 75 "$code"
}

TheModeOfASocketFileSelectsItsUsers() {
    need_nobody
    chmod 755 "$work"
    "$BATON" agent --foreground --address "local:$work/own" &
    "$BATON" agent --foreground --address "local:$work/all" --mode 0666 &
    until [[ -S own && -S all ]]; do :; done
    expect_equal 'mode of the one' 600 "$(stat -c %a own)"
    expect_equal 'mode of the other' 666 "$(stat -c %a all)"
    run as_nobody "$ACTOR" "local:$work/own" 1000 ledger </dev/null
    expect_match 'with 0600' 'failed not permitted' "$out"
    run as_nobody "$ACTOR" "local:$work/all" 1000 ledger </dev/null
    expect_match 'with 0666' 'held ' "$out"
    run as_nobody "$BATON" run --url "local:$work/own" -l ledger -- true
    expect_equal 'code with 0600' 77 "$code"
    run as_nobody "$BATON" run --url "local:$work/all" -l ledger -- true
    expect_equal 'code with 0666' 0 "$code"
}

ARecordOfAnotherUserIsNotTrustedAndNamed() {
    need_nobody
    chmod 1777 /dev/shm
    local -r state=/dev/shm/baton-0-$(stat -Lc %i /proc/self/ns/net)
    as_nobody sh -c "echo baton 2 x clean 1 1 15000 >$state"
    run env XDG_RUNTIME_DIR=/run/user/7 "$BATON" run -l ledger -- true
    expect_equal code 69 "$code"
    expect_match 'whose it is' "$state that it has clients: it belongs to user 65534" "$err"
    expect_match 'what to do' 'set BATON_URL=local:/run/user/7/baton for all programs' "$err"
    expect_equal 'what stands in it' 'baton 2 x clean 1 1 15000' "$(cat "$state")"
}

"$1"
