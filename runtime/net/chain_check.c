/* Checks each problem, and each tensor against the link that reads it. */
#include "chain_check.h"

#include "runtime/base/error.h"

#include <string.h>

/* Returns why the y of `from` is not what `to` reads as its x, or as its residual; NULL: it is. */
static const char *misfit(const kiln_problem *from, const kiln_problem *to, bool residual)
{
    const int64_t channels = residual ? to->out_channels : to->in_channels;
    if (from->spatial_rank != to->spatial_rank)
        return "another number of spatial axes";
    if (from->batch != to->batch)
        return "another batch";
    if (from->out_channels != channels)
        return "another number of channels";
    if (from->y_type != (residual ? to->y_type : to->x_type))
        return "another type";
    for (int a = 0; a < to->spatial_rank; a++)
        if (kiln_problem_output(from, a) != (residual ? kiln_problem_output(to, a) : to->input[a]))
            return "another size";
    return NULL;
}

static kiln_status check_edge(const kiln_link *links, int i, int back, bool residual)
{
    const char *tensor = residual ? "residual" : "x";
    if (back < 0 || back > i)
        return kiln_fail(KILN_INVALID,
                         "link %d: %s_back is %d; it must be from 0 to %d, the links "
                         "before it",
                         i, tensor, back, i);
    if (back == 0)
        return KILN_OK;
    const char *why = misfit(&links[i - back].problem, &links[i].problem, residual);
    return why ? kiln_fail(KILN_INVALID, "link %d: the y of link %d, its %s, has %s", i, i - back,
                           tensor, why)
               : KILN_OK;
}

/* Images do not lie in an arena. */
static kiln_status check_layout(const kiln_link *l, int i, char tensor)
{
    kiln_storage storage;
    const bool image =
        kiln_problem_storage(&l->problem, tensor, &storage, NULL) && storage.layout.image;
    return image ? kiln_fail(KILN_UNSUPPORTED,
                             "link %d: the layout of %c is an image; a chain is one of buffers", i,
                             tensor)
                 : KILN_OK;
}

static kiln_status check_link(kiln_link *links, int i)
{
    kiln_link *l = &links[i];
    char why[KILN_ERROR_TEXT];
    if (kiln_problem_check(&l->problem, why))
        return kiln_fail(KILN_INVALID, "link %d: %s", i, why);
    if (l->problem.direction != KILN_FORWARD)
        return kiln_fail(KILN_INVALID, "link %d: its direction is %s; a chain runs forward", i,
                         kiln_direction_name(l->problem.direction));
    if (l->residual_back != 0 && l->problem.epilogue.beta == 0)
        return kiln_fail(KILN_INVALID,
                         "link %d: residual_back is %d, but epilogue.beta is 0; set the residual's "
                         "factor",
                         i, l->residual_back);
    kiln_status status = check_layout(l, i, 'x');
    if (!status)
        status = check_layout(l, i, 'y');
    if (!status)
        status = check_edge(links, i, l->x_back, false);
    return status ? status : check_edge(links, i, l->residual_back, true);
}

kiln_status kiln_chain_check(kiln_link *links, int count)
{
    kiln_status status = KILN_OK;
    for (int i = 0; i < count && !status; i++)
        status = check_link(links, i);
    return status;
}
