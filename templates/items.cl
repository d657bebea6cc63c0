/* items.cl: a kernel's items, each a work-group of its own, or dealt to fewer groups in even shares.
 *
 *                         ITEMS_0 along the first axis
 *     EACH_ITEM           0 1 2 | 3 4 5 | 6 7 ...      a group goes through its share in this order,
 *         body(ITEM(0),   8 9 10 | 11 ...              along the first axis first
 *              ITEM(1), ITEM(2));
 *
 * Grid with ITEMS_DEALT=1: (as many groups as there are items, or fewer, 1, 1). Else its axes are
 * those of the items.
 *
 * Defines: ITEMS_DEALT                  above
 *          ITEMS_0, ITEMS_1, ITEMS_2    with it: items along the axes, together at most 30000
 */
#if ITEMS_DEALT
#define ITEMS ((uint)(ITEMS_0 * ITEMS_1 * ITEMS_2))
/* Without divisions where each group has one: an item may take no more than a tenth of a microsecond. */
#define ITEMS_BEFORE(share)                                                                        \
    (get_num_groups(0) == ITEMS ? (share) : ITEMS * (share) / (uint)get_num_groups(0))
#define EACH_ITEM                                                                                  \
    const int items_end = ITEMS_BEFORE((uint)get_group_id(0) + 1);                                 \
    for (int item_i = ITEMS_BEFORE((uint)get_group_id(0)); item_i < items_end; item_i++)
#define ITEM(axis)                                                                                 \
    ((axis) == 0   ? item_i % ITEMS_0                                                              \
     : (axis) == 1 ? item_i / ITEMS_0 % ITEMS_1                                                    \
                   : item_i / (ITEMS_0 * ITEMS_1))
#else
#define EACH_ITEM
#define ITEM(axis) get_global_id(axis)
#endif
