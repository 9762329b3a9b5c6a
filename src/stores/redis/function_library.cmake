# The library consists of its first line, the clock, and the files of lua/common/ and lua/verbs/ in alphabetical order.
# Its name contains a digest of these files.
set(BATON_LUA_FOLDER ${CMAKE_CURRENT_LIST_DIR}/lua)
set(BATON_LUA_TEMPLATE ${CMAKE_CURRENT_LIST_DIR}/function_library.cpp.in)

# baton_function_library(FILE FUNCTION CLOCK file): writes FILE, which defines FUNCTION, and FUNCTION.lua beside it, the
# text of the library, for tests. Tests use another CLOCK, which takes time and budget from arguments.
function(baton_function_library file function)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "CLOCK" "")
    file(GLOB common CONFIGURE_DEPENDS ${BATON_LUA_FOLDER}/common/*.lua)
    file(GLOB verbs CONFIGURE_DEPENDS ${BATON_LUA_FOLDER}/verbs/*.lua)
    list(POP_FRONT common first)  # the clock uses it
    set(sources ${first} ${arg_CLOCK} ${common} ${verbs})
    set(body "")
    foreach(source ${sources})
        file(READ ${source} text)
        string(APPEND body "${text}")
    endforeach()
    string(SHA1 digest "${body}")
    string(SUBSTRING ${digest} 0 12 digest)
    set(name baton_${digest})
    set(text "#!lua name=${name}\nlocal library = '${name}'\n${body}")
    cmake_path(GET file PARENT_PATH folder)
    file(WRITE ${folder}/${function}.lua "${text}")
    # C++ compilers should support literals of 65,536 characters; adjacent literals are concatenated.
    set(literal "")
    string(LENGTH "${text}" length)
    set(from 0)
    while(from LESS length)
        string(SUBSTRING "${text}" ${from} 16000 piece)
        string(APPEND literal "    R\"lua(${piece})lua\"\n")
        math(EXPR from "${from} + 16000")
    endwhile()
    configure_file(${BATON_LUA_TEMPLATE} ${file} @ONLY)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${sources} ${BATON_LUA_TEMPLATE})
endfunction()
