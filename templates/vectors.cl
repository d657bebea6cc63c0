/* vectors.cl: vectors of D_B neighbouring channels of a pixel, as they are read and summed.
 *
 *   ACC_V               D_B times ACC_T; D_B may be 1
 *   LOAD_V(p)           an ACC_V from global memory; STORE_V(p, v) stores one
 *   SRC_LOAD_V(p, i)    an ACC_V of elements i, i + 1, ... of the source
 */
#include "types.cl"

#if D_B == 1
#define ACC_V ACC_T
typedef ACC_T kiln_loose_acc;
#else
#define ACC_V KILN_CAT(ACC_T, D_B)
typedef KILN_LOOSE(ACC_T, D_B) kiln_loose_acc;
#endif
#define LOAD_V(p) (*(global const kiln_loose_acc *)(p))
#define STORE_V(p, v) (*(global kiln_loose_acc *)(p) = (v))

#if D_B == 1
#define SRC_LOAD_V(p, i) SRC_LOAD(p, i)
#elif SRC_TYPE == TYPE_F32
#define SRC_LOAD_V(p, i) LOAD_V((p) + (i))
#else
#define SRC_LOAD_V(p, i) SRC_LOADN(D_B, p, i)
#endif
