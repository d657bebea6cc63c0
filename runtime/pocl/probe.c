/* Builds the kernel that tells what PoCL's CPU device can do, once for all who ask. */
#include "probe.h"

#include "runtime/programs/template.h"

#include <stdlib.h>

static const char options[] = "-DITEMS_SHARED=1 -DITEMS_0=1 -DITEMS_1=1 -DITEMS_2=1 "
                              "-DITEMS_UNIT=1 -cl-std=CL1.2";

bool kiln_probe_open(kiln_probe *probe, kiln_programs *programs)
{
    char *source = NULL;
    cl_int code = CL_INVALID_PROGRAM;
    *probe = (kiln_probe){NULL, NULL};
    if (!kiln_template_source(NULL, "probe.cl", &source) &&
        !kiln_program_get(programs, source, options, &probe->program))
        probe->kernel = clCreateKernel(kiln_program_cl(probe->program), "probe", &code);
    free(source);
    return code == CL_SUCCESS &&
           clSetKernelArg(probe->kernel, 0, sizeof(cl_mem), NULL) == CL_SUCCESS;
}

void kiln_probe_close(kiln_probe *probe)
{
    if (probe->kernel)
        clReleaseKernel(probe->kernel);
    kiln_program_release(probe->program);
}

cl_int kiln_probe_enqueue(const kiln_probe *probe, cl_command_queue queue, cl_ulong answer)
{
    const size_t one = 1;
    const cl_int code = clSetKernelArg(probe->kernel, 1, sizeof answer, &answer);
    return code == CL_SUCCESS
               ? clEnqueueNDRangeKernel(queue, probe->kernel, 1, NULL, &one, &one, 0, NULL, NULL)
               : code;
}
