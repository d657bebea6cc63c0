/* What kiln as a contender and the search before it share. */
#ifndef BENCH_CONTENDER_KILN_H
#define BENCH_CONTENDER_KILN_H

#include "driver/base/memory.h"

#include "contender.h"

/* Returns the work's problem with the layouts and the math that the rules allow. */
kiln_problem contender_kiln_problem(const work *w, const rules *r);

/* Makes a contender that runs the op, with tensors in the op's layouts, and takes over the op.
 * Returns NULL, with a sentence in `why`, where the tensors cannot be made; the op is released
 * then. */
contender *contender_kiln_wrap(const session *s, const work *w, kiln_op *op, char *why);

/* Returns the time of one run of kiln's by the device's clock, from the start of its first launch
 * to the end of its last one, without packing; negative: it failed. The queue has
 * CL_QUEUE_PROFILING_ENABLE. */
double contender_kiln_event_ms(contender *c, cl_command_queue profiled);

/* Makes a memory object, none of 0 bytes. Returns false on failure. */
bool contender_kiln_memory(const session *s, kiln_buffer *b, const memory_kind *kind);

/* Returns the buffer of tensor 'x', 'w' or 'y'. */
kiln_buffer *contender_kiln_buffer(kiln_buffers *b, char tensor);

#endif
