/* A problem's name, "fwd-f32-n16-c192-k64-i28x28-f1x1", and the table by which names are written
 * and read. */
#include "problem_text.h"

#include "generator/base/text.h"
#include "generator/base/types.h"

#include "problem_layout.h"
#include "problem_quant.h"

#include <string.h>

#define AT(field) offsetof(kiln_problem, field)
#define NUMBER KILN_PART_NUMBER
#define LIST KILN_PART_LIST
#define FACTOR KILN_PART_FACTOR
#define FLAG KILN_PART_FLAG

const kiln_part kiln_parts[KILN_PARTS] = {
    {"n", NUMBER, AT(batch), 0, 1, 1},
    {"c", NUMBER, AT(in_channels), 0, 1, 1},
    {"k", NUMBER, AT(out_channels), 0, 1, 1},
    {"i", LIST, AT(input), 0, 1, 1},
    {"f", LIST, AT(filter), 0, 1, 1},
    {"s", LIST, AT(stride), 1, 1, 0},
    {"p", LIST, AT(pad_begin), 0, 0, 0},
    {"e", LIST, AT(pad_end), 0, 0, 0}, /* its default is the padding before */
    {"d", LIST, AT(dilation), 1, 1, 0},
    {"g", NUMBER, AT(groups), 1, 1, 0},
    {"trans", FLAG, AT(transposed), 1, 0, 0},
    {"o", LIST, AT(output_pad), 0, 0, 0},
    {"t", KILN_PART_TYPES, 0, 0, 0, 0},
    {"l", KILN_PART_LAYOUTS, 0, 0, 0, 0},
    {"bias", KILN_PART_BIAS, 0, 0, 0, 0},
    {"a", FACTOR, AT(epilogue.alpha), 1, 0, 0},
    {"r", FACTOR, AT(epilogue.beta), 0, 0, 0},
    {"act", KILN_PART_ACTIVATION, 0, 0, 0, 0},
    {"q", KILN_PART_QUANT, 0, 0, 0, 0},
    {"det", FLAG, AT(determinism), KILN_DETERMINISTIC, 0, 0},
    {"nondet", FLAG, AT(determinism), KILN_NONDETERMINISTIC, 0, 0},
    {"exact", FLAG, AT(math), KILN_MATH_EXACT, 0, 0},
    {"reduced", FLAG, AT(math), KILN_MATH_REDUCED, 0, 0},
    {"ws", NUMBER, AT(workspace_limit), 0, 1, 0},
};

#define IN(field) offsetof(kiln_quant, field)

const kiln_quant_word kiln_quant_words[KILN_QUANT_WORDS] = {
    {"xs", KILN_WORD_SCALE, IN(x_scale), 0},
    {"ws", KILN_WORD_SCALE, IN(w_scale), 0},
    {"ys", KILN_WORD_SCALE, IN(y_scale), 0},
    {"rs", KILN_WORD_SCALE, IN(residual_scale), 0},
    {"x", KILN_WORD_ZERO, IN(x_zero), 0},
    {"w", KILN_WORD_ZERO, IN(w_zero), 0},
    {"y", KILN_WORD_ZERO, IN(y_zero), 0},
    {"r", KILN_WORD_ZERO, IN(residual_zero), 0},
    {"wb", KILN_WORD_BIT, IN(buffers), KILN_QUANT_W_SCALES},
    {"xb", KILN_WORD_BIT, IN(buffers), KILN_QUANT_X_ZERO},
    {"wzb", KILN_WORD_BIT, IN(buffers), KILN_QUANT_W_ZERO},
    {"yb", KILN_WORD_BIT, IN(buffers), KILN_QUANT_Y_ZERO},
    {"t", KILN_WORD_TYPE, IN(residual_type), 0},
    {"after", KILN_WORD_IS, IN(residual_after), 1},
    {"twice", KILN_WORD_IS, IN(rounding), KILN_ROUND_FIXED_TWICE},
    {"once", KILN_WORD_IS, IN(rounding), KILN_ROUND_FIXED_ONCE},
};

static int get_int(const kiln_problem *p, size_t offset)
{
    int v;
    memcpy(&v, (const char *)p + offset, sizeof v);
    return v;
}

static kiln_type source_type(const kiln_problem *p)
{
    return p->direction == KILN_FORWARD ? p->x_type : p->y_type;
}

/* Whether the type of the destination is the one that its sources imply. */
static bool types_are_plain(const kiln_problem *p)
{
    const kiln_type destination[] = {p->y_type, p->x_type, p->w_type};
    const kiln_type source = source_type(p);
    const bool shared = kiln_type_takes_weights(source, source);
    return destination[p->direction] == kiln_type_facts(source)->result &&
           (p->direction != KILN_FORWARD || p->w_type == (shared ? source : KILN_I8));
}

static bool layouts_are_plain(const kiln_problem *p)
{
    return strcmp(p->x_layout, kiln_plain_data_layout(p->spatial_rank)) == 0 &&
           strcmp(p->w_layout, kiln_plain_filter_layout(p->spatial_rank)) == 0 &&
           strcmp(p->y_layout, kiln_plain_data_layout(p->spatial_rank)) == 0;
}

static void put_three(kiln_sink *s, const char *name, const char *x, const char *w, const char *y)
{
    const char *const words[] = {"-", name, ":", x, ".", w, ".", y};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        kiln_put(s, words[i]);
}

static void put_activation(kiln_sink *s, const kiln_epilogue *e)
{
    if (e->activation == KILN_IDENTITY)
        return;
    kiln_put(s, "-act:");
    kiln_put(s, kiln_activation_name(e->activation));
    int params = e->param[1] != 0 ? 2 : e->param[0] != 0;
    for (int i = 0; i < params; i++) {
        kiln_put(s, ":");
        kiln_put_float(s, e->param[i]);
    }
}

static void put_quant_word(kiln_sink *s, const kiln_problem *p, const kiln_quant_word *w)
{
    const char *field = (const char *)&p->quant + w->offset;
    float scale;
    int number;
    memcpy(&scale, field, sizeof scale);
    memcpy(&number, field, sizeof number);
    const bool there = w->form == KILN_WORD_SCALE  ? scale != 1
                       : w->form == KILN_WORD_ZERO ? number != 0
                       : w->form == KILN_WORD_BIT  ? number & w->value
                       : w->form == KILN_WORD_IS   ? number == w->value
                                                   : number && number != (int)p->y_type;
    if (!there)
        return;
    kiln_put(s, ":");
    kiln_put(s, w->name);
    if (w->form == KILN_WORD_SCALE)
        kiln_put_float(s, scale);
    else if (w->form == KILN_WORD_ZERO)
        kiln_put_int(s, number);
    else if (w->form == KILN_WORD_TYPE)
        kiln_put(s, kiln_type_name((kiln_type)number));
}

static void put_quant(kiln_sink *s, const kiln_problem *p)
{
    if (!kiln_quant_is_used(p))
        return;
    kiln_put(s, "-q");
    for (int i = 0; i < KILN_QUANT_WORDS; i++)
        put_quant_word(s, p, &kiln_quant_words[i]);
}

static void put_bias(kiln_sink *s, const kiln_problem *p)
{
    const kiln_type type = (kiln_type)p->epilogue.bias;
    if (!type)
        return;
    kiln_put(s, "-bias");
    if (type == KILN_F32 && strcmp(p->bias_layout, kiln_plain_bias_layout) == 0)
        return;
    kiln_put(s, ":");
    kiln_put(s, kiln_type_name(type));
    kiln_put(s, ".");
    kiln_put(s, p->bias_layout);
}

static void put_list(kiln_sink *s, const kiln_problem *p, const kiln_part *t)
{
    int rank = t->form == LIST ? p->spatial_rank : 1;
    const int64_t *v = (const int64_t *)(const void *)((const char *)p + t->offset);
    bool plain = !t->needed;
    for (int i = 0; i < rank; i++)
        plain = plain && v[i] == (t->offset == AT(pad_end) ? p->pad_begin[i] : t->value);
    if (plain)
        return;
    kiln_put(s, "-");
    kiln_put(s, t->name);
    kiln_put_list(s, v, rank, 'x');
}

static void put_part(kiln_sink *s, const kiln_problem *p, const kiln_part *t)
{
    float factor;
    switch (t->form) {
    case NUMBER:
    case LIST:
        put_list(s, p, t);
        break;
    case FLAG:
        if (get_int(p, t->offset) == t->value) {
            kiln_put(s, "-");
            kiln_put(s, t->name);
        }
        break;
    case FACTOR:
        memcpy(&factor, (const char *)p + t->offset, sizeof factor);
        if (factor != (float)t->value) {
            kiln_put(s, "-");
            kiln_put(s, t->name);
            kiln_put_float(s, factor);
        }
        break;
    case KILN_PART_TYPES:
        if (!types_are_plain(p))
            put_three(s, "t", kiln_type_name(p->x_type), kiln_type_name(p->w_type),
                      kiln_type_name(p->y_type));
        break;
    case KILN_PART_LAYOUTS:
        if (!layouts_are_plain(p))
            put_three(s, "l", p->x_layout, p->w_layout, p->y_layout);
        break;
    case KILN_PART_BIAS:
        put_bias(s, p);
        break;
    case KILN_PART_ACTIVATION:
        put_activation(s, &p->epilogue);
        break;
    case KILN_PART_QUANT:
        put_quant(s, p);
        break;
    }
}

static size_t put_parts(const kiln_problem *p, int count, char *text, size_t size)
{
    kiln_sink s = kiln_sink_open(text, size);
    if (!kiln_problem_is_complete(p))
        return 0;
    kiln_put(&s, kiln_direction_name(p->direction));
    kiln_put(&s, "-");
    kiln_put(&s, kiln_type_name(source_type(p)));
    for (int i = 0; i < count; i++)
        put_part(&s, p, &kiln_parts[i]);
    return s.length;
}

size_t kiln_problem_text(const kiln_problem *p, char *text, size_t size)
{
    return put_parts(p, KILN_PARTS, text, size);
}

/* A filter that a run reads from a buffer is packed before it, whatever its layout. */
static bool packs_filter(const kiln_problem *p)
{
    kiln_layout layout;
    char why[KILN_ERROR_TEXT];
    return p->direction != KILN_BACKWARD_WEIGHTS && !kiln_layout_is_any(p->w_layout) &&
           kiln_layout_parse(&layout, p->w_layout, NULL, why) && !layout.image;
}

size_t kiln_problem_row_key(const kiln_problem *p, char *text, size_t size)
{
    if (!kiln_problem_is_complete(p) || !packs_filter(p))
        return put_parts(p, KILN_ROW_PARTS, text, size);
    kiln_problem plain = *p;
    memset(plain.w_layout, 0, sizeof plain.w_layout);
    strcpy(plain.w_layout, kiln_plain_filter_layout(p->spatial_rank));
    return put_parts(&plain, KILN_ROW_PARTS, text, size);
}
