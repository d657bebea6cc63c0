/* Finds the addresses of buffers, and gives them to kernels. */
#define CL_TARGET_OPENCL_VERSION 200 /* clSetKernelArgSVMPointer(), beside what all have */
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include "buffer_pointers.h"

#include "runtime/base/clock.h"

#include "probe.h"

#include <sched.h>

enum { MOST_NS = 50000000 };

/* Maps and unmaps a buffer, through which nothing is read or written. *last receives the event of
 * the unmapping. */
static bool tell_address(cl_command_queue queue, cl_mem mem, void **address, cl_event *last)
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
           clEnqueueUnmapMemObject(queue, mem, *address, 0, NULL, last) == CL_SUCCESS;
}

/* A blocking map would do the same without a limit: if some version of PoCL let it wait for
 * commands of the caller's that use the buffer, and these for the calling thread, it would never
 * end. */
static bool ends_soon(cl_command_queue queue, cl_event last)
{
    const int64_t until = kiln_clock_ns() + MOST_NS;
    cl_int state = CL_QUEUED;
    clFlush(queue);
    while (clGetEventInfo(last, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL) ==
               CL_SUCCESS &&
           state > CL_COMPLETE && kiln_clock_ns() < until)
        sched_yield();
    return state == CL_COMPLETE;
}

bool kiln_buffer_pointers_find(cl_command_queue queue, const cl_mem *mem, void **address, int n)
{
    cl_event last = NULL;
    bool told = true;
    for (int i = 0; i < n && told; i++) {
        if (!mem[i])
            continue;
        if (last)
            clReleaseEvent(last);
        last = NULL;
        told = tell_address(queue, mem[i], &address[i], &last);
    }
    if (!last)
        return told;
    told = told && ends_soon(queue, last);
    clReleaseEvent(last);
    return told;
}

cl_int kiln_buffer_pointers_give(cl_kernel kernel, cl_uint index, const void *address)
{
    return clSetKernelArgSVMPointer(kernel, index, address);
}

static bool may_work(cl_context context, cl_device_id device)
{
    cl_uint devices = 0;
    cl_device_svm_capabilities can = 0;
    clGetContextInfo(context, CL_CONTEXT_NUM_DEVICES, sizeof devices, &devices, NULL);
    clGetDeviceInfo(device, CL_DEVICE_SVM_CAPABILITIES, sizeof can, &can, NULL);
    return devices == 1 && can & CL_DEVICE_SVM_FINE_GRAIN_BUFFER;
}

/* A kernel doubles through the address what a command wrote; another command reads it. */
static cl_int run_probe(const kiln_probe *probe, cl_command_queue queue, cl_mem mem, cl_int *number)
{
    void *address;
    cl_int code =
        clEnqueueWriteBuffer(queue, mem, CL_FALSE, 0, sizeof *number, number, 0, NULL, NULL);
    if (code == CL_SUCCESS && !kiln_buffer_pointers_find(queue, &mem, &address, 1))
        code = CL_INVALID_MEM_OBJECT;
    if (code == CL_SUCCESS)
        code = kiln_buffer_pointers_give(probe->kernel, 0, address);
    if (code == CL_SUCCESS)
        code = kiln_probe_enqueue(probe, queue, 0);
    if (code == CL_SUCCESS)
        code = clEnqueueReadBuffer(queue, mem, CL_FALSE, 0, sizeof *number, number, 0, NULL, NULL);
    const cl_int finished = clFinish(queue);
    return code == CL_SUCCESS ? finished : code;
}

/* Whether what run_probe() reads is right. */
static bool passes_probe(kiln_programs *programs, cl_context context, cl_command_queue queue)
{
    cl_mem mem = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof(cl_int), NULL, NULL);
    kiln_probe probe;
    cl_int number = 21;
    const bool passes = kiln_probe_open(&probe, programs) && mem &&
                        run_probe(&probe, queue, mem, &number) == CL_SUCCESS && number == 42;
    kiln_probe_close(&probe);
    if (mem)
        clReleaseMemObject(mem);
    return passes;
}

cl_command_queue kiln_buffer_pointers_open(kiln_programs *programs, cl_context context,
                                           cl_device_id device)
{
    cl_command_queue queue =
        may_work(context, device) ? clCreateCommandQueue(context, device, 0, NULL) : NULL;
    if (!queue || passes_probe(programs, context, queue))
        return queue;
    clReleaseCommandQueue(queue);
    return NULL;
}
