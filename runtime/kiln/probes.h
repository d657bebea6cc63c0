/* What only a probe tells of a device, a kernel that is built and run: asked when the first plan
 * needs it, because compiling takes a second. Opening a kiln compiles nothing.
 */
#ifndef KILN_PROBES_H
#define KILN_PROBES_H

#include "kiln_internal.h"

/* Sees to it that k->facts has what solvers read of them for the shape, and that k->pocl is open.
 * Call before solvers see a shape. NULL: any shape. */
void kiln_probe_for(kiln *k, const kiln_shape *shape);

/* Measures once what no device tells (device/measured.h) and keeps it for later starts, unless that
 * was done before, the device is no GPU or the program cache is off. For calls that measure anyway.
 */
void kiln_probe_speed(kiln *k);

/* Opens what operations need for which the promises of kiln_settings hold, whatever the settings
 * say. */
void kiln_probe_promises(kiln *k);

/* Opens k->pocl, and sets facts.shares_work: enough for a plan that no solver makes. */
void kiln_probe_pocl(kiln *k);

#endif
