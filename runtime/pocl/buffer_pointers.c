/* Gives kernels the addresses of buffers, where a kernel may use any address of the host's. */
#define CL_TARGET_OPENCL_VERSION 200 /* clSetKernelArgSVMPointer(), beside what all have */
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include "buffer_pointers.h"

#include "runtime/programs/template.h"

#include <stdlib.h>

/* Nothing is written through it: to map tells the address at once, be the command for later. */
bool kiln_buffer_pointer_find(cl_command_queue queue, cl_mem mem, void **address)
{
    cl_mem_object_type kind = 0;
    size_t size = 0;
    cl_int code = clGetMemObjectInfo(mem, CL_MEM_TYPE, sizeof kind, &kind, NULL);
    if (code == CL_SUCCESS)
        code = clGetMemObjectInfo(mem, CL_MEM_SIZE, sizeof size, &size, NULL);
    if (code != CL_SUCCESS || kind != CL_MEM_OBJECT_BUFFER)
        return false;
    *address = clEnqueueMapBuffer(queue, mem, CL_FALSE, CL_MAP_READ, 0, size, 0, NULL, NULL, &code);
    return code == CL_SUCCESS && *address &&
           clEnqueueUnmapMemObject(queue, mem, *address, 0, NULL, NULL) == CL_SUCCESS;
}

cl_int kiln_buffer_pointer_give(cl_kernel kernel, cl_uint index, const void *address)
{
    return clSetKernelArgSVMPointer(kernel, index, address);
}

/* Of several devices, one could have the newest contents of a buffer elsewhere. */
static bool may_work(cl_context context, cl_device_id device)
{
    cl_uint devices = 0;
    cl_device_svm_capabilities can = 0;
    clGetContextInfo(context, CL_CONTEXT_NUM_DEVICES, sizeof devices, &devices, NULL);
    clGetDeviceInfo(device, CL_DEVICE_SVM_CAPABILITIES, sizeof can, &can, NULL);
    return devices == 1 && can & CL_DEVICE_SVM_FINE_GRAIN_BUFFER;
}

/* A kernel doubles through the address what a command wrote; another command reads it. */
static cl_int ask(kiln_program *program, cl_command_queue queue, cl_mem mem, cl_int *number)
{
    void *address;
    const size_t one = 1;
    cl_int code;
    cl_kernel kernel = clCreateKernel(kiln_program_cl(program), "pointer_probe", &code);
    if (code == CL_SUCCESS)
        code = clEnqueueWriteBuffer(queue, mem, CL_FALSE, 0, sizeof *number, number, 0, NULL, NULL);
    if (code == CL_SUCCESS && !kiln_buffer_pointer_find(queue, mem, &address))
        code = CL_INVALID_MEM_OBJECT;
    if (code == CL_SUCCESS)
        code = kiln_buffer_pointer_give(kernel, 0, address);
    if (code == CL_SUCCESS)
        code = clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, &one, 0, NULL, NULL);
    if (code == CL_SUCCESS)
        code = clEnqueueReadBuffer(queue, mem, CL_FALSE, 0, sizeof *number, number, 0, NULL, NULL);
    const cl_int finished = clFinish(queue);
    if (code == CL_SUCCESS && finished == CL_SUCCESS)
        kiln_program_ran(program);
    if (kernel)
        clReleaseKernel(kernel);
    return code == CL_SUCCESS ? finished : code;
}

bool kiln_buffer_pointer_works(kiln_programs *programs, cl_context context, cl_device_id device)
{
    if (!may_work(context, device))
        return false;
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);
    cl_mem mem = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof(cl_int), NULL, NULL);
    char *source = NULL;
    kiln_program *program = NULL;
    cl_int number = 21;
    const bool works = queue && mem && !kiln_template_source(NULL, "pointer_probe.cl", &source) &&
                       !kiln_program_get(programs, source, "-cl-std=CL1.2", &program) &&
                       ask(program, queue, mem, &number) == CL_SUCCESS && number == 42;
    kiln_program_release(program);
    free(source);
    if (mem)
        clReleaseMemObject(mem);
    if (queue)
        clReleaseCommandQueue(queue);
    return works;
}
