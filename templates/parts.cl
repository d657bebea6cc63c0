/* parts.cl: what kernels of backward weights store: weights, or sums of parts, which sum_parts.cl
 * adds.
 *
 *   OUT_T                 elements of the result
 *   OUT_STORE(p, i, v)    p[i] = v, of type ACC_T
 *
 * Defines, besides those of types.cl:
 *   T_SPLIT               parts of the sums; 1: the result is the weights
 */
#include "types.cl"

#if T_SPLIT > 1
#define OUT_T ACC_T
#define OUT_STORE(p, i, v) ((p)[i] = (v))
#else
#define OUT_T DST_T
#define OUT_STORE(p, i, v) DST_STORE(p, i, v)
#endif
