# Settings that every target shares, and helpers that keep the subdirectories' lists short.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()

# Lines for a stack trace, without the types and variables that take a fifth of the build.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-g1")

# The program finds its libraries relative to itself: <prefix>/bin/attnscope, <prefix>/lib/attnscope/...
set(ATTNSCOPE_BIN_DIR ${CMAKE_BINARY_DIR}/bin)
set(ATTNSCOPE_LIB_DIR ${CMAKE_BINARY_DIR}/lib/attnscope)
set(ATTNSCOPE_VGPU_DIR ${ATTNSCOPE_LIB_DIR}/virtual_gpu)

# A compiler cache where there is one, else precompiled headers, which a cache cannot look into: a clean build takes a third less.
find_program(ATTNSCOPE_CCACHE ccache)
if(ATTNSCOPE_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${ATTNSCOPE_CCACHE})
    set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)
endif()
# attnscope_precompile(TARGET HEADERS...): these, and the standard library's usual ones, once for all sources of the target.
# Not where the compiler optimises: GCC 12 then takes the standard library's own code in them for ours, and warns of it.
function(attnscope_precompile target)
    get_target_property(options ${target} COMPILE_OPTIONS)
    if(NOT ATTNSCOPE_SANITIZE AND NOT "-O0" IN_LIST options)
        return()
    endif()
    target_precompile_headers(${target} PRIVATE <algorithm> <array> <cstdint> <filesystem> <functional> <map> <memory> <optional> <string>
        <string_view> <utility> <vector> ${ARGN})
endfunction()

add_library(attnscope_options INTERFACE)
target_compile_options(attnscope_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion)
# CLI11 and fmt are headers of the distribution: their warnings are not ours.
if(ATTNSCOPE_WERROR)
    target_compile_options(attnscope_options INTERFACE -Werror)
endif()
if(ATTNSCOPE_SANITIZE)
    target_compile_options(attnscope_options INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
    target_link_options(attnscope_options INTERFACE -fsanitize=address,undefined)
endif()

add_library(attnscope_include INTERFACE)
target_include_directories(attnscope_include INTERFACE ${PROJECT_SOURCE_DIR}/include)
target_compile_definitions(attnscope_include INTERFACE ATTNSCOPE_VERSION="${PROJECT_VERSION}")

# attnscope_library(NAME SOURCES...): a static library of the pure part.
function(attnscope_library name)
    add_library(${name} STATIC ${ARGN})
    target_link_libraries(${name} PUBLIC attnscope_include PRIVATE attnscope_options)
    list(LENGTH ARGN sources)
    if(sources GREATER 7)
        attnscope_precompile(${name})
    endif()
endfunction()

set(ATTNSCOPE_TEST_OPTIONS -O0 -g1)
# What tests include is precompiled once for all of them.
function(attnscope_test_headers)
    file(WRITE ${PROJECT_BINARY_DIR}/test_headers.cpp "")
    add_executable(attnscope_test_headers ${PROJECT_BINARY_DIR}/test_headers.cpp)  # as the tests are: PIE
    target_link_libraries(attnscope_test_headers PRIVATE attnscope_include attnscope_options GTest::gtest GTest::gtest_main)
    target_compile_options(attnscope_test_headers PRIVATE ${ATTNSCOPE_TEST_OPTIONS})
    attnscope_precompile(attnscope_test_headers <gtest/gtest.h>)
endfunction()

# In front of a test's name in the sanitizer build, whose tests ctest lists beside the others'.
set(ATTNSCOPE_TEST_PREFIX "")
if(ATTNSCOPE_SANITIZE)
    set(ATTNSCOPE_TEST_PREFIX "sanitized.")
endif()
# attnscope_test(NAME SOURCES... [LIBS ...] [LABELS ...]): one GoogleTest program, one ctest entry per program.
# Where ATTNSCOPE_TESTED_SANITIZED is set and the sanitizer build has the program, this one does not build it again.
function(attnscope_test name)
    cmake_parse_arguments(T "" "TIMEOUT" "LIBS;LABELS;ENV" ${ARGN})
    add_executable(${name} ${T_UNPARSED_ARGUMENTS})
    target_link_libraries(${name} PRIVATE ${T_LIBS} attnscope_include attnscope_options GTest::gtest GTest::gtest_main)
    # GoogleTest's headers take most of a build: tests themselves need neither speed nor variables in the debugger.
    target_compile_options(${name} PRIVATE ${ATTNSCOPE_TEST_OPTIONS})
    if(TARGET attnscope_test_headers)
        target_precompile_headers(${name} REUSE_FROM attnscope_test_headers)
    endif()
    file(RELATIVE_PATH place ${PROJECT_BINARY_DIR} ${CMAKE_CURRENT_BINARY_DIR})
    if(ATTNSCOPE_TESTED_SANITIZED AND EXISTS ${ATTNSCOPE_SANITIZED_TESTS}/${place}/${name})
        set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
        return()
    endif()
    set(test ${ATTNSCOPE_TEST_PREFIX}${name})
    add_test(NAME ${test} COMMAND ${name})
    if(NOT T_TIMEOUT)
        set(T_TIMEOUT 300)
    endif()
    set_tests_properties(${test} PROPERTIES TIMEOUT ${T_TIMEOUT} LABELS "${T_LABELS}"
        ENVIRONMENT "ATTNSCOPE_SOURCE_DIR=${PROJECT_SOURCE_DIR};ATTNSCOPE_BINARY_DIR=${PROJECT_BINARY_DIR};${T_ENV}")
endfunction()
