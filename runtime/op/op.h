/* An operation: a finished plan with its programs, and what it remembers between enqueues. */
#ifndef KILN_OP_H
#define KILN_OP_H

#include "runtime/base/task_queue.h"
#include "runtime/choose/choose.h"
#include "runtime/pocl/pocl.h"

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
typedef enum kiln_phase {
    KILN_PACK_ONLY,
    KILN_RUN_ONLY,
    KILN_PACK_AND_RUN,
    KILN_PHASES
} kiln_phase;

/* What the last call's stages were given: the next call's are mostly given the same. */
typedef struct kiln_bound {
    kiln_buffers buffers;
    kiln_phase phase;
    bool valid;
    bool set;         /* kernels have these arguments, and the end of all these objects is known */
    unsigned ended;   /* watched memory objects that had ended by then */
    unsigned changes; /* counts the calls that were not given what the call before was */
    cl_mem mem[KILN_MAX_ROLES];
} kiln_bound;

enum { KILN_KNOWN_QUEUES = 4 };

struct kiln_op {
    kiln *k;
    kiln_problem problem; /* all zero, as are shape and pick, for a reformat */
    kiln_shape shape;
    kiln_pick pick;
    kiln_plan plan;
    struct kiln_call *call; /* which counts its runs; NULL: nobody does */
    bool comes_packed;      /* kiln_choice.packed_weights */
    bool promised;          /* the promises of kiln_settings hold for this op, whoever makes them */
    /* Bytes of the caller's tensors that the plan reads or writes; 0: it does not. */
    int64_t bytes[KILN_ROLE_PACKED];
    kiln_launch launch[KILN_MAX_STAGES];
    unsigned stages[KILN_PHASES]; /* that a phase runs: bit i for stage i */
    pthread_mutex_t lock;         /* guards kernels' arguments and all below */
    kiln_bound bound;
    cl_command_queue
        queue[KILN_KNOWN_QUEUES]; /* found to be the kiln's, oldest overwritten first */
    unsigned queues;              /* how many were found */
    kiln_window window[KILN_MAX_ROLES];
    bool locks_windows; /* in a call that needs windows: no other operation may make some */
    kiln_pocl_op *pocl; /* NULL: plain OpenCL */
    cl_mem image[KILN_MAX_ROLES]; /* the plan's own, by role */
    bool owns_images;
    kiln_op *check[KILN_MAX_PADDED];  /* of the plan's padded tensors; NULL: unchecked */
    int64_t padding[KILN_MAX_PADDED]; /* cells of padding */
    cl_mem dirty;                     /* an int: how many of these cells are not zero */
    kiln_op *stand_in;                /* runs until the op itself is compiled; NULL: it is */
    kiln_task compiling;              /* of an op with a stand-in; and whether it has succeeded */
    atomic_bool compiled;
    atomic_bool failed;                /* it could not be compiled: own_error says why */
    void (*when_compiled)(void *user); /* once it is; NULL: nobody asks */
    void *compiled_user;
    char own_error[KILN_ERROR_TEXT];
    _Atomic(const kiln_solver *) ran; /* the solver of the last enqueue; NULL: none */
    cl_event busy;                    /* of the last enqueue that used the images; NULL: none */
};

static inline bool kiln_phase_runs(kiln_phase phase, const kiln_stage *stage)
{
    return phase == KILN_PACK_AND_RUN || stage->pack == (phase == KILN_PACK_ONLY);
}

/* Makes a new op's plan ready to run: compiles its stages, makes its images and its checks of
 * padding. `takes_ns`: one core's time for a launch of the plan; -1: not known. */
kiln_status kiln_op_compile(kiln_op *op, int64_t takes_ns);

/* The same for an op of kiln_op_plan_new(). */
kiln_status kiln_op_compile_planned(kiln_op *op);

/* Says that buffers stay while the op uses them, and that queues are flushed (kiln_settings): the
 * caller, a room of the library, keeps that promise. Before the op's first enqueue. */
void kiln_op_promise(kiln_op *op);

const kiln_plan *kiln_op_plan(const kiln_op *op);

/* Make what kiln_conv_create() makes, for the room and for candidates that may lose: an op that is
 * only planned, and one that is compiled; no program is stored. */
kiln_status kiln_op_plan_new(kiln *k, const kiln_problem *problem, const kiln_choice *choice,
                             kiln_op **out);
kiln_status kiln_op_create(kiln *k, const kiln_problem *problem, const kiln_choice *choice,
                           kiln_op **out);
/* Compiles an op of kiln_op_plan_new() and stores its programs, as kiln_conv_create() does for the
 * problem that was asked for. `quick`: the op has a stand-in, where there is one, and is only
 * planned. */
kiln_status kiln_op_make(kiln_op *op, const kiln_problem *asked, bool quick);
/* Frees an op that has no stand-in. NULL is fine. */
void kiln_op_discard(kiln_op *op);
/* Do what kiln_op_enqueue(), kiln_op_pack() and kiln_op_time() do, never with the stand-in. */
kiln_status kiln_op_enqueue_own(kiln_op *op, cl_command_queue queue, const kiln_buffers *buffers,
                                cl_uint n_wait, const cl_event *wait, cl_event *done);
kiln_status kiln_op_pack_own(kiln_op *op, cl_command_queue queue, const kiln_buffers *buffers,
                             cl_uint n_wait, const cl_event *wait, cl_event *done);
kiln_status kiln_op_time_own(kiln_op *op, cl_command_queue queue, const kiln_buffers *buffers,
                             double *ms, double *pack_ms);
/* Stores the op's programs on disk, if they are not there yet. */
void kiln_op_keep(const kiln_op *op);

#endif
