/* Reads oneDNN's options, one after the other. */
#include "list_onednn_options.h"

#include "list_onednn_post_ops.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_any_case(list_word word, const char *text)
{
    size_t i = 0;
    for (; i < word.length && text[i]; i++)
        if (tolower((unsigned char)word.at[i]) != text[i])
            return false;
    return i == word.length && !text[i];
}

void onednn_set_type(list_options *o, int tensor, list_word value)
{
    list_copy_printable(value, o->type[tensor], sizeof *o->type);
    if (tensor == ONEDNN_BIA)
        o->bias = !list_word_is(value, "undef");
}

void onednn_set_tag(list_options *o, int tensor, list_word value)
{
    if (tensor != ONEDNN_BIA) /* whose tag says nothing */
        list_copy_printable(value, o->tag[tensor], sizeof *o->tag);
}

/* ---- values; false: kiln cannot follow ---- */

/* FWD_B, or several directions between commas, which have to agree about the bias. */
static bool read_directions(list_options *o, list_word value)
{
    static const struct {
        const char *name;
        int direction;
        bool bias;
    } names[] = {{"fwd_d", 1, false}, {"fwd_b", 1, true},  {"fwd_i", 1, false},
                 {"bwd_d", 2, false}, {"bwd_w", 4, false}, {"bwd_wb", 4, true}};
    bool without = false, all = true;
    o->directions = 0;
    o->bias = o->biases_differ = false;
    while (value.length > 0) {
        const list_word one = list_take_part(&value, ',');
        bool found = false;
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (is_any_case(one, names[i].name)) {
                o->directions |= names[i].direction;
                o->bias |= names[i].bias;
                without |= !names[i].bias && names[i].direction != 2;
                found = true;
            }
        all &= found;
    }
    o->biases_differ = o->bias && without;
    return all;
}

/* f32 for all, or src:wei:dst. */
static bool read_types(list_options *o, list_word value)
{
    list_word one = value;
    for (int i = ONEDNN_SRC; i <= ONEDNN_DST; i++) {
        if (value.length > 0)
            one = list_take_part(&value, ':');
        onednn_set_type(o, i, one);
    }
    return true;
}

/* Older versions have one word for the types: f32, bf16bf16f32, s8s8s32. */
static bool read_configuration(list_options *o, list_word value)
{
    static const char *const types[] = {"bf16", "f16", "f32", "f64", "s32", "s8", "u8"};
    const char *found[3];
    int count = 0;
    while (value.length > 0 && count < 3) {
        size_t i = 0;
        while (i < sizeof types / sizeof *types && !list_take_prefix(&value, types[i]))
            i++;
        if (i == sizeof types / sizeof *types)
            return false;
        found[count++] = types[i];
    }
    if (value.length > 0 || (count != 1 && count != 3))
        return false;
    for (int i = ONEDNN_SRC; i <= ONEDNN_DST; i++)
        snprintf(o->type[i], sizeof *o->type, "%s", found[count == 1 ? 0 : i]);
    return true;
}

static bool read_src_tag(list_options *o, list_word value)
{
    onednn_set_tag(o, ONEDNN_SRC, value);
    return true;
}

static bool read_wei_tag(list_options *o, list_word value)
{
    onednn_set_tag(o, ONEDNN_WEI, value);
    return true;
}

static bool read_dst_tag(list_options *o, list_word value)
{
    onednn_set_tag(o, ONEDNN_DST, value);
    return true;
}

static bool read_algorithm(list_options *o, list_word value)
{
    list_take_prefix(&value, "de");
    list_take_prefix(&value, "convolution_");
    o->exact = is_any_case(value, "direct");
    return o->exact || is_any_case(value, "auto");
}

static bool read_batch(list_options *o, list_word value)
{
    const char *at = value.at;
    int64_t batch;
    if (!list_scan_int(&at, &batch) || at != value.at + value.length)
        return false;
    o->batch = batch;
    return true;
}

static bool read_fpmath(list_options *o, list_word value)
{
    const list_word mode = list_take_part(&value, ':'); /* what follows is about integers */
    o->reduced = !is_any_case(mode, "strict");
    return true;
}

static bool read_deterministic(list_options *o, list_word value)
{
    o->deterministic = is_any_case(value, "true");
    return true;
}

static bool read_nothing(list_options *o, list_word value)
{
    (void)o, (void)value;
    return true; /* results do not depend on it */
}

/* ---- scales and zero points ---- */

/* What a part of --attr-scales or --attr-zero-points becomes: src:common:0.5, wei:per_oc. */
typedef struct attribute {
    const char *tensor, *policy, *flag; /* ends in '=': the value follows */
} attribute;

static const attribute scales[] = {{"src", "common", "x_scale="},
                                   {"wei", "common", "w_scale="},
                                   {"wei", "per_oc", "w_scales=uniform"},
                                   {"dst", "common", "y_scale="}},
                       zeros[] = {{"src", "common", "x_zero="},
                                  {"wei", "common", "w_zero="},
                                  {"dst", "common", "y_zero="}};

/* Whether the word is a number; older versions mark a value that comes at run time by a *. */
static bool is_number(list_word word, char text[24])
{
    char *end;
    if (word.length == 0 || word.length >= 24)
        return false;
    memcpy(text, word.at, word.length);
    text[word.length - (word.at[word.length - 1] == '*')] = '\0';
    strtod(text, &end);
    return end != text && *end == '\0';
}

static bool put_attribute(const attribute *all, int n, list_word part, char *flags, size_t size)
{
    const list_word tensor = list_take_part(&part, ':'), policy = list_take_part(&part, ':');
    const list_word value = list_take_part(&part, ':');
    const size_t used = strlen(flags);
    char number[24] = "";
    for (int i = 0; i < n; i++) {
        if (!list_word_is(tensor, all[i].tensor) || !list_word_is(policy, all[i].policy))
            continue;
        const bool valued = all[i].flag[strlen(all[i].flag) - 1] == '=';
        if (valued && !is_number(value, number))
            return false;
        return (size_t)snprintf(flags + used, size - used, " --%s%s", all[i].flag, number) <
               size - used;
    }
    return false;
}

static bool read_attributes(const attribute *all, int n, list_word value, char *flags, size_t size)
{
    *flags = '\0';
    while (value.length > 0)
        if (!put_attribute(all, n, list_take_part(&value, '+'), flags, size)) {
            *flags = '\0';
            return false;
        }
    return true;
}

static bool read_scales(list_options *o, list_word value)
{
    return read_attributes(scales, sizeof scales / sizeof *scales, value, o->scales,
                           sizeof o->scales);
}

static bool read_zeros(list_options *o, list_word value)
{
    return read_attributes(zeros, sizeof zeros / sizeof *zeros, value, o->zeros, sizeof o->zeros);
}

/* ---- options ---- */

/* What benchdnn does with a problem, and what it prints: the problem is the same. */
static const char *const harmless[] = {"allow-enum-tags-only",
                                       "buffer-prefix",
                                       "canonical",
                                       "cold-cache",
                                       "cpu-isa-hints",
                                       "ctx-exe",
                                       "ctx-init",
                                       "engine",
                                       "execution-mode",
                                       "fast-ref",
                                       "fast-ref-gpu",
                                       "fix-times-per-prb",
                                       "global-impl",
                                       "impl",
                                       "match",
                                       "max-ms-per-prb",
                                       "mem-check",
                                       "memory-kind",
                                       "mode",
                                       "mode-modifier",
                                       "num-streams",
                                       "perf-template",
                                       "repeats-per-prb",
                                       "skip-impl",
                                       "start",
                                       "stream-kind",
                                       "summary",
                                       "verbose"};

static const struct {
    const char *name;
    bool (*read)(list_options *o, list_word value); /* false: kiln cannot follow */
    bool one; /* benchdnn runs each of several values between commas; kiln takes one */
} options[] = {{"dir", read_directions, false},
               {"dt", read_types, true},
               {"cfg", read_configuration, true},
               {"stag", read_src_tag, true},
               {"wtag", read_wei_tag, true},
               {"dtag", read_dst_tag, true},
               {"alg", read_algorithm, true},
               {"mb", read_batch, true},
               {"attr-post-ops", onednn_read_post_ops, true},
               {"attr-scales", read_scales, true},
               {"attr-zero-points", read_zeros, true},
               {"attr-fpmath", read_fpmath, true},
               {"attr-deterministic", read_deterministic, true},
               {"attr-scratchpad", read_nothing, false}};
enum { OPTIONS = sizeof options / sizeof *options };

static int find(list_word name)
{
    for (int i = 0; i < OPTIONS; i++)
        if (list_word_is(name, options[i].name))
            return i;
    return -1;
}

static bool is_harmless(list_word name)
{
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
        if (list_word_is(name, harmless[i]))
            return true;
    return list_word_is(name, "alg"); /* of the same convolution */
}

bool onednn_is_option(list_word word)
{
    if (list_word_is(word, "--reset"))
        return true;
    if (!list_take_prefix(&word, "--"))
        return false;
    list_word name = word;
    const bool has_value = memchr(word.at, '=', word.length) != NULL;
    const list_word option = list_take_part(&word, '=');
    return (has_value && (find(option) >= 0 || is_harmless(option))) ||
           list_take_prefix(&name, "attr-");
}

/* `name` is the part of `whole` up to its value. */
static void forget_unfollowed(list_options *o, list_word name, list_word whole)
{
    const size_t length = (size_t)(name.at - whole.at) + name.length;
    for (int i = 0; i < LIST_UNFOLLOWED; i++) {
        char *text = o->unfollowed[i];
        if (strncmp(text, whole.at, length) == 0 && strchr("=:", text[length]))
            *text = '\0';
    }
}

static void add_unfollowed(list_options *o, list_word whole, bool decisive)
{
    for (int i = 0; i < LIST_UNFOLLOWED; i++)
        if (!*o->unfollowed[i]) {
            list_copy_printable(whole, o->unfollowed[i], sizeof *o->unfollowed);
            o->decisive = decisive ? o->decisive | 1u << i : o->decisive & ~(1u << i);
            return;
        }
    o->crowded = true;
}

static void read_option(list_options *o, list_word name, list_word value, list_word whole)
{
    const int i = find(name);
    forget_unfollowed(o, name, whole);
    if (i >= 0) {
        const bool several = options[i].one && memchr(value.at, ',', value.length);
        o->several = several ? o->several | 1u << i : o->several & ~(1u << i);
        if (several)
            return;
    }
    /* Without a value, an attribute is what it is unless given. */
    if (i < 0 && value.length == 0 && list_take_prefix(&(list_word){name.at, name.length}, "attr-"))
        return;
    if (i < 0 || !options[i].read(o, value))
        add_unfollowed(o, whole, !is_harmless(name));
}

void onednn_read_option(list_options *o, list_word word)
{
    list_word value = word;
    if (list_word_is(word, "--reset")) {
        *o = (list_options){.transposed = o->transposed};
        return;
    }
    list_take_prefix(&value, "--");
    const list_word name = list_take_part(&value, '=');
    read_option(o, name, value, word);
}

/* MKL-DNN's "fsrc:nchw fwei:OIhw16i16o fbia:x fdst:nChw16c". */
static bool read_format(list_options *o, list_word name, list_word value)
{
    static const char *const names[] = {"fsrc", "fwei", "fdst", "fbia"};
    for (int i = 0; i < 4; i++)
        if (list_word_is(name, names[i])) {
            onednn_set_tag(o, i, value);
            if (i == ONEDNN_BIA)
                o->bias = !list_word_is(value, "undef");
            return true;
        }
    return false;
}

void onednn_read_log_option(list_options *o, list_word word)
{
    list_word value = word;
    const list_word name = list_take_part(&value, ':');
    if (!read_format(o, name, value))
        read_option(o, name, value, word);
}

const char *onednn_several(const list_options *o)
{
    for (int i = 0; i < OPTIONS; i++)
        if (o->several >> i & 1)
            return options[i].name;
    return o->biases_differ ? "dir" : NULL;
}
