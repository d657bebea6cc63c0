/* Reads options, numbers and choices of the benches' command lines. */
#include "options.h"

#include "kiln_layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int options_next(int argc, char **argv, const struct option *known, void (*help)(void))
{
    opterr = 0;
    int letter = getopt_long(argc, argv, "h", known, NULL);
    if (letter == 'h') {
        help();
        exit(0);
    }
    if (letter == '?')
        fprintf(stderr, "bench: \"%s\" is unknown or lacks its value; --help lists the options\n",
                argv[optind - 1]);
    return letter;
}

bool options_number(const char *option, const char *text, int least, int most, int *value)
{
    char *end;
    long n = strtol(text, &end, 10);
    if (end == text || *end || n < least || n > most) {
        fprintf(stderr, "bench: %s is \"%s\"; give a number from %d to %d\n", option, text, least,
                most);
        return false;
    }
    *value = (int)n;
    return true;
}

/* Reads the index of a word in a list that ends with NULL. */
static bool word(const char *option, const char *text, const char *const *words, int *value)
{
    for (int i = 0; words[i]; i++)
        if (strcmp(words[i], text) == 0) {
            *value = i;
            return true;
        }
    fprintf(stderr, "bench: %s is \"%s\"; give one of", option, text);
    for (int i = 0; words[i]; i++)
        fprintf(stderr, " %s", words[i]);
    fprintf(stderr, "\n");
    return false;
}

bool options_direction(const char *text, kiln_direction *direction)
{
    static const char *const words[] = {"fwd", "bwd", "wrw", NULL}; /* in the order of the enum */
    int number = 0;
    const bool fine = word("--direction", text, words, &number);
    *direction = (kiln_direction)number;
    return fine;
}

bool options_type(const char *text, kiln_type *type)
{
    static const char *const words[] = {"f32", "f16", "bf16", "i8", NULL};
    int number = 0;
    return word("--type", text, words, &number) && kiln_type_named(words[number], type);
}

bool options_layout(const char *option, const char *text, char tensor)
{
    kiln_layout layout;
    char why[KILN_ERROR_TEXT];
    if (tensor != 'w' ? strcmp(text, "any") == 0 || kiln_layout_parse(&layout, text, "NCHW", why)
                      : kiln_layout_parse(&layout, text, "MIHW", why) ||
                            kiln_layout_parse(&layout, text, "OIHW", why))
        return true;
    fprintf(stderr, "bench: %s is \"%s\": %s; kiln layout list has all\n", option, text, why);
    return false;
}

int options_batches(const char *text, int64_t *batch, int most)
{
    const char *at = text;
    for (int n = 0; n < most; at++) {
        char *end;
        const long long value = strtoll(at, &end, 10);
        if (end == at || value < 0)
            break;
        batch[n++] = value;
        if (!*end)
            return n;
        at = end;
        if (*at != ',')
            break;
    }
    fprintf(stderr, "bench: --batch is \"%s\"; give up to %d numbers with commas between them\n",
            text, most);
    return 0;
}
