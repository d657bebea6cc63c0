# Run by CPack on the installed files of each Debian package before it packs them: what Debian's policy asks
# of every package (copyright, changelogs, packed manual pages), no search path of libraries in the
# command, which the system finds, and the folder where Debian's zsh looks.
if(NOT CPACK_GENERATOR STREQUAL DEB)
    return()
endif()
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
foreach(package ${CPACK_COMPONENTS_ALL})
    set(root ${CPACK_TEMPORARY_DIRECTORY}/${package}/usr)
    set(documents ${root}/share/doc/${package})
    set(repository ${CMAKE_CURRENT_LIST_DIR}/..)
    file(MAKE_DIRECTORY ${documents})
    file(COPY_FILE ${repository}/LICENSE ${documents}/copyright)
    file(COPY_FILE ${repository}/CHANGELOG.md ${documents}/changelog)
    file(REMOVE ${documents}/LICENSE ${documents}/CHANGELOG.md)
    file(WRITE ${documents}/changelog.Debian
         "kiln (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium\n\n"
         "  * The changes are in changelog.gz.\n\n"
         " -- ${CPACK_DEBIAN_PACKAGE_MAINTAINER}  ${date}\n")
    file(GLOB pages ${root}/share/man/man*/*[0-9])
    execute_process(COMMAND gzip -9n ${documents}/changelog ${documents}/changelog.Debian ${pages}
                    COMMAND_ERROR_IS_FATAL ANY)
    if(EXISTS ${root}/bin/kiln)
        file(RPATH_REMOVE FILE ${root}/bin/kiln)
        file(RENAME ${root}/share/zsh/site-functions ${root}/share/zsh/vendor-completions)
    endif()
endforeach()
