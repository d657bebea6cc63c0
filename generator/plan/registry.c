/* All solvers, in the order of solvers.def. */
#include "solver.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SOLVER(name) extern const kiln_solver kiln_solver_##name;
#include "solvers.def"
#undef SOLVER

static const kiln_solver *const registry[] = {
#define SOLVER(name) &kiln_solver_##name,
#include "solvers.def"
#undef SOLVER
};

enum { REGISTERED = sizeof registry / sizeof *registry };

const kiln_solver *kiln_solver_at(int index)
{
    return index >= 0 && index < REGISTERED ? registry[index] : NULL;
}

const kiln_solver *kiln_solver_named(const char *name)
{
    char *end;
    errno = 0;
    long id = strtol(name, &end, 10);
    bool number = end != name && !*end && errno == 0;
    for (int i = 0; i < REGISTERED; i++)
        if (number ? registry[i]->id == id : strcmp(registry[i]->name, name) == 0)
            return registry[i];
    return NULL;
}
