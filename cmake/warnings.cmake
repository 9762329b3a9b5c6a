# baton_warnings: the warnings for our own targets, linked PRIVATE. What makes them errors is
# CMAKE_COMPILE_WARNING_AS_ERROR, which the presets for developers set.
add_library(baton_warnings INTERFACE)
target_compile_options(baton_warnings INTERFACE
    -Wall -Wextra -Wpedantic
    -Wconversion -Wsign-conversion -Wold-style-cast -Wcast-qual -Wformat=2
    -Wnon-virtual-dtor -Woverloaded-virtual -Wextra-semi
    # Only among locals: a parameter may be called as its type is, as in `const claim& claim`.
    $<$<CXX_COMPILER_ID:GNU>:-Wshadow=local>
    $<$<CXX_COMPILER_ID:GNU>:-Wduplicated-cond -Wduplicated-branches -Wlogical-op>
)
