# A script is one file of lua/, with these lines replaced by what they name:
#   --%prelude    the rules, lua/prelude/ in the order of its files
#   --%operators  a rule that only two of them need
#   --%clock, --%budget, --%noted   pieces: tests pass in time and budget, the library has the server's time alone
# So the short paths stand above the prelude and do not pay for it.
set(BATON_LUA_FOLDER ${CMAKE_CURRENT_LIST_DIR}/lua)
set(BATON_LUA_TEMPLATE ${CMAKE_CURRENT_LIST_DIR}/scripts.cpp.in)
set(BATON_LUA_VERBS hello open enter leave renew close tick revoke mend resize pause watch inspect)

# baton_lua_scripts(FILE FUNCTION PIECES folder): writes FILE, which defines FUNCTION, and the scripts as they are sent
# into a folder beside it, for whoever checks them.
function(baton_lua_scripts file function)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "PIECES" "")
    file(GLOB parts CONFIGURE_DEPENDS ${BATON_LUA_FOLDER}/prelude/*.lua)
    set(sources ${parts} ${BATON_LUA_FOLDER}/operators.lua ${BATON_LUA_TEMPLATE})
    file(READ ${BATON_LUA_FOLDER}/operators.lua operators)
    foreach(piece clock budget noted)
        file(READ ${arg_PIECES}/${piece}.lua ${piece})
        list(APPEND sources ${arg_PIECES}/${piece}.lua)
    endforeach()
    set(prelude "")
    foreach(part ${parts})
        file(READ ${part} text)
        string(APPEND prelude "${text}")
    endforeach()
    set(texts "")
    cmake_path(GET file PARENT_PATH folder)
    foreach(verb ${BATON_LUA_VERBS})
        list(APPEND sources ${BATON_LUA_FOLDER}/${verb}.lua)
        file(READ ${BATON_LUA_FOLDER}/${verb}.lua text)
        foreach(piece prelude operators clock budget noted)
            string(REPLACE "--%${piece}\n" "${${piece}}" text "${text}")
        endforeach()
        string(SHA1 digest "${text}")
        string(APPEND texts "    {\"${verb}\", \"${digest}\", R\"lua(${text})lua\"},\n")
        file(WRITE ${folder}/${function}/${verb}.lua "${text}")
    endforeach()
    configure_file(${BATON_LUA_TEMPLATE} ${file} @ONLY)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${sources})
endfunction()
