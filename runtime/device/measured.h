/* What OpenCL does not tell of a GPU and a short measurement does: how fast it copies, and how fast
 * the host enqueues launches. It is kept beside the compiled programs, a record for each device and
 * driver, and used by later starts: plans do not change while a process runs. */
#ifndef KILN_MEASURED_H
#define KILN_MEASURED_H

#include "generator/plan/device.h"
#include "runtime/base/error.h"

typedef struct kiln_measured {
    double copy_gbs;   /* bytes read and written */
    double enqueue_ms; /* of a launch of many in a row */
    char date[16];     /* 2026-01-31 */
} kiln_measured;

/* Reads the record of the device in `dir`, which may be damaged or another's: returns false where
 * there is none with sane numbers for this device and driver. */
bool kiln_measured_load(const char *dir, const kiln_device_facts *facts, kiln_measured *m,
                        const kiln_logger *logger);

/* Measures, which takes some tenths of a second. Returns false where a step fails. */
bool kiln_measured_take(cl_context context, cl_device_id device, const kiln_device_facts *facts,
                        kiln_measured *m);

/* Keeps the record, making `dir` where it is missing; logs a line where it cannot. */
void kiln_measured_store(const char *dir, const kiln_device_facts *facts, const kiln_measured *m,
                         const kiln_logger *logger);

/* Has a GPU's facts follow from the record; facts of other devices stay. */
void kiln_measured_use(const kiln_measured *m, kiln_device_facts *facts);

#endif
