# shellcheck shell=bash
# Sourced by the tests of the user's own address, `local:`. That address is an abstract socket named after the uid, so a
# test runs in private network, PID and mount namespaces: it cannot reach an agent of the user, it has its own /dev/shm,
# and all its processes end with it. The script's first argument is the name of the case.
# ctest sets BATON (the program) and ACTOR (tests/local/actor.cpp).
script=$(readlink -f -- "$0")
# shellcheck source-path=SCRIPTDIR source=../commands/lib.sh
source "${BASH_SOURCE[0]%/*}/../commands/lib.sh"
readonly skipped=77

# Runs the script's case again, inside.
if [[ ${INSIDE:-} == '' ]]; then
    apart=(unshare --net --mount)
    (($(id -u) == 0)) || apart=(unshare --user --map-root-user --net --mount)
    if ! "${apart[@]}" mount -t tmpfs none /dev/shm 2>/dev/null; then
        echo 'skipped: this machine does not permit namespaces' >&2
        exit "$skipped"
    fi
    cd / && rm -rf "$work"
    exec env INSIDE=yes "${apart[@]}" --kill-child --fork --pid --mount-proc "$script" "$1"
fi
mount -t tmpfs none /dev/shm

# as_nobody COMMAND…: runs the command as another user. need_nobody skips the test if there is none, as in a user namespace
# with one user.
as_nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
need_nobody() {
    as_nobody true 2>/dev/null && return
    echo 'skipped: no second user is available here' >&2
    exit "$skipped"
}
