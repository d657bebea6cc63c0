/* Reads lines of oneDNN's log (ONEDNN_VERBOSE) and benchdnn's command lines.
 *
 * Both say a problem as a descriptor with options around it. What an option asks for becomes flags
 * of kiln; an option that kiln cannot follow is named in the entry's note.
 */
#include "list_onednn.h"

#include "list_descriptor.h"
#include "list_log.h"
#include "list_onednn_flags.h"
#include "list_onednn_options.h"
#include "list_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- onednn_verbose,v1,primitive,exec,cpu,convolution,jit,forward_training,src_f32:...,... ----
 */

/* Returns the next field between commas; length 0 with *at at the end of the line. */
static list_word next_field(const char **at)
{
    list_word field = {*at, strcspn(*at, ",\r\n")};
    *at += field.length;
    *at += **at == ',';
    return field;
}

/* Returns the text behind "onednn_verbose," or its older names; NULL: the line is no such log. */
static const char *verbose_fields(const char *line)
{
    static const char *const names[] = {"onednn_verbose,", "dnnl_verbose,", "mkldnn_verbose,"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *at = strstr(line, names[i]);
        if (at)
            return at + strlen(names[i]);
    }
    return NULL;
}

/* "src_f32::blocked:abcd:f0", "diff_wei_f32:...", in newer versions "src:f32::blocked:abcd::f0". */
static void read_tensor(list_word word, list_options *o)
{
    static const char *const roles[4] = {"src", "wei", "dst", "bia"};
    const char *at = word.at, *end = word.at + word.length;
    if (word.length > 5 && strncmp(at, "diff_", 5) == 0)
        at += 5;
    for (int i = 0; i < 4; i++) {
        if (end - at < 4 || strncmp(at, roles[i], 3) != 0 || !strchr("_:", at[3]))
            continue;
        at += 4;
        list_word type = {at, strcspn(at, ": \r\n")};
        onednn_set_type(o, i, type);
        const char *tag = strstr(at, ":blocked:");
        if (tag && tag < end) {
            tag += strlen(":blocked:");
            onednn_set_tag(o, i, (list_word){tag, strcspn(tag, ": ,\r\n")});
        }
        return;
    }
}

static void read_field(list_word field, list_options *o)
{
    const char *at = field.at, *end = field.at + field.length;
    static const struct {
        const char *name;
        int direction;
    } kinds[] = {{"forward", 1}, {"backward_data", 2}, {"backward_weights", 4}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strncmp(at, kinds[i].name, strlen(kinds[i].name)) == 0)
            o->directions = kinds[i].direction;
    for (list_word word; (word = list_next_word(&at)).length > 0 && word.at < end;) {
        if (word.at + word.length > end)
            word.length = (size_t)(end - word.at);
        const bool old = word.length > 5 && *word.at == 'f' && word.at[4] == ':'; /* "fsrc:nchw" */
        if (old || strncmp(word.at, "alg:", 4) == 0 || strncmp(word.at, "attr-", 5) == 0)
            onednn_read_log_option(o, word);
        else
            read_tensor(word, o);
        at = word.at + word.length;
    }
}

/* Reads the fields behind the word "convolution", or "deconvolution". The first that starts with a
 * descriptor's key is the descriptor. */
static list_kind read_convolution(const char *at, bool transposed, list_entry *entry)
{
    char text[KILN_KEY_TEXT];
    list_options options = {.transposed = transposed};
    next_field(&at); /* the implementation */
    while (*at && *at != '\r' && *at != '\n') {
        list_word field = next_field(&at);
        if (!list_starts_as_descriptor(field.at)) {
            read_field(field, &options);
            continue;
        }
        if (field.length >= sizeof text)
            break;
        memcpy(text, field.at, field.length);
        text[field.length] = '\0';
        list_kind kind = list_read_descriptor(text, transposed, entry);
        return kind == LIST_SHAPE ? onednn_finish(&options, entry) : kind;
    }
    return list_bad(entry, "oneDNN's log has no descriptor (mb1_ic3oc8_ih...) in this line");
}

/* The fields up to the primitive tell what happened; only what was executed is a problem. Between
 * "exec" and the primitive stands the engine, but not in MKL-DNN's logs. A partition of a graph is
 * a number, and does not tell its problem. */
static list_kind read_verbose(const char *at, list_entry *entry)
{
    static const char graph[] = "graph";
    bool of_graph = false;
    list_word field = {at, 0};
    while (*at && *at != '\r' && *at != '\n' && !list_word_is(field, "exec")) {
        field = next_field(&at);
        of_graph |= list_word_is(field, graph);
    }
    if (!list_word_is(field, "exec"))
        return LIST_LOG;
    field = next_field(&at);
    if (list_word_is(field, "cpu") || strncmp(field.at, "gpu", 3) == 0)
        field = next_field(&at);
    const bool transposed = list_word_is(field, "deconvolution");
    if (transposed || list_word_is(field, "convolution"))
        return read_convolution(at, transposed, entry);
    snprintf(entry->name, sizeof entry->name, "%s", of_graph ? graph : list_quote(field).text);
    return LIST_FOREIGN;
}

/* ---- benchdnn --conv --dir=FWD_B --dt=f32 mb1ic3... ---- */

/* Other drivers of benchdnn: --matmul. */
static bool is_other_driver(list_word word)
{
    static const char *const names[] = {
        "--binary",  "--bnorm",   "--brgemm",    "--concat",  "--eltwise",    "--gnorm",
        "--graph",   "--ip",      "--lnorm",     "--lrn",     "--matmul",     "--pool",
        "--prelu",   "--rnn",     "--reduction", "--reorder", "--resampling", "--self",
        "--shuffle", "--softmax", "--sum",       "--zeropad"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (list_word_is(word, names[i]))
            return true;
    return false;
}

static bool is_driver(list_word word)
{
    return list_word_is(word, "--conv") || list_word_is(word, "--deconv");
}

/* Whether a line without the program's name is benchdnn's: it begins with a driver, or all of its
 * words are options of benchdnn but for a descriptor at the end. */
static bool is_benchdnn(const char *line)
{
    list_word word = list_next_word(&line);
    if (is_driver(word) || is_other_driver(word))
        return true;
    bool known = false;
    for (; word.length > 2 && strncmp(word.at, "--", 2) == 0; word = list_next_word(&line))
        known |= onednn_is_option(word);
    return known && (word.length == 0 || list_starts_as_descriptor(word.at));
}

static list_kind read_benchdnn(list_reader *reader, const char *line, list_entry *entry)
{
    list_options options = reader->options;
    list_word file = {0};
    for (const char *at = line;;) {
        const char *here = at + strspn(at, " \t");
        list_word word = list_next_word(&at);
        if (word.length == 0)
            break;
        if (is_driver(word)) {
            options.transposed = list_word_is(word, "--deconv");
            continue;
        }
        if (is_other_driver(word)) {
            snprintf(entry->name, sizeof entry->name, "%s", list_quote(word).text);
            return LIST_FOREIGN;
        }
        if (strncmp(word.at, "--batch=", 8) == 0) {
            file = word;
        } else if (strncmp(word.at, "--", 2) == 0) {
            onednn_read_option(&options, word);
        } else if (strncmp(word.at, "-v", 2) == 0) { /* how much is printed */
            continue;
        } else if (file.length == 0) {
            list_kind kind = list_read_descriptor(here, options.transposed, entry);
            return kind == LIST_SHAPE ? onednn_finish(&options, entry) : kind;
        }
    }
    reader->options = options;
    return file.length == 0 ? LIST_NOTHING
                            : list_bad(entry,
                                       "%s is a file of problems, which is not read from here; put "
                                       "its lines below this one",
                                       list_quote(file).text);
}

/* Returns the words behind benchdnn's name, wherever in a line that stands; NULL: it does not stand
 * there, or as a word of a sentence. *end becomes their end. */
static const char *find_benchdnn(const char *line, const char **end)
{
    static const char program[] = "benchdnn";
    const char *name, *after = list_find_program(line, program, &name);
    if (!after)
        return NULL;
    const char *at = after;
    const list_word first = list_next_word(&at);
    *end = list_command_end(after, list_open_quote(line, name));
    const bool alone = first.at >= *end && list_is_program(list_next_word(&line), program);
    const bool command = *first.at == '-' || list_starts_as_descriptor(first.at);
    return alone || (first.at < *end && command) ? after : NULL;
}

/* Reads the words of one of the commands in a line. */
static list_kind read_command(list_reader *reader, const char *line, const char *at,
                              const char *end, list_entry *entry)
{
    const char *more;
    char *words = strndup(at, (size_t)(end - at));
    if (!words)
        return list_bad(entry, "out of memory");
    const list_kind kind = read_benchdnn(reader, words, entry);
    free(words);
    if (*end != '#' && find_benchdnn(end, &more))
        entry->rest = (size_t)(end - line);
    return kind;
}

bool list_read_onednn(list_reader *reader, const char *line, list_entry *entry, list_kind *kind)
{
    const char *fields = verbose_fields(line), *again = strstr(line, "__REPRO: "), *end;
    const char *command = fields || again ? NULL : find_benchdnn(line, &end);
    if (fields) {
        reader->log = true;
        *kind = read_verbose(fields, entry);
    } else if (again) { /* what benchdnn prints of a problem: all its options, and no others */
        list_reader own = {.log = reader->log};
        *kind = read_benchdnn(&own, again + strlen("__REPRO: "), entry);
    } else if (command) {
        *kind = read_command(reader, line, command, end, entry);
    } else if (is_benchdnn(line)) {
        *kind = read_benchdnn(reader, line, entry);
    } else {
        return false;
    }
    return true;
}

list_kind list_apply_options(const list_reader *reader, list_entry *entry)
{
    return onednn_finish(&reader->options, entry);
}
