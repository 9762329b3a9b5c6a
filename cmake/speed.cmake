# Faster builds where the machine has the tools: a linker quicker than the default. It is not required. ccache is left to
# those who want it (-D CMAKE_CXX_COMPILER_LAUNCHER=ccache): it caches nothing that uses a precompiled header unless its
# sloppiness is set, and then one checkout may be given the header of another.
find_program(BATON_MOLD mold)
find_program(BATON_LLD ld.lld)
if(BATON_MOLD)
    add_link_options(-fuse-ld=mold)
elseif(BATON_LLD)
    add_link_options(-fuse-ld=lld)
endif()
