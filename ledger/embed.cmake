# embed.cmake - makes a C file that holds the SQL files: cmake -DFOLDER=… -DFILES="a.sql b.sql" -DOUT=… -P embed.cmake
#
# Bytes as numbers: nothing in a file can be taken for C. The same files make the same text.
separate_arguments(names UNIX_COMMAND "${FILES}")
set(bodies "")
set(rows "")
set(n 0)
foreach(name IN LISTS names)
    file(READ "${FOLDER}/${name}" bytes HEX)
    file(SHA256 "${FOLDER}/${name}" digest)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    string(APPEND bodies "static const char text_${n}[] = {${bytes}0};\n")
    string(APPEND rows "        { \"${name}\", text_${n}, \"${digest}\" },\n")
    math(EXPR n "${n} + 1")
endforeach()
file(WRITE "${OUT}.new" "/* Made by ledger/embed.cmake. */\n#include \"ledger/sql_files.h\"\n#include <stddef.h>\n\n${bodies}\nconst SqlFile ${ARRAY}[] = {\n${rows}        { NULL, NULL, NULL },\n};\n")
file(COPY_FILE "${OUT}.new" "${OUT}" ONLY_IF_DIFFERENT)
file(REMOVE "${OUT}.new")
