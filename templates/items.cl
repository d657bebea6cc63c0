/* items.cl: a kernel's items, each a work-group of its own, or dealt to fewer groups in even shares.
 *
 *                         ITEMS_0 along the first axis
 *     EACH_ITEM           0 1 2 | 3 4 5 | 6 7 ...      a group goes through its share in this order,
 *         body(ITEM(0),   8 9 10 | 11 ...              along the first axis first
 *              ITEM(1), ITEM(2));
 *
 * Defines: ITEMS_SHARES    groups; 0: as many as items, along the axes of the grid. Otherwise the
 *                          grid is (ITEMS_SHARES, 1, 1), and
 *          ITEMS_0, ITEMS_1, ITEMS_2    items along the axes, together fewer than 2^31
 */
#if ITEMS_SHARES
#define ITEMS ((long)ITEMS_0 * ITEMS_1 * ITEMS_2)
#define EACH_ITEM                                                                                  \
    const int items_end = (int)(ITEMS * (get_group_id(0) + 1) / ITEMS_SHARES);                     \
    for (int item_i = (int)(ITEMS * get_group_id(0) / ITEMS_SHARES); item_i < items_end; item_i++)
#define ITEM(axis)                                                                                 \
    ((axis) == 0   ? item_i % ITEMS_0                                                              \
     : (axis) == 1 ? item_i / ITEMS_0 % ITEMS_1                                                    \
                   : item_i / (ITEMS_0 * ITEMS_1))
#else
#define EACH_ITEM
#define ITEM(axis) get_global_id(axis)
#endif
