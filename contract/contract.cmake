# baton::contract, the contract suite: tests that a store's author links with GoogleTest's main, beside a description of
# the store. Made of the sources beside this file, in Baton's own tree and in every project that finds the package with
# COMPONENTS contract: GoogleTest wants whatever uses it to be compiled as it was itself.
find_package(GTest REQUIRED)

file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.cpp)
add_library(baton_contract STATIC ${sources})
add_library(baton::contract ALIAS baton_contract)
# Public headers only: what a stranger has is all that the suite may use.
target_link_libraries(baton_contract PUBLIC baton::baton GTest::gtest)
set_target_properties(baton_contract PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
target_precompile_headers(baton_contract PRIVATE ${CMAKE_CURRENT_LIST_DIR}/bench.hpp)
