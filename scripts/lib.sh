# shellcheck shell=bash
# Shared by ./baton, ./test and the scripts: installs packages, builds a preset, runs its tests. Source this file by its
# absolute path; it only defines functions. They write to stderr and do not read stdin, so that stdin and stdout belong to
# the program that is run.

root=${BASH_SOURCE[0]%/scripts/lib.sh}
program=$root/build/release/cli/baton

# Exit codes of sysexits.h, which the program uses too.
readonly exit_unavailable=69 exit_build_failed=70 exit_not_permitted=77

say() { printf 'baton: %s\n' "$*" >&2; }

# fail CODE MESSAGE [LINE…]: prints the message, then the lines unchanged, so that they can be copied, and exits.
fail() {
    local -r code=$1
    say "$2"
    shift 2
    (($# == 0)) || printf '    %s\n' "$@" >&2
    exit "$code"
}

have() { command -v "$1" >/dev/null; }

# take_lock MODE WHAT: locks file descriptor 9, shared (-s) or exclusive (-x). WHAT completes the message while it waits.
take_lock() {
    flock -n "$1" 9 && return
    say "waiting for another command that $2"
    flock "$1" 9
}

# ---- packages ----

# needed_packages GROUP…: prints lines "package reason" from scripts/packages.
needed_packages() {
    local groups=" $* " group package reason
    while read -r group package reason; do
        if [[ $groups == *" $group "* ]]; then printf '%s %s\n' "$package" "$reason"; fi
    done <"$root/scripts/packages"
}

# missing_packages GROUP…: prints the same lines for packages that are not installed.
missing_packages() {
    local package reason needed names installed
    needed=$(needed_packages "$@")
    mapfile -t names < <(cut -d ' ' -f 1 <<<"$needed")
    # dpkg-query fails if a name is unknown, but it reports the others.
    installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${names[@]}" 2>/dev/null) || true
    while read -r package reason; do
        [[ $'\n'$installed$'\n' == *$'\n'"installed $package"$'\n'* ]] || printf '%s %s\n' "$package" "$reason"
    done <<<"$needed"
}

# Without apt nothing can be installed. If the build tools exist, CMake reports what else is missing.
require_tools() {
    local tool names
    for tool in c++ cmake ninja; do
        have "$tool" && continue
        names=$(needed_packages "$@" | cut -d ' ' -f 1)
        fail "$exit_not_permitted" "$tool is missing, and there is no apt-get to install it; install these packages or their equivalents:" \
            "${names//$'\n'/ }"
    done
}

apt_get() { "${as_root[@]}" DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 "$@" </dev/null >&2; }

# Fetches the package lists only if they lack a package or name a version that the mirror no longer has.
# Status 1 means that sudo refused; apt-get itself fails with 100.
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

# ensure_packages GROUP…: installs missing packages. Prints nothing and needs no network if none is missing.
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
        fail "$exit_not_permitted" "cannot install them: you are not root, and there is no sudo; run as root:" "$by_hand"
    fi

    say "installing them with apt-get"
    mkdir -p "$root/build"
    {
        take_lock -x "installs packages"
        apt_install "${names[@]}" 9>&- || status=$?
    } 9>"$root/build/packages.lock"
    case $status in
        0) ;;
        1) fail "$exit_not_permitted" "cannot install them: sudo refused; run as root:" "$by_hand" ;;
        *) fail "$exit_unavailable" "apt-get failed (see above); it needs the network. Check the network, or run as root:" \
            "$by_hand" ;;
    esac
}

# ---- building ----

# is_current PRESET [TARGET]: true if no source of the build changed since its last success under this path. It checks
# sources only, so that a job may write files into the checkout, and their folders, so that a removed file counts. The
# list must have every folder that CMakeLists.txt names; a test compares them.
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

# build PRESET [TARGET]: configures the preset and builds what changed. Of two at the same time, the second waits.
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
    # The checkout was moved or copied: CMake refuses a build folder that was made under another path.
    if [[ -f $dir/CMakeCache.txt ]] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$dir/CMakeCache.txt"; then
        rm -rf "$dir"
    fi
    if [[ $2 == all ]]; then say "building (preset $1)"; else say "building $2 (preset $1)"; fi
    mkdir -p "$dir"
    # The stamp is older than the build, so that an edit during the build counts as a change. It is moved after success.
    printf '%s\n' "$root" >"$dir/new.$2"
    cd "$root" || exit
    # ninja runs CMake again itself, but not if the presets changed.
    if [[ ! -f $dir/build.ninja || CMakePresets.json -nt $dir/build.ninja ]]; then
        cmake --fresh --preset "$1" || fail "$exit_build_failed" "cannot configure the build (see above)"
    fi
    cmake --build --preset "$1" --target "$2" || fail "$exit_build_failed" "the build failed (see above)"
    mv "$dir/new.$2" "$dir/current.$2"
}

# target_of [ctest arguments]: prints the target to build for the selected tests: for -L LABEL with a label of this
# project, the target of that label; else all.
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

# run_tests PRESET [ctest arguments]: builds the tests, then runs them. Several test runs may run at the same time, but no
# build runs meanwhile.
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
