/* Reformatting as a stage of a plan: the stage moves a tensor from one layout and type to another.
 */
#ifndef KILN_REFORMAT_H
#define KILN_REFORMAT_H

#include "kiln_layout.h"
#include "plan.h"

/* One side of a reformat. */
typedef struct kiln_operand {
    const kiln_storage *storage;
    kiln_type type;
    int role;
} kiln_operand;

/* Adds the stage that writes every cell of `to`: elements converted to its type (to nearest even,
 * integers saturated), padding as `pad_value`. Returns false, with the reason, when the device
 * cannot hold one of the two. Both are of the same dims and sizes. */
bool kiln_reformat_stage(kiln_plan *plan, const kiln_operand *from, const kiln_operand *to,
                         double pad_value, const kiln_device_facts *d, char *why);

/* Returns the predicted time to read and write `bytes` in a stage of a plan, in ms. */
double kiln_reformat_ms(const kiln_device_facts *d, double bytes);

/* Defines D_COORDS, the element of a cell ("n=cell/105,c=cell/35%3", of an image over px, py,
 * lane), and D_INSIDE, whether a cell has one ("c<3"). */
void kiln_define_element(kiln_plan *plan, const kiln_storage *storage);

/* Makes the whole plan of a checked reformat: x holds `from`, y receives `to`. */
bool kiln_reformat_plan(const kiln_reformat *reformat, const kiln_storage *from,
                        const kiln_storage *to, const kiln_device_facts *d, kiln_plan *plan,
                        char *why);

#endif
