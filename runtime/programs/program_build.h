/* An OpenCL program from source or from a binary, and its binary back: the calls without the cache.
 */
#ifndef KILN_PROGRAM_BUILD_H
#define KILN_PROGRAM_BUILD_H

#include "runtime/base/error.h"

/* Builds a program from source. An option "-DD_PTX_TARGET=NAME" asks NVIDIA's driver for
 * instructions of another target than the one that its OpenCL compiler writes: the PTX that the
 * compiler leaves is built again with ".target NAME". Returns NULL on failure; then *error is a
 * text, to be freed, of at most 4096 bytes with the options and the log's beginning (NULL when out
 * of memory), and *code the call's. The log of a build that succeeds is not read: NVIDIA's compiler
 * always says something. */
cl_program kiln_build_source(cl_context context, cl_device_id device, const char *source,
                             const char *options, char **error, cl_int *code);

/* Builds a program for PoCL, which includes Clang's opencl-c.h: `declarations` (declarations.cl)
 * takes its place. Returns NULL when the program needs more than that, or does not build at all. */
cl_program kiln_build_brief(cl_context context, cl_device_id device, const char *declarations,
                            const char *source, const char *options);

/* Makes a program of a binary. Returns NULL when the driver refuses it. The binary must be one that
 * a driver made: PoCL 3.1 crashes on damaged ones. */
cl_program kiln_build_binary(cl_context context, cl_device_id device, const unsigned char *binary,
                             size_t size, const char *options);

/* Returns the program's binary for the device, to be freed; NULL if there is none. The program's
 * context may have other devices, too. */
unsigned char *kiln_build_get_binary(cl_program program, cl_device_id device, size_t *size);

#endif
