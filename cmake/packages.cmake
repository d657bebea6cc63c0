# Packages by CPack: `cpack -G DEB` in the build folder makes Debian's kiln, libkiln0 and libkiln-dev,
# which the COMPONENTs of the install rules fill (configure with the prefix /usr, so that libraries
# lie where Debian has them); `cpack --config CPackSourceConfig.cmake` makes a
# .tar.gz of the sources.
set(CPACK_PACKAGE_NAME kiln)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # each package has its own
set(CPACK_PACKAGE_VENDOR "the kiln authors")
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_GENERATOR DEB)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL kiln libkiln0 libkiln-dev)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/cmake/package_tree.cmake)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "the kiln authors <kiln@kiln.invalid>" CACHE STRING
    "Who makes the packages: name <address>")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_BINARY_DIR})

# package(COMPONENT SECTION DEPENDS DESCRIPTION): the first line of a description is its summary.
macro(package component section depends description)
    string(TOUPPER ${component} upper)
    set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${component})
    set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
    set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${depends}")
    set(CPACK_DEBIAN_${upper}_DESCRIPTION "${description}")
endmacro()
set(same "(= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
package(kiln utils "libkiln0 ${same}" "convolutions on any OpenCL device (command)
The command kiln runs, verifies, times and tunes convolutions with OpenCL
kernels that are compiled for exactly the problem at hand.")
package(libkiln0 libs "" "convolutions on any OpenCL device (library)
libkiln runs convolutions and networks on the context, device and queues of
the program, with kernels that are compiled for exactly the problem at hand.
The tuning rows of known devices come with it.")
package(libkiln-dev libdevel "libkiln0 ${same}, ocl-icd-opencl-dev | opencl-dev, libyaml-dev, libxxhash-dev"
        "convolutions on any OpenCL device (development files)
The headers of libkiln, the static library, and what pkg-config and CMake need
to find them.")
set(CPACK_DEBIAN_LIBKILN-DEV_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_LIBKILN0_PACKAGE_CONTROL_EXTRA ${CMAKE_SOURCE_DIR}/cmake/triggers)
set(CPACK_DEBIAN_KILN_PACKAGE_RECOMMENDS "pocl-opencl-icd | opencl-icd")
set(CPACK_DEBIAN_LIBKILN0_PACKAGE_RECOMMENDS "pocl-opencl-icd | opencl-icd")

set(CPACK_SOURCE_GENERATOR TGZ)
set(CPACK_SOURCE_PACKAGE_FILE_NAME kiln-${PROJECT_VERSION})
set(CPACK_SOURCE_IGNORE_FILES "^${CMAKE_SOURCE_DIR}/build" "/\\.git(/|$)")
include(CPack)
