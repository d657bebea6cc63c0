/* Turns oneDNN's options into flags of kiln. */
#include "list_onednn_options.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void copy(list_word word, char *text, size_t size)
{
    snprintf(text, size, "%.*s", (int)word.length, word.at);
}

static bool is_any_case(list_word word, const char *text)
{
    size_t i = 0;
    for (; i < word.length && text[i]; i++)
        if (tolower((unsigned char)word.at[i]) != text[i])
            return false;
    return i == word.length && !text[i];
}

void onednn_note(list_options *o, list_word option)
{
    size_t used = strlen(o->note);
    snprintf(o->note + used, sizeof o->note - used, "%s%s", used ? ", " : "",
             list_quote(option).text);
}

void onednn_set_type(list_options *o, int tensor, list_word value)
{
    copy(value, o->type[tensor], sizeof o->type[tensor]);
    if (tensor == ONEDNN_BIA)
        o->bias = !list_word_is(value, "undef");
}

void onednn_set_tag(list_options *o, int tensor, list_word value)
{
    if (tensor != ONEDNN_BIA) /* whose tag says nothing */
        copy(value, o->tag[tensor], sizeof o->tag[tensor]);
}

void onednn_set_algorithm(list_options *o, list_word value)
{
    list_word whole = value;
    static const char prefix[] = "convolution_";
    if (value.length >= sizeof prefix - 1 && strncmp(value.at, prefix, sizeof prefix - 1) == 0) {
        value.at += sizeof prefix - 1;
        value.length -= sizeof prefix - 1;
    }
    if (is_any_case(value, "direct"))
        o->exact = true;
    else if (!is_any_case(value, "auto"))
        onednn_note(o, whole);
}

static const struct {
    const char *onednn, *kiln;
} activations[] = {{"relu", "relu"},
                   {"tanh", "tanh"},
                   {"logistic", "sigmoid"},
                   {"elu", "elu"},
                   {"gelu_erf", "gelu"}};

/* Reads "relu", "eltwise_relu:0.1:0": kiln takes an activation with its parameter alpha. */
static bool read_activation(const char *text, size_t length, list_options *o)
{
    static const char prefix[] = "eltwise_";
    char name[32], alpha[16] = "";
    if (length > sizeof prefix - 1 && strncmp(text, prefix, sizeof prefix - 1) == 0) {
        text += sizeof prefix - 1;
        length -= sizeof prefix - 1;
    }
    size_t n = 0;
    while (n < length && text[n] != ':')
        n++;
    snprintf(name, sizeof name, "%.*s", (int)n, text);
    if (n < length)
        snprintf(alpha, sizeof alpha, "%.*s", (int)strspn(text + n + 1, "+-.0123456789e"),
                 text + n + 1);
    bool plain = alpha[strspn(alpha, "0.")] == '\0';
    for (size_t i = 0; i < sizeof activations / sizeof *activations; i++) {
        if (strcmp(name, activations[i].onednn) != 0)
            continue;
        bool leaky = i == 0 && !plain, elu = strcmp(name, "elu") == 0;
        snprintf(o->activation, sizeof o->activation, " --activation %s",
                 leaky ? "leaky_relu" : activations[i].kiln);
        if (leaky || (elu && *alpha)) {
            size_t used = strlen(o->activation);
            snprintf(o->activation + used, sizeof o->activation - used, " --act_alpha %s", alpha);
        }
        return true;
    }
    return false;
}

void onednn_set_post_ops(list_options *o, list_word value, list_word whole)
{
    const char *at = value.at, *end = value.at + value.length;
    bool follows = true;
    o->sum = false;
    *o->activation = '\0';
    while (at < end) {
        at += strspn(at, "'\";+");
        if (at >= end)
            break;
        size_t n = 0;
        while (at + n < end && !strchr("'\";+", at[n]))
            n++;
        bool sum = n >= 3 && strncmp(at, "sum", 3) == 0;
        bool unit = n == 3 || (n == 5 && strncmp(at + 3, ":1", 2) == 0);
        if (*o->activation) /* kiln's activation comes last */
            follows = false;
        else if (sum && unit && !o->sum)
            o->sum = true;
        else if (sum || !read_activation(at, n, o))
            follows = false;
        at += n;
    }
    if (follows)
        return;
    o->sum = false;
    *o->activation = '\0';
    onednn_note(o, whole);
}

/* ---- benchdnn's options ---- */

/* Returns the value of "--name=value"; length 0 with at NULL: the word is another option. */
static list_word value_of(list_word word, const char *name)
{
    size_t n = strlen(name);
    if (word.length < n + 3 || strncmp(word.at + 2, name, n) != 0 || word.at[n + 2] != '=')
        return (list_word){0};
    return (list_word){word.at + n + 3, word.length - n - 3};
}

bool onednn_is_option(list_word word)
{
    static const char *const names[] = {"dir",    "dt",        "cfg", "stag",  "wtag",
                                        "dtag",   "alg",       "mb",  "match", "mode",
                                        "engine", "skip-impl", "impl"};
    if (list_word_is(word, "--reset") || (word.length > 7 && strncmp(word.at, "--attr-", 7) == 0))
        return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (value_of(word, names[i]).at)
            return true;
    return false;
}

/* Options that may name several values between commas: benchdnn runs every combination. Directions
 * are kiln's to combine. */
static const char *const lists[] = {"dir",
                                    "dt",
                                    "cfg",
                                    "stag",
                                    "wtag",
                                    "dtag",
                                    "alg",
                                    "mb",
                                    "attr-post-ops",
                                    "attr-fpmath",
                                    "attr-deterministic"};
enum { LISTS = sizeof lists / sizeof *lists };

/* Notes whether the option has one value; returns false where it has several. */
static bool is_single(list_word word, list_options *o)
{
    for (int i = 0; i < LISTS; i++) {
        const list_word value = value_of(word, lists[i]);
        if (!value.at)
            continue;
        const bool several = i > 0 && memchr(value.at, ',', value.length);
        o->lists = several ? o->lists | 1u << i : o->lists & ~(1u << i);
        return !several;
    }
    return true;
}

/* FWD_B, or several directions between commas, which have to agree about the bias. */
static void read_directions(list_word value, list_word whole, list_options *o)
{
    static const struct {
        const char *name;
        int direction;
        bool bias;
    } names[] = {{"fwd_d", 1, false}, {"fwd_b", 1, true},  {"fwd_i", 1, false},
                 {"bwd_d", 2, false}, {"bwd_w", 4, false}, {"bwd_wb", 4, true}};
    bool without = false;
    o->directions = 0;
    o->bias = false;
    while (value.length > 0) {
        const char *comma = memchr(value.at, ',', value.length);
        list_word one = {value.at, comma ? (size_t)(comma - value.at) : value.length};
        bool found = false;
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (is_any_case(one, names[i].name)) {
                o->directions |= names[i].direction;
                o->bias |= names[i].bias;
                without |= !names[i].bias && names[i].direction != 2;
                found = true;
            }
        if (!found)
            onednn_note(o, whole);
        one.length += comma != NULL;
        value.at += one.length;
        value.length -= one.length;
    }
    if (o->bias && without)
        o->lists |= 1;
}

/* f32 for all, or src:wei:dst. */
static void read_types(list_word value, list_options *o)
{
    bool several = memchr(value.at, ':', value.length) != NULL;
    for (int i = ONEDNN_SRC; i <= ONEDNN_DST; i++) {
        const char *colon = memchr(value.at, ':', value.length);
        list_word one = {value.at, colon ? (size_t)(colon - value.at) : value.length};
        copy(one, o->type[i], sizeof o->type[i]);
        if (several && colon) {
            value.length -= one.length + 1;
            value.at = colon + 1;
        }
    }
}

/* Older versions have one word for the types: f32, bf16bf16f32, s8s8s32. */
static void read_configuration(list_word value, list_word whole, list_options *o)
{
    static const char *const types[] = {"bf16", "f16", "f32", "f64", "s32", "s8", "u8"};
    int count = 0;
    for (size_t at = 0; at < value.length && count < 3;) {
        size_t i = 0, n = 0;
        for (; i < sizeof types / sizeof *types; i++)
            if (strncmp(value.at + at, types[i], n = strlen(types[i])) == 0)
                break;
        if (i == sizeof types / sizeof *types || at + n > value.length) {
            onednn_note(o, whole);
            return;
        }
        snprintf(o->type[count++], sizeof *o->type, "%s", types[i]);
        at += n;
    }
    for (; count > 0 && count < 3; count++)
        memcpy(o->type[count], o->type[0], sizeof *o->type);
}

void onednn_read_option(list_word word, list_options *o)
{
    static const char *const tags[] = {"stag", "wtag", "dtag"};
    list_word value;
    if (list_word_is(word, "--reset")) {
        memset(o, 0, sizeof *o);
        return;
    }
    if (!is_single(word, o))
        return;
    if ((value = value_of(word, "dir")).at) {
        read_directions(value, word, o);
        return;
    }
    if ((value = value_of(word, "dt")).at) {
        read_types(value, o);
        return;
    }
    if ((value = value_of(word, "cfg")).at) {
        read_configuration(value, word, o);
        return;
    }
    for (int i = 0; i < 3; i++)
        if ((value = value_of(word, tags[i])).at) {
            onednn_set_tag(o, i, value);
            return;
        }
    if ((value = value_of(word, "alg")).at)
        onednn_set_algorithm(o, value);
    else if ((value = value_of(word, "attr-post-ops")).at)
        onednn_set_post_ops(o, value, word);
    else if ((value = value_of(word, "mb")).at && list_scan_int(&value.at, &o->batch))
        return;
    else if ((value = value_of(word, "attr-fpmath")).at)
        o->reduced = strncmp(value.at, "strict", 6) != 0;
    else if ((value = value_of(word, "attr-deterministic")).at)
        o->deterministic = is_any_case(value, "true");
    else if (!value_of(word, "attr-scratchpad").at) /* results do not depend on that one */
        onednn_note(o, word);
}

/* ---- flags ---- */

static void put(list_entry *entry, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(list_entry *entry, const char *format, ...)
{
    size_t used = strlen(entry->flags);
    va_list list;
    va_start(list, format);
    vsnprintf(entry->flags + used, sizeof entry->flags - used, format, list);
    va_end(list);
}

static void put_note(list_entry *entry, const char *text)
{
    size_t used = strlen(entry->note);
    snprintf(entry->note + used, sizeof entry->note - used, "%s%s", used ? ", " : "", text);
}

/* oneDNN's tags say a layout by letters a, b, ... of the tensor's axes ("aBcd16b"), by names
 * ("nChw16c") or by the place of the spatial axes ("axb"). Writes kiln's name; returns false where
 * that has none. */
static bool layout_of_tag(const char *tag, bool weights, const kiln_problem *p, char *to)
{
    static const char *const spatial[] = {"W", "HW", "DHW"};
    const char *axes = spatial[p->spatial_rank - 1];
    bool grouped = weights && p->groups > 1, inner = false;
    size_t n = 0;
    if (strcmp(tag, "any") == 0) {
        snprintf(to, KILN_LAYOUT_TEXT, "any");
        return true;
    }
    bool letters = strspn(tag, "abcdefABCDEFxX0123456789") == strlen(tag);
    for (; *tag && n + 4 < KILN_LAYOUT_TEXT; tag++) {
        const char lower = (char)tolower((unsigned char)*tag);
        if (isdigit((unsigned char)*tag)) {
            inner = true;
            to[n++] = *tag;
        } else if (letters && lower == 'x') {
            n += (size_t)snprintf(to + n, KILN_LAYOUT_TEXT - n, "%s", axes);
        } else {
            char names[8];
            snprintf(names, sizeof names, "%s%s%s", grouped ? "G" : "", weights ? "OI" : "NC",
                     axes);
            size_t place = (size_t)(lower - 'a');
            if (letters && place >= strlen(names))
                return false;
            char name = letters ? names[place] : (char)toupper((unsigned char)*tag);
            to[n++] = inner ? (char)tolower((unsigned char)name) : name;
        }
    }
    to[n] = '\0';
    if (*to == 'G') /* kiln's filter has the groups among its rows */
        memmove(to, to + 1, n);
    return !*tag && !strchr(to, 'G') && !strchr(to, 'g');
}

static void put_layouts(const list_options *o, list_entry *entry)
{
    static const char flag[] = "IfO";
    static const char *const plain[] = {"NCHW", "NCDHW", "NCW", "OIHW", "OIDHW", "OIW"};
    for (int i = ONEDNN_SRC; i <= ONEDNN_DST; i++) {
        char name[KILN_LAYOUT_TEXT + 8];
        bool known = *o->tag[i] && layout_of_tag(o->tag[i], i == ONEDNN_WEI, &entry->problem, name);
        bool usual = false;
        for (size_t k = 0; known && k < sizeof plain / sizeof *plain; k++)
            usual |= strcmp(name, plain[k]) == 0;
        if (known && !usual)
            put(entry, " -%c %s", flag[i], name);
        if (*o->tag[i] && !known) {
            char text[40];
            snprintf(text, sizeof text, "the layout %s", o->tag[i]);
            put_note(entry, text);
        }
    }
}

/* Returns kiln's name of a type; NULL: kiln lacks the type. */
static const char *type_name(const char *type)
{
    static const char *const names[][2] = {
        {"f32", "f32"}, {"f16", "f16"}, {"bf16", "bf16"}, {"s8", "i8"}, {"s32", "i32"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(type, names[i][0]) == 0)
            return names[i][1];
    return NULL;
}

static list_kind put_types(const list_options *o, list_entry *entry)
{
    static const struct {
        const char *type, *word;
    } words[] = {{"f32", "conv"}, {"f16", "convfp16"}, {"bf16", "convbfp16"}, {"s8", "convint8"}};
    const int result = o->directions == 2   ? ONEDNN_SRC
                       : o->directions == 4 ? ONEDNN_WEI
                                            : ONEDNN_DST;
    const char *source = o->type[result == ONEDNN_SRC ? ONEDNN_WEI : ONEDNN_SRC];
    const char *other = o->type[result == ONEDNN_DST ? ONEDNN_WEI : ONEDNN_DST];
    if (!*source)
        return LIST_SHAPE;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(source, words[i].type) != 0 || strcmp(other, source) != 0)
            continue;
        put(entry, "%s", words[i].word);
        if (strcmp(o->type[result], source) == 0 && i < 3)
            return LIST_SHAPE;
        if (!type_name(o->type[result]))
            break;
        put(entry, " --out_type %s", type_name(o->type[result]));
        return LIST_SHAPE;
    }
    entry->unsupported = true;
    return list_bad(entry, "kiln has no convolution of the types %s:%s:%s (src:wei:dst)",
                    o->type[ONEDNN_SRC], o->type[ONEDNN_WEI], o->type[ONEDNN_DST]);
}

list_kind onednn_finish(const list_options *o, list_entry *entry)
{
    for (int i = 0; i < LISTS; i++)
        if (o->lists >> i & 1)
            return list_bad(entry,
                            "--%s has several values, and benchdnn runs each; kiln needs a line "
                            "for each",
                            lists[i]);
    list_kind kind = put_types(o, entry);
    if (kind == LIST_BAD)
        return kind;
    snprintf(entry->note, sizeof entry->note, "%s", o->note);
    if (o->batch > 0)
        entry->problem.batch = o->batch;
    if (o->directions)
        put(entry, " -F %d", o->directions);
    put_layouts(o, entry);
    if (o->bias)
        put(entry, " -b 1");
    const char *bias = type_name(o->type[ONEDNN_BIA]);
    if (o->bias && bias && (strcmp(bias, "f16") == 0 || strcmp(bias, "bf16") == 0))
        put(entry, " --bias_type %s", bias);
    bool forward = o->directions == 0 || (o->directions & 1);
    if (forward)
        put(entry, "%s%s", o->activation, o->sum ? " --beta 1" : "");
    else if (*o->activation || o->sum)
        put_note(entry, "post-ops of a backward direction");
    if (o->exact || o->reduced)
        put(entry, " --math %s", o->reduced ? "reduced" : "exact");
    if (o->deterministic)
        put(entry, " --deterministic 1");
    return LIST_SHAPE;
}
