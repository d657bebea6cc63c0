/* Chooses which launches threads share, or one thread does alone, and in what units. */
#include "shared_grid.h"

#include "generator/base/integers.h"

#include <string.h>

enum {
    LEAST_US = 4,     /* of one core: in less time, another core has not come and gone */
    MOST_US = 100000, /* of all threads: a launch does its items alone while another one is shared;
                         and no cache keeps what longer ones read and write */
    FEW_UNITS = 8,    /* of a core: the others wait while the last unit is done */
    MOST_UNITS = 60000,
    MOST_ITEMS = 1 << 26
};

static const double unit_us = 0.5;

/* Returns the items of a unit; 0: the launch is not shared. All items are one unit where one thread
 * does them. */
static int64_t unit_of(const kiln_device_facts *d, double all_us, int64_t items)
{
    if (!d->shares_work || !(all_us * d->compute_units <= MOST_US) || items > MOST_ITEMS)
        return 0;
    if (all_us < LEAST_US || items == 1)
        return items;
    const int64_t usual = (int64_t)(unit_us * (double)items / all_us);
    const int64_t least = divide_up(items, MOST_UNITS), most = items / FEW_UNITS / d->compute_units;
    const int64_t unit = usual < most ? usual : most;
    return unit > least ? unit : least;
}

/* Copies the last stage's options to the stages that pack and whose options are the first `before`
 * bytes of them. Packing has no use for the other defines, but kernels with the same options come
 * from one program, which the driver compiles once. */
static void share_program(kiln_plan *plan, size_t before)
{
    const kiln_stage *last = &plan->stage[plan->nstages - 1];
    for (kiln_stage *s = plan->stage; s < last; s++)
        if (s->pack && strcmp(s->template_file, last->template_file) == 0 &&
            strlen(s->options) == before && memcmp(s->options, last->options, before) == 0)
            strcpy(s->options, last->options);
}

static void share_grid(kiln_plan *plan, const kiln_device_facts *d, double ms, const int64_t g[3],
                       bool parted)
{
    const double all_us = 1000 * (ms - kiln_device_launch_ms(d)) * d->compute_units;
    const int64_t items = g[0] * g[1] * g[2], unit = unit_of(d, all_us, items);
    const size_t before = strlen(plan->stage[plan->nstages - 1].options);
    kiln_define(plan, "ITEMS_SHARED", unit > 0);
    if (unit == 0) {
        share_program(plan, before);
        kiln_grid(plan, 1, 1, 1, g[0], g[1], g[2]);
        return;
    }
    kiln_define(plan, "ITEMS_0", g[0]);
    kiln_define(plan, "ITEMS_1", g[1]);
    kiln_define(plan, "ITEMS_2", g[2]);
    kiln_define(plan, "ITEMS_UNIT", unit);
    if (parted && g[0] > 1 && unit < items)
        kiln_define(plan, "ITEMS_PARTS", d->compute_units);
    share_program(plan, before);
    kiln_arg_sharing(plan);
    kiln_grid(plan, 1, 1, 1, items, 1, 1);
}

void kiln_grid_shared(kiln_plan *plan, const kiln_device_facts *d, double ms, int64_t g0,
                      int64_t g1, int64_t g2)
{
    share_grid(plan, d, ms, (const int64_t[3]){g0, g1, g2}, false);
}

void kiln_grid_parted(kiln_plan *plan, const kiln_device_facts *d, double ms, int64_t g0,
                      int64_t g1, int64_t g2)
{
    share_grid(plan, d, ms, (const int64_t[3]){g0, g1, g2}, true);
}
