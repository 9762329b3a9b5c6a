# A script is one file of lua/, with these lines replaced by what they name:
#   --%clock      how the time is read: tests pass it in, the library has the server's alone
#   --%bounds     how much one step does, and how often a renewal notes the time; tests pass the first in too
#   --%prelude    the rules, lua/prelude/ in the order of its files
#   --%operators  a rule that only two of them need
# So the short paths stand above the prelude and do not pay for it.
set(BATON_LUA_FOLDER ${CMAKE_CURRENT_LIST_DIR}/lua)
set(BATON_LUA_TEMPLATE ${CMAKE_CURRENT_LIST_DIR}/scripts.cpp.in)
set(BATON_LUA_VERBS hello open enter leave renew close tick revoke mend resize pause watch inspect)

# baton_lua_scripts(FILE FUNCTION CLOCK file BOUNDS file): writes FILE, which defines FUNCTION, and beside it the scripts as
# they are sent, NAME.lua, for whoever checks them.
function(baton_lua_scripts file function)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "CLOCK;BOUNDS" "")
    file(GLOB parts CONFIGURE_DEPENDS ${BATON_LUA_FOLDER}/prelude/*.lua)
    set(sources ${arg_CLOCK} ${arg_BOUNDS} ${BATON_LUA_FOLDER}/operators.lua ${parts} ${BATON_LUA_TEMPLATE})
    file(READ ${arg_CLOCK} clock)
    file(READ ${arg_BOUNDS} bounds)
    file(READ ${BATON_LUA_FOLDER}/operators.lua operators)
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
        foreach(piece prelude operators clock bounds)
            string(REPLACE "--%${piece}\n" "${${piece}}" text "${text}")
        endforeach()
        string(SHA1 digest "${text}")
        string(APPEND texts "    {\"${verb}\", \"${digest}\", R\"lua(${text})lua\"},\n")
        file(WRITE ${folder}/${function}/${verb}.lua "${text}")
    endforeach()
    configure_file(${BATON_LUA_TEMPLATE} ${file} @ONLY)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${sources})
endfunction()
