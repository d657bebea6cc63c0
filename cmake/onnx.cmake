# The reader of ONNX models: protoc-c makes it of onnx.proto, which comes with ONNX. Takes the sources
# of driver/onnx that do not belong to this build out of DRIVER_PARTS, and makes kiln_onnx, which the
# driver links.
add_library(kiln_onnx INTERFACE)
if(NOT KILN_ONNX)
    list(FILTER DRIVER_PARTS EXCLUDE REGEX "/driver/onnx/.*\\.c$")
    list(APPEND DRIVER_PARTS ${CMAKE_SOURCE_DIR}/driver/onnx/absent.c
         ${CMAKE_SOURCE_DIR}/driver/onnx/is_name.c)
    return()
endif()
list(FILTER DRIVER_PARTS EXCLUDE REGEX "/driver/onnx/absent\\.c$")

find_path(ONNX_PROTO_DIR onnx/onnx.proto)
find_program(PROTOC_C protoc-c)
pkg_check_modules(PROTOBUF_C IMPORTED_TARGET libprotobuf-c)
if(NOT ONNX_PROTO_DIR OR NOT PROTOC_C OR NOT PROTOBUF_C_FOUND)
    message(FATAL_ERROR "kiln reads ONNX models with onnx.proto, protoc-c and libprotobuf-c: install "
            "libonnx-dev, protobuf-c-compiler and libprotobuf-c-dev, or configure with "
            "-DKILN_ONNX=OFF for a kiln without `kiln model`")
endif()

set(ONNX_PROTO ${ONNX_PROTO_DIR}/onnx/onnx.proto)
set(ONNX_READER ${CMAKE_BINARY_DIR}/onnx)
file(MAKE_DIRECTORY ${ONNX_READER})
add_custom_command(
    OUTPUT ${ONNX_READER}/onnx.pb-c.c ${ONNX_READER}/onnx.pb-c.h
    COMMAND ${PROTOC_C} --proto_path=${ONNX_PROTO_DIR}/onnx --c_out=${ONNX_READER} ${ONNX_PROTO}
    DEPENDS ${ONNX_PROTO}
    VERBATIM)
list(APPEND DRIVER_PARTS ${ONNX_READER}/onnx.pb-c.c ${ONNX_READER}/onnx.pb-c.h)
target_include_directories(kiln_onnx INTERFACE ${ONNX_READER})
target_link_libraries(kiln_onnx INTERFACE PkgConfig::PROTOBUF_C)
