/* Whether kernels may use the tile registers of x86's AMX on PoCL's CPU device, as a probe shows.
 */
#ifndef KILN_AMX_H
#define KILN_AMX_H

#include "generator/plan/device.h"
#include "runtime/programs/program.h"

/* Sets has_amx where the CPU has AMX for bf16 and int8, Linux gives this process the registers, and
 * a kernel multiplies with them as it should. Does nothing on other devices than PoCL's CPU. The
 * permission holds for all threads of the process until it ends. */
void kiln_amx_probe(kiln_programs *programs, cl_context context, cl_device_id device,
                    const kiln_logger *logger, kiln_device_facts *facts);

#endif
