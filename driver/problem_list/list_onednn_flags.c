/* Turns oneDNN's options into flags of kiln. */
#include "list_onednn_flags.h"

#include "list_onednn_options.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
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
            if (!isalpha((unsigned char)*tag) || (letters && place >= strlen(names)))
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

static list_kind set_batch(const list_options *o, list_entry *entry)
{
    kiln_problem p = entry->problem;
    if (o->batch == 0)
        return LIST_SHAPE;
    p.batch = entry->problem.batch = o->batch;
    return kiln_problem_check(&p, entry->why) == KILN_OK ? LIST_SHAPE : LIST_BAD;
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
    for (int i = 0; i < LIST_UNFOLLOWED; i++)
        if (*o->unfollowed[i])
            put_note(entry, o->unfollowed[i]);
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
