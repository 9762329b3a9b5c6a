# The library that users link, libbaton.a, is made of parts, one folder each. A part is a static library too, so that
# tests link just what they look at; nothing is compiled twice.

# baton_part(NAME SOURCES…): a part of the library.
function(baton_part name)
    add_library(${name} STATIC ${ARGN})
    target_compile_features(${name} PUBLIC cxx_std_20)
    target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(${name} PRIVATE baton_warnings)
    # So that users may link it into shared libraries; calls within it stay as direct as they are without.
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_compile_options(${name} PRIVATE -fno-semantic-interposition)
    set_property(GLOBAL APPEND PROPERTY BATON_PARTS ${name})
endfunction()
