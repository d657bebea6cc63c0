/* An operation: a finished plan with its programs, and what it remembers between enqueues. */
#ifndef KILN_OP_H
#define KILN_OP_H

#include "runtime/kiln_internal.h"
#include "runtime/pocl/captured_launch.h"

enum { KILN_MAX_ROLES = KILN_ROLE_TEMP + KILN_MAX_TEMPS };

/* A sub-buffer made for an offset, kept while the caller keeps passing the same one. */
typedef struct kiln_window {
    cl_mem parent; /* retained, as the caller gave it; NULL: none made */
    size_t offset, size;
    cl_mem sub;
} kiln_window;

typedef struct kiln_launch {
    char *source; /* NULL for a clear */
    kiln_program *program;
    cl_kernel kernel;
    size_t global[3];
} kiln_launch;

/* Which stages of a plan a call runs. */
typedef enum kiln_phase { KILN_PACK_ONLY, KILN_RUN_ONLY, KILN_PACK_AND_RUN } kiln_phase;

/* What the last call's stages were given: the next one's are mostly given the same. */
typedef struct kiln_bound {
    kiln_buffers buffers;
    kiln_phase phase;
    bool valid;
    bool set;        /* kernels have these arguments, and what ends is counted */
    bool addresses;  /* they are addresses */
    unsigned number; /* of times that they were given others */
    unsigned ended;  /* of the watched memory objects, before */
    cl_mem mem[KILN_MAX_ROLES];
} kiln_bound;

struct kiln_op {
    kiln *k;
    kiln_problem problem; /* all zero, as are shape and pick, for a reformat */
    kiln_shape shape;
    kiln_pick pick;
    kiln_plan plan;
    /* Of the caller's tensors that the plan reads or writes; 0: it does not. */
    int64_t bytes[KILN_ROLE_PACKED];
    kiln_launch launch[KILN_MAX_STAGES];
    pthread_mutex_t lock; /* kernels' arguments, bound, windows, first */
    kiln_bound bound;
    int64_t alone_ns; /* that one core should take for a launch; -1: unknown */
    kiln_window window[KILN_MAX_ROLES];
    kiln_captured known[KILN_MAX_STAGES];
    cl_event first;               /* of the first enqueue's last launch; NULL: never enqueued */
    cl_mem image[KILN_MAX_ROLES]; /* the plan's own, by role */
    bool owns_images;
    kiln_op *check[KILN_MAX_PADDED];  /* of the plan's padded tensors; NULL: unchecked */
    int64_t padding[KILN_MAX_PADDED]; /* cells of it */
    cl_mem dirty;                     /* an int: how many of them are not zero */
    cl_event busy;                    /* of the last enqueue that used them; NULL: none */
};

static inline bool kiln_phase_runs(kiln_phase phase, const kiln_stage *stage)
{
    return phase == KILN_PACK_AND_RUN || stage->pack == (phase == KILN_PACK_ONLY);
}

/* A new op without a plan; NULL: out of memory. */
kiln_op *kiln_op_new(kiln *k);
/* Compiles the plan's stages, sets their scalar arguments, makes its images and its checks. */
kiln_status kiln_op_compile(kiln_op *op);

/* Releases without keeping the programs' binaries: for candidates that lost. */
void kiln_op_discard(kiln_op *op);

#endif
