/* Plans of pooling and of work on single elements (kiln_pool.h): one stage each. */
#ifndef KILN_PLAN_POOL_H
#define KILN_PLAN_POOL_H

#include "kiln_layout.h"
#include "kiln_pool.h"
#include "plan.h"

/* Makes the storage of x, y or the other tensor, larger tensors whole, of a checked pool. Returns
 * false, with the reason, where the layout does not fit. */
bool kiln_pool_storage(const kiln_pool *pool, char tensor /* 'x' 'y' 'r' */, kiln_storage *storage,
                       char *why);

/* Makes the plan of a checked pool: it reads x, and the other tensor as the residual, and writes y.
 * Returns false, with the reason, when the device cannot hold a tensor. */
bool kiln_pool_plan(const kiln_pool *pool, const kiln_device_facts *d, kiln_plan *plan, char *why);

/* Returns how long the plan should take, in ms, without its launch. */
double kiln_pool_ms(const kiln_pool *pool, const kiln_device_facts *d);

#endif
