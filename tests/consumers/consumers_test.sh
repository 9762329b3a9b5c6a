#!/usr/bin/env bash
# Baton as a dependency. ctest sets SOURCE, BUILD (both of Baton), WORK (the folder of these tests), LIBRARY
# (libbaton.a), DIALECTS (1 if their library is built), ASIO (the folder with asio.hpp), and this build's tools and flags.
# shellcheck source-path=SCRIPTDIR source=../commands/lib.sh
source "${BASH_SOURCE[0]%/*}/../commands/lib.sh"
# shellcheck source-path=SCRIPTDIR source=symbols.sh
source "${BASH_SOURCE[0]%/*}/symbols.sh"
here=$SOURCE/tests/consumers
prefix=$WORK/prefix # made by Install
read -ra flags <<<"${CXXFLAGS:-}"

# must COMMAND…: runs a command that must succeed; shows its output only if it fails.
must() {
    run "$@"
    ((code == 0)) || die "$* ended with $code: $out $err"
}

# expect_fence COMMAND…: runs a command that must succeed and print a fence.
expect_fence() {
    must "$@"
    [[ $out =~ ^[1-9][0-9]*$ ]] || die "$* printed «$out», which is no fence"
}

configure() { cmake -S "$here/$1" -B "$2" ${LAUNCHER:+-DCMAKE_CXX_COMPILER_LAUNCHER="$LAUNCHER"} "${@:3}"; }

# from_package PREFIX COMMAND…: runs pkg-config so that of Baton it sees only that tree, for another PACKAGE than baton if
# set. OpenSSL is the system's.
from_package() {
    local system
    system=$("$PKG_CONFIG" --variable pc_path pkg-config)
    PKG_CONFIG_LIBDIR=$(dirname "$(find "$1" -name baton.pc)"):$system "$PKG_CONFIG" "${@:2}" "${PACKAGE:-baton}"
}

# compile ARGUMENT…
compile() { ${LAUNCHER:+"$LAUNCHER"} "$CXX" "${flags[@]}" -std=c++20 -Wall -Wextra "$@"; }

Install() {
    rm -rf "$prefix"
    # shellcheck disable=SC2153  # ctest sets BUILD
    must cmake --install "$BUILD" --prefix "$prefix"
}

InstallPublicFilesOnly() {
    local -a public=("$SOURCE/include")
    ((!DIALECTS)) || public+=("$SOURCE/dialects/include")
    expect_equal headers "$(find "${public[@]}" -type f -printf './%P\n' | sort)" \
        "$(cd "$prefix/include" && find . -type f | sort)"
    local files
    expect_equal 'the contract suite' "$(cd "$SOURCE/contract" && find . -type f ! -name CMakeLists.txt ! -name '.*' | sort)" \
        "$(cd "$prefix/share/baton/contract" && find . -type f | sort)"
    files=$(cd "$prefix" && find . \( -path ./include -o -path ./share \) -prune -o -type f -print |
        sed -E 's#^\./lib(64|/[a-z0-9_]+-linux-gnu[a-z0-9]*)?/#./lib/#; s#Targets-[a-z]+#Targets-TYPE#' | sort)
    expect_equal 'other files' "$({ ((!DIALECTS)) || printf './lib/%s\n' libbaton_dialects.a pkgconfig/baton-dialects.pc
        cat; } <<'END' | sort
./bin/baton
./bin/baton-bench
./lib/cmake/baton/batonConfig.cmake
./lib/cmake/baton/batonConfigVersion.cmake
./lib/cmake/baton/batonTargets-TYPE.cmake
./lib/cmake/baton/batonTargets.cmake
./lib/libbaton.a
./lib/pkgconfig/baton.pc
END
    )" "$files"
    # Search for these folders and not for $SOURCE itself, which may be as short as /baton.
    run grep -rIl -e "$SOURCE/include" -e "$SOURCE/src" -e "$SOURCE/dialects" -e "$BUILD" "$prefix"
    expect_equal 'installed files that name this tree' '' "$out"

    expect_equal 'the ACL files' $'client.acl\nviewer.acl' "$(cd "$prefix/share/baton/redis" && printf '%s\n' *)"
    must cmake --install "$BUILD" --prefix "$work/dev" --component dev
    expect_equal 'files of the component dev' \
        "$(cd "$prefix" && find . -type f ! -path './bin/*' ! -path './share/baton/redis/*' | sort)" \
        "$(cd dev && find . -type f | sort)"
}

FindThePackage() {
    must configure find_package build -DCMAKE_PREFIX_PATH="$prefix"
    must cmake --build build
    expect_fence build/consumer
}

FindThePackageOfThisVersionOnly() {
    run configure find_package build -DCMAKE_PREFIX_PATH="$prefix" -DWANTED_VERSION=0.99
    [[ $code != 0 ]] || die 'CMake found a version that is not installed'
    expect_match message 'requested version "0.99"' "$err"
}

UsePkgConfig() {
    local -a package
    read -ra package < <(from_package "$prefix" --cflags --libs)
    must compile "$here/main.cpp" "${package[@]}" -o consumer
    expect_fence ./consumer
    expect_equal version "$("$prefix/bin/baton" --version)" "baton $(from_package "$prefix" --modversion)"
}

# Follows the README's lines. They set no flags, so the test does nothing if this build needs flags.
FollowTheReadme() {
    [[ -z ${CXXFLAGS// /} ]] || return 0
    local block
    cp "$here/main.cpp" .
    block=$(readme_block cmake)
    expect_match 'the lines for CMake' 'find_package(baton' "$block"
    printf '%s\n' 'cmake_minimum_required(VERSION 3.16)' 'project(readme LANGUAGES CXX)' \
        'add_executable(consumer main.cpp)' "$block" >CMakeLists.txt
    must cmake -S . -B build -DCMAKE_PREFIX_PATH="$prefix"
    must cmake --build build
    expect_fence build/consumer
    block=$(readme_block sh | grep pkg-config)
    PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name baton.pc)") must bash -c "$block"
    expect_fence ./consumer
}

# readme_block LANGUAGE: prints the code in that language from the section on dependencies.
readme_block() {
    sed -n '/^## As a dependency/,/^## Layout/p' "$SOURCE/README.md" |
        sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/p" | grep -v '^```'
}

MoveTheInstalledTree() {
    cp -r "$prefix" moved
    expect_equal 'prefix of pkg-config' "$work/moved" "$(realpath "$(from_package moved --variable=prefix)")"
    must configure find_package build -DCMAKE_PREFIX_PATH="$work/moved"
    must cmake --build build
    expect_fence build/consumer
}

LinkItIntoASharedLibrary() {
    local -a package
    read -ra package < <(from_package "$prefix" --cflags --libs)
    must compile -shared -fPIC -Wl,--whole-archive "${package[@]}" -Wl,--no-whole-archive -o libshared.so
}

# Builds the example store against the installed files only, as a user would.
PassTheContractWithAStoreOfTheirOwn() {
    local -r build=$WORK/own_store
    must cmake -S "$SOURCE/examples/10_a_store_of_your_own" -B "$build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_FLAGS="${CXXFLAGS:-} -O0" \
        ${LAUNCHER:+-DCMAKE_CXX_COMPILER_LAUNCHER="$LAUNCHER"}
    must cmake --build "$build"
    must "$build/10_a_store_of_your_own"
    must "$build/turnstile_contract" --gtest_brief=1
    expect_match 'output of the suite' 'PASSED' "$out"
}

# A program without the library gets an error that names it.
UseDialectsThroughTheirLibrary() {
    if ((!DIALECTS)); then
        run configure dialects build -DCMAKE_PREFIX_PATH="$prefix"
        [[ $code != 0 ]] || die 'a component was found that is not there'
        expect_match message 'dialects' "$err"
        return
    fi
    must configure dialects build -DCMAKE_PREFIX_PATH="$prefix"
    must cmake --build build
    must build/with
    expect_equal 'the ttl of the dialect' 10000 "$out"
    run build/without
    expect_equal 'the exit code without the library' 3 "$code"
    expect_match 'the error without the library' 'link it with baton::dialects' "$out"
    local -a package
    read -ra package < <(PACKAGE=baton-dialects from_package "$prefix" --cflags --libs)
    must compile -DWITH_DIALECTS "$here/dialects/main.cpp" "${package[@]}" -o consumer
    must ./consumer
    expect_equal 'the ttl of the dialect' 10000 "$out"
}

# setting NAME: prints a variable of this build's CMake cache as an argument for another build.
setting() { sed -nE "s/^($1):[A-Z]+=(.*)/-D\1=\2/p" "$BUILD/CMakeCache.txt"; }

# reuse_object.py copies objects that this build compiled with the same arguments.
# build_subdirectory BUILD [OPTION…]: builds a project that has Baton as a subdirectory, with objects of this build where
# they are the same.
build_subdirectory() {
    rm -rf "$1"
    must cmake -S "$here/add_subdirectory" -B "$1" -DBATON_SOURCE="$SOURCE" "$(setting CMAKE_BUILD_TYPE)" \
        "$(setting CMAKE_CXX_FLAGS_RELWITHDEBINFO)" "$(setting CMAKE_COMPILE_WARNING_AS_ERROR)" \
        -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON "-DCMAKE_CXX_COMPILER_LAUNCHER=$here/reuse_object.py;$BUILD" "${@:2}"
    must cmake --build "$1" --target consumer
    echo "$(wc -l <"$1/reused") of $(find "$1" -name '*.o' | wc -l) objects were those of this build"
    expect_fence "$1/consumer"
}

# Without TLS the library needs no OpenSSL, and says so to a program that wants TLS.
BuildWithoutTls() {
    local -r build=$WORK/without_tls
    build_subdirectory "$build" -DBATON_TLS=OFF
    run ldd "$build/consumer"
    [[ $out != *libssl* && $out != *libcrypto* ]] || die "it is linked with OpenSSL: $out"
    run "$build/consumer" rediss://localhost
    [[ $code != 0 ]] || die 'it connects with TLS'
    expect_match message 'this build of Baton has no TLS' "$err"
}

AddASubdirectory() {
    local -r build=$WORK/add_subdirectory
    build_subdirectory "$build"
    must cmake --build "$build" --target help
    expect_match targets 'baton_client:' "$out"
    [[ $out != *baton_cli:* && $out != *baton_dialects:* && $out != *_tests:* ]] ||
        die "the program, the dialects or tests are part of it: $out"
    must cmake --install "$build" --prefix "$work/nothing"
    [[ ! -e nothing ]] || die "a subdirectory must not install anything: $(find nothing)"
}

# A program may use any version of Asio, and the library must not bring another one.
RunWithAnAlteredAsio() {
    mkdir altered
    cp -r "$ASIO/asio" "$ASIO/asio.hpp" altered
    sed -i 's/^#define ASIO_VERSION .*/#define ASIO_VERSION 109999/' altered/asio/version.hpp
    # Change the size and the layout of the base class of all operations.
    sed -i 's/^  scheduler_operation\* next_;/  char altered_[64] = {};\n&/' altered/asio/detail/scheduler_operation.hpp
    grep -q altered_ altered/asio/detail/scheduler_operation.hpp || die 'nothing was altered'
    local -a package
    read -ra package < <(from_package "$prefix" --cflags --libs)
    # Asio 1.22 does not detect the coroutines of clang.
    must compile -DASIO_HAS_CO_AWAIT=1 -isystem altered "$here/altered_asio/main.cpp" "${package[@]}" -o consumer
    expect_fence ./consumer
}

# use_own_asio ARGUMENT…: builds and runs a program that waits for a signal with its own Asio.
use_own_asio() {
    local -a package
    mkdir asio_only # the folder that holds Asio may be /usr/include, which cannot be named with -isystem
    ln -s "$ASIO/asio" "$ASIO/asio.hpp" asio_only
    read -ra package < <(from_package "$prefix" --cflags --libs)
    must compile -DASIO_STANDALONE -isystem asio_only "$@" "$here/own_asio/main.cpp" "${package[@]}" -o consumer
    expect_fence timeout 60 ./consumer
}
ReceiveSignalsWithAnAsioOfTheirOwn() { use_own_asio; }
LinkAnAsioThatTheyCompileSeparately() { use_own_asio -DASIO_SEPARATE_COMPILATION; }

SeeOnlySymbolsOfBaton() {
    local library
    library=$(find "$prefix" -name 'libbaton*.a')
    expect_match 'the installed library' libbaton.a "$library"
    # shellcheck disable=SC2086  # there may be several
    expect_equal 'symbols that are not of namespace baton' '' "$(strangers $library)"

    # Test the check itself: it reports each of these symbols, and none of namespace baton.
    cat >symbols.cpp <<'END'
#include <memory>
namespace asio { struct context { context(); virtual ~context(); }; context::context() {} context::~context() {} }
extern "C" void asio_signal_handler(int) {}
void helper() {}
int counter;
namespace detail { template <typename T> struct table { virtual ~table() {} }; template struct table<int>; }
auto shared_context() { return std::make_shared<asio::context>(); }
namespace baton { struct client { virtual ~client(); }; client::~client() {} auto make() { return std::make_shared<client>(); } }
extern "C" void baton_helper() {}
END
    must compile -c symbols.cpp -o symbols.o
    local found name
    found=$(strangers symbols.o | c++filt)
    for name in 'asio::context::context()' 'vtable for asio::context' asio_signal_handler 'helper()' counter \
        'detail::table<int>' 'std::make_shared<asio::context' 'shared_context()'; do
        expect_match 'symbols that break the rule' "$name" "$found"
    done
    [[ $found != *baton* ]] || die "names of namespace baton are reported: $found"
}

# asio_symbols FILE: prints the symbols of namespace asio that the file defines or uses.
asio_symbols() { "$NM" -C "$1" | grep -E '(^|[^A-Za-z0-9_:])asio::' || true; }

SeeNoAsioInTheLibrary() {
    [[ $("$NM" -C "$LIBRARY") == *baton::v1::client::acquire* ]] || die 'nm does not see the library'
    expect_equal 'symbols of Asio' '' "$(asio_symbols "$LIBRARY")"

    # Test the check itself: it finds Asio, and ignores a renamed Asio.
    cat >user.cpp <<'END'
namespace asio { struct context { context(); virtual ~context(); }; template <typename T> void post(T) {} }
void use(asio::context c) { asio::post(c); }
END
    must compile -c user.cpp -o plain.o
    must compile -c -Dasio=baton_asio user.cpp -o renamed.o
    [[ -n $(asio_symbols plain.o) ]] || die 'the check does not see a use of Asio'
    expect_equal 'symbols of a renamed Asio' '' "$(asio_symbols renamed.o)"
}

SeeNoAsioInOtherHeaders() {
    local header
    for header in "$SOURCE"/include/baton/*.hpp; do
        [[ $header == */asio.hpp ]] || echo "#include <baton/${header##*/}>"
    done >all.cpp
    must compile -I"$SOURCE/include" -M all.cpp
    expect_match 'included files' baton/client.hpp "$out"
    [[ $out != *asio* ]] || die 'a header other than <baton/asio.hpp> includes Asio'
}

# The client's header includes neither the interface of stores nor the protocol.
SeeNoStoreInTheHeaderOfTheClient() {
    echo '#include <baton/client.hpp>' >client.cpp
    must compile -I"$SOURCE/include" -M client.cpp
    expect_match 'included files' baton/lease.hpp "$out"
    [[ $out != *baton/store.hpp* && $out != *baton/protocol.hpp* ]] || die "it includes the store's headers: $out"
}

GetAnErrorThatNamesTheHeaderForTokens() {
    cat >token.cpp <<'END'
#include <baton/baton.hpp>
void use(baton::client client) {
    struct use_awaitable {} token;
    client.async_acquire(baton::exclusive("ledger"), token);
}
END
    run compile -I"$SOURCE/include" -fsyntax-only token.cpp
    [[ $code != 0 ]] || die 'it compiles'
    expect_match message 'for completion tokens, #include <baton/asio.hpp>' "$err"
    expect_equal 'number of errors' 1 "$(grep -c 'error:' <<<"$err")"
}

"$1"
