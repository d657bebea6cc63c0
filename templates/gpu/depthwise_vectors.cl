/* depthwise_vectors.cl: T_VECTOR neighbouring channels of a pixel, as an item of a depthwise kernel
 * reads and sums them.
 *
 *   ACC_V                     T_VECTOR times ACC_T
 *   LOAD_IF(wanted, p, i)     an ACC_V of elements i, i + 1, ... of the source p; 0 where not
 *                             `wanted`
 *
 * Defines   those of types.cl; T_VECTOR; D_WORDS, 32-bit words that a vector of the source has
 * Assumes   T_VECTOR > 1: the place of element i in its buffer is a multiple of T_VECTOR.
 */
#include "types.cl"

#if T_VECTOR == 1
#define ACC_V ACC_T
#define LOAD_IF(wanted, p, i) ((wanted) ? SRC_LOAD(p, i) : 0)
#else
#define ACC_V KILN_CAT(ACC_T, T_VECTOR)
#define BITS_V KILN_CAT(SRC_BITS_T, T_VECTOR)
#if D_WORDS == 1
#define WORDS_V uint
#define WORDS_AT(p) (*(p))
#else
#define WORDS_V KILN_CAT(uint, D_WORDS)
#define WORDS_AT(p) WHOLE_AT(uint, D_WORDS, p)
#endif
/* Zero is zero in every type, and has fewer words than elements. */
#define LOAD_IF(wanted, p, i)                                                                      \
    SRC_OF_BITS(T_VECTOR,                                                                          \
                KILN_CAT(as_, BITS_V)((wanted) ? WORDS_AT((global const uint *)((p) + (i)))        \
                                               : (WORDS_V)(0)))
#endif
