/* The facts of an OpenCL device that the generator plans with. */
#ifndef KILN_DEVICE_FACTS_H
#define KILN_DEVICE_FACTS_H

#include "generator/plan/device.h"
#include "runtime/base/error.h"

/* Reads the facts of an OpenCL device. */
kiln_status kiln_device_read(cl_device_id device, kiln_device_facts *facts);

#endif
