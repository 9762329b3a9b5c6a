# What `cmake --install` puts where. Components: dev (libraries, headers, what CMake and pkg-config read) and program.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

option(BATON_INSTALL "Have install rules" ${PROJECT_IS_TOP_LEVEL})

# baton_install(TARGET): installs a library of ours with its headers. Others find it as baton::TARGET, or without the
# baton_ where its name begins so.
function(baton_install target)
    string(REGEX REPLACE "^baton_" "" export_name ${target})
    set_target_properties(${target} PROPERTIES EXPORT_NAME ${export_name})
    if(NOT BATON_INSTALL)
        return()
    endif()
    # The file set needs its own COMPONENT: without it the headers are left out of the component dev.
    install(TARGETS ${target} EXPORT baton
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev
        FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)
endfunction()

# baton_install_package(): once, after all targets: what find_package and pkg-config read.
function(baton_install_package)
    if(NOT BATON_INSTALL)
        return()
    endif()
    set(folder ${CMAKE_INSTALL_LIBDIR}/cmake/baton)
    set(CONTRACT_FOLDER ${CMAKE_INSTALL_DATADIR}/baton/contract)
    file(GLOB contract CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/contract/*.[ch]pp)
    install(FILES ${contract} ${PROJECT_SOURCE_DIR}/contract/contract.cmake
        DESTINATION ${CONTRACT_FOLDER} COMPONENT dev)
    set(BATON_DIALECTS_BUILT FALSE)
    if(TARGET baton_dialects)
        set(BATON_DIALECTS_BUILT TRUE)
    endif()
    configure_package_config_file(
        ${PROJECT_SOURCE_DIR}/cmake/batonConfig.cmake.in ${PROJECT_BINARY_DIR}/batonConfig.cmake
        INSTALL_DESTINATION ${folder} PATH_VARS CONTRACT_FOLDER NO_SET_AND_CHECK_MACRO)
    # Before 1.0 a new minor version may break what is built on it.
    write_basic_package_version_file(${PROJECT_BINARY_DIR}/batonConfigVersion.cmake COMPATIBILITY SameMinorVersion)
    install(EXPORT baton FILE batonTargets.cmake NAMESPACE baton:: DESTINATION ${folder} COMPONENT dev)
    install(FILES ${PROJECT_BINARY_DIR}/batonConfig.cmake ${PROJECT_BINARY_DIR}/batonConfigVersion.cmake
        DESTINATION ${folder} COMPONENT dev)

    # Rights of users of a Redis server, for its administrator.
    install(FILES ${PROJECT_SOURCE_DIR}/packaging/redis/client.acl ${PROJECT_SOURCE_DIR}/packaging/redis/viewer.acl
        DESTINATION ${CMAKE_INSTALL_DATADIR}/baton/redis COMPONENT program)

    # Where baton.pc lies says where the rest is, so the installed tree may be moved.
    set(pc_folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
    if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
        set(pc_prefix ${CMAKE_INSTALL_PREFIX})
    else()
        file(RELATIVE_PATH up /${pc_folder} /)
        string(REGEX REPLACE "/$" "" pc_prefix "\${pcfiledir}/${up}")
    endif()
    cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_LIBDIR BASE_DIRECTORY "\${prefix}" OUTPUT_VARIABLE pc_libdir)
    cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_INCLUDEDIR BASE_DIRECTORY "\${prefix}" OUTPUT_VARIABLE pc_includedir)
    # The static library needs them in every program that links it.
    set(pc_requires)
    if(BATON_TLS)
        set(pc_requires libssl libcrypto)
    endif()
    list(JOIN pc_requires ", " pc_requires)
    set(packages baton)
    if(TARGET baton_dialects)
        list(APPEND packages baton-dialects)
    endif()
    foreach(package IN LISTS packages)
        configure_file(${PROJECT_SOURCE_DIR}/cmake/${package}.pc.in ${PROJECT_BINARY_DIR}/${package}.pc @ONLY)
        install(FILES ${PROJECT_BINARY_DIR}/${package}.pc DESTINATION ${pc_folder} COMPONENT dev)
    endforeach()
endfunction()
