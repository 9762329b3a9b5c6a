#!/usr/bin/env bash
# How ./baton installs packages. The tests must not touch the machine's packages or depend on them, so dpkg-query,
# apt-get, apt-cache, sudo and id are shims with replies that the test sets; they record their calls.
# shellcheck source-path=SCRIPTDIR source=lib.sh
source "${BASH_SOURCE[0]%/*}/lib.sh"
copy_tree tree

# A PATH with all commands of the system except those that a test replaces or removes.
mkdir bin
ln -s /usr/bin/* /bin/* bin/ 2>/dev/null || true
rm -f bin/{dpkg-query,apt-get,apt-cache,sudo,id}
export PATH=$work/bin

# shim NAME: makes a command of the script on stdin.
shim() {
    { echo '#!/bin/bash'; cat; } >"bin/$1"
    chmod +x "bin/$1"
}

# debian UID MISSING…: simulates a Debian on which these packages are missing until apt-get installs them.
debian() {
    shim id <<<"echo $1"
    shift
    : >asked
    printf '%s\n' "$@" >missing
    shim dpkg-query <<END
for package; do
    [[ \$package == -* || \$package == *'\${'* ]] || grep -qx "\$package" '$work/missing' || echo "installed \$package"
done
END
    shim apt-cache <<<''
    shim apt-get <<END
echo "\$DEBIAN_FRONTEND apt-get \$*" >>'$work/asked'
echo 'noise of apt-get'
[[ \$* != *install* ]] || : >'$work/missing'
END
}

by_hand='apt-get update && apt-get install -y --no-install-recommends ninja-build libcli11-dev'

InstallNothingIfAllPackagesArePresent() {
    debian 0
    run tree/baton 0 word </dev/null
    expect_equal stdout word "$out"
    expect_equal 'calls of apt-get' '' "$(<asked)"
}

InstallMissingPackages() {
    debian 0 ninja-build libcli11-dev
    run tree/baton 0 word </dev/null
    expect_equal "code ($err)" 0 "$code"
    expect_equal stdout word "$out"
    expect_match reason 'runs the build' "$err"
    local -r options='-o DPkg::Lock::Timeout=300'
    expect_equal 'calls of apt-get' \
        "noninteractive apt-get $options install -y --no-install-recommends ninja-build libcli11-dev" "$(<asked)"
}

PrintTheInstallCommandWithoutSudo() {
    debian 1000 ninja-build libcli11-dev
    run tree/baton 0
    expect_equal code 77 "$code"
    expect_match command "$by_hand" "$err"
    expect_match reason 'runs the build' "$err"
    expect_equal 'calls of apt-get' '' "$(<asked)"
}

PrintTheInstallCommandIfSudoRefuses() {
    debian 1000 ninja-build libcli11-dev
    shim sudo <<<'echo "sudo: a password is required" >&2; exit 1'
    run tree/baton 0
    expect_equal code 77 "$code"
    expect_match command "$by_hand" "$err"
}

ReportAFailureOfApt() {
    debian 0 ninja-build libcli11-dev
    shim apt-get <<<"echo \"\$*\" >>'$work/asked'; exit 100"
    run tree/baton 0
    expect_equal code 69 "$code"
    expect_match message 'needs the network' "$err"
    expect_match 'calls of apt-get' 'update' "$(<asked)"
}

WorkWithoutApt() {
    run tree/baton 0 word </dev/null
    expect_equal "stdout where the tools are there ($err)" word "$out"
    rm -r tree/build bin/cmake
    run tree/baton 0
    expect_equal 'code where one is missing' 77 "$code"
    expect_match message 'cmake is missing' "$err"
}

"$1"
