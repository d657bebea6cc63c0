/* caches.cl: hints to a CPU's caches, for compilers that know them.
 *
 *   KILN_FETCH(p)                 with D_AHEAD=1 or a D_WEIGHTS_AHEAD, asks for the line of an
 *                                 element before it is needed
 *   KILN_STORE(n, loose, p, v)    stores KILN_BITS of n elements, with T_STREAM=1 past the caches,
 *                                 or with D_STREAM=1, where that is no tunable
 */
#include "types.cl"

/* For CPUs, whose own prefetchers follow rows, not tiles. Translators to SPIR-V refuse the builtin.
 */
#define KILN_FETCH(p)
#if (D_AHEAD || D_WEIGHTS_AHEAD) && defined __has_builtin && !defined __SPIR__ && !defined __SPIRV__
#if __has_builtin(__builtin_prefetch)
#undef KILN_FETCH
#define KILN_FETCH(p) __builtin_prefetch((const void *)(size_t)(p), 0, 2)
#endif
#endif

/* Past the caches only where the address allows it. */
#define KILN_STORE(n, loose, p, v) (*(global loose *)(p) = KILN_BITS(n, v))
#if (T_STREAM || D_STREAM) && defined __has_builtin
#if __has_builtin(__builtin_nontemporal_store)
#undef KILN_STORE
#define KILN_STORE(n, loose, p, v)                                                                 \
    if ((size_t)(p) % (n * sizeof(KILN_BITS_T)) == 0)                                              \
        __builtin_nontemporal_store(KILN_BITS(n, v), (global KILN_CAT(KILN_BITS_T, n) *)(p));      \
    else                                                                                           \
        *(global loose *)(p) = KILN_BITS(n, v)
#endif
#endif
