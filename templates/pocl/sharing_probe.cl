/* sharing_probe.cl: tells where the code of an item is, for the runtime to call it.
 *
 * Grid: (1, 1, 1). `answer` is the address of eight bytes of the host's for that, and four numbers
 * behind them of which the last becomes 4.
 *
 * Defines: those of items.cl, with ITEMS_SHARED=1
 */
#include "language.cl"
#include "items.cl"

DEFINE_ITEM(to[item_i] = item_i + 1, (global int *to))

kernel GROUP_SIZE(1, 1, 1) void sharing_probe(const ulong answer)
{
    *(global ulong *)answer = (ulong)items_code;
    one_item(3, 0, (global int *)(answer + sizeof(ulong)));
}
