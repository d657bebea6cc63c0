/* Reads oneDNN's post-ops, "sum+relu", in older versions "'sum;relu'". */
#include "list_onednn_post_ops.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A number; "" leaves what is there. */
static bool read_number(const char *text, double *number)
{
    char *end;
    if (!*text)
        return true;
    *number = strtod(text, &end);
    return !*end && isfinite(*number);
}

/* "relu", "eltwise_relu:0.1:0": the activation, alpha, beta and, in versions before 3, a scale.
 * None of kiln's has a beta. oneDNN's relu is leaky where its alpha is not 0, and its elu is relu
 * where its alpha is 0. */
static bool read_activation(list_options *o, list_word word)
{
    kiln_activation activation;
    char name[32];
    list_take_prefix(&word, "eltwise_");
    const list_word first = list_take_part(&word, ':');
    double number[] = {0, 0, 1};
    snprintf(name, sizeof name, "%.*s", (int)first.length, first.at);
    for (size_t i = 0; word.length > 0; i++) {
        char text[32];
        const list_word one = list_take_part(&word, ':');
        snprintf(text, sizeof text, "%.*s", (int)one.length, one.at);
        if (i == sizeof number / sizeof *number || one.length >= sizeof text ||
            !read_number(text, &number[i]))
            return false;
    }
    const double alpha = number[0], scale = number[2];
    if (scale != 1 || !kiln_activation_named(name, &activation))
        return false;
    if (activation == KILN_RELU && alpha != 0)
        activation = KILN_LEAKY_RELU;
    else if (activation == KILN_ELU && alpha == 0)
        activation = KILN_RELU;
    const bool takes_alpha = activation == KILN_LEAKY_RELU || activation == KILN_ELU;
    const int used = snprintf(o->activation, sizeof o->activation, " --activation %s",
                              kiln_activation_name(activation));
    if (takes_alpha)
        snprintf(o->activation + used, sizeof o->activation - (size_t)used, " --act_alpha %.9g",
                 alpha);
    return true;
}

/* A sum, an activation, or both in this order: kiln's activation comes last. */
static bool read_post_op(list_options *o, list_word word)
{
    if (*o->activation)
        return false;
    if (!list_word_is(word, "sum") && !list_word_is(word, "sum:1"))
        return read_activation(o, word);
    const bool first = !o->sum;
    o->sum = true;
    return first;
}

bool onednn_read_post_ops(list_options *o, list_word value)
{
    static const char between[] = "'\";+";
    bool follows = true;
    o->sum = false;
    *o->activation = '\0';
    for (size_t at = 0, n; at < value.length && follows; at += n) {
        list_word word = {value.at + at, 0};
        while (at + word.length < value.length && !strchr(between, word.at[word.length]))
            word.length++;
        n = word.length + 1;
        if (word.length > 0)
            follows = read_post_op(o, word);
    }
    if (!follows) {
        o->sum = false;
        *o->activation = '\0';
    }
    return follows;
}
