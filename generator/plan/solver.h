/* Solvers: each is a const struct of pure functions that turns a shape into a plan.
 *
 * To add one: solver_NAME.c with the struct, its templates under templates/, and one line in
 * solvers.def. Tests, tuner, explain and -S NAME then know it.
 */
#ifndef KILN_SOLVER_H
#define KILN_SOLVER_H

#include "generator/base/refuse.h"

#include "device.h"
#include "fit.h"
#include "plan.h"
#include "shape.h"

enum { KILN_MAX_PARAMS = 12, KILN_MAX_VALUES = 16, KILN_CONFIG_TEXT = 160 };

/* One tunable. `value` lists what a search tries. A config from a database, a user or a guess may
 * hold any of them, or anything in [min, max] where max is above min. */
typedef struct kiln_param {
    const char *name;
    int nvalues;
    int value[KILN_MAX_VALUES];
    int min, max;
} kiln_param;

/* Values in the order of the solver's parameter table. */
typedef struct kiln_config {
    int v[KILN_MAX_PARAMS];
} kiln_config;

typedef struct kiln_solver kiln_solver;

struct kiln_solver {
    const char *name; /* stable: tuning rows and command lines use it */
    int id;           /* MIOpen's number where it has one, else 1000 and up */
    int algorithm;    /* MIOpen's: 0 GEMM, 1 direct, 2 FFT, 3 Winograd, 5 implicit GEMM */
    int version;      /* raise when an old config may mean something else or no longer be fastest */
    const kiln_param *params;
    int nparams;
    bool reads_argument_image; /* the bias may be an IMG_ARGUMENT; for other solvers a stage makes
                                  it plain */
    bool any_type;   /* reads and writes elements by types.cl alone, so that any type will do */
    bool sums_long;  /* takes sums of bytes that leave an int (kiln_shape_sums_long()) */
    const void *own; /* data of the variant, for the functions below; NULL: none */
    const kiln_fit *const *fits; /* what predict() and guess() know by measurements, and where it
                                    comes from; in an order of the solver's own */
    int nfits;

    /* Each function gets the solver itself, so that variants of a solver share them. */

    /* Replaces each layout that is "any" by the one that suits the solver best on the device. NULL:
     * by plain ones. The functions below see the shape after that. */
    void (*prefer)(const kiln_solver *self, kiln_shape *s, const kiln_device_facts *d);
    /* Returns true, with the reason, when the solver cannot do the problem on the device at all. */
    bool (*reject)(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                   kiln_why *why);
    /* Returns true, with the reason, when the config would be wrong or exceed a limit. Callers have
     * passed the shape by reject() and found every value in the parameter table. A search and a
     * guess ask for no reason: their `why` is NULL. */
    bool (*illegal)(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                    const kiln_config *c, kiln_why *why);
    /* Returns true when a search should skip a legal config (a duplicate, a known loser). May be
     * NULL. */
    bool (*skip)(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c);
    /* Sets *c to a legal config, without measuring. */
    void (*guess)(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                  kiln_config *c);
    /* Returns the expected time in ms, to rank solvers nobody has measured. */
    double (*predict)(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                      const kiln_config *c);
    /* Returns whether two runs of a legal config may give different bits. NULL: never. */
    bool (*varies)(const kiln_solver *self, const kiln_shape *s, const kiln_config *c);
    /* Fills an empty plan. The config is legal. */
    void (*emit)(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c, kiln_plan *plan);
};

/* Returns a solver, in the order of solvers.def; NULL past the end. */
const kiln_solver *kiln_solver_at(int index);
/* Returns the solver of a name or a decimal id; NULL when there is none. */
const kiln_solver *kiln_solver_named(const char *name);

/* Makes the shape that the solver gets, in *own: no layout is "any" any more. Where the solver
 * rejects the layouts (and the shape does not insist on them), as few of them as possible become
 * plain ones, and reformat stages serve the caller's. Returns false, with the reason, when the
 * solver rejects plain layouts too. */
bool kiln_solver_takes(const kiln_solver *solver, const kiln_shape *s, const kiln_device_facts *d,
                       kiln_shape *own, kiln_why *why);
/* For reject(): returns true, with the reason, on any device but a CPU. */
bool kiln_reject_but_cpu(const kiln_device_facts *d, kiln_why *why);
/* For reject(): returns true, with the reason, where a sum of bytes may leave an int that the
 * result needs all of. Solvers without `sums_long` need not ask. */
bool kiln_reject_long_sums(const kiln_shape *s, kiln_why *why);
/* For prefer(): sets a layout that is "any". */
void kiln_prefer_layout(char layout[KILN_LAYOUT_TEXT], const char *name);

/* Returns whether x and y together are larger than this share of a CPU's last cache, if its size is
 * known. */
bool kiln_tensors_exceed(const kiln_shape *s, const kiln_device_facts *d, double share);
/* For guess(): returns whether vectors of results are better stored past the caches of a CPU
 * (T_STREAM=1 in templates/caches.cl): the caches do not hold the tensors from one run to the next.
 */
bool kiln_better_streamed(const kiln_shape *s, const kiln_device_facts *d);
/* For emit(): returns whether the tensors are larger than the caches of a CPU core, so that
 * fetching lines ahead (D_AHEAD in templates/caches.cl) pays. */
bool kiln_better_fetched(const kiln_shape *s, const kiln_device_facts *d);

/* For emit(): defines every parameter, by its name and value. */
void kiln_define_params(kiln_plan *plan, const kiln_param *params, int nparams,
                        const kiln_config *c);

/* Returns true, with the reason, when a value is not in the parameter table: such a config is wrong
 * for every problem. */
bool kiln_config_unlisted(const kiln_solver *solver, const kiln_config *c, kiln_why *why);

/* Makes all checks on a config in their order: reject, parameter table, legality, determinism.
 * Returns false when the config passes. `forced` marks a config that the caller insists on (see
 * kiln_determinism). */
bool kiln_config_refused(const kiln_solver *solver, const kiln_shape *s, const kiln_device_facts *d,
                         const kiln_config *c, bool forced, kiln_why *why);

/* Writes the values in table order, "1,64,1,1,1,1,16,2048,0". Parsing also takes NAME=value items,
 * which change single values of the config in *c. */
size_t kiln_config_text(const kiln_solver *solver, const kiln_config *c, char *text, size_t size);
bool kiln_config_parse(const kiln_solver *solver, const char *text, kiln_config *c, kiln_why *why);

/* Steps through the search grid. Starts with *position = 0; returns false at the end. Yields only
 * configs that kiln_config_refused() accepts and skip() keeps. */
bool kiln_config_next(const kiln_solver *solver, const kiln_shape *s, const kiln_device_facts *d,
                      int64_t *position, kiln_config *c);

/* Returns the time of predict() and of reformat stages, in ms. */
double kiln_solver_predict(const kiln_solver *solver, const kiln_shape *s,
                           const kiln_device_facts *d, const kiln_config *c);

/* Makes the finished plan of a config. Returns false when the plan is broken or exceeds the
 * workspace limit of the shape or the allocation limit of the device; `why` says which. */
bool kiln_solver_plan(const kiln_solver *solver, const kiln_shape *s, const kiln_device_facts *d,
                      const kiln_config *c, kiln_plan *plan, kiln_why *why);

#endif
