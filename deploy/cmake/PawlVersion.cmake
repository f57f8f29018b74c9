# Reads the version from include/pawl/version.h, the only place that states it.
set(_version_file "${CMAKE_CURRENT_LIST_DIR}/../../include/pawl/version.h")
set(PAWL_VERSION_MAJOR 0)
set(PAWL_VERSION_MINOR 1)
set(PAWL_VERSION_PATCH 0)
if(EXISTS "${_version_file}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${_version_file}")
    file(STRINGS "${_version_file}" _lines
         REGEX "^#define PAWL_VERSION_(MAJOR|MINOR|PATCH)[ \t]+[0-9]+")
    foreach(_line IN LISTS _lines)
        string(REGEX MATCH "^#define (PAWL_[A-Z_]+)[ \t]+([0-9]+)" _unused "${_line}")
        set(${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
    endforeach()
endif()
set(PAWL_VERSION "${PAWL_VERSION_MAJOR}.${PAWL_VERSION_MINOR}.${PAWL_VERSION_PATCH}")

# Until 1.0 a new minor version may break the ABI, so it is part of the SONAME.
if(PAWL_VERSION_MAJOR EQUAL 0)
    set(PAWL_SOVERSION "0.${PAWL_VERSION_MINOR}")
else()
    set(PAWL_SOVERSION "${PAWL_VERSION_MAJOR}")
endif()
