/* Deals the items of a short launch to two cores, so that the one that begins also ends it.
 *
 * PoCL's threads take work-groups as they get done. The thread that ends the last of them ends the
 * command and begins the next one, and where cores share no cache it has to get the next command's
 * data, and the last one's, from the thread that did so before: 3 us of a launch become 7 where
 * they change places, and then each also has the other's share of the tensors. With an odd number
 * of groups, each longer than the second thread is late, they do not: the first one takes the first
 * group and the last.
 *
 *     first    [ 1 ][ 3 ][ 5 ][ 7 ] next command
 *     second     [ 2 ][ 4 ][ 6 ]
 *
 * (Work of 40 us in 11 groups took 29.0 us from launch to launch, in 12 groups 32.8, in 64 groups
 * 32.3, where a line of a cache takes 240 ns from core to core, on Zen 5. Where cores share a cache
 * those that get done together are worth more. All of an Intel package do, of AMD's those of a
 * complex; which ones these two are, the runtime tells by what its threads see.)
 */
#include "shares.h"

#include "integers.h"

#include <math.h>
#include <string.h>

enum {
    THREADS = 2,      /* with more the order in which they get done is anyone's guess */
    SHARE_US = 8,     /* as measured; the second thread is 1 to 4 us late */
    LEAST_SHARES = 5, /* fewer are too uneven */
    MOST_SHARES = 65, /* longer launches were not measured */
    MOST_ITEMS = 30000
};

/* How much longer the longest share takes than an even one, and a little for being far from
 * `usual`. */
static double cost_of(int64_t items, int64_t shares, int64_t usual)
{
    const double longest = (double)(divide_up(items, shares) * shares) / (double)items;
    return longest + 0.1 * fabs((double)(shares - usual)) / (double)usual;
}

int64_t kiln_shares(const kiln_device_facts *d, double all_us, int64_t items)
{
    const bool may_be_far = strncmp(d->core, "AMD", 3) == 0;
    if (d->kind != KILN_DEVICE_CPU || d->compute_units != THREADS || !may_be_far)
        return 0;
    const double usual = all_us / SHARE_US;
    if (usual > MOST_SHARES || items > MOST_ITEMS)
        return 0;
    const int64_t middle = usual > LEAST_SHARES ? (int64_t)usual | 1 : LEAST_SHARES;
    int64_t best = 0;
    for (int64_t n = middle * 3 / 4 | 1; n <= middle * 3 / 2 && 2 * n <= items; n += 2)
        if (best == 0 || cost_of(items, n, middle) < cost_of(items, best, middle))
            best = n;
    return best;
}

void kiln_grid_shared(kiln_plan *plan, const kiln_device_facts *d, double ms, int64_t g0,
                      int64_t g1, int64_t g2)
{
    const double all_us = 1000 * (ms - kiln_device_launch_ms(d)) * d->compute_units;
    const int64_t items = g0 * g1 * g2, shares = kiln_shares(d, all_us, items);
    kiln_define(plan, "ITEMS_DEALT", shares > 0);
    if (shares == 0) {
        kiln_grid(plan, 1, 1, 1, g0, g1, g2);
        return;
    }
    kiln_define(plan, "ITEMS_0", g0);
    kiln_define(plan, "ITEMS_1", g1);
    kiln_define(plan, "ITEMS_2", g2);
    kiln_grid(plan, 1, 1, 1, items, 1, 1);
    plan->stage[plan->nstages - 1].shares = (size_t)shares;
}
