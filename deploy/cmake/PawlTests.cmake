# Three kinds of test, each registered with ctest through integration/harness/case, which counts the
# cases of its TAP output and fails on any sanitizer log.
#
#   pawl_criterion_test(name source... [options])  white box, Criterion; label unit
#   pawl_plain_test(name source... [options])      main() that prints TAP; label thread, run by TSan
#   pawl_script_test(name script [options])        a script that prints TAP; label script
#
# Options: LIBS lib...  DEFINES d...  LABELS more...  TIMEOUT seconds (300)
#          SERIAL (nothing beside it: timings)  FULL (only with integration/run --full)
#          ARGS a... (script and plain only)

set(PAWL_RESULTS_DIR "${PROJECT_BINARY_DIR}/results")
set(PAWL_CASE "${PROJECT_SOURCE_DIR}/integration/harness/case")
pkg_check_modules(CRITERION REQUIRED IMPORTED_TARGET criterion)

macro(pawl_parse_test)
    cmake_parse_arguments(test "SERIAL;FULL" "TIMEOUT" "LIBS;DEFINES;LABELS;ARGS" ${ARGN})
    if(NOT test_TIMEOUT)
        set(test_TIMEOUT 300)
    endif()
endmacro()

# Registers a command with ctest; reads the test_* variables of pawl_parse_test.
function(pawl_register_test name kind label)
    if(PAWL_SANITIZE STREQUAL "thread" AND NOT label STREQUAL "thread")
        return()
    endif()
    add_test(NAME ${name} COMMAND "${PAWL_CASE}" ${kind} ${name} "${PAWL_RESULTS_DIR}"
             ${test_TIMEOUT} ${ARGN})
    math(EXPR limit "${test_TIMEOUT} + 30")
    set(labels ${label} ${test_LABELS})
    if(test_FULL)
        list(APPEND labels full)
    endif()
    set_tests_properties(${name} PROPERTIES TIMEOUT ${limit} LABELS "${labels}"
        RUN_SERIAL $<BOOL:${test_SERIAL}>
        ENVIRONMENT "PAWL_BIN_DIR=${PROJECT_BINARY_DIR}/bin;PAWL_LIB_DIR=${PROJECT_BINARY_DIR}/lib;PAWL_SOURCE_DIR=${PROJECT_SOURCE_DIR};PAWL_BUILD_DIR=${PROJECT_BINARY_DIR};PAWL_TEST_DIR=${PROJECT_BINARY_DIR}/tests;PAWL_SANITIZE=${PAWL_SANITIZE};PAWL_CC=${CMAKE_C_COMPILER}")
endfunction()

function(pawl_test_program name)
    add_executable(${name} ${test_UNPARSED_ARGUMENTS})
    pawl_settings(${name})
    set_target_properties(${name} PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
    target_compile_options(${name} PRIVATE -UNDEBUG)
    target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/src/test")
    target_compile_definitions(${name} PRIVATE ${test_DEFINES})
    target_link_libraries(${name} PRIVATE ${test_LIBS} pawl_internal)
endfunction()

function(pawl_criterion_test name)
    pawl_parse_test(${ARGN})
    # Criterion cannot run under ThreadSanitizer (formats.md 6).
    if(PAWL_SANITIZE STREQUAL "thread")
        return()
    endif()
    list(APPEND test_LIBS PkgConfig::CRITERION)
    pawl_test_program(${name})
    pawl_register_test(${name} criterion unit $<TARGET_FILE:${name}>)
endfunction()

function(pawl_plain_test name)
    pawl_parse_test(${ARGN})
    list(APPEND test_UNPARSED_ARGUMENTS "${PROJECT_SOURCE_DIR}/src/test/tap.c")
    pawl_test_program(${name})
    pawl_register_test(${name} plain thread $<TARGET_FILE:${name}> ${test_ARGS})
endfunction()

function(pawl_script_test name script)
    pawl_parse_test(${ARGN})
    get_filename_component(path "${script}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
    pawl_register_test(${name} plain script "${path}" ${test_ARGS})
endfunction()
