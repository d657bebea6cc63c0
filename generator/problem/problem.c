/* Completes and checks a problem; every size rule of the library is here. */
#include "generator/base/types.h"

#include "problem_epilogue.h"
#include "problem_layout.h"
#include "problem_quant.h"
#include "problem_text.h"

#include <stdio.h>
#include <string.h>

static long long ll(int64_t v)
{
    return v;
}

static const char *axis_name(const kiln_problem *p, int i)
{
    static const char *const names[] = {"depth", "height", "width"};
    return names[KILN_MAX_RANK - p->spatial_rank + i];
}

static void set_layout(char layout[KILN_LAYOUT_TEXT], const char *plain)
{
    size_t length = strnlen(layout, KILN_LAYOUT_TEXT);
    memset(layout + length, 0, KILN_LAYOUT_TEXT - length);
    if (length == 0)
        memcpy(layout, plain, strlen(plain));
}

/* Gives every field one spelling, so that equal problems are equal bytes. */
static void set_defaults(kiln_problem *p)
{
    if (p->groups == 0)
        p->groups = 1;
    for (int i = 0; i < KILN_MAX_RANK; i++) {
        if (p->stride[i] == 0)
            p->stride[i] = 1;
        if (p->dilation[i] == 0)
            p->dilation[i] = 1;
    }
    set_layout(p->x_layout, kiln_plain_data_layout(p->spatial_rank));
    set_layout(p->w_layout, kiln_plain_filter_layout(p->spatial_rank));
    set_layout(p->y_layout, kiln_plain_data_layout(p->spatial_rank));
    set_layout(p->bias_layout, kiln_plain_bias_layout);
    if (p->math == KILN_MATH_DEFAULT)
        p->math = KILN_MATH_FAST;
    kiln_epilogue_complete(&p->epilogue);
}

static void set_types(kiln_problem *p)
{
    kiln_type *all[3] = {&p->x_type, &p->w_type, &p->y_type};
    static const int destination[] = {
        [KILN_FORWARD] = 2, [KILN_BACKWARD_DATA] = 0, [KILN_BACKWARD_WEIGHTS] = 1};
    int d = destination[p->direction];
    kiln_type *to = all[d], *a = all[(d + 1) % 3], *b = all[(d + 2) % 3];
    if (!*a)
        *a = *b ? *b : KILN_F32;
    if (!*b)
        *b = kiln_type_takes_weights(*a, *a) ? *a : KILN_I8;
    if (!*to)
        *to = kiln_type_facts(*a)->result;
}

/* Writes "f32, f16 or i8": the types that w may have beside x of type `x`. */
static void name_weights(kiln_type x, char *text, size_t size)
{
    kiln_type takes[KILN_TYPES];
    size_t n = 0, used = 0;
    for (int w = KILN_TYPE_DEFAULT + 1; w < KILN_TYPES; w++)
        if (kiln_type_takes_weights(x, (kiln_type)w))
            takes[n++] = (kiln_type)w;
    for (size_t i = 0; i < n && used < size; i++)
        used +=
            (size_t)snprintf(text + used, size - used, "%s%s",
                             i == 0 ? "" : (i + 1 == n ? " or " : ", "), kiln_type_name(takes[i]));
}

/* Checks the types of the two tensors that are read. */
static kiln_status check_source_types(const kiln_problem *p, kiln_type a, kiln_type b, char *why)
{
    char weights[64] = "";
    if (p->direction != KILN_FORWARD)
        return a == b ? KILN_OK
                      : kiln_refuse(why,
                                    "the two tensors that a backward pass reads must share a type, "
                                    "not %s and %s; only forward passes take weights of another "
                                    "type",
                                    kiln_type_name(a), kiln_type_name(b));
    if (kiln_type_takes_weights(a, b))
        return KILN_OK;
    name_weights(a, weights, sizeof weights);
    return kiln_refuse(why, "x of %s takes w of %s, not of %s", kiln_type_name(a), weights,
                       kiln_type_name(b));
}

static kiln_status check_types(const kiln_problem *p, char *why)
{
    const kiln_type all[3] = {p->x_type, p->w_type, p->y_type};
    static const int destination[] = {2, 0, 1};
    int d = destination[p->direction];
    kiln_type to = all[d], a = all[(d + 1) % 3], b = all[(d + 2) % 3];
    const bool forward = p->direction == KILN_FORWARD;
    kiln_status status = check_source_types(p, a, b, why);
    if (status)
        return status;
    if (!kiln_type_facts(a)->results && !kiln_type_facts(a)->forward)
        return kiln_refuse(why, "%s is a destination type only", kiln_type_name(a));
    if (!kiln_type_facts(a)->results && !forward)
        return kiln_refuse(why, "%s is a type of forward passes only", kiln_type_name(a));
    if (forward ? !kiln_type_gives_forward(a, to) : !kiln_type_gives(a, to))
        return kiln_refuse(why, "%s sources cannot have a destination of %s", kiln_type_name(a),
                           kiln_type_name(to));
    return KILN_OK;
}

static kiln_status check_axis_sizes(const kiln_problem *p, int i, char *why)
{
    const struct {
        const char *name;
        int64_t value, least;
    } sizes[] = {
        {"input", p->input[i], 1},           {"filter", p->filter[i], 1},
        {"stride", p->stride[i], 1},         {"dilation", p->dilation[i], 1},
        {"pad before", p->pad_begin[i], 0},  {"pad after", p->pad_end[i], 0},
        {"output pad", p->output_pad[i], 0},
    };
    for (size_t j = 0; j < sizeof sizes / sizeof *sizes; j++) {
        if (sizes[j].value < sizes[j].least)
            return kiln_refuse(why, "%s of the %s is %lld; it must be at least %lld", sizes[j].name,
                               axis_name(p, i), ll(sizes[j].value), ll(sizes[j].least));
        if (sizes[j].value > kiln_far)
            return kiln_refuse(why, "%s of the %s is %lld; the largest that is accepted is %lld",
                               sizes[j].name, axis_name(p, i), ll(sizes[j].value), ll(kiln_far));
    }
    if (p->filter[i] - 1 > kiln_far / p->dilation[i])
        return kiln_refuse(why,
                           "filter %lld with dilation %lld along the %s reaches too far; lower one",
                           ll(p->filter[i]), ll(p->dilation[i]), axis_name(p, i));
    if (p->transposed && p->input[i] - 1 > kiln_far / p->stride[i])
        return kiln_refuse(why,
                           "input %lld with stride %lld along the %s reaches too far; lower one",
                           ll(p->input[i]), ll(p->stride[i]), axis_name(p, i));
    return KILN_OK;
}

static kiln_status check_axis(const kiln_problem *p, int i, char *why)
{
    kiln_status status = check_axis_sizes(p, i, why);
    if (status)
        return status;
    int64_t reach = (p->filter[i] - 1) * p->dilation[i] + 1;
    int64_t padded = p->input[i] + p->pad_begin[i] + p->pad_end[i];
    if (!p->transposed && p->output_pad[i] != 0)
        return kiln_refuse(
            why,
            "output pad of the %s is %lld, but only a transposed convolution has one; "
            "drop it",
            axis_name(p, i), ll(p->output_pad[i]));
    if (!p->transposed && reach > padded)
        return kiln_refuse(
            why,
            "the filter is larger than the padded input: %s %lld (dilated) against %lld; "
            "raise the padding or the input",
            axis_name(p, i), ll(reach), ll(padded));
    int64_t limit = p->stride[i] > p->dilation[i] ? p->stride[i] : p->dilation[i];
    if (p->transposed && p->output_pad[i] >= limit)
        return kiln_refuse(
            why, "output pad of the %s is %lld; it must be below stride or dilation (%lld)",
            axis_name(p, i), ll(p->output_pad[i]), ll(limit));
    int64_t out = kiln_problem_output(p, i);
    if (out < 1)
        return kiln_refuse(why, "the output's %s would be %lld; lower the padding", axis_name(p, i),
                           ll(out));
    return KILN_OK;
}

static kiln_status check_channels(const kiln_problem *p, char *why)
{
    if (p->batch == 0)
        return kiln_refuse(why,
                           "batch is 0; it must be at least 1: leave out the operation of an empty "
                           "batch, which writes nothing (backward weights: zeros)");
    const struct {
        const char *name;
        int64_t value;
    } sizes[] = {
        {"batch", p->batch},
        {"in_channels", p->in_channels},
        {"out_channels", p->out_channels},
        {"groups", p->groups},
    };
    for (size_t j = 0; j < sizeof sizes / sizeof *sizes; j++)
        if (sizes[j].value < 1)
            return kiln_refuse(why, "%s is %lld; it must be at least 1", sizes[j].name,
                               ll(sizes[j].value));
    if (p->in_channels % p->groups || p->out_channels % p->groups)
        return kiln_refuse(why, "%lld groups do not divide %lld input and %lld output channels",
                           ll(p->groups), ll(p->in_channels), ll(p->out_channels));
    return KILN_OK;
}

static kiln_status check_counts(const kiln_problem *p, char *why)
{
    /* Room for layout padding and byte sizes: 2^56 elements are 256 PiB of f32. */
    const int64_t most = (int64_t)1 << 56;
    for (const char *t = "xwy"; *t; t++) {
        int64_t n = kiln_problem_count(p, *t);
        if (n < 0 || n > most)
            return kiln_refuse(why, "tensor %c has more than 2^56 elements: the sizes overflow",
                               *t);
    }
    return KILN_OK;
}

/* Layouts are part of the problem's text, so they may not hold its separators. */
static kiln_status check_layouts(const kiln_problem *p, char *why)
{
    const struct {
        const char *tensor, *text;
    } layouts[] = {
        {"x", p->x_layout}, {"w", p->w_layout}, {"y", p->y_layout}, {"bias", p->bias_layout}};
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        size_t length = strnlen(layouts[i].text, KILN_LAYOUT_TEXT);
        if (length == KILN_LAYOUT_TEXT)
            return kiln_refuse(why, "the layout of %s is longer than %d bytes", layouts[i].tensor,
                               KILN_LAYOUT_TEXT - 1);
        for (size_t j = 0; j < length; j++) {
            char c = layouts[i].text[j];
            bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
            if (!word && !strchr("_/|;%", c))
                return kiln_refuse(
                    why,
                    "byte %d of the layout of %s is 0x%02x; letters, digits and _ / | ; %% "
                    "make a layout",
                    (int)j + 1, layouts[i].tensor, (unsigned char)c);
        }
    }
    return KILN_OK;
}

/* A third size in a problem of rank 2 means that the rank was forgotten. */
static kiln_status check_rank(const kiln_problem *p, char *why)
{
    if (p->spatial_rank < 1 || p->spatial_rank > KILN_MAX_RANK)
        return kiln_refuse(why, "spatial rank is %d; it must be 1, 2 or 3", p->spatial_rank);
    for (int i = p->spatial_rank; i < KILN_MAX_RANK; i++) {
        bool zero = !p->input[i] && !p->filter[i] && !p->pad_begin[i] && !p->pad_end[i] &&
                    !p->output_pad[i];
        bool steps = (p->stride[i] == 0 || p->stride[i] == 1) &&
                     (p->dilation[i] == 0 || p->dilation[i] == 1);
        if (!zero || !steps)
            return kiln_refuse(
                why, "sizes are given for spatial axis %d, but spatial_rank is %d; raise it", i + 1,
                p->spatial_rank);
    }
    return KILN_OK;
}

static kiln_status check_type_range(const kiln_problem *p, char *why)
{
    const kiln_type all[3] = {p->x_type, p->w_type, p->y_type};
    for (int i = 0; i < 3; i++)
        if (all[i] != KILN_TYPE_DEFAULT && !kiln_type_is_known(all[i]))
            return kiln_refuse(why, "%c_type is %d; it must be one of kiln_type, 0 to %d", "xwy"[i],
                               (int)all[i], KILN_TYPES - 1);
    return KILN_OK;
}

/* Checks what must hold before defaults can be filled in. */
static kiln_status check_attributes(const kiln_problem *p, char *why)
{
    if ((int)p->direction < 0 || p->direction > KILN_BACKWARD_WEIGHTS)
        return kiln_refuse(why, "direction is %d; it must be one of kiln_direction, 0 to %d",
                           (int)p->direction, KILN_BACKWARD_WEIGHTS);
    if (p->transposed != 0 && p->transposed != 1)
        return kiln_refuse(why, "transposed is %d; it must be 0 or 1", p->transposed);
    if ((int)p->determinism < 0 || p->determinism > KILN_NONDETERMINISTIC)
        return kiln_refuse(why, "determinism is %d; it must be one of kiln_determinism, 0 to %d",
                           (int)p->determinism, KILN_NONDETERMINISTIC);
    if ((int)p->math < 0 || p->math > KILN_MATH_REDUCED)
        return kiln_refuse(why, "math is %d; it must be one of kiln_math, 0 to %d", (int)p->math,
                           KILN_MATH_REDUCED);
    if ((int)p->epilogue.activation < 0 || !kiln_activation_name(p->epilogue.activation))
        return kiln_refuse(why,
                           "epilogue.activation is %d; it must be one of kiln_activation, 0 to %d",
                           (int)p->epilogue.activation, KILN_ACTIVATIONS - 1);
    if (!kiln_bias_type_is_known(p->epilogue.bias))
        return kiln_refuse(why,
                           "epilogue.bias is %d; it must be 0, or 1 or another floating type, or "
                           "%d for i32",
                           p->epilogue.bias, KILN_I32);
    if (p->workspace_limit < 0)
        return kiln_refuse(why, "workspace limit is %lld; 0 means none", ll(p->workspace_limit));
    kiln_status status = check_type_range(p, why);
    if (status || (status = check_rank(p, why)))
        return status;
    return check_layouts(p, why);
}

kiln_status kiln_problem_check(kiln_problem *p, char *why)
{
    if (!p)
        return kiln_refuse(why, "kiln_problem_check: problem must not be NULL");
    if (p->spatial_rank == 0)
        p->spatial_rank = 2;
    kiln_status status = check_attributes(p, why);
    if (status)
        return status;
    set_defaults(p);
    set_types(p);
    kiln_quant_complete(p);
    if ((status = check_types(p, why)) || (status = check_channels(p, why)))
        return status;
    for (int i = 0; i < p->spatial_rank; i++)
        if ((status = check_axis(p, i, why)))
            return status;
    if ((status = check_counts(p, why)) || (status = kiln_problem_check_layouts(p, why)))
        return status;
    status = kiln_epilogue_check(p, why);
    return status ? status : kiln_quant_check(p, why);
}
