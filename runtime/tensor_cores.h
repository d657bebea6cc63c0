/* Whether a GPU's tensor cores can be reached from OpenCL C, as a probe shows: a kernel with inline
 * PTX that is built, run and its result compared. */
#ifndef KILN_TENSOR_CORES_H
#define KILN_TENSOR_CORES_H

#include "kiln_internal.h"

/* Sees to it that k->facts.gpu has has_mma, has_wgmma and static_local_memory. Call before solvers
 * see a shape; NULL: any shape. The probe takes a second of compiling, so that the first shape that
 * suits tensor cores starts it. Does nothing on devices without NVIDIA's attribute of a compute
 * capability of 8.0 or more. The probe's programs are cached as all others. */
void kiln_tensor_cores_ask(kiln *k, const kiln_shape *shape);

#endif
