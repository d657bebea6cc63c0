/* Distances in a filter, from its storage. */
#include "filter_places.h"

#include "generator/base/names.h"

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

/* Returns whether the spatial axes lie in a row. */
static bool taps_follow(const kiln_storage *w, int rank)
{
    for (int dim = rank + 1; dim > 2; dim--)
        if (distance(w, dim - 1) != distance(w, dim) * w->dim[dim])
            return false;
    return true;
}

bool kiln_filter_places_of(const kiln_shape *s, kiln_filter_places *places)
{
    kiln_storage w;
    kiln_why why;
    if (!kiln_shape_storage(s, 'w', s->w_layout, &w, why.text) || w.layout.image)
        return false;
    const int64_t outer = distance(&w, 0), inner = distance(&w, 1), tap = distance(&w, s->rank + 1);
    /* The dims are O, I, ... or, of a depthwise filter, M, I, ... with a group for each I. */
    *places = w.layout.dims[0] == 'M'
                  ? (kiln_filter_places){inner, outer, 1, tap}
                  : (kiln_filter_places){outer * (s->k / s->g), outer, inner, tap};
    return outer && inner && tap && taps_follow(&w, s->rank);
}

bool kiln_filter_places_refused(const kiln_shape *s, kiln_why *why)
{
    kiln_filter_places at;
    const int64_t channels = s->k / s->g;
    return (!kiln_filter_places_of(s, &at) || (channels > 1 && at.group != at.k * channels)) &&
           kiln_no(why, "it writes weights in any order of the axes O, I and taps; these are %s",
                   s->w_layout);
}

bool kiln_reject_but_plain(const kiln_shape *s, kiln_why *why)
{
    kiln_filter_places places;
    kiln_shape plain = *s;
    const bool gradient = s->direction == KILN_BACKWARD_WEIGHTS;
    if (gradient && kiln_filter_places_of(s, &places))
        strcpy(plain.w_layout, kiln_plain_filter_layout(s->rank));
    return !kiln_shape_is_plain_layout(&plain) &&
           kiln_no(why, "it works on the layouts NCHW and %s and their 1-D and 3-D kin",
                   gradient ? "any order of the axes O, I and taps" : "OIHW");
}

void kiln_filter_places_define(const kiln_shape *s, kiln_plan *plan)
{
    kiln_filter_places places = {0, 0, 0, 0};
    if (!kiln_filter_places_of(s, &places))
        plan->broken = true;
    /* Where groups have one output channel each, the distance of groups is that of channels. */
    kiln_define(plan, "D_W_K", s->k == s->g ? places.group : places.k);
    kiln_define(plan, "D_W_C", places.c);
    kiln_define(plan, "D_W_TAP", places.tap);
}

void kiln_filter_places_define_grouped(const kiln_shape *s, kiln_plan *plan)
{
    kiln_filter_places places = {0, 0, 0, 0};
    kiln_filter_places_define(s, plan);
    if (kiln_filter_places_of(s, &places))
        kiln_define(plan, "D_W_GROUP", places.group);
}
