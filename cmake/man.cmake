# Manual pages from man/*.scd, where scdoc is installed; without it there are none.
find_program(SCDOC scdoc)
if(NOT SCDOC)
    message(STATUS "scdoc not found: no manual pages (install the package scdoc)")
    return()
endif()
file(GLOB MAN_SOURCES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/man/*.scd)
foreach(source ${MAN_SOURCES})
    get_filename_component(page ${source} NAME_WLE) # kiln.1
    string(REGEX MATCH "[0-9]$" section ${page})
    set(target ${CMAKE_BINARY_DIR}/man/${page})
    add_custom_command(OUTPUT ${target} DEPENDS ${source} VERBATIM
                       COMMAND sh -c "\"$0\" <\"$1\" >\"$2\"" ${SCDOC} ${source} ${target})
    list(APPEND MAN_PAGES ${target})
    install(FILES ${target} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
endforeach()
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/man)
add_custom_target(man ALL DEPENDS ${MAN_PAGES})
