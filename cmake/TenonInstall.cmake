# The installed tree: what a program or a third party's plugin needs, and nothing else.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Tenon)
set(data_dir ${CMAKE_INSTALL_DATADIR}/tenon)

install(TARGETS tenon_command tenon-gen RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS tenon EXPORT TenonTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${TENON_STAGED_HEADERS} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tenon)
install(DIRECTORY codegen/templates/ DESTINATION ${data_dir}/templates FILES_MATCHING PATTERN *.m4)
install(DIRECTORY tools/plugin-template DESTINATION ${data_dir} USE_SOURCE_PERMISSIONS)
install(FILES cmake/tenon_plugin.map native_functions.yaml DESTINATION ${data_dir}) # what formulas may call
install(DIRECTORY ${TENON_GENERATED}/docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR})

install(EXPORT TenonTargets NAMESPACE tenon:: DESTINATION ${package_dir})
configure_package_config_file(cmake/TenonConfig.cmake.in ${CMAKE_BINARY_DIR}/TenonConfig.cmake
    INSTALL_DESTINATION ${package_dir}
    PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_BINDIR data_dir TENON_PLUGIN_INSTALL_DIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/TenonConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_BINARY_DIR}/TenonConfig.cmake ${CMAKE_BINARY_DIR}/TenonConfigVersion.cmake
    cmake/TenonPlugin.cmake DESTINATION ${package_dir})

configure_file(cmake/tenon.pc.in ${CMAKE_BINARY_DIR}/tenon.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/tenon.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
