/* What quantised tensors bring in buffers: scales of the weights and zero points. */
#ifndef KILN_TENSORS_QUANT_H
#define KILN_TENSORS_QUANT_H

#include "tensors.h"

/* Makes them for t->problem, whose other tensors are there. Scales come from the file that the
 * request names, or are drawn from its seed, as zero points are. */
kiln_status tensors_make_quant(tensors *t, const session *s, const request *r, char *why);

#endif
