# shellcheck shell=bash
# What ./baton, ./test and the scripts share: installing packages, building a preset, running its tests.
# Source it by its absolute path; it only defines. All of it talks on stderr and leaves stdin alone, so that
# what goes in and out of a command is the program's own.

root=${BASH_SOURCE[0]%/scripts/lib.sh}
program=$root/build/release/cli/baton

# Exit codes, after sysexits.h as the program's own are.
readonly exit_unavailable=69 exit_build_failed=70 exit_not_permitted=77

say() { printf 'baton: %s\n' "$*" >&2; }

# fail CODE MESSAGE [LINE…]: the lines follow as they are, to be copied.
fail() {
    local -r code=$1
    say "$2"
    shift 2
    (($# == 0)) || printf '    %s\n' "$@" >&2
    exit "$code"
}

have() { command -v "$1" >/dev/null; }

# take_lock MODE WHAT: locks file descriptor 9, shared (-s) or exclusive (-x).
take_lock() {
    flock -n "$1" 9 && return
    say "waiting for another command that $2"
    flock "$1" 9
}

# ---- packages ----

# needed_packages GROUP…: lines "package reason" of scripts/packages.
needed_packages() {
    local groups=" $* " group package reason
    while read -r group package reason; do
        if [[ $groups == *" $group "* ]]; then printf '%s %s\n' "$package" "$reason"; fi
    done <"$root/scripts/packages"
}

# missing_packages GROUP…: the same lines, of what is not installed.
missing_packages() {
    local package reason needed names installed
    needed=$(needed_packages "$@")
    mapfile -t names < <(cut -d ' ' -f 1 <<<"$needed")
    # dpkg-query fails when one of the names is unknown; it still answers for the others.
    installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${names[@]}" 2>/dev/null) || true
    while read -r package reason; do
        [[ $'\n'$installed$'\n' == *$'\n'"installed $package"$'\n'* ]] || printf '%s %s\n' "$package" "$reason"
    done <<<"$needed"
}

# Without apt nothing can be installed here. The build's tools may be there all the same, and then CMake says what else
# is missing.
require_tools() {
    local tool names
    for tool in c++ cmake ninja; do
        have "$tool" && continue
        names=$(needed_packages "$@" | cut -d ' ' -f 1)
        fail "$exit_not_permitted" "$tool is missing, and there is no apt-get to install it. In Debian's terms:" \
            "${names//$'\n'/ }"
    done
}

apt_get() { "${as_root[@]}" DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 "$@" </dev/null >&2; }

# The package lists are fetched only where they lack a package, or name a version that the mirror no longer has.
# A status of 1 is sudo's refusal: apt-get fails with 100.
apt_install() {
    local package
    for package; do
        apt-cache show "$package" >/dev/null 2>&1 && continue
        apt_get update || return
        break
    done
    apt_get install -y --no-install-recommends "$@" && return
    (($? != 1)) || return
    apt_get update && apt_get install -y --no-install-recommends "$@"
}

# ensure_packages GROUP…: installs what is missing; silent and without network when nothing is.
ensure_packages() {
    if ! have dpkg-query || ! have apt-get; then
        require_tools "$@"
        return
    fi
    local missing names package reason status=0
    missing=$(missing_packages "$@")
    [[ -n $missing ]] || return 0

    say "these Debian packages are missing:"
    while read -r package reason; do printf '    %-18s %s\n' "$package" "$reason" >&2; done <<<"$missing"
    mapfile -t names < <(cut -d ' ' -f 1 <<<"$missing")
    local -r by_hand="apt-get update && apt-get install -y --no-install-recommends ${names[*]}"
    if (($(id -u) == 0)); then
        as_root=(env)
    elif have sudo; then
        as_root=(sudo)
    else
        fail "$exit_not_permitted" "installing them takes root, and there is no sudo; as root, run:" "$by_hand"
    fi

    say "installing them with apt-get"
    mkdir -p "$root/build"
    {
        take_lock -x "installs packages"
        apt_install "${names[@]}" 9>&- || status=$?
    } 9>"$root/build/packages.lock"
    case $status in
        0) ;;
        1) fail "$exit_not_permitted" "no right to install them; as root, run:" "$by_hand" ;;
        *) fail "$exit_unavailable" "apt-get failed (see above); it needs the network. To try by hand, as root, run:" \
            "$by_hand" ;;
    esac
}

# ---- building ----

# is_current PRESET [TARGET]: nothing that feeds the build changed since it last succeeded, here. Only sources are looked
# at, so that a job may write its files into the checkout. Their folders are looked at too, so that a removed file
# counts. A folder that CMakeLists.txt names must be in the list: a test compares them.
is_current() {
    local stamp=$root/build/$1/current.${2:-all} built_in=''
    [[ -f $stamp ]] && read -r built_in <"$stamp" && [[ $built_in == "$root" ]] || return 1
    local -a sources=(CMakeLists.txt CMakePresets.json bench cli cmake dialects include scripts src)
    if [[ $1 == release ]]; then
        [[ -x $program ]] || return 1
    else
        sources+=(contract examples tests)
    fi
    [[ -z $(cd "$root" && find "${sources[@]}" -name '*.md' -prune -o -newer "$stamp" -print -quit) ]]
}

# build PRESET [TARGET]: configures and builds what changed. Two at the same time: one builds, the other waits for it.
build() {
    mkdir -p "$root/build"
    (
        take_lock -x "builds or tests the preset $1"
        if ! is_current "$1" "${2:-all}"; then compile "$1" "${2:-all}" 9>&-; fi
    ) 9>"$root/build/$1.lock" </dev/null >&2
}

compile() {
    local dir=$root/build/$1
    export CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}
    # CMake refuses a build folder that was made under another path: the checkout was moved or copied.
    if [[ -f $dir/CMakeCache.txt ]] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$dir/CMakeCache.txt"; then
        rm -rf "$dir"
    fi
    if [[ $2 == all ]]; then say "building (preset $1)"; else say "building $2 (preset $1)"; fi
    mkdir -p "$dir"
    # Dated before the build, so that an edit during it counts as a change; in place only after success.
    printf '%s\n' "$root" >"$dir/new.$2"
    cd "$root" || exit
    # ninja runs CMake again by itself, except for a change of the presets.
    if [[ ! -f $dir/build.ninja || CMakePresets.json -nt $dir/build.ninja ]]; then
        cmake --fresh --preset "$1" || fail "$exit_build_failed" "the build could not be configured (see above)"
    fi
    cmake --build --preset "$1" --target "$2" || fail "$exit_build_failed" "the build failed (see above)"
    mv "$dir/new.$2" "$dir/current.$2"
}

# target_of [ctest arguments]: what has to be built for the tests that they select: with -L LABEL, where LABEL is one of
# ours, the target of that label; else everything.
target_of() {
    local label=''
    while (($# > 0)); do
        if [[ $1 == -L || $1 == --label-regex ]]; then label=${2:-}; fi
        shift
    done
    if [[ $label =~ ^[a-z]+$ ]] && grep -qsE "^set\(labels( [a-z]+)* $label( |\))" "$root/tests/CMakeLists.txt"; then
        printf 'tests_%s\n' "$label"
    else
        printf 'all\n'
    fi
}

# run_tests PRESET [ctest arguments]: builds what the tests need, then runs them. Several may run at the same time, but
# nothing is built meanwhile.
run_tests() {
    local preset=$1
    shift
    build "$preset" "$(target_of "$@")"
    (
        take_lock -s "builds the preset $preset"
        cd "$root" || exit
        ctest --preset "$preset" "$@" 9>&-
    ) 9>"$root/build/$preset.lock"
}
