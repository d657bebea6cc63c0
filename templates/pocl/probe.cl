/* probe.cl: for the runtime to see what a kernel of PoCL's CPU device can do. One kernel has both
 * parts, so that a first start compiles it once; either argument may be 0.
 *
 * Grid: (1, 1, 1).
 *
 *   number    an address of the host's: the number there is doubled
 *   answer    an address of the host's: eight bytes for the address of an item's code, for the
 *             runtime to call it, and behind them four numbers of which the last becomes 4
 *
 * Defines: those of items.cl, with ITEMS_SHARED=1; on x86-64 only
 */
#include "language.cl"
#ifdef __x86_64__
#include "items.cl"

DEFINE_ITEM(to[item_i] = item_i + 1, (global int *to))
#endif

kernel GROUP_SIZE(1, 1, 1) void probe(global int *number, const ulong answer)
{
    if (number)
        *number *= 2;
#ifdef __x86_64__
    if (answer) {
        *(global ulong *)answer = (ulong)items_code;
        one_item(3, 0, (global int *)(answer + sizeof(ulong)));
    }
#endif
}
