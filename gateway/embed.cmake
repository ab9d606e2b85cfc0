# embed.cmake - makes a C file that holds the page's style and script: cmake -DFOLDER=… -DOUT=… -P embed.cmake
#
# Bytes as numbers: nothing in a file can be taken for C. The same files make the same text.
set(bodies "")
foreach(name IN ITEMS style.css script.js)
    file(READ "${FOLDER}/${name}" bytes HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "(char)0x\\1," bytes "${bytes}")
    string(REGEX REPLACE "\\..*" "" word "${name}")
    string(APPEND bodies "const char page_${word}[] = {${bytes}0};\n")
endforeach()
file(WRITE "${OUT}.new" "/* Made by gateway/embed.cmake. */\n#include \"gateway/page_internal.h\"\n\n${bodies}")
file(COPY_FILE "${OUT}.new" "${OUT}" ONLY_IF_DIFFERENT)
file(REMOVE "${OUT}.new")
