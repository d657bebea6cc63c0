/* An OpenCL program from source or from a binary, and its binary back. */
#include "program_build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOG_SHOWN = 3000, OPTIONS_SHOWN = 900, ERROR_SIZE = 4096 };

static char *build_log(cl_program program, cl_device_id device)
{
    size_t size = 0;
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
    char *text = calloc(size + 1, 1);
    if (text && size)
        clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, text, NULL);
    return text;
}

static char *explain(const char *options, const char *call, cl_int code, const char *log)
{
    char *text = malloc(ERROR_SIZE);
    if (text)
        snprintf(text, ERROR_SIZE, "%s: %s (%d)\noptions: %.*s%s\n%.*s", call, kiln_cl_name(code),
                 (int)code, OPTIONS_SHOWN, options, strlen(options) > OPTIONS_SHOWN ? " ..." : "",
                 LOG_SHOWN, log ? log : "");
    return text;
}

/* Returns a copy of the PTX, to be freed, with another name behind ".target"; NULL where it is
 * none. */
static char *exchange_target(const char *ptx, size_t size, const char *target, size_t length)
{
    static const char word[] = "\n.target ";
    char *copy = malloc(size + length + 1);
    if (!copy)
        return NULL;
    memcpy(copy, ptx, size);
    copy[size] = '\0';
    char *name = strstr(copy, word);
    if (!name) {
        free(copy);
        return NULL;
    }
    name += sizeof word - 1;
    const char *after = name + strcspn(name, ", \r\n");
    memmove(name + length, after, strlen(after) + 1);
    memcpy(name, target, length);
    return copy;
}

/* Builds the PTX that a build left, successful or not, for another target. */
static cl_program build_for_target(cl_program program, cl_context context, cl_device_id device,
                                   const char *target, const char *options)
{
    size_t size = 0;
    const size_t length = strcspn(target, " ");
    unsigned char *ptx = kiln_build_get_binary(program, device, &size);
    char *other = ptx ? exchange_target((const char *)ptx, size, target, length) : NULL;
    cl_program made = other ? kiln_build_binary(context, device, (const unsigned char *)other,
                                                strlen(other), options)
                            : NULL;
    free(other);
    free(ptx);
    return made;
}

cl_program kiln_build_brief(cl_context context, cl_device_id device, const char *declarations,
                            const char *source, const char *options)
{
    static const char no_others[] = " -D_OPENCL_H_";
    const char *const parts[] = {declarations, source};
    const size_t length = strlen(options);
    cl_int code;
    cl_program program = clCreateProgramWithSource(context, 2, (const char **)parts, NULL, &code);
    char *all = malloc(length + sizeof no_others);
    if (all) {
        memcpy(all, options, length);
        memcpy(all + length, no_others, sizeof no_others);
    }
    const bool built =
        program && all && clBuildProgram(program, 1, &device, all, NULL, NULL) == CL_SUCCESS;
    free(all);
    if (built || !program)
        return program;
    clReleaseProgram(program);
    return NULL;
}

cl_program kiln_build_source(cl_context context, cl_device_id device, const char *source,
                             const char *options, char **error, cl_int *code)
{
    static const char asks[] = "-DD_PTX_TARGET=";
    const char *target = strstr(options, asks);
    *error = NULL;
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, code);
    if (*code != CL_SUCCESS) {
        *error = explain(options, "clCreateProgramWithSource", *code, NULL);
        return NULL;
    }
    *code = clBuildProgram(program, 1, &device, options, NULL, NULL);
    if (*code == CL_SUCCESS && !target)
        return program;
    cl_program made =
        target ? build_for_target(program, context, device, target + sizeof asks - 1, options)
               : NULL;
    if (!made) {
        char *log = build_log(program, device);
        *error = explain(options, target ? "clBuildProgram for another target" : "clBuildProgram",
                         *code, log);
        free(log);
    }
    clReleaseProgram(program);
    return made;
}

cl_program kiln_build_binary(cl_context context, cl_device_id device, const unsigned char *binary,
                             size_t size, const char *options)
{
    cl_int status = CL_SUCCESS, code;
    cl_program program =
        clCreateProgramWithBinary(context, 1, &device, &size, &binary, &status, &code);
    if (code != CL_SUCCESS)
        return NULL;
    if (status == CL_SUCCESS &&
        clBuildProgram(program, 1, &device, options, NULL, NULL) == CL_SUCCESS)
        return program;
    clReleaseProgram(program);
    return NULL;
}

/* Returns which of the program's devices `device` is; -1: none. *count receives how many there
 * are. */
static int device_index(cl_program program, cl_device_id device, cl_uint *count)
{
    if (clGetProgramInfo(program, CL_PROGRAM_NUM_DEVICES, sizeof *count, count, NULL) != CL_SUCCESS)
        return -1;
    int index = -1;
    cl_device_id *devices = calloc(*count, sizeof *devices);
    if (devices && clGetProgramInfo(program, CL_PROGRAM_DEVICES, *count * sizeof *devices, devices,
                                    NULL) == CL_SUCCESS)
        for (cl_uint i = 0; i < *count; i++)
            if (devices[i] == device)
                index = (int)i;
    free(devices);
    return index;
}

unsigned char *kiln_build_get_binary(cl_program program, cl_device_id device, size_t *size)
{
    cl_uint count = 0;
    int index = device_index(program, device, &count);
    if (index < 0)
        return NULL;
    unsigned char *binary = NULL, **binaries = calloc(count, sizeof *binaries);
    size_t *sizes = calloc(count, sizeof *sizes);
    if (binaries && sizes &&
        clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, count * sizeof *sizes, sizes, NULL) ==
            CL_SUCCESS &&
        sizes[index] > 0 && (binary = malloc(sizes[index]))) {
        *size = sizes[index];
        binaries[index] = binary; /* OpenCL leaves out the binaries that are NULL */
        if (clGetProgramInfo(program, CL_PROGRAM_BINARIES, count * sizeof *binaries, binaries,
                             NULL) != CL_SUCCESS) {
            free(binary);
            binary = NULL;
        }
    }
    free(binaries);
    free(sizes);
    return binary;
}
