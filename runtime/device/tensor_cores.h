/* Whether a GPU's tensor cores can be reached from OpenCL C, as a probe shows: a kernel with inline
 * PTX that is built, run and its result compared. */
#ifndef KILN_TENSOR_CORES_H
#define KILN_TENSOR_CORES_H

#include "generator/plan/device.h"
#include "runtime/programs/program.h"

/* Sets has_mma, has_wgmma, has_tma and static_local_memory of facts->gpu. Takes a second of
 * compiling. Does nothing on devices whose row (generator/gpu/units.def) has no version for tensor
 * cores. The probe's programs are cached as all others. */
void kiln_tensor_cores_probe(kiln_programs *programs, cl_context context, cl_device_id device,
                             const kiln_logger *logger, kiln_device_facts *facts);

#endif
