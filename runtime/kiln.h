/* libkiln: convolutions compiled for exactly the problem at hand, on any OpenCL device.
 *
 *     kiln *k;
 *     kiln_open(&k, context, device, NULL);
 *     kiln_op *op;
 *     kiln_conv_create(k, &problem, NULL, &op);           // chooses, generates, compiles
 *     kiln_buffers b = {.x = {x}, .w = {w}, .y = {y}};
 *     kiln_op_enqueue(op, queue, &b, 0, NULL, NULL);      // only launches
 *     kiln_op_release(op);
 *     kiln_close(k);
 *
 * The library works on the caller's context, device and queues; it prints nothing, never exits,
 * installs no signal handler, and does not wait for the caller's queues (kiln_finish(),
 * kiln_op_time(), kiln_op_warm(), kiln_tune(), kiln_find(), settings.check_padding, .check_packed
 * and .queues_flushed excepted). Only kiln_tune() and kiln_find() measure. On PoCL's CPU device a
 * kiln has queues of its own as well, and the device's threads spin in them for a while after an
 * operation (settings.keepalive_us). An op's second enqueue with the same buffers may wait there
 * for the device's threads, 50 ms at most (settings.buffers_stay).
 *
 * Compiling: creating an operation chooses, and builds its programs; enqueueing builds none. What a
 * driver leaves to the first launch is done there: PoCL compiles each kernel for its work-group
 * then, a tenth of a second each, and keeps that in its own cache. kiln_op_warm() has it done
 * before, kiln_prepare() before a program's first start, kiln_prepare_begin() beside it.
 *
 * Errors: every function returns a kiln_status; kiln_last_error() has the sentence that belongs to
 * the calling thread's last failure. NULL for what is not said to be optional is KILN_INVALID, and
 * so are a value outside its enum and an object of another context; a function without a status
 * then returns "", NULL or 0, or fills zeros in. Handles that were released are not recognized.
 *
 * Threads: a kiln and its ops may be used from any number of threads at once. Calls on one op are
 * serialized by a lock inside it. Release an op only when no other thread uses it. An op holds its
 * kiln: kiln_close() may come before or after the release of the ops, in any thread; what the last
 * of them holds is freed then, and settings.log and .warn may be called until then.
 *
 * Processes: a child of fork() has none of its parent's threads. There, calls on a kiln of the
 * parent's, and on its ops, return KILN_INVALID; kiln_op_release() and kiln_close() return at once
 * and free nothing. A child may open kilns of its own, but with a device only if the parent had
 * opened none with a device: OpenCL does not survive a fork().
 *
 * Unloading: OpenCL keeps callbacks of the library for buffers and commands that outlive a kiln, so
 * dlclose() leaves libkiln.so mapped. Link a shared library of your own that contains libkiln.a
 * with -z nodelete, too, or never unload it.
 */
#ifndef KILN_H
#define KILN_H

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>

#include "kiln_layout.h"
#include "kiln_pool.h"
#include "kiln_problem.h"

#ifdef __cplusplus
extern "C" {
#endif

#define KILN_VERSION_MAJOR 0
#define KILN_VERSION_MINOR 1
#define KILN_VERSION_PATCH 0
#define KILN_VERSION "0.1.0"

typedef struct kiln kiln;
typedef struct kiln_op kiln_op;

/* Version of the library that is linked, "0.1.0". */
KILN_API const char *kiln_version(void);
/* "unsupported"; never NULL. */
KILN_API const char *kiln_status_text(kiln_status status);
/* The calling thread's last failure in one sentence; "" if none. Valid until its next kiln call. */
KILN_API const char *kiln_last_error(void);

/* ---- opening ----------------------------------------------------------------------------------
 */

/* What the first enqueues of an operation run. */
typedef enum kiln_first { KILN_FIRST_OWN = 0, KILN_FIRST_QUICK } kiln_first;

/* Everything left at zero: the environment decides, then the default written here. */
typedef struct kiln_settings {
    const char *cache_dir; /* program cache; KILN_CACHE_DIR, $XDG_CACHE_HOME/kiln, ~/.cache/kiln.
                              "off" (or KILN_CACHE=off): memory only. A program is stored when an
                              op is created with it. Not used on PoCL's CPU device, which keeps
                              programs itself (POCL_CACHE_DIR) */
    int64_t cache_limit;   /* bytes on disk; KILN_CACHE_LIMIT, 256 MiB */
    /* A folder that kiln_bundle() made; KILN_BUNDLE, none. "off": none. Its programs are looked for
     * first, and its rows stand for the default rows_file and shipped_dir. Nothing is written to
     * it. */
    const char *bundle;
    /* The user's tuning rows; KILN_DB, $XDG_DATA_HOME/kiln/DEVICE.yaml. "off": none. A file that is
     * named, in either way, may be one to be made by kiln_tune(); one that is there and cannot be
     * used is KILN_FILE. One whose head names another device is left alone: its rows are not used,
     * and none are added to it. */
    const char *rows_file;
    const char *shipped_dir;  /* shipped rows; KILN_SHIPPED_DB, else where they were installed or
                                 built; as strict. "off": none */
    const char *template_dir; /* files here replace the built-in templates of the same name;
                                 KILN_TEMPLATES, none */
    /* 1: after every stage, the padding of what it wrote must be zero, and that of what the caller
     * gives before the first; else the enqueue, which waits for that, fails with KILN_WRONG. For
     * finding defects; KILN_CHECK_PADDING=1 */
    int check_padding;
    /* 1: packed weights that an enqueue is given must be what a kiln_op_pack() of this kiln wrote,
     * there or in a buffer that they were copied from, for the same problem, solver and config;
     * else the enqueue fails with KILN_INVALID. It waits for its events and its queue, and reads
     * the weights. For finding defects; KILN_CHECK_PACKED=1 */
    int check_packed;
    /* 1: an enqueue fails with KILN_INVALID where the program breaks the promise of queues_flushed:
     * it has put a command of its own into the queue that may not have ended, and has not called
     * kiln_flush(). Operations share commands as ever. On PoCL's CPU device, behind OpenCL's
     * loader. For finding defects; KILN_CHECK_FLUSHED=1 */
    int check_flushed;
    /* A file that receives each distinct convolution that the process runs, as a line of the
     * command `kiln conv`, with the number of runs; KILN_LOG_CMD, none. `kiln tune FILE --profile`
     * tunes for it. Processes with one file add up. "%p" in the name is the process. Written when a
     * number is a power of two, and when a kiln is freed. */
    const char *call_log;
    /* PoCL's CPU device: so many microseconds after the last operation has ended, the device's
     * threads spin, looking for the next operation, before they sleep. KILN_KEEPALIVE_US (there, 0:
     * they sleep at once), else 200. -1: they sleep at once. An operation that comes while they
     * spin begins 20 us sooner. The cost: for that time, every core of the device is busy, though
     * it yields to any other thread; a program with one operation every 10 ms pays 2 % of all cores
     */
    int keepalive_us;
    /* 1: the caller promises not to release buffers, workspace and packed weights included, before
     * the operations that use them have ended, nor, after an enqueue that failed, before the queue
     * has. oneDNN and cuDNN ask for the same. Without the promise, as OpenCL has it, a buffer in
     * use stays by itself. On PoCL's CPU device, kernels then get the addresses of buffers that an
     * op is enqueued with again, which saves a tenth to a quarter of an operation of 2 us; on other
     * devices it changes nothing */
    int buffers_stay;
    /* 1: the caller promises to call kiln_flush() between a command of its own, for which it does
     * not wait, and the next operation in the same queue. With buffers_stay, on PoCL's CPU device,
     * short operations (on a device of two threads, operations of up to a millisecond of one core)
     * then share a command of PoCL if they come one behind the other in an in-order queue without
     * profiling, and neither wait for events nor give one: each takes 0.3 to 0.6 us instead of two.
     * An enqueue waits while 256 of them are in flight. On other devices it changes nothing */
    int queues_flushed;
    /* 1: on PoCL's CPU device of two threads, kiln may move one of PoCL's threads to another core
     * when Linux has put both threads on one core, where short operations take up to twice as long.
     * To move a thread, kiln sets its affinity to one core and, at once, back to what it was. Leave
     * this at 0 in a program that sets affinities of PoCL's threads itself while operations run. 0:
     * kiln changes no affinity */
    int place_threads;
    /* KILN_FIRST_QUICK: an operation's first enqueues run a program of general shape, until a
     * thread of the kiln has compiled the operation's own; the first enqueue asks for that. There
     * is one such program for each types and epilogue, and it stays in the caches. Its results have
     * the same error bounds, but other bits, and take many times as long. kiln_op_info.ran tells
     * which one ran. Enqueue with w (and workspace) at first: kiln_op_pack(), kiln_op_time(),
     * kiln_op_warm() and kiln_op_source() wait for the thread. Backward passes, and problems with
     * layouts that are neither plain nor in blocks of channels, are compiled when they are created,
     * as all are with KILN_FIRST_OWN */
    kiln_first first_use;
    /* Receives one line for each thing worth knowing (cache hits, rows that do not fit); may be
     * called from several threads. NULL: silence. */
    void (*log)(void *user, const char *line);
    void *log_user;
    /* Receives, with log_user, a line for each thing that a guess stands in for, and that somebody
     * should know or mend: damaged rows, a default file that cannot be used, a file of another
     * device's rows, a named file that is not there when its rows are first asked for, a user's row
     * of the problem of another version. NULL: log receives these lines, too. */
    void (*warn)(void *user, const char *line);
    /* Receives, with log_user, what the library did when it has ended: "choose", "emit", "build",
     * and in kiln_tune() "launch", with a detail, and its times in ns of CLOCK_MONOTONIC. For
     * traces; may be called from several threads. NULL: nobody listens. */
    void (*span)(void *user, const char *what, const char *detail, int64_t begin, int64_t end);
} kiln_settings;

/* Opens kiln on a device of a context, and retains the context. With context and device NULL the
 * handle can plan, explain and describe for a device of no particular kind, but not compile or run.
 * Opening compiles nothing. What only a kernel can find out about a device (PoCL's threads, AMX,
 * tensor cores), the first plan that may use it does: a second once, then it is in the caches.
 * A call needs less than 64 KiB of its thread's stack for the library itself; a driver that
 * compiles in that thread needs more: PoCL's compiler does. */
KILN_API kiln_status kiln_open(kiln **out, cl_context context, cl_device_id device,
                               const kiln_settings *settings);
/* Gives the handle up; NULL is fine. Ops that are left stay usable (kiln_finish() and kiln_flush()
 * need a kiln: clFinish() and clFlush() do for queues without settings.queues_flushed). */
KILN_API void kiln_close(kiln *k);

/* Return where things are, for `kiln env` and bug reports; "" when switched off. */
KILN_API const char *kiln_cache_dir(const kiln *k);
KILN_API const char *kiln_rows_file(const kiln *k);
KILN_API const char *kiln_shipped_dir(const kiln *k);

/* Return what the device can do at most with tensors of a type, in 1e9 operations a second, and how
 * fast it moves data in memory, in 1e9 bytes a second: counted from the units and the clock that it
 * tells, and from what is known of its family. 0: unknown. */
KILN_API double kiln_device_gflops(const kiln *k, kiln_type type);
KILN_API double kiln_device_gbs(const kiln *k);

/* Returns what an earlier search on this GPU measured, kept beside the compiled programs and used
 * by kiln_device_gbs() and predictions: "copies 4100 GB/s, a launch each 4.5 us (2026-01-31)". "":
 * nothing; on CPUs nothing is measured. */
KILN_API const char *kiln_device_measured(const kiln *k);

/* ---- operations -------------------------------------------------------------------------------
 */

/* What to run instead of the library's choice. All zero: the row of the user's tuning file, else a
 * shipped row for the device, else the solver with the best predicted time, with its config from a
 * shipped row for any device or its guess. Where a layout is "any", the fastest row of the layouts
 * that the solvers would choose; where the layouts predicted best have no row, a guess for them
 * wins if it is predicted to be clearly faster (by more than a fifth of the row's time). */
typedef struct kiln_choice {
    const char *solver; /* name or id: "ConvOclDirectFwd1x1", "13" */
    const char
        *config;       /* "1,64,1,1,1,1,16,2048,0", or "NAME=value,..." over the guess. Without a
                          solver: of the one that would be chosen, else of the first that takes it */
    int ignore_rows;   /* 1: as if no tuning row existed */
    int native_layout; /* 1: refuse a solver that would need its tensors reformatted */
    /* 1: every enqueue will bring packed weights. kiln_op_info.workspace_size then has no room to
     * pack them in each run, and an enqueue without them is KILN_INVALID. It changes nothing where
     * there is nothing to pack (packed_size 0) */
    int packed_weights;
} kiln_choice;

/* Chooses solver and config for `problem`, generates and compiles the kernels. `choice` may be
 * NULL. Returns KILN_INVALID when the problem or choice makes no sense; KILN_UNSUPPORTED when no
 * solver (or not the chosen one) can do it here; KILN_OPENCL when a kernel did not build
 * (kiln_last_error() has the log). */
KILN_API kiln_status kiln_conv_create(kiln *k, const kiln_problem *problem,
                                      const kiln_choice *choice, kiln_op **out);
KILN_API void kiln_op_release(kiln_op *op); /* NULL is fine */

/* Makes the operation that moves a tensor from one layout and type to another (kiln_layout.h). The
 * operation reads kiln_buffers' x and writes all cells of y, padding included. Each is a buffer, or
 * for an image layout a 2-D image of CL_RGBA pixels (CL_FLOAT, CL_HALF_FLOAT, CL_SIGNED_INT8 or
 * CL_SIGNED_INT32 for f32, f16, i8, i32), at least as large as the layout's, without an offset.
 * Conversion rounds to nearest even and saturates integers; between equal types in buffers the bits
 * are kept. Returns KILN_UNSUPPORTED when the device cannot hold one of the two. kiln_op_describe()
 * names no solver for it. */
KILN_API kiln_status kiln_reformat_create(kiln *k, const kiln_reformat *reformat, kiln_op **out);

/* Makes the operation of a pool (kiln_pool.h). It reads kiln_buffers' x and, as the residual, the
 * other tensor, and writes y; each is a buffer. Where x or y is a range of channels, the buffer
 * holds the larger tensor whole. The residual may be y itself where both are whole and
 * other_is_one is 0. Returns KILN_UNSUPPORTED when the device cannot hold a tensor.
 * kiln_op_describe() names no solver for it. */
KILN_API kiln_status kiln_pool_create(kiln *k, const kiln_pool *pool, kiln_op **out);

/* Has a driver do now what it leaves to the first launch: launches the op once, packing included,
 * on buffers of its own in a queue of its own, and waits for it. Takes the memory of the op's
 * tensors for that time. */
KILN_API kiln_status kiln_op_warm(kiln_op *op);

/* Creates the ops of `count` problems on up to `threads` threads (0: one per CPU), warms each op
 * and releases it; the programs stay in the cache. PoCL compiles one program at a time in a
 * process, so with more than one thread the caller compiles beside processes of the command `kiln
 * prepare`, where kiln finds it: KILN_COMMAND, else beside the library or as installed with it.
 * Returns the first failure; attempts all problems. */
KILN_API kiln_status kiln_prepare(kiln *k, const kiln_problem *problems, size_t count, int threads);

/* Does the same, and writes a bundle into the folder `dir`, which is made where it is missing:
 * programs as binaries of this driver for this device, and the tuning rows in use. Another machine
 * with both, or this one, then reads it (settings.bundle). PoCL compiles each kernel once more for
 * that, and needs a cache folder of its own that it can write to where the bundle is read, in
 * memory if need be. Returns KILN_FILE where the folder cannot be written. */
KILN_API kiln_status kiln_bundle(kiln *k, const kiln_problem *problems, size_t count, int threads,
                                 const char *dir);

/* Processes that compile beside the caller. */
typedef struct kiln_helpers kiln_helpers;

/* Has up to `processes` processes of the command `kiln prepare` (0: one per CPU, less the caller's)
 * compile the problems from the last one to the first, and returns at once. They start with the
 * first program that k has to compile: a start that finds everything in PoCL's cache starts none. A
 * caller that then creates the operations and runs them once, from the first one to the last, meets
 * them half way and finds the rest in the cache: with two CPUs a network's first start takes two
 * thirds of the time. The call copies `problems`. Their layouts must be the ones that the
 * operations will have: kiln_conv_plan() tells what becomes of "any". *out is NULL where there is
 * nothing to end: on other drivers than PoCL's, and with a bundle. Where no process can start, the
 * caller compiles everything itself. */
KILN_API kiln_status kiln_prepare_begin(kiln *k, const kiln_problem *problems, size_t count,
                                        int processes, kiln_helpers **out);
/* Takes back what no process has begun, and waits for the problem that each compiles: half a second
 * at most after a cold start, and nothing where they have done everything. To be called after the
 * first run, at once or much later; NULL is fine. They hold k until then. */
KILN_API void kiln_prepare_end(kiln_helpers *helpers);

/* Where a config came from. */
typedef enum kiln_origin {
    KILN_ORIGIN_CHOICE = 0, /* kiln_choice.config */
    KILN_ORIGIN_USER_ROW,
    KILN_ORIGIN_SHIPPED_ROW,
    KILN_ORIGIN_GUESS
} kiln_origin;

enum { KILN_INFO_TEXT = 192 };

typedef struct kiln_op_info {
    kiln_problem problem; /* checked and completed; no layout is "any" any more */
    const char *solver;   /* lives as long as the library; "" for a reformat */
    const char *ran;      /* the solver that the last enqueue ran, as above; "" before the first
                             and with kiln_conv_plan(). settings.first_use says when it differs */
    int solver_id;        /* MIOpen's number, or 1000 and up */
    int algorithm;        /* MIOpen's number */
    int solver_version;
    char config[KILN_INFO_TEXT];
    kiln_origin origin;
    /* Bytes of what kiln_buffers has; 0: the operation does not use it. */
    int64_t x_size, w_size, y_size, bias_size, residual_size;
    int64_t w_scales_size, x_zero_size, w_zero_size, y_zero_size;
    /* For kiln_op_enqueue() and kiln_op_pack() alike. Without choice.packed_weights, it has room
     * for weights that each run packs. */
    int64_t workspace_size;
    int64_t packed_size; /* of packed weights, where they are a buffer or an image; 0: nothing to
                            pack */
    /* Packed weights that are an image: pixels, CL_RGBA of that type. 0: they are a buffer. */
    int64_t packed_width, packed_height;
    kiln_type packed_type;
    int64_t image_size;   /* bytes of images that the op holds for its stages */
    int deterministic;    /* 1: two runs give the same bits */
    double amplification; /* of rounding errors by the algorithm; 1: plain sums; above 1 it also
                             spreads NaNs and overflows earlier, see kiln_math */
    double predicted_ms;
    /* A solver that only a limit on workspaces excluded (kiln_problem.workspace_limit) and that is
     * predicted to be faster, as above; "" and 0: there is none. */
    const char *limited_solver;
    double limited_ms;
    int stages, facts;
} kiln_op_info;

/* Does what kiln_conv_create() does, without compiling the operation: chooses solver, config and
 * layouts, and describes them and all sizes in *info. Needs no queue, and no device where
 * kiln_open() had none. Returns as kiln_conv_create(). An operation that is created with the same
 * problem and choice is what *info says, unless rows were added in between. */
KILN_API kiln_status kiln_conv_plan(kiln *k, const kiln_problem *problem, const kiln_choice *choice,
                                    kiln_op_info *info);

/* Does the same and calls `visit` with the operation, for kiln_op_describe(), kiln_op_stage() and
 * kiln_op_fact(). It is not compiled, and ends with the call. */
KILN_API kiln_status kiln_conv_show(kiln *k, const kiln_problem *problem, const kiln_choice *choice,
                                    void (*visit)(void *user, const kiln_op *op), void *user);

KILN_API void kiln_op_describe(const kiln_op *op, kiln_op_info *info);

/* One launch of the plan, complete enough to repeat it elsewhere. Pointers live as long as op. */
typedef struct kiln_stage_info {
    const char *kernel; /* "" for a clear */
    const char *template_file;
    const char *options;
    size_t local[3], global[3]; /* what the solver asks for */
    size_t launched[3];         /* global, rounded up to whole groups */
    size_t groups;              /* launched / local, all dimensions */
    int packs_weights;          /* 1: part of kiln_op_pack() */
} kiln_stage_info;

KILN_API kiln_status kiln_op_stage(const kiln_op *op, int index, kiln_stage_info *info);

/* What the kernel of a stage takes as an argument. */
typedef enum kiln_argument_kind {
    KILN_ARGUMENT_BUFFER = 0,
    KILN_ARGUMENT_IMAGE,
    KILN_ARGUMENT_INT,    /* a cl_int, `value` */
    KILN_ARGUMENT_LONG,   /* a cl_long, `value` */
    KILN_ARGUMENT_SHARING /* a cl_ulong: the host's address of 32 KiB of zeros, where threads could
                             share a launch of one work-group; of no use with several */
} kiln_argument_kind;

typedef struct kiln_argument {
    kiln_argument_kind kind;
    /* BUFFER, IMAGE: "x", "w", "y", "bias", "residual"; "packed": what stages that pack the weights
     * write; "temp": scratch memory number `index`. "": a number. Lives as long as the library. */
    const char *memory;
    int index;
    int64_t bytes; /* of that memory */
    int64_t value; /* a number; for a clear, the bytes that become 0 */
} kiln_argument;

/* Tells an argument of a stage; argument 0 of a clear is the memory that it clears. Returns
 * KILN_INVALID past the last. */
KILN_API kiln_status kiln_op_argument(const kiln_op *op, int stage, int index,
                                      kiln_argument *argument);
/* Returns the OpenCL C source of a stage, without its options; NULL for a clear. Lives as long as
 * op. */
KILN_API const char *kiln_op_source(const kiln_op *op, int index);
/* Writes the hash of the operation's templates, which its tuning row has. */
KILN_API kiln_status kiln_op_hash(const kiln_op *op, char *hash, size_t size);
/* Tells a number that the solver derived ("N_LCL_IN_MAPS", 192). Returns KILN_INVALID past the
 * last. */
KILN_API kiln_status kiln_op_fact(const kiln_op *op, int index, const char **name, int64_t *value);

/* A buffer and where the tensor starts in it. The offset must be a multiple of
 * CL_DEVICE_MEM_BASE_ADDR_ALIGN / 8 bytes. A buffer of the caller's memory (CL_MEM_USE_HOST_PTR)
 * need be aligned for single elements only, 4 bytes for workspace and packed weights; addresses
 * that are multiples of 64 are faster on a CPU. */
typedef struct kiln_buffer {
    cl_mem mem;
    size_t offset; /* bytes */
} kiln_buffer;

/* The tensors in the problem's own terms: for KILN_BACKWARD_DATA, y is the gradient that is read
 * and x is written; for KILN_BACKWARD_WEIGHTS, w (and bias) are written. Sizes of the memory
 * objects are checked against the problem. Buffers that a problem does not need stay zero. A tensor
 * whose layout is an image, and packed weights with a packed_width, are images as
 * kiln_reformat_create() says. */
typedef struct kiln_buffers {
    kiln_buffer x, w, y;
    kiln_buffer bias;      /* [K]; with epilogue.bias */
    kiln_buffer residual;  /* as y; with epilogue.beta; may be y itself, if that is a buffer */
    kiln_buffer workspace; /* with workspace_size > 0 */
    kiln_buffer packed;    /* optional: weights from kiln_op_pack(); then w is not read */
    kiln_buffer w_scales;  /* these four with the bits KILN_QUANT_... of quant.buffers */
    kiln_buffer x_zero, w_zero, y_zero;
} kiln_buffers;

/* Enqueues the whole operation. The queue must belong to the kiln's context and device, and memory
 * objects and events to its context; else returns KILN_INVALID. (Where an op is enqueued with the
 * buffers of the call before, OpenCL itself judges the events.) What the operation writes,
 * workspace included, must not overlap anything else that it is given, unless y is its own
 * residual, and must not be CL_MEM_READ_ONLY. The operation waits for the n_wait events of `wait`;
 * *done (if not NULL) completes with the last launch. Launches depend on each other properly on
 * out-of-order queues. The op keeps references to workspace and offset buffers until they change or
 * the op is released, and none to tensors. A call with the buffers of the call before only
 * launches: it asks for no sizes until one of those buffers has ended, which a destructor callback
 * tells. Enqueues of one op may overlap if each has its own workspace. Enqueues of an op with
 * images of its own (image_size, or packed_width and no packed weights given) wait for one another,
 * on whatever queues. */
KILN_API kiln_status kiln_op_enqueue(kiln_op *op, cl_command_queue queue,
                                     const kiln_buffers *buffers, cl_uint n_wait,
                                     const cl_event *wait, cl_event *done);

/* Rearranges weights once for many enqueues; reads buffers->w, writes buffers->packed. Weights in a
 * layout that is reformatted first need the workspace as well. Operations whose kiln_op_info has
 * the same problem, solver, solver_version and config, on devices of one kind, pack the same bytes.
 * They may share packed weights, also copies of them, and use them at the same time from any number
 * of threads and queues: packed weights are only read. */
KILN_API kiln_status kiln_op_pack(kiln_op *op, cl_command_queue queue, const kiln_buffers *buffers,
                                  cl_uint n_wait, const cl_event *wait, cl_event *done);

/* Does what clFinish(queue) does, but returns sooner on PoCL's CPU device: if the kiln's last
 * operation is in this queue, the calling thread spins for its end, yielding its core, for
 * settings.keepalive_us before it sleeps. A thread that sleeps goes on 10 to 20 us after the end.
 * On other devices, and where threads do not stay awake, it is clFinish() and no more. */
KILN_API kiln_status kiln_finish(kiln *k, cl_command_queue queue);

/* Does what clFlush(queue) does, and says that operations enqueued from now on come behind the
 * commands that the caller has put into the queue (settings.queues_flushed). */
KILN_API kiln_status kiln_flush(kiln *k, cl_command_queue queue);

/* Does what kiln_op_enqueue() does, waits for the result, and tells the time in ms by the
 * device's clock. *pack_ms (may be NULL) receives the time of the launches that pack weights,
 * which kiln_op_pack() can do once for many enqueues. *ms receives the time from the start of
 * the first other launch to the end of the last one, with pauses between them, without packing.
 * Where the device's clock stands still, as that of Mesa's rusticl, *ms is how long the call
 * waited by the host's clock, packing included, and *pack_ms is 0. The queue must have
 * CL_QUEUE_PROFILING_ENABLE. */
KILN_API kiln_status kiln_op_time(kiln_op *op, cl_command_queue queue, const kiln_buffers *buffers,
                                  double *ms, double *pack_ms);

/* ---- why this solver, why not that one --------------------------------------------------------
 */

/* A tensor that a launch of its own moves from one layout to another in every run. */
typedef struct kiln_restaged {
    const char *tensor; /* "x", "w", "y", "bias" or "residual" */
    char from[KILN_LAYOUT_TEXT], to[KILN_LAYOUT_TEXT];
    double predicted_ms; /* part of the solver's time */
} kiln_restaged;

enum { KILN_MAX_RESTAGED = 8 };

typedef struct kiln_verdict {
    const char *solver;
    int solver_id, algorithm;
    int accepted;
    int chosen;                   /* kiln_conv_create() would take this one */
    char reason[KILN_ERROR_TEXT]; /* if not accepted */
    double unlimited_ms;          /* if only a limit on workspaces is the reason: what would be
                                     predicted without it; else 0 */
    char config[KILN_INFO_TEXT];  /* if accepted */
    kiln_origin origin;
    double predicted_ms;
    int64_t workspace_size;
    int solver_version;
    int nrestaged; /* if accepted: tensors that are not read or written as they lie */
    kiln_restaged restaged[KILN_MAX_RESTAGED];
} kiln_verdict;

/* Tells what solver number `index` says of the problem. Returns KILN_INVALID past the last
 * solver. */
KILN_API kiln_status kiln_explain(kiln *k, const kiln_problem *problem, int index,
                                  kiln_verdict *verdict);

/* ---- the program cache on disk ----------------------------------------------------------------
 */

typedef struct kiln_cache_entry {
    /* The text that decides: lines of a word and its value (platform, device, driver, template,
     * source), the last of them the options. "" if not valid. */
    const char *key;
    const char *file; /* with its directory */
    int64_t bytes;
    int64_t used; /* last, in seconds since 1970 */
    int valid;    /* 0: damaged or of another format */
} kiln_cache_entry;

/* Calls `entry` for each program of the cache in `dir` (NULL: the default directory), the most
 * recently used first. A directory that is missing or "" holds none. */
KILN_API kiln_status kiln_cache_list(const char *dir,
                                     void (*entry)(void *user, const kiln_cache_entry *e),
                                     void *user);
/* Removes kiln's files, and no others, from the directory. *removed (if not NULL) counts them. */
KILN_API kiln_status kiln_cache_clear(const char *dir, int64_t *removed);

#ifdef __cplusplus
}
#endif

#endif
