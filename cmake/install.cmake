# Installs headers, libraries, command, shipped tuning rows, kiln.pc, kilnConfig.cmake, documents,
# examples and shells' completions; man.cmake installs the manual pages.
include(CMakePackageConfigHelpers)

# The package that a rule belongs to which names none (packages.cmake).
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME kiln)

set_target_properties(kiln_shared PROPERTIES EXPORT_NAME kiln)
set_target_properties(kiln_static PROPERTIES EXPORT_NAME static)
install(TARGETS kiln_shared EXPORT kilnTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        COMPONENT libkiln0 NAMELINK_COMPONENT libkiln-dev)
install(TARGETS kiln_static EXPORT kilnStaticTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        COMPONENT libkiln-dev)
install(TARGETS kiln RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES generator/kiln_problem.h generator/kiln_layout.h generator/kiln_pool.h runtime/kiln.h runtime/kiln_chain.h runtime/kiln_net.h runtime/kiln_device.h
        runtime/kiln_find.h runtime/kiln_tune.h runtime/kiln.hpp
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT libkiln-dev)
install(DIRECTORY tuning-db/ DESTINATION ${CMAKE_INSTALL_DATADIR}/kiln COMPONENT libkiln0
        FILES_MATCHING PATTERN "*.yaml")

set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/kiln)
install(EXPORT kilnTargets NAMESPACE kiln:: DESTINATION ${config_dir} COMPONENT libkiln-dev)
install(EXPORT kilnStaticTargets NAMESPACE kiln:: DESTINATION ${config_dir} COMPONENT libkiln-dev)
configure_package_config_file(cmake/kilnConfig.cmake.in ${CMAKE_BINARY_DIR}/kilnConfig.cmake
                              INSTALL_DESTINATION ${config_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/kilnConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/kilnConfig.cmake ${CMAKE_BINARY_DIR}/kilnConfigVersion.cmake
        DESTINATION ${config_dir} COMPONENT libkiln-dev)

# Relative to the .pc file, so that an installed tree can be moved.
file(RELATIVE_PATH KILN_PC_PREFIX /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
configure_file(cmake/kiln.pc.in ${CMAKE_BINARY_DIR}/kiln.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/kiln.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT libkiln-dev)

install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR})

# Where each shell looks for completions of a command.
set(shells driver/completion/shells)
install(FILES ${shells}/kiln.bash RENAME kiln DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${shells}/kiln.zsh RENAME _kiln DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${shells}/kiln.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
