/* Plans without a device: models of devices, and checks of what a solver makes of a problem there.
 * Call the checks inside Check tests. */
#ifndef PLANS_H
#define PLANS_H

#include "generator/plan/solver.h"

/* An NVIDIA H100 with all that kiln's probes find; a test takes away what it is to lack. */
kiln_device_facts support_h100(void);

/* Returns the shape of a problem's name; fails the test where it is no problem. */
kiln_shape support_shape(const char *problem);

/* Fails the test unless the solver refuses the problem with these words in the reason. */
void support_check_refused(const kiln_solver *solver, const char *problem,
                           const kiln_device_facts *d, const char *reason);

/* The same for several problems. */
typedef struct support_refusal {
    const char *problem, *reason;
} support_refusal;
void support_check_refusals(const kiln_solver *solver, const kiln_device_facts *d,
                            const support_refusal refusals[], size_t count);

/* Fails the test unless the solver takes the problem, and its guess passes all checks and has a
 * time. Returns the shape that the solver gets. */
kiln_shape support_check_guess(const kiln_solver *solver, const char *problem,
                               const kiln_device_facts *d, kiln_config *guess);
/* The same for several problems. */
void support_check_guesses(const kiln_solver *solver, const kiln_device_facts *d,
                           const char *const problems[], size_t count);

/* Fails the test unless a legal config has these stages, "pack 64x64x9/64, gemm 256x1x1/128": the
 * grid, and the first size of a group. */
void support_check_stages(const kiln_solver *solver, const char *problem,
                          const kiln_device_facts *d, const char *config, const char *stages);

/* Returns how many elements an array has. */
#define SUPPORT_COUNT(array) (sizeof(array) / sizeof *(array))

#endif
