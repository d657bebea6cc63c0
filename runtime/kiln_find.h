/* All solutions of a problem, to choose from: MIOpen's modes Find and Immediate.
 *
 *     kiln_solution list[32];
 *     size_t count;
 *     kiln_solutions(k, &problem, list, 32, &count);           // Immediate: ranked, not measured
 *     kiln_find(k, &problem, queue, &b, NULL, list, 32, &count);   // Find: measured
 *     kiln_solution_create(k, &list[0], &op);
 *
 * kiln_conv_create() is enough for who wants the library's choice: it creates the first solution of
 * kiln_solutions(). A solution is one solver with one config: that of the solver's tuning row, else
 * its guess. kiln_tune() compares many configs of each solver, verifies them and keeps the best as
 * a row; kiln_find() compares one of each, takes the results as right unless the caller verifies
 * them, and keeps nothing.
 *
 *     MIOpen                                        here
 *     miopenConvolution*GetSolutionCount            kiln_solutions(), *count
 *     miopenConvolution*GetSolution                 kiln_solutions()
 *     miopenConvolution*GetSolutionWorkspaceSize    kiln_solution.workspace_size
 *     miopenConvolution*CompileSolution             kiln_solution_create(), kiln_op_warm()
 *     miopenConvolution*Immediate                   kiln_op_enqueue()
 *     miopenFindConvolution*Algorithm               kiln_find()
 *     miopenConvSolution_t.time, .solution_id       kiln_solution.ms, .solver_id
 *
 * Layouts: where the problem says "any", each solution has the layouts that its solver takes best;
 * kiln_solution.problem says which. kiln_find() needs decided layouts, because the tensors lie in
 * them.
 *
 * Errors and threads are as in kiln.h. A solution is a plain value: copy it, keep it, use it with
 * any kiln on a device of the same kind; kiln_solution_create() checks it as it checks a row.
 */
#ifndef KILN_FIND_H
#define KILN_FIND_H

#include "kiln.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How exact the results are. */
typedef enum kiln_accuracy {
    KILN_ACCURACY_EXACT = 0, /* integers */
    KILN_ACCURACY_SUMS,      /* sums of products, rounded in f32, in whatever order */
    KILN_ACCURACY_AMPLIFIED  /* an algorithm that amplifies rounding errors, as Winograd's does;
                                kiln_solution.amplification says how much */
} kiln_accuracy;

typedef struct kiln_solution {
    kiln_problem problem; /* checked and completed; no layout is "any" any more */
    const char *solver;   /* lives as long as the library */
    int solver_id, algorithm, solver_version;
    char config[KILN_INFO_TEXT];
    kiln_origin origin;     /* of the config: a user's row, a shipped row, a guess */
    double ms;              /* measured, by the row's search or kiln_find(); else predicted */
    int measured;           /* 1: ms was measured */
    int64_t workspace_size; /* as in kiln_op_info, with room to pack weights */
    int64_t packed_size;
    kiln_accuracy accuracy;
    double amplification;
    int deterministic; /* 1: two runs give the same bits */
} kiln_solution;

/* Lists the solutions of a problem without compiling or measuring; needs no device where
 * kiln_open() had none. What kiln_conv_create() would take comes first; the others follow by their
 * ms. Writes the first `room` of them to `list`, which may be NULL with room 0, and their whole
 * number to *count. Returns KILN_UNSUPPORTED, and a count of 0, when no solver takes the problem.
 */
KILN_API kiln_status kiln_solutions(kiln *k, const kiln_problem *problem, kiln_solution *list,
                                    size_t room, size_t *count);

/* All zero is fine. */
typedef struct kiln_find_options {
    double max_seconds; /* 0: no limit. Else solutions that were not begun by then are left out; the
                           first is always tried */
    /* Judges the destination after a solution's first run, as kiln_tune_options.verify does; a
     * solution that it refuses is left out. NULL: all are taken as right. */
    int (*verify)(void *user, const kiln_op *op, double *error);
    void *user;
} kiln_find_options;

/* Compiles each solution, runs it on the given buffers and times it for some milliseconds, with
 * weights packed beforehand; lists the solutions that ran by their time. Overwrites what the
 * problem writes, and waits for the queue, which needs CL_QUEUE_PROFILING_ENABLE. The workspace is
 * the library's own for that time; buffers->workspace and packed are ignored. Compiled programs
 * stay in the cache, so that creating a listed solution is quick. `options` may be NULL. Returns
 * KILN_INVALID where a layout is "any"; KILN_UNSUPPORTED where nothing ran. */
KILN_API kiln_status kiln_find(kiln *k, const kiln_problem *problem, cl_command_queue queue,
                               const kiln_buffers *buffers, const kiln_find_options *options,
                               kiln_solution *list, size_t room, size_t *count);

/* Creates the operation of a solution, as kiln_conv_create() does. */
KILN_API kiln_status kiln_solution_create(kiln *k, const kiln_solution *solution, kiln_op **out);

#ifdef __cplusplus
}
#endif

#endif
