/* Reads the text of a problem. Every part of the text is untrusted, and an error names the wrong
 * part. */
#include "generator/base/text.h"

#include "problem_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { QUOTE = 48 };

typedef struct reader {
    kiln_problem p;
    const char *whole;
    kiln_type source;       /* the type behind the direction */
    const char *at, *start; /* of the part being read, behind its '-' */
    int last;               /* index of the latest part, -1 before the first */
    bool seen[KILN_PARTS];
    char *why;
} reader;

/* Refuses with the part's text in front: "-s0x0": ... */
static kiln_status wrong(const reader *r, const char *sentence)
{
    char quote[QUOTE];
    kiln_quote(r->start, "-", quote, sizeof quote);
    return kiln_refuse(r->why, "\"-%s\": %s", quote, sentence);
}

static bool at_end(const char *at)
{
    return *at == '\0' || *at == '-';
}

/* Whether the text after a part's name has the part's form. This tells -e1x1 from -exact. */
static bool form_fits(const kiln_part *t, const char *at)
{
    bool digit = *at >= '0' && *at <= '9';
    switch (t->form) {
    case KILN_PART_NUMBER:
    case KILN_PART_LIST:
        return digit;
    case KILN_PART_FACTOR:
        return digit || (*at == '-' && at[1] >= '0' && at[1] <= '9');
    case KILN_PART_FLAG:
        return at_end(at);
    case KILN_PART_BIAS:
        return at_end(at) || *at == ':';
    default:
        return *at == ':';
    }
}

static int find_part(const char **at)
{
    for (int i = 0; i < KILN_PARTS; i++) {
        const char *p = *at;
        if (kiln_scan(&p, kiln_parts[i].name) && form_fits(&kiln_parts[i], p)) {
            *at = p;
            return i;
        }
    }
    return -1;
}

static kiln_status read_numbers(reader *r, const kiln_part *t)
{
    int64_t v[KILN_MAX_RANK];
    int64_t *field = (int64_t *)(void *)((char *)&r->p + t->offset);
    int n = kiln_scan_list(&r->at, v, t->form == KILN_PART_LIST ? KILN_MAX_RANK : 1, 'x');
    if (n == 0 || !at_end(r->at))
        return wrong(r, t->form == KILN_PART_LIST
                            ? "expected 1 to 3 whole numbers below 2^63 with x between them"
                            : "expected one whole number below 2^63");
    if (t->form == KILN_PART_LIST) {
        if (r->p.spatial_rank == 0)
            r->p.spatial_rank = n;
        if (n != r->p.spatial_rank)
            return wrong(r, "its number of sizes differs from the one before; give one per axis");
    }
    for (int i = 0; i < n; i++) {
        if (v[i] < t->least)
            return wrong(r, t->needed ? "must be at least 1"
                                      : "must be at least 1; leave it out for the default");
        field[i] = v[i];
    }
    return KILN_OK;
}

static kiln_status read_factor(reader *r, const kiln_part *t)
{
    float v;
    if (!kiln_scan_float(&r->at, &v) || !at_end(r->at))
        return wrong(r, "expected a decimal number such as 0.5 or 1e-3");
    if (v == 0)
        return wrong(r, "0 stands for the default; leave it out");
    memcpy((char *)&r->p + t->offset, &v, sizeof v);
    return KILN_OK;
}

static kiln_status read_flag(reader *r, const kiln_part *t)
{
    int old;
    memcpy(&old, (const char *)&r->p + t->offset, sizeof old);
    if (old != 0)
        return wrong(r, "contradicts an earlier part; keep one of them");
    memcpy((char *)&r->p + t->offset, &t->value, sizeof t->value);
    return KILN_OK;
}

static bool scan_type(const char **at, kiln_type *type)
{
    char word[8];
    kiln_quote(*at, "-.:", word, sizeof word);
    if (!kiln_type_named(word, type))
        return false;
    *at += strlen(word);
    return true;
}

static kiln_status read_types(reader *r)
{
    kiln_type *const types[] = {&r->p.x_type, &r->p.w_type, &r->p.y_type};
    for (int i = 0; i < 3; i++)
        if (!kiln_scan(&r->at, i ? "." : ":") || !scan_type(&r->at, types[i]))
            return wrong(r, "expected the types of x.w.y, such as f16.f16.f32");
    if (!at_end(r->at))
        return wrong(r, "has something behind the three types");
    static const int source[] = {
        [KILN_FORWARD] = 0, [KILN_BACKWARD_DATA] = 1, [KILN_BACKWARD_WEIGHTS] = 2};
    if (*types[source[r->p.direction]] != r->source)
        return wrong(r, "the type that is read differs from the one behind the direction");
    return KILN_OK;
}

static kiln_status read_layouts(reader *r)
{
    char *const layouts[] = {r->p.x_layout, r->p.w_layout, r->p.y_layout};
    for (int i = 0; i < 3; i++) {
        if (!kiln_scan(&r->at, i ? "." : ":"))
            return wrong(r, "expected the layouts of x.w.y");
        size_t length = strcspn(r->at, ".-");
        if (length >= KILN_LAYOUT_TEXT)
            return wrong(r, "a layout is longer than 31 bytes");
        memcpy(layouts[i], r->at, length);
        r->at += length;
    }
    return at_end(r->at) ? KILN_OK : wrong(r, "has something behind the three layouts");
}

static kiln_status read_bias(reader *r)
{
    kiln_type type = KILN_F32;
    if (kiln_scan(&r->at, ":")) {
        if (!scan_type(&r->at, &type) || !kiln_scan(&r->at, "."))
            return wrong(r, "expected the bias's type and layout, such as f16.W");
        size_t length = strcspn(r->at, "-");
        if (length >= KILN_LAYOUT_TEXT)
            return wrong(r, "a layout is longer than 31 bytes");
        memcpy(r->p.bias_layout, r->at, length);
        r->at += length;
    }
    r->p.epilogue.bias = type;
    return KILN_OK;
}

static kiln_status read_activation(reader *r)
{
    char word[QUOTE];
    kiln_scan(&r->at, ":");
    size_t length = strcspn(r->at, ":-");
    kiln_quote(r->at, ":-", word, sizeof word);
    if (!kiln_activation_named(word, &r->p.epilogue.activation))
        return wrong(r, "there is no such activation");
    r->at += length;
    for (int i = 0; i < 2 && kiln_scan(&r->at, ":"); i++)
        if (!kiln_scan_float(&r->at, &r->p.epilogue.param[i]))
            return wrong(r, "expected decimal numbers behind the activation");
    return at_end(r->at) ? KILN_OK : wrong(r, "has something behind the activation");
}

static bool word_fits(const kiln_quant_word *w, const char *at)
{
    kiln_type type;
    const bool digit = *at >= '0' && *at <= '9';
    return w->form == KILN_WORD_SCALE  ? digit
           : w->form == KILN_WORD_ZERO ? digit || *at == '-'
           : w->form == KILN_WORD_TYPE ? scan_type(&at, &type)
                                       : at_end(at) || *at == ':';
}

static int find_word(const char **at, int first)
{
    for (int i = first; i < KILN_QUANT_WORDS; i++) {
        const char *p = *at;
        if (kiln_scan(&p, kiln_quant_words[i].name) && word_fits(&kiln_quant_words[i], p)) {
            *at = p;
            return i;
        }
    }
    return -1;
}

static bool read_word(reader *r, const kiln_quant_word *w)
{
    char *field = (char *)&r->p.quant + w->offset;
    kiln_type type;
    float number = 1;
    int value = w->value, old;
    memcpy(&old, field, sizeof old);
    if (w->form == KILN_WORD_TYPE) {
        scan_type(&r->at, &type);
        value = (int)type;
    } else if (w->form == KILN_WORD_SCALE || w->form == KILN_WORD_ZERO) {
        if (!kiln_scan_float(&r->at, &number) || number == 0 || fabsf(number) > 0x1p24f ||
            (w->form == KILN_WORD_ZERO && number != (float)(int)number))
            return false;
        value = (int)number;
    } else if (w->form == KILN_WORD_BIT) {
        value |= old;
    } else if (old) {
        return false;
    }
    if (w->form == KILN_WORD_SCALE)
        memcpy(field, &number, sizeof number);
    else
        memcpy(field, &value, sizeof value);
    return true;
}

static kiln_status read_quant(reader *r)
{
    int last = -1;
    while (kiln_scan(&r->at, ":")) {
        const int word = find_word(&r->at, last + 1);
        if (word < 0 || !read_word(r, &kiln_quant_words[word]))
            return wrong(r, "expected scales and zero points such as xs0.5:x3:wb, in the order of "
                            "kiln_problem_text(), each once and without defaults");
        last = word;
    }
    return last >= 0 && at_end(r->at) ? KILN_OK
                                      : wrong(r, "has something behind the scales and zero points");
}

static kiln_status read_part(reader *r)
{
    r->start = r->at;
    int i = find_part(&r->at);
    if (i < 0)
        return wrong(r, "no part of a problem looks like this");
    if (r->seen[i])
        return wrong(r, "is given twice");
    if (i < r->last) {
        char sentence[64];
        snprintf(sentence, sizeof sentence, "must stand before -%s", kiln_parts[r->last].name);
        return wrong(r, sentence);
    }
    r->seen[i] = true;
    r->last = i;
    switch (kiln_parts[i].form) {
    case KILN_PART_NUMBER:
    case KILN_PART_LIST:
        return read_numbers(r, &kiln_parts[i]);
    case KILN_PART_FACTOR:
        return read_factor(r, &kiln_parts[i]);
    case KILN_PART_FLAG:
        return read_flag(r, &kiln_parts[i]);
    case KILN_PART_TYPES:
        return read_types(r);
    case KILN_PART_LAYOUTS:
        return read_layouts(r);
    case KILN_PART_BIAS:
        return read_bias(r);
    case KILN_PART_QUANT:
        return read_quant(r);
    default:
        return read_activation(r);
    }
}

/* "fwd-f32" */
static kiln_status read_head(reader *r)
{
    int d = KILN_FORWARD;
    while (d <= KILN_BACKWARD_WEIGHTS && !kiln_scan(&r->at, kiln_direction_name((kiln_direction)d)))
        d++;
    if (d > KILN_BACKWARD_WEIGHTS || !kiln_scan(&r->at, "-") || !scan_type(&r->at, &r->source)) {
        char quote[QUOTE];
        kiln_quote(r->whole, "", quote, sizeof quote);
        return kiln_refuse(r->why,
                           "a problem starts with fwd, bwd or wrw and a type (fwd-f32-...), or is "
                           "a MIOpen key; this does not: \"%s\"",
                           quote);
    }
    r->p.direction = (kiln_direction)d;
    if (d == KILN_FORWARD)
        r->p.x_type = r->source;
    else
        r->p.y_type = r->source;
    return KILN_OK;
}

static kiln_status read_text(reader *r)
{
    char quote[QUOTE];
    kiln_status status = read_head(r);
    while (status == KILN_OK && kiln_scan(&r->at, "-"))
        status = read_part(r);
    if (status)
        return status;
    if (*r->at) {
        r->start = r->at;
        return wrong(r, "expected a - here");
    }
    for (int i = 0; i < KILN_PARTS; i++) {
        if (kiln_parts[i].needed && !r->seen[i]) {
            kiln_quote(r->whole, "", quote, sizeof quote);
            return kiln_refuse(r->why, "-%s is missing in \"%s\"", kiln_parts[i].name, quote);
        }
        if (kiln_parts[i].offset == offsetof(kiln_problem, pad_end) && !r->seen[i])
            memcpy(r->p.pad_end, r->p.pad_begin, sizeof r->p.pad_end);
    }
    return kiln_problem_check(&r->p, r->why);
}

kiln_status kiln_problem_parse(kiln_problem *problem, const char *text, char *why)
{
    if (!problem || !text)
        return kiln_refuse(why, "kiln_problem_parse: problem and text must not be NULL");
    if (*text >= '0' && *text <= '9')
        return kiln_miopen_key_parse(problem, text, why);
    reader r = {.whole = text, .at = text, .last = -1, .why = why};
    kiln_status status = read_text(&r);
    if (status == KILN_OK)
        *problem = r.p;
    return status;
}
