# baton::contract, the contract suite: the author of a store links these tests with GoogleTest's main and a description
# of the store. Each project compiles the sources itself (find_package(baton COMPONENTS contract)), because GoogleTest
# must be compiled with the same options as its users.
find_package(GTest REQUIRED)

file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.cpp)
add_library(baton_contract STATIC ${sources})
add_library(baton::contract ALIAS baton_contract)
# The suite uses only public headers of Baton, because other projects have no others.
target_link_libraries(baton_contract PUBLIC baton::baton GTest::gtest)
set_target_properties(baton_contract PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
target_precompile_headers(baton_contract PRIVATE ${CMAKE_CURRENT_LIST_DIR}/bench.hpp)
