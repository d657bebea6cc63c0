/* Reads oneDNN's post-ops, "sum:0.25+relu", in older versions "'sum;relu'".
 *
 * oneDNN applies them one after the other to conv(x, w) + bias. kiln has
 * activation(alpha * conv(x, w) + beta * residual + bias), so a chain is followed where it can be
 * brought into that form: at most one sum, then at most one activation, and factors where there is
 * no bias. All else is not followed.
 */
#include "list_onednn_post_ops.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS = 3 };

/* A number; "" leaves what is there. */
static bool read_number(list_word word, double *number)
{
    char text[32], *end;
    if (word.length == 0)
        return true;
    if (word.length >= sizeof text)
        return false;
    snprintf(text, sizeof text, "%.*s", (int)word.length, word.at);
    *number = strtod(text, &end);
    return !*end && isfinite(*number);
}

static bool read_numbers(list_word word, double number[NUMBERS])
{
    for (int i = 0; word.length > 0; i++)
        if (i == NUMBERS || !read_number(list_take_part(&word, ':'), &number[i]))
            return false;
    return true;
}

/* Parameters of 0 are not written. */
static bool set_two(list_options *o, kiln_activation activation, double a, double b)
{
    int used = snprintf(o->activation, sizeof o->activation, " --activation %s",
                        kiln_activation_name(activation));
    if (a != 0)
        used += snprintf(o->activation + used, sizeof o->activation - (size_t)used,
                         " --act_alpha %.9g", a);
    if (b != 0)
        snprintf(o->activation + used, sizeof o->activation - (size_t)used, " --act_beta %.9g", b);
    return true;
}

static bool set_activation(list_options *o, kiln_activation activation, double a)
{
    return set_two(o, activation, a, 0);
}

/* ---- oneDNN's functions of one value; alpha and beta are 0 unless given ---- */

typedef bool eltwise(list_options *o, double alpha, double beta);

/* Leaky where alpha is not 0. */
static bool add_relu(list_options *o, double alpha, double beta)
{
    (void)beta;
    return set_activation(o, alpha != 0 ? KILN_LEAKY_RELU : KILN_RELU, alpha);
}

static bool add_elu(list_options *o, double alpha, double beta)
{
    (void)beta;
    return set_activation(o, alpha != 0 ? KILN_ELU : KILN_RELU, alpha);
}

static bool add_tanh(list_options *o, double alpha, double beta)
{
    (void)alpha, (void)beta;
    return set_activation(o, KILN_TANH, 0);
}

static bool add_logistic(list_options *o, double alpha, double beta)
{
    (void)alpha, (void)beta;
    return set_activation(o, KILN_SIGMOID, 0);
}

static bool add_gelu(list_options *o, double alpha, double beta)
{
    (void)alpha, (void)beta;
    return set_activation(o, KILN_GELU, 0);
}

/* v * sigmoid(alpha * v). */
static bool add_swish(list_options *o, double alpha, double beta)
{
    (void)beta;
    return alpha == 1 && set_activation(o, KILN_SILU, 0);
}

/* From alpha to beta. */
static bool add_clip(list_options *o, double alpha, double beta)
{
    if (!((float)alpha < (float)beta))
        return false;
    return alpha == 0 ? set_activation(o, KILN_CLIPPED_RELU, beta)
                      : set_two(o, KILN_HARD_TANH, alpha, beta);
}

/* Older versions of oneDNN print no parameters of the hard ones, and mean others by it. */
static bool add_hardsigmoid(list_options *o, double alpha, double beta)
{
    return ((float)alpha != 0 || (float)beta != 0) && set_two(o, KILN_HARD_SIGMOID, alpha, beta);
}

static bool add_hardswish(list_options *o, double alpha, double beta)
{
    return ((float)alpha != 0 || (float)beta != 0) && set_two(o, KILN_HARD_SWISH, alpha, beta);
}

static bool add_mish(list_options *o, double alpha, double beta)
{
    (void)alpha, (void)beta;
    return set_activation(o, KILN_MISH, 0);
}

static bool add_exp(list_options *o, double alpha, double beta)
{
    (void)alpha, (void)beta;
    return set_activation(o, KILN_EXP, 0);
}

static bool add_abs(list_options *o, double alpha, double beta)
{
    (void)alpha, (void)beta;
    return set_activation(o, KILN_ABS, 0);
}

static bool add_square(list_options *o, double alpha, double beta)
{
    (void)alpha, (void)beta;
    return set_activation(o, KILN_SQUARE, 0);
}

/* log(1 + exp(alpha * v)) / alpha. */
static bool add_soft_relu(list_options *o, double alpha, double beta)
{
    (void)beta;
    return (float)alpha != 0 && set_activation(o, KILN_SOFTPLUS, alpha);
}

/* alpha * v + beta. */
static bool add_linear(list_options *o, double alpha, double beta)
{
    o->factor *= alpha;
    o->sum *= alpha;
    return beta == 0 && (float)o->factor != 0;
}

static const struct {
    const char *name;
    eltwise *add;
} functions[] = {{"relu", add_relu},
                 {"elu", add_elu},
                 {"tanh", add_tanh},
                 {"logistic", add_logistic},
                 {"gelu_erf", add_gelu},
                 {"swish", add_swish},
                 {"clip", add_clip},
                 {"clip_v2", add_clip},
                 {"linear", add_linear},
                 {"hardsigmoid", add_hardsigmoid},
                 {"hardswish", add_hardswish},
                 {"mish", add_mish},
                 {"exp", add_exp},
                 {"abs", add_abs},
                 {"square", add_square},
                 {"soft_relu", add_soft_relu}};

/* Drops what says how a backward pass would get its values. */
static list_word forward_name(list_word name)
{
    static const char *const ends[] = {"_use_dst_for_bwd", "_dst"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const size_t n = strlen(ends[i]);
        if (name.length > n && memcmp(name.at + name.length - n, ends[i], n) == 0)
            return (list_word){name.at, name.length - n};
    }
    return name;
}

/* "relu", "eltwise_relu:0.1:0": the function, alpha, beta and, in versions before 3, a scale. */
static bool read_eltwise(list_options *o, list_word word)
{
    double number[NUMBERS] = {0, 0, 1};
    list_take_prefix(&word, "eltwise_");
    const list_word name = forward_name(list_take_part(&word, ':'));
    if (!read_numbers(word, number) || number[2] != 1)
        return false;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (list_word_is(name, functions[i].name))
            return functions[i].add(o, number[0], number[1]);
    return false;
}

/* "sum", "sum:0.25", "sum:1:0:f32": the scale, a zero point, the type of what is added. */
static bool read_sum(list_options *o, list_word word)
{
    double scale = 1, zero = 0;
    if (o->sums || !read_number(list_take_part(&word, ':'), &scale) ||
        !read_number(list_take_part(&word, ':'), &zero) || zero != 0)
        return false;
    list_copy_printable(word, o->sum_type, sizeof o->sum_type);
    o->sums = true;
    o->sum = scale;
    return isfinite((float)scale) && word.length < sizeof o->sum_type;
}

/* kiln's activation comes last. A factor of 1 changes nothing anywhere. */
static bool read_post_op(list_options *o, list_word word)
{
    list_word rest = word;
    if (list_word_is(word, "linear:1") || list_word_is(word, "eltwise_linear:1:0"))
        return true;
    if (*o->activation)
        return false;
    if (list_word_is(list_take_part(&rest, ':'), "sum"))
        return read_sum(o, rest);
    return read_eltwise(o, word);
}

static void clear(list_options *o)
{
    o->sums = false;
    o->sum = 0;
    o->factor = 1;
    *o->activation = *o->sum_type = '\0';
}

bool onednn_read_post_ops(list_options *o, list_word value)
{
    static const char between[] = "'\";+";
    bool follows = true;
    clear(o);
    for (size_t at = 0, n; at < value.length && follows; at += n) {
        list_word word = {value.at + at, 0};
        while (at + word.length < value.length && !strchr(between, word.at[word.length]))
            word.length++;
        n = word.length + 1;
        if (word.length > 0)
            follows = read_post_op(o, word);
    }
    if (!follows)
        clear(o);
    return follows;
}

bool onednn_has_post_ops(const list_options *o)
{
    return *o->activation || o->sums || (o->factor != 0 && o->factor != 1);
}

void onednn_post_op_flags(const list_options *o, char *text, size_t size)
{
    int used = snprintf(text, size, "%s", o->activation);
    if (o->factor != 0 && o->factor != 1)
        used += snprintf(text + used, size - (size_t)used, " --alpha %.9g", o->factor);
    if ((float)o->sum != 0)
        snprintf(text + used, size - (size_t)used, " --beta %.9g", o->sum);
}

const char *onednn_unfit_post_ops(const list_options *o, const char *result)
{
    if (o->bias && o->factor != 0 && o->factor != 1)
        return "a post-op that scales the bias";
    if (*o->sum_type && strcmp(o->sum_type, *result ? result : "f32") != 0)
        return "a sum with another type than the result's";
    return NULL;
}
