# make install: library, headers, command, pkg-config file and CMake package (pawl::pawl).
include(CMakePackageConfigHelpers)

set(PAWL_PACKAGE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/pawl")

install(TARGETS pawl EXPORT pawl
        LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/pawl" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        FILES_MATCHING PATTERN "*.h")
install(EXPORT pawl NAMESPACE pawl:: FILE pawl-targets.cmake DESTINATION "${PAWL_PACKAGE_DIR}")

configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/pawl-config.cmake.in"
    "${PROJECT_BINARY_DIR}/pawl-config.cmake" INSTALL_DESTINATION "${PAWL_PACKAGE_DIR}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/pawl-config-version.cmake"
    VERSION "${PAWL_VERSION}" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/pawl-config.cmake"
              "${PROJECT_BINARY_DIR}/pawl-config-version.cmake"
        DESTINATION "${PAWL_PACKAGE_DIR}")
# Written while installing, because `cmake --install --prefix` may name another prefix.
install(CODE "
    set(CMAKE_INSTALL_LIBDIR \"${CMAKE_INSTALL_LIBDIR}\")
    set(CMAKE_INSTALL_INCLUDEDIR \"${CMAKE_INSTALL_INCLUDEDIR}\")
    set(PAWL_VERSION \"${PAWL_VERSION}\")
    configure_file(\"${CMAKE_CURRENT_LIST_DIR}/pawl.pc.in\" \"${PROJECT_BINARY_DIR}/pawl.pc\" @ONLY)")
install(FILES "${PROJECT_BINARY_DIR}/pawl.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")

# Found beside the command in any prefix, without ldconfig or LD_LIBRARY_PATH.
file(RELATIVE_PATH _lib_from_bin "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_LIBDIR}")
set_target_properties(pawl_cli PROPERTIES INSTALL_RPATH "$ORIGIN/${_lib_from_bin}")
install(TARGETS pawl_cli RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
