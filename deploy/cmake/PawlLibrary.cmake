# Makes libpawl.so from the folders' objects, and for the tests a second copy of the same objects
# (pawl_internal) with asserts and fault points, so that the shipped library never contains either.

set(PAWL_LINK_LIBRARIES Threads::Threads PkgConfig::JANSSON PkgConfig::SQLITE PkgConfig::YAML
                        ${CMAKE_DL_LIBS})

function(pawl_make_library)
    add_library(pawl SHARED)
    add_library(pawl::pawl ALIAS pawl)
    pawl_settings(pawl)
    foreach(object IN LISTS ARGN)
        target_sources(pawl PRIVATE $<TARGET_OBJECTS:${object}>)
    endforeach()
    set(map "${PROJECT_SOURCE_DIR}/deploy/cmake/pawl.map")
    set_target_properties(pawl PROPERTIES
        VERSION ${PAWL_VERSION}
        SOVERSION ${PAWL_SOVERSION}
        LINKER_LANGUAGE C
        LINK_DEPENDS "${map}")
    target_include_directories(pawl INTERFACE
        "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>"
        "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
    target_link_libraries(pawl PRIVATE ${PAWL_LINK_LIBRARIES})
    target_link_options(pawl PRIVATE "-Wl,--version-script=${map}")
    if(NOT PAWL_SANITIZE)
        target_link_options(pawl PRIVATE -Wl,-z,defs)
    endif()
endfunction()

# Compiles the sources of an object library a second time, for the tests.
function(pawl_make_twin target twin)
    get_target_property(sources ${target} SOURCES)
    get_target_property(folder ${target} SOURCE_DIR)
    get_target_property(definitions ${target} COMPILE_DEFINITIONS)
    get_target_property(links ${target} LINK_LIBRARIES)
    list(TRANSFORM sources PREPEND "${folder}/" REGEX "^[^/$]")
    add_library(${twin} OBJECT ${sources})
    pawl_settings(${twin})
    # NDEBUG is undone: a test without asserts proves less than it seems to.
    target_compile_options(${twin} PRIVATE -UNDEBUG)
    if(definitions)
        target_compile_definitions(${twin} PRIVATE ${definitions})
    endif()
    if(PAWL_FAULT_POINTS)
        target_compile_definitions(${twin} PRIVATE PAWL_FAULT_POINTS=1)
    endif()
    if(links)
        target_link_libraries(${twin} PRIVATE ${links})
    endif()
endfunction()

function(pawl_make_internal)
    add_library(pawl_internal STATIC)
    pawl_settings(pawl_internal)
    set_target_properties(pawl_internal PROPERTIES LINKER_LANGUAGE C)
    foreach(object IN LISTS ARGN)
        pawl_make_twin(${object} ${object}_twin)
        target_sources(pawl_internal PRIVATE $<TARGET_OBJECTS:${object}_twin>)
    endforeach()
    target_link_libraries(pawl_internal PUBLIC ${PAWL_LINK_LIBRARIES})
    if(PAWL_FAULT_POINTS)
        target_compile_definitions(pawl_internal INTERFACE PAWL_FAULT_POINTS=1)
    endif()
    # The command with fault points, for tests that stop or kill it at a named place.
    pawl_make_twin(pawl_cli pawl_cli_twin)
    add_executable(pawl_cli_faults $<TARGET_OBJECTS:pawl_cli_twin>)
    set_target_properties(pawl_cli_faults PROPERTIES OUTPUT_NAME pawl-faults LINKER_LANGUAGE C)
    pawl_settings(pawl_cli_faults)
    target_link_libraries(pawl_cli_faults PRIVATE pawl_internal)
endfunction()
