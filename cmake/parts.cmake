# The library that users link, libbaton.a, is made of parts, one folder each. A part is a static library too, so that
# tests link only what they test; nothing is compiled twice.

# baton_part(NAME [APART] SOURCES…): a part of the library; with APART, it is not in libbaton.a.
# Half of the time to compile a file goes into headers that all files include, so these are precompiled, by the first
# part.
function(baton_part name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "APART" "" "")
    add_library(${name} STATIC ${arg_UNPARSED_ARGUMENTS})
    target_compile_features(${name} PUBLIC cxx_std_20)
    target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(${name} PRIVATE baton_warnings)
    # Users may link it into shared libraries; calls within it stay as direct as they are without.
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_compile_options(${name} PRIVATE -fno-semantic-interposition)
    get_property(first GLOBAL PROPERTY BATON_PRECOMPILED)
    if(first)
        target_precompile_headers(${name} REUSE_FROM ${first})
    else()
        target_precompile_headers(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src/precompiled.hpp)
        set_property(GLOBAL PROPERTY BATON_PRECOMPILED ${name})
    endif()
    if(NOT arg_APART)
        set_property(GLOBAL APPEND PROPERTY BATON_PARTS ${name})
    endif()
endfunction()
