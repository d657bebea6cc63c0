/* What the runtime's files know of each other: the insides of a kiln and of an op. */
#ifndef KILN_INTERNAL_H
#define KILN_INTERNAL_H

#include "generator/plan/solver.h"
#include "runtime/op/mem_lifetime.h"
#include "runtime/pocl/command_batch.h"
#include "runtime/pocl/keepalive.h"
#include "runtime/programs/program.h"
#include "runtime/rows/rows.h"

#include "error.h"

#include <pthread.h>
#include <stdatomic.h>

struct kiln {
    cl_context context; /* NULL: plans only */
    cl_device_id device;
    kiln_device_facts facts;
    kiln_logger logger;
    kiln_programs *programs;
    kiln_keepalive *awake;   /* NULL: nothing is to be kept awake */
    kiln_command_batch *follow; /* NULL: every operation is a command of its own */
    kiln_mem_lifetime *watch;
    bool check_padding;
    bool has_addresses;        /* of buffers that stay, for kernels */
    const char *rows_named_by; /* a setting, a variable; NULL: it is the default */
    atomic_bool missing_told;  /* that the file so named is not there */
    char cache_dir[4096], rows_file[4096], shipped_dir[4096], template_dir[4096];
    pthread_mutex_t lock; /* guards user_rows, which tuning replaces */
    kiln_rows *user_rows, *shipped_rows, *generic_rows;
};

/* A solver with a legal config, and where that came from. */
typedef struct kiln_pick {
    const kiln_solver *solver;
    kiln_shape shape; /* as the solver sees it: layouts decided */
    kiln_config config;
    kiln_origin origin;
    double row_ms;     /* of the row that the config is from; 0: not measured */
    double row_spread; /* (90th - 10th percentile) / median of that */
} kiln_pick;

/* Facts of an OpenCL device. */
kiln_status kiln_device_read(cl_device_id device, kiln_device_facts *facts);

/* Picks for a shape in the order of kiln_choice's comment; `choice` may be NULL. */
kiln_status kiln_choose(kiln *k, const kiln_problem *problem, const kiln_shape *shape,
                        const kiln_choice *choice, kiln_pick *pick);
/* Warns where the user's rows might have been expected to decide that. */
void kiln_warn_of_choice(kiln *k, const kiln_problem *problem, const kiln_choice *choice,
                         const kiln_pick *pick);

/* No tensor may be larger than the device's largest buffer or image. */
kiln_status kiln_sizes_check(const kiln *k, const kiln_problem *problem);

/* The config a solver would run with: from rows, else its guess. Rows are kept by decided layouts:
 * where the problem says "any", those count that the solver makes of it. False, with the reason,
 * when the solver rejects the shape or cannot plan it. `plan` is filled. */
bool kiln_solver_config(kiln *k, const kiln_solver *solver, const kiln_problem *problem,
                        const kiln_shape *shape, bool ignore_rows, kiln_pick *pick, kiln_plan *plan,
                        kiln_why *why);

/* Reads the user's rows again, after a row was appended. */
void kiln_reload_rows(kiln *k);

/* XXH3 hash, 16 hex digits, of all templates a plan uses, and all that they include. */
void kiln_plan_template_hash(const kiln *k, const kiln_plan *plan, char hash[40]);
const kiln_plan *kiln_op_plan(const kiln_op *op);

#endif
