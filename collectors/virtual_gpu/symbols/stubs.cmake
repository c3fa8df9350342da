# attnscope_symbol_standin(TARGET SONAME DISPLAY STATUS NODE SOURCES...): a stand-in that exports every name of SONAME.txt.
# A name that no source defines becomes a stub: it says so through the core and returns STATUS, the library's documented
# "not supported". The stubs are weak symbols, so that a source takes a name over just by defining it.
# NODE is the ELF symbol version of the real library, which is what LibTorch's libraries ask for; "-" for none.
function(attnscope_symbol_standin target soname display status node)
    set(list ${CMAKE_CURRENT_SOURCE_DIR}/${soname}.txt)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
    file(STRINGS ${list} names)
    set(code "#include \"core/api.h\"\n#define STUB(name) extern \"C\" __attribute__((weak, visibility(\"default\"))) long name() { \\\n")
    string(APPEND code "    attnscope::vgpu::report_unsupported(\"${display}\", #name); return ${status}; }\n")
    foreach(name IN LISTS names)
        string(APPEND code "STUB(${name})\n")
    endforeach()
    file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${soname}.stubs.cpp CONTENT "${code}" @ONLY)
    list(TRANSFORM names APPEND "\;")
    list(JOIN names " " exported)
    if(node STREQUAL "-")
        set(node "")
    endif()
    file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${soname}.map CONTENT "${node} { global: ${exported} local: *; };\n" @ONLY)
    attnscope_standin(${target} ${soname} ${ARGN} ${CMAKE_CURRENT_BINARY_DIR}/${soname}.stubs.cpp
        VERSION_SCRIPT ${CMAKE_CURRENT_BINARY_DIR}/${soname}.map LIBS ${CMAKE_DL_LIBS})
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/collectors/virtual_gpu)
endfunction()
