/* Distances in a filter, from its storage. */
#include "filter_places.h"

#include <string.h>

/* Returns the distance along a dim; 0 where the dim has several axes or is rounded up. */
static int64_t distance(const kiln_storage *s, int dim)
{
    int64_t stride = 0;
    for (int i = 0; i < s->layout.naxes; i++) {
        if (s->layout.axis[i].dim != dim)
            continue;
        if (stride || s->extent[i] != s->dim[dim])
            return 0;
        stride = s->stride[i];
    }
    return stride;
}

bool kiln_filter_places_of(const kiln_shape *s, kiln_filter_places *places)
{
    kiln_storage w;
    kiln_why why;
    if (!kiln_shape_storage(s, 'w', s->w_layout, &w, why.text) || w.layout.image ||
        strncmp(w.layout.dims, "OI", 2) != 0)
        return false;
    *places = (kiln_filter_places){distance(&w, 0), distance(&w, 1), distance(&w, s->rank + 1)};
    bool dense = places->k && places->c && places->tap;
    for (int dim = s->rank + 1; dense && dim > 2; dim--)
        dense = distance(&w, dim - 1) == distance(&w, dim) * w.dim[dim];
    return dense;
}

bool kiln_filter_places_refused(const kiln_shape *s, kiln_why *why)
{
    kiln_filter_places places;
    return !kiln_filter_places_of(s, &places) &&
           kiln_no(why, "it writes weights in any order of the axes O, I and taps; these are %s",
                   s->w_layout);
}

void kiln_filter_places_define(const kiln_shape *s, kiln_plan *plan)
{
    kiln_filter_places places = {0, 0, 0};
    if (!kiln_filter_places_of(s, &places))
        plan->broken = true;
    kiln_define(plan, "D_W_K", places.k);
    kiln_define(plan, "D_W_C", places.c);
    kiln_define(plan, "D_W_TAP", places.tap);
}
