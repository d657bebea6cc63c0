/* Makes a failing problem smaller as long as it still fails. Header only. */
#ifndef TEST_SHRINK_H
#define TEST_SHRINK_H

#include "kiln_problem.h"

#include <stdbool.h>
#include <string.h>

typedef bool shrink_fails(void *user, const kiln_problem *problem);

/* Returns the size to try: the least, half, one less, in this order. */
static inline int64_t shrink_size(int64_t value, int64_t least, int how)
{
    int64_t to = how == 0 ? least : how == 1 ? value / 2 : value - 1;
    return to < least ? least : to;
}

/* Makes step number `step` on one axis. */
static inline void shrink_axis(kiln_problem *p, int i, int step)
{
    int how = step % 3;
    switch (step / 3) {
    case 0:
        p->input[i] = shrink_size(p->input[i], 1, how);
        break;
    case 1:
        p->filter[i] = shrink_size(p->filter[i], 1, how);
        break;
    case 2:
        p->stride[i] = shrink_size(p->stride[i], 1, how);
        break;
    case 3:
        p->dilation[i] = shrink_size(p->dilation[i], 1, how);
        break;
    case 4:
        p->pad_begin[i] = shrink_size(p->pad_begin[i], 0, how);
        break;
    case 5:
        p->pad_end[i] = shrink_size(p->pad_end[i], 0, how);
        break;
    case 6:
        p->output_pad[i] = shrink_size(p->output_pad[i], 0, how);
        break;
    default:
        p->pad_end[i] = p->pad_begin[i];
    }
}

enum { SHRINK_AXIS_STEPS = 22 };

static inline void shrink_channels(kiln_problem *p, int step)
{
    int64_t c = p->in_channels / p->groups, k = p->out_channels / p->groups;
    int how = step % 3;
    if (step / 3 == 0)
        p->batch = shrink_size(p->batch, 1, how);
    else if (step / 3 == 1)
        c = shrink_size(c, 1, how);
    else if (step / 3 == 2)
        k = shrink_size(k, 1, how);
    else
        p->groups = shrink_size(p->groups, 1, how);
    p->in_channels = p->groups * c;
    p->out_channels = p->groups * k;
}

enum { SHRINK_CHANNEL_STEPS = 12 };

static inline void shrink_features(kiln_problem *p, int step)
{
    static const kiln_epilogue plain = {.alpha = 1};
    switch (step) {
    case 0:
        p->epilogue = plain;
        strcpy(p->bias_layout, "W");
        break;
    case 1:
        p->epilogue.activation = KILN_IDENTITY;
        p->epilogue.param[0] = p->epilogue.param[1] = 0;
        break;
    case 2:
        p->epilogue.beta = 0;
        break;
    case 3:
        p->epilogue.bias = 0;
        strcpy(p->bias_layout, "W");
        break;
    case 4:
        p->epilogue.alpha = 1;
        break;
    case 5:
        p->x_type = p->w_type = p->y_type = KILN_F32;
        break;
    case 6: /* without the first axis */
        if (p->spatial_rank == 1)
            break;
        p->spatial_rank--;
        int64_t *all[] = {p->input,     p->filter,  p->stride,    p->dilation,
                          p->pad_begin, p->pad_end, p->output_pad};
        for (int a = 0; a < 7; a++) {
            memmove(all[a], all[a] + 1, 2 * sizeof *all[a]);
            all[a][2] = 0;
        }
        break;
    default:
        p->transposed = 0;
        memset(p->output_pad, 0, sizeof p->output_pad);
    }
}

enum { SHRINK_FEATURE_STEPS = 8 };

static inline bool shrink_step(kiln_problem *p, int step)
{
    char before[KILN_KEY_TEXT], after[KILN_KEY_TEXT];
    kiln_problem_text(p, before, sizeof before);
    if (step < SHRINK_FEATURE_STEPS)
        shrink_features(p, step);
    else if ((step -= SHRINK_FEATURE_STEPS) < SHRINK_CHANNEL_STEPS)
        shrink_channels(p, step);
    else if ((step -= SHRINK_CHANNEL_STEPS) < 3 * SHRINK_AXIS_STEPS)
        shrink_axis(p, step / SHRINK_AXIS_STEPS, step % SHRINK_AXIS_STEPS);
    p->x_layout[0] = p->w_layout[0] = p->y_layout[0] = '\0';
    if (kiln_problem_check(p, NULL) != KILN_OK)
        return false;
    kiln_problem_text(p, after, sizeof after);
    return strcmp(before, after) != 0;
}

/* Makes *p the smallest problem that still fails, after at most `attempts` tries. */
static inline void shrink(kiln_problem *p, shrink_fails *fails, void *user, int attempts)
{
    enum { STEPS = SHRINK_FEATURE_STEPS + SHRINK_CHANNEL_STEPS + 3 * SHRINK_AXIS_STEPS };
    bool progress = true;
    while (progress) {
        progress = false;
        for (int step = 0; step < STEPS; step++) {
            kiln_problem q = *p;
            if (!shrink_step(&q, step))
                continue;
            if (attempts-- == 0)
                return;
            if (fails(user, &q)) {
                *p = q;
                progress = true;
            }
        }
    }
}

#endif
