/* Turns oneDNN's options into flags of kiln. */
#include "list_onednn_flags.h"

#include "list_onednn_options.h"
#include "list_onednn_post_ops.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Returns the axes of a tensor in oneDNN's order, in letters of kiln's layouts. G stands for the
 * groups, which kiln's filter has among its rows (O), and - for an axis of one element: where each
 * group has one channel, the groups are the rows. A filter of kiln's transposed convolutions has
 * the channels of x as its rows. */
static void name_axes(const kiln_problem *p, bool weights, char names[8])
{
    static const char *const spatial[] = {"W", "HW", "DHW"};
    const bool grouped = p->groups > 1;
    const bool single = grouped && p->groups == p->in_channels && p->groups == p->out_channels;
    const char *channels = !weights        ? "NC"
                           : single        ? "O-I"
                           : p->transposed ? grouped ? "GIO" : "IO"
                           : grouped       ? "GOI"
                                           : "OI";
    snprintf(names, 8, "%s%s", channels, spatial[p->spatial_rank - 1]);
}

/* Returns the place of an axis that a tag names by its word: g, o, i, d, h, w; n, c, d, h, w. */
static size_t place_named(const kiln_problem *p, bool weights, char letter)
{
    static const char *const spatial[] = {"w", "hw", "dhw"};
    char words[8];
    snprintf(words, sizeof words, "%s%s",
             !weights        ? "nc"
             : p->groups > 1 ? "goi"
                             : "oi",
             spatial[p->spatial_rank - 1]);
    return strcspn(words, (char[]){letter, '\0'});
}

/* Takes the groups out of a filter's layout: they are the outer part of its rows, if they stand
 * right before them and blocks of rows fill a group. */
static bool drop_groups(const kiln_problem *p, char *layout)
{
    char *at = strchr(layout, 'G');
    if (!at || at[1] != 'O' || strpbrk(layout, "g-"))
        return false;
    const int64_t rows = (p->transposed ? p->in_channels : p->out_channels) / p->groups;
    for (const char *block = strpbrk(layout, "0123456789"); block;) {
        char *end;
        const long long size = strtoll(block, &end, 10);
        if (*end == 'o' && (size < 1 || rows % size != 0))
            return false;
        block = strpbrk(end, "0123456789");
    }
    memmove(at, at + 1, strlen(at));
    return true;
}

/* oneDNN's tags say a layout by letters a, b, ... of the tensor's axes ("aBcd16b"), by names
 * ("nChw16c") or by the place of the spatial axes ("axb"). Writes kiln's name; returns false where
 * that has none. */
static bool layout_of_tag(const char *tag, bool weights, const kiln_problem *p, char *to)
{
    static const char *const spatial[] = {"W", "HW", "DHW"};
    const bool letters = strspn(tag, "abcdefABCDEFxX0123456789") == strlen(tag);
    bool inner = false;
    char names[8];
    size_t n = 0;
    if (strcmp(tag, "any") == 0) {
        snprintf(to, KILN_LAYOUT_TEXT, "any");
        return true;
    }
    name_axes(p, weights, names);
    for (; *tag && n + 4 < KILN_LAYOUT_TEXT; tag++) {
        const char lower = (char)tolower((unsigned char)*tag);
        if (isdigit((unsigned char)*tag)) {
            inner = true;
            to[n++] = *tag;
            continue;
        }
        if (letters && lower == 'x') {
            n += (size_t)snprintf(to + n, KILN_LAYOUT_TEXT - n, "%s", spatial[p->spatial_rank - 1]);
            continue;
        }
        const size_t place = letters ? (size_t)(lower - 'a') : place_named(p, weights, lower);
        if (!isalpha((unsigned char)*tag) || place >= strlen(names))
            return false;
        const char name = names[place];
        if (name == '-' && (inner || lower != *tag))
            return false;
        if (name != '-')
            to[n++] = inner ? (char)tolower((unsigned char)name) : name;
    }
    to[n] = '\0';
    return !*tag && (!strchr(names, 'G') || drop_groups(p, to));
}

/* The line is right, but kiln lacks what it asks for. */
static list_kind lacks(list_entry *entry, const char *what)
{
    entry->unsupported = true;
    return list_bad(entry, "kiln does not follow %s, which makes it another problem", what);
}

static list_kind put_layouts(const list_options *o, list_entry *entry)
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
            return lacks(entry, text);
        }
    }
    return LIST_SHAPE;
}

/* Returns kiln's name of a type; NULL: kiln lacks the type. */
static const char *type_name(const char *type)
{
    static const char *const names[][2] = {
        {"f32", "f32"}, {"f16", "f16"},        {"bf16", "bf16"},      {"s8", "i8"},
        {"s32", "i32"}, {"f8_e4m3", "f8e4m3"}, {"f8_e5m2", "f8e5m2"}, {"u8", "u8"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(type, names[i][0]) == 0)
            return names[i][1];
    return NULL;
}

/* u8 with weights of s8, and floats with weights of another type. */
static bool put_mixed(const list_options *o, list_entry *entry)
{
    static const struct {
        const char *source, *word;
    } words[] = {{"u8", "convint8 --x_type u8"},
                 {"f32", "conv"},
                 {"f16", "convfp16"},
                 {"bf16", "convbfp16"}};
    kiln_problem p = entry->problem;
    const char *names[3] = {NULL};
    kiln_type *const types[] = {&p.x_type, &p.w_type, &p.y_type};
    for (int i = ONEDNN_SRC; i <= ONEDNN_DST; i++) {
        names[i] = type_name(o->type[i]);
        if (!names[i] || !kiln_type_named(names[i], types[i]))
            return false;
    }
    p.direction = KILN_FORWARD;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(words[i].source, o->type[ONEDNN_SRC]) != 0 || kiln_problem_check(&p, NULL))
            continue;
        put(entry, "%s", words[i].word);
        if (i > 0)
            put(entry, " --w_type %s", names[ONEDNN_WEI]);
        put(entry, " --out_type %s%s", names[ONEDNN_DST], o->directions ? "" : " -F 1");
        return true;
    }
    return false;
}

static list_kind put_types(const list_options *o, list_entry *entry)
{
    static const struct {
        const char *type, *word;
    } words[] = {{"f32", "conv"},        {"f16", "convfp16"},     {"bf16", "convbfp16"},
                 {"f8_e4m3", "convfp8"}, {"f8_e5m2", "convbfp8"}, {"s8", "convint8"}};
    enum { FLOATS = sizeof words / sizeof *words - 1 };
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
        if (strcmp(o->type[result], source) == 0 && i < FLOATS)
            return LIST_SHAPE;
        if (!type_name(o->type[result]))
            break;
        put(entry, " --out_type %s", type_name(o->type[result]));
        return LIST_SHAPE;
    }
    if (result == ONEDNN_DST && put_mixed(o, entry))
        return LIST_SHAPE;
    entry->unsupported = true;
    return list_bad(entry, "kiln has no convolution of the types %s:%s:%s (src:wei:dst)",
                    o->type[ONEDNN_SRC], o->type[ONEDNN_WEI], o->type[ONEDNN_DST]);
}

static list_kind set_batch(const list_options *o, list_entry *entry)
{
    kiln_problem p = entry->problem;
    if (o->batch == 0)
        return LIST_SHAPE;
    p.batch = entry->problem.batch = o->batch;
    return kiln_problem_check(&p, entry->why) == KILN_OK ? LIST_SHAPE : LIST_BAD;
}

/* Notes what kiln need not follow. */
static list_kind put_unfollowed(const list_options *o, list_entry *entry)
{
    for (int i = 0; i < LIST_UNFOLLOWED; i++)
        if (*o->unfollowed[i] && (o->decisive >> i & 1))
            return lacks(entry, o->unfollowed[i]);
        else if (*o->unfollowed[i])
            put_note(entry, o->unfollowed[i]);
    return o->crowded ? lacks(entry, "so many options") : LIST_SHAPE;
}

static list_kind put_bias(const list_options *o, list_entry *entry)
{
    const char *bias = type_name(o->type[ONEDNN_BIA]);
    if (!o->bias)
        return LIST_SHAPE;
    put(entry, " -b 1");
    if (!*o->type[ONEDNN_BIA] || (bias && strcmp(bias, "f32") == 0))
        return LIST_SHAPE;
    if (!bias ||
        (strcmp(bias, "f16") != 0 && strcmp(bias, "bf16") != 0 && strcmp(bias, "i32") != 0)) {
        char text[40];
        snprintf(text, sizeof text, "a bias of type %s", o->type[ONEDNN_BIA]);
        return lacks(entry, text);
    }
    put(entry, " --bias_type %s", bias);
    return LIST_SHAPE;
}

static list_kind put_post_ops(const list_options *o, list_entry *entry)
{
    char text[128];
    if (!onednn_has_post_ops(o))
        return LIST_SHAPE;
    if (o->directions != 0 && !(o->directions & 1))
        return lacks(entry, "post-ops of a backward direction");
    const char *unfit = onednn_unfit_post_ops(o, o->type[ONEDNN_DST]);
    if (unfit)
        return lacks(entry, unfit);
    onednn_post_op_flags(o, text, sizeof text);
    put(entry, "%s", text);
    return LIST_SHAPE;
}

/* Attributes of a backward direction scale tensors that kiln does not scale. */
static list_kind put_quant(const list_options *o, list_entry *entry)
{
    if ((*o->scales || *o->zeros) && o->directions != 0 && !(o->directions & 1))
        return lacks(entry, "scales or zero points of a backward direction");
    put(entry, "%s%s", o->scales, o->zeros);
    return LIST_SHAPE;
}

list_kind onednn_finish(const list_options *o, list_entry *entry)
{
    const char *several = onednn_several(o);
    if (several)
        return list_bad(entry,
                        "--%s has several values, and benchdnn runs each; kiln needs a line for "
                        "each",
                        several);
    if (put_types(o, entry) == LIST_BAD || set_batch(o, entry) == LIST_BAD)
        return LIST_BAD;
    if (put_unfollowed(o, entry) == LIST_BAD)
        return LIST_BAD;
    if (o->directions)
        put(entry, " -F %d", o->directions);
    if (put_layouts(o, entry) == LIST_BAD || put_bias(o, entry) == LIST_BAD ||
        put_post_ops(o, entry) == LIST_BAD || put_quant(o, entry) == LIST_BAD)
        return LIST_BAD;
    if (o->exact || o->reduced)
        put(entry, " --math %s", o->reduced ? "reduced" : "exact");
    if (o->deterministic)
        put(entry, " --deterministic 1");
    return LIST_SHAPE;
}
