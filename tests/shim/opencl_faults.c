/* Trouble of an OpenCL driver, for tests: LD_PRELOAD this, and name a file in KILN_FAULTS. While
 * the file says
 *
 *     memory   programs do not build: CL_OUT_OF_HOST_MEMORY
 *     lost     no command ends well, and the device cannot be opened
 *     once     the process that sees the word first, and removes the file, has a device that is
 * lost
 */
#include <CL/cl.h>

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_lost;

static bool says(const char *word)
{
    const char *name = getenv("KILN_FAULTS");
    char text[16] = "";
    FILE *file = name ? fopen(name, "re") : NULL;
    if (!file)
        return false;
    const bool same = fscanf(file, "%15s", text) == 1 && strcmp(text, word) == 0;
    fclose(file);
    return same;
}

static bool lost(void)
{
    if (!is_lost && says("once"))
        is_lost = unlink(getenv("KILN_FAULTS")) == 0;
    return is_lost || says("lost");
}

static void *real(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

cl_int clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices,
                      const char *options, void(CL_CALLBACK *notify)(cl_program, void *),
                      void *user)
{
    cl_int (*build)(cl_program, cl_uint, const cl_device_id *, const char *,
                    void(CL_CALLBACK *)(cl_program, void *), void *);
    *(void **)&build = real("clBuildProgram");
    return says("memory") ? CL_OUT_OF_HOST_MEMORY
                          : build(program, count, devices, options, notify, user);
}

cl_int clFinish(cl_command_queue queue)
{
    cl_int (*finish)(cl_command_queue);
    *(void **)&finish = real("clFinish");
    const cl_int code = finish(queue);
    return lost() ? CL_OUT_OF_RESOURCES : code;
}

cl_context clCreateContext(const cl_context_properties *properties, cl_uint count,
                           const cl_device_id *devices,
                           void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *),
                           void *user, cl_int *code)
{
    cl_context (*create)(const cl_context_properties *, cl_uint, const cl_device_id *,
                         void(CL_CALLBACK *)(const char *, const void *, size_t, void *), void *,
                         cl_int *);
    *(void **)&create = real("clCreateContext");
    if (!says("lost"))
        return create(properties, count, devices, notify, user, code);
    if (code)
        *code = CL_DEVICE_NOT_AVAILABLE;
    return NULL;
}
