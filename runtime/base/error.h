/* The calling thread's last error, and OpenCL's codes by name. */
#ifndef KILN_ERROR_H
#define KILN_ERROR_H

#include "kiln.h"

/* Records the sentence for kiln_last_error() and returns `status`. */
kiln_status kiln_fail(kiln_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* "clBuildProgram: CL_BUILD_PROGRAM_FAILURE (-11)", status KILN_OPENCL. */
kiln_status kiln_fail_cl(cl_int code, const char *call);

const char *kiln_cl_name(cl_int code);

/* Where the library's remarks go: kiln_settings' callback, or nowhere. */
typedef struct kiln_logger {
    void (*log)(void *user, const char *line);
    void *user;
    void (*warn)(void *user, const char *line); /* NULL: as log */
    void (*span)(void *user, const char *what, const char *detail, int64_t begin, int64_t end);
} kiln_logger;

void kiln_log(const kiln_logger *logger, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void kiln_warn(const kiln_logger *logger, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
