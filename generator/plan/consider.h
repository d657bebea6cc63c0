/* The door to a solver: whether it can run a shape, with which config, and how long that is
 * expected to take. What chooses, explains or searches goes through it. */
#ifndef KILN_CONSIDER_H
#define KILN_CONSIDER_H

#include "solver.h"

/* What a solver that can run a shape would do. */
typedef struct kiln_considered {
    kiln_shape shape; /* as the solver sees it: layouts decided */
    kiln_config config;
    double ms; /* predicted, with reformat stages */
} kiln_considered;

/* Considers a config of the solver, or its guess where `config` is NULL. Returns false, with the
 * reason, where the solver rejects the shape or refuses the config, or the device has no room for
 * it. Only a plan tells the room: it is made in `plan`, memory of the caller's, because a plan is
 * too large for the stack. */
bool kiln_solver_consider(const kiln_solver *solver, const kiln_shape *s,
                          const kiln_device_facts *d, const kiln_config *config, kiln_plan *plan,
                          kiln_considered *answer, kiln_why *why);

/* Does the same for a config and a shape that kiln_solver_takes() has decided. */
bool kiln_config_consider(const kiln_solver *solver, const kiln_shape *decided,
                          const kiln_device_facts *d, const kiln_config *c, kiln_plan *plan,
                          double *ms, kiln_why *why);

#endif
