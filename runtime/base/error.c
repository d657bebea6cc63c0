/* Thread-local last error, OpenCL code names, and the log. */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char last[4096];

/* An argument may be the last sentence itself, which a new one quotes. */
kiln_status kiln_fail(kiln_status status, const char *format, ...)
{
    char text[sizeof last];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    strcpy(last, text);
    return status;
}

const char *kiln_last_error(void)
{
    return last;
}

kiln_status kiln_fail_cl(cl_int code, const char *call)
{
    return kiln_fail(KILN_OPENCL, "%s: %s (%d)", call, kiln_cl_name(code), (int)code);
}

#define CODES(X)                                                                                   \
    X(CL_SUCCESS)                                                                                  \
    X(CL_DEVICE_NOT_FOUND)                                                                         \
    X(CL_DEVICE_NOT_AVAILABLE)                                                                     \
    X(CL_COMPILER_NOT_AVAILABLE)                                                                   \
    X(CL_MEM_OBJECT_ALLOCATION_FAILURE)                                                            \
    X(CL_OUT_OF_RESOURCES)                                                                         \
    X(CL_OUT_OF_HOST_MEMORY)                                                                       \
    X(CL_PROFILING_INFO_NOT_AVAILABLE)                                                             \
    X(CL_MEM_COPY_OVERLAP)                                                                         \
    X(CL_IMAGE_FORMAT_MISMATCH)                                                                    \
    X(CL_IMAGE_FORMAT_NOT_SUPPORTED)                                                               \
    X(CL_BUILD_PROGRAM_FAILURE)                                                                    \
    X(CL_MAP_FAILURE)                                                                              \
    X(CL_MISALIGNED_SUB_BUFFER_OFFSET)                                                             \
    X(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)                                                \
    X(CL_INVALID_VALUE)                                                                            \
    X(CL_INVALID_DEVICE_TYPE)                                                                      \
    X(CL_INVALID_PLATFORM)                                                                         \
    X(CL_INVALID_DEVICE)                                                                           \
    X(CL_INVALID_CONTEXT)                                                                          \
    X(CL_INVALID_QUEUE_PROPERTIES)                                                                 \
    X(CL_INVALID_COMMAND_QUEUE)                                                                    \
    X(CL_INVALID_HOST_PTR)                                                                         \
    X(CL_INVALID_MEM_OBJECT)                                                                       \
    X(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR)                                                          \
    X(CL_INVALID_IMAGE_SIZE)                                                                       \
    X(CL_INVALID_BINARY)                                                                           \
    X(CL_INVALID_BUILD_OPTIONS)                                                                    \
    X(CL_INVALID_PROGRAM)                                                                          \
    X(CL_INVALID_PROGRAM_EXECUTABLE)                                                               \
    X(CL_INVALID_KERNEL_NAME)                                                                      \
    X(CL_INVALID_KERNEL_DEFINITION)                                                                \
    X(CL_INVALID_KERNEL)                                                                           \
    X(CL_INVALID_ARG_INDEX)                                                                        \
    X(CL_INVALID_ARG_VALUE)                                                                        \
    X(CL_INVALID_ARG_SIZE)                                                                         \
    X(CL_INVALID_KERNEL_ARGS)                                                                      \
    X(CL_INVALID_WORK_DIMENSION)                                                                   \
    X(CL_INVALID_WORK_GROUP_SIZE)                                                                  \
    X(CL_INVALID_WORK_ITEM_SIZE)                                                                   \
    X(CL_INVALID_GLOBAL_OFFSET)                                                                    \
    X(CL_INVALID_EVENT_WAIT_LIST)                                                                  \
    X(CL_INVALID_EVENT)                                                                            \
    X(CL_INVALID_OPERATION)                                                                        \
    X(CL_INVALID_BUFFER_SIZE)                                                                      \
    X(CL_INVALID_GLOBAL_WORK_SIZE)                                                                 \
    X(CL_INVALID_PROPERTY)

const char *kiln_cl_name(cl_int code)
{
    switch (code) {
#define NAME(code)                                                                                 \
    case code:                                                                                     \
        return #code;
        CODES(NAME)
#undef NAME
    case -1001:
        return "CL_PLATFORM_NOT_FOUND_KHR";
    default:
        return "unknown OpenCL code";
    }
}

/* A line has room for a path and more. */
static void send(void (*to)(void *user, const char *line), void *user, const char *format,
                 va_list list)
{
    char line[sizeof last + 1024];
    if (!to)
        return;
    vsnprintf(line, sizeof line, format, list);
    to(user, line);
}

void kiln_log(const kiln_logger *logger, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    if (logger)
        send(logger->log, logger->user, format, list);
    va_end(list);
}

void kiln_warn(const kiln_logger *logger, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    if (logger)
        send(logger->warn ? logger->warn : logger->log, logger->user, format, list);
    va_end(list);
}

const char *kiln_status_text(kiln_status status)
{
    switch (status) {
#define TEXT(name, value, text)                                                                    \
    case name:                                                                                     \
        return text;
        KILN_STATUS_MAP(TEXT)
#undef TEXT
    }
    return "unknown status";
}
