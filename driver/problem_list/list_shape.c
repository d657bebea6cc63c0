/* Turns the sizes of a line into a problem. */
#include "list_shape.h"

#include "list_text.h"

bool list_axis_is_tame(const list_axis *a)
{
    const int64_t most = (int64_t)1 << 40;
    return a->in <= most && a->pad >= 0 && a->pad <= most && a->pad_end >= -most &&
           a->pad_end <= most && a->filter - 1 <= most / a->dilation &&
           a->out - 1 <= most / a->stride;
}

bool list_drop_unread(list_axis *a)
{
    if (a->pad_end >= 0)
        return true;
    if (a->pad_end <= -a->stride)
        return false;
    int64_t span = a->in + a->pad - (a->filter - 1) * a->dilation - 1;
    if (span + a->pad_end < 0 || (span + a->pad_end) / a->stride != span / a->stride)
        return false;
    a->pad_end = 0;
    return true;
}

list_kind list_set_problem(const list_sizes *s, list_entry *entry)
{
    kiln_problem p = {.spatial_rank = s->rank,
                      .transposed = s->transposed,
                      .batch = s->n,
                      .in_channels = s->c,
                      .out_channels = s->k,
                      .groups = s->g};
    for (int i = 0; i < s->rank; i++) {
        const list_axis *a = &s->axis[3 - s->rank + i];
        p.input[i] = a->in;
        p.filter[i] = a->filter;
        p.stride[i] = a->stride;
        p.dilation[i] = a->dilation;
        p.pad_begin[i] = a->pad;
        p.pad_end[i] = a->pad_end;
        p.output_pad[i] = a->output_pad;
        if (a->stride < 1 || a->dilation < 1) /* as a field of kiln_problem 0 would mean 1 */
            return list_bad(entry, "a stride or dilation is 0; the least is 1");
    }
    if (s->g < 1)
        return list_bad(entry, "there are 0 groups; the least is 1");
    entry->problem = p;
    return kiln_problem_check(&p, entry->why) == KILN_OK ? LIST_SHAPE : LIST_BAD;
}
