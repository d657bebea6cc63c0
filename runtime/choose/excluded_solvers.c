/* Compares the solvers that a search could choose with the solvers that there are. */
#include "excluded_solvers.h"

#include "pick.h"

#include <string.h>

static bool is_among(const kiln_solver *solver, const kiln_solver *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (list[i] == solver)
            return true;
    return false;
}

static void add_name(char names[KILN_ROW_WITHOUT], const char *name)
{
    const size_t used = strlen(names), length = strlen(name);
    if (used + (used > 0) + length >= KILN_ROW_WITHOUT)
        return;
    if (used > 0)
        strcat(names, " ");
    strcat(names, name);
}

/* Reads the next name of a list and moves on. Returns false behind the last one. */
static bool next_name(const char **names, char name[KILN_ROW_WITHOUT])
{
    const char *at = *names + strspn(*names, " ");
    const size_t length = strcspn(at, " ");
    memcpy(name, at, length); /* a name is shorter than its list */
    name[length] = '\0';
    *names = at + length;
    return length > 0;
}

void kiln_excluded_solvers(const kiln *k, const kiln_problem *problem,
                           const kiln_solver *const *tried, size_t n, char names[KILN_ROW_WITHOUT])
{
    kiln_problem wide = *problem;
    const kiln_solver *solver;
    names[0] = '\0';
    wide.epilogue = (kiln_epilogue){0};
    wide.determinism = KILN_DETERMINISM_DEFAULT;
    wide.math = KILN_MATH_DEFAULT;
    wide.workspace_limit = 0;
    if (kiln_problem_check(&wide, NULL))
        return;
    const kiln_shape shape = kiln_shape_of(&wide);
    for (int i = 0; (solver = kiln_solver_at(i)); i++) {
        kiln_pick pick;
        kiln_why why;
        if (!is_among(solver, tried, n) &&
            kiln_consider(k, solver, &shape, NULL, NULL, &pick, &why))
            add_name(names, solver->name);
    }
}

void kiln_excluded_solvers_by_both(char names[KILN_ROW_WITHOUT], const char *others)
{
    char all[KILN_ROW_WITHOUT], name[KILN_ROW_WITHOUT], other[KILN_ROW_WITHOUT];
    const char *at = all;
    memcpy(all, names, sizeof all);
    names[0] = '\0';
    while (next_name(&at, name))
        for (const char *o = others; next_name(&o, other);)
            if (strcmp(name, other) == 0)
                add_name(names, name);
}

bool kiln_excluded_solvers_matters(const kiln *k, const char *names, const kiln_shape *shape)
{
    char name[KILN_ROW_WITHOUT];
    while (next_name(&names, name)) {
        kiln_shape own;
        kiln_why why;
        const kiln_solver *solver = kiln_solver_named(name);
        if (solver && kiln_solver_takes(solver, shape, &k->facts, &own, &why))
            return true;
    }
    return false;
}
