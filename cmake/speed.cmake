# Faster builds where the machine has the tools: ccache, and a linker quicker than the default. Neither is required.
find_program(BATON_CCACHE ccache)
if(BATON_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${BATON_CCACHE})
endif()

find_program(BATON_MOLD mold)
find_program(BATON_LLD ld.lld)
if(BATON_MOLD)
    add_link_options(-fuse-ld=mold)
elseif(BATON_LLD)
    add_link_options(-fuse-ld=lld)
endif()
