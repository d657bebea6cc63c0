/* Prints the table of flags: as the command line that repeats a run, and as the help. */
#include "flag_table.h"

#include <string.h>

typedef struct writer {
    char *text;
    size_t size, length;
} writer;

static void put(writer *w, const char *s)
{
    size_t n = strlen(s);
    if (w->length < w->size)
        snprintf(w->text + w->length, w->size - w->length, "%s", s);
    w->length += n;
}

static void put_quoted(writer *w, const char *s)
{
    if (*s && s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                          "_-+=.,/:@%")] == '\0') {
        put(w, s);
        return;
    }
    put(w, "'");
    for (; *s; s++) {
        const char one[2] = {*s, '\0'};
        put(w, *s == '\'' ? "'\\''" : one);
    }
    put(w, "'");
}

static bool at_default(const flags *f, const flags *initial, const flag *row)
{
    switch (row->kind) {
    case REAL:
        return *flag_real(f, row) == *flag_real(initial, row);
    case TEXT:
        return strcmp(*flag_text(f, row), *flag_text(initial, row)) == 0;
    case TEXTS:
        return true; /* they say which problems a model has; a problem's own line has them no more
                      */
    default:
        return *flag_number(f, row) == *flag_number(initial, row);
    }
}

/* Whether a line has the flag. Without --act_alpha an activation has its usual value, which is not
 * the flag's default; beside a name, a flag at its default overrides the name. */
static bool is_said(const flags *f, const flags *initial, int i, flags_saying saying)
{
    static const bool repeats[GROUP_COUNT] = {
        [GROUP_RUN] = true, [GROUP_DATA] = true, [GROUP_DEVICE] = true, [GROUP_MIOPEN] = true};
    const flag *row = &flag_table[i];
    const bool counts = row->offset == offsetof(flags, act_alpha);
    const bool describes = row->group == GROUP_SHAPE || row->group == GROUP_EPILOGUE;
    if (saying == FLAGS_SAY_EPILOGUE && row->group == GROUP_EPILOGUE)
        return f->given[i];
    if (describes ? saying != FLAGS_SAY_PROBLEM : !repeats[row->group])
        return false;
    return !at_default(f, initial, row) || (counts && f->given[i]);
}

static void put_value(writer *w, const flags *f, const flag *row)
{
    char text[64];
    if (row->kind == TEXT) {
        put_quoted(w, *flag_text(f, row));
    } else if (row->kind == REAL) {
        snprintf(text, sizeof text, "%.17g", *flag_real(f, row));
        put(w, text);
    } else if (row->kind == CHOICE) {
        const char *choice = row->what;
        for (int64_t i = *flag_number(f, row); i > 0; i--)
            choice += strcspn(choice, "|") + 1;
        snprintf(text, sizeof text, "%.*s", (int)strcspn(choice, "|"), choice);
        put(w, text);
    } else {
        snprintf(text, sizeof text, "%lld", (long long)*flag_number(f, row));
        put(w, text);
    }
}

/* Letters that mean nothing special to a shell. */
static bool plain_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

size_t flags_repro(const flags *f, flags_saying saying, char *text, size_t size)
{
    flags initial;
    flags_init(&initial);
    writer w = {text, size, 0};
    if (size)
        *text = '\0';
    for (int i = 0; i < flag_rows; i++) {
        const flag *row = &flag_table[i];
        if (!is_said(f, &initial, i, saying))
            continue;
        const char letter[2] = {row->letter, '\0'};
        bool brief = row->letter && plain_letter(row->letter);
        put(&w, brief ? " -" : " --");
        put(&w, brief ? letter : row->name);
        if (row->kind != SWITCH) {
            put(&w, " ");
            put_value(&w, f, row);
        }
    }
    return w.length;
}

void flags_print_wrapped(FILE *to, int left, int column, const char *text)
{
    enum { RIGHT = 99 };
    bool first = true;
    if (column >= left) {
        fputc('\n', to);
        column = 0;
    }
    while (*text) {
        int n = (int)strcspn(text, " ");
        if (!first && column + 1 + n > RIGHT) {
            fputc('\n', to);
            column = 0;
            first = true;
        }
        column += fprintf(to, "%*s%.*s", first ? left - column : 1, "", n, text);
        first = false;
        text += n + (text[n] == ' ');
    }
    fputc('\n', to);
}

void flags_help(FILE *to)
{
    enum { LEFT = 34 };
    static const char *const titles[GROUP_COUNT] = {
        [GROUP_SHAPE] = "The problem",
        [GROUP_EPILOGUE] = "Epilogue and arithmetic",
        [GROUP_RUN] = "What to run",
        [GROUP_DATA] = "Data and verification",
        [GROUP_REPORT] = "What to print",
        [GROUP_DEVICE] = "Device",
        [GROUP_BATCH] = "Many problems",
        [GROUP_MIOPEN] = "Flags of MIOpenDriver that kiln takes with few values",
    };
    for (int g = 0; g < GROUP_COUNT; g++) {
        fprintf(to, "\n%s:\n", titles[g]);
        for (int i = 0; i < flag_rows; i++) {
            const flag *row = &flag_table[i];
            if (row->group != (flag_group)g)
                continue;
            const char letter[5] = {row->letter ? '-' : ' ', row->letter ? row->letter : ' ',
                                    row->letter ? ',' : ' ', ' ', '\0'};
            int column = fprintf(to, "  %s--%s %s", letter, row->name, row->what);
            char help[400];
            bool shown = row->kind != SWITCH && *row->initial && strcmp(row->initial, "-1") != 0;
            snprintf(help, sizeof help, shown ? "%s [%s]" : "%s", row->help, row->initial);
            flags_print_wrapped(to, LEFT, column, help);
        }
    }
}
