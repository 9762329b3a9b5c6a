# shellcheck shell=bash
# The external symbols that a static library may define. A program that links the library may define all other names,
# including those of an Asio of its own.
#
# strangers FILE…: prints the defined external symbols that break the rule, as "TYPE NAME". The check uses mangled names,
# which begin with the scope of the entity. Allowed are:
# - entities of `namespace baton`, or of a namespace whose name begins with `baton`, as the renamed Asio (`baton_asio`):
#   functions, variables, and their vtables, typeinfos, guards, thread_local wrappers, thunks and locals;
# - extern "C" names that begin with `baton_`;
# - weak instantiations of templates of the standard library (std::, __gnu_cxx::), and weak typeinfo of function and
#   pointer types: they are the same in every program, and the linker keeps one copy;
# - DW.ref.*: weak references that the compiler makes for exception tables.
# In any scope, a name that contains the namespace `asio` (mangled `4asio`) breaks the rule: it is a template of std that
# was instantiated with a type of an Asio that was not renamed.
strangers() {
    local special='(T[VTIS]|GV|GR|T[HW]|T[hv]n?[0-9_]*n?[0-9_]*)?Z*' cv='[rVKRO]*'
    "$NM" --defined-only --extern-only "$@" 2>/dev/null | awk 'NF == 3 { print $2, $3 }' | sort -u | awk \
        -v ours="^. (_Z${special}N${cv}[0-9]+baton|baton_)" \
        -v standard="^[WVu] _Z${special}(N?${cv}S[tabsiod]|N${cv}9__gnu_cxx)" \
        -v made="^V (_ZT[IS]P*F|DW[.]ref[.])" \
        '/4asio/ || !($0 ~ ours || $0 ~ standard || $0 ~ made)'
}
