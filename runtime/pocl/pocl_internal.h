/* The insides of a kiln's and of an operation's part, for this room only. */
#ifndef KILN_POCL_INTERNAL_H
#define KILN_POCL_INTERNAL_H

#include "captured_launch.h"
#include "keepalive.h"
#include "pocl.h"

struct kiln_pocl {
    kiln_keepalive *keepalive; /* NULL: threads sleep at once */
    /* The caller's promises hold for all operations, or for the operations of nets alone. */
    bool buffers_stay, queues_flushed;
    bool check_flushed; /* queues are watched */
    cl_device_id device;
    /* Opened with the first operation for which they hold. */
    _Atomic(kiln_command_batch *) batch; /* NULL: every operation is a command of its own */
    _Atomic(cl_command_queue) pointers;  /* of kiln_buffer_pointers_open(); NULL: no addresses */
};

struct kiln_pocl_op {
    kiln_pocl *pocl;
    const kiln_plan *plan;
    cl_kernel kernel[KILN_MAX_STAGES];
    unsigned shared; /* bit i: threads can share stage i */
    int64_t takes_ns;
    unsigned launched;  /* bit i: stage i was launched before, and its kernel is compiled */
    bool stay, flushed; /* the promises hold for this operation */
    bool pointers;      /* the kernels have addresses */
    unsigned binding;   /* counts changes of the kernels' buffers */
    kiln_captured captured[KILN_MAX_STAGES];
    /* Between kiln_pocl_submit() and kiln_pocl_launched(): */
    bool capturing; /* some launches have memory of their own, to be captured */
    bool noted;     /* the operation is to be noted */
    int64_t alone_ns;
};

#endif
