/* `kiln layout list` and `docs`: print every layout that has a name. */
#include "layout_words.h"

#include <ctype.h>
#include <string.h>

enum { DOCS_LINES = 8 };

kiln_status layout_list(const layout_request *r, char *why)
{
    const kiln_layout_entry *e;
    (void)r;
    (void)why;
    printf("%-26s %-6s %-18s %s\n", "NAME", "DIMS", "SPELT OUT", "WHAT IT IS; OTHER NAMES");
    for (int i = 0; (e = kiln_layout_at(i)); i++)
        printf("%-26s %-6s %-18s %s%s%s\n", e->name, e->dims, e->spec, e->note,
               *e->synonyms ? "; " : "", e->synonyms);
    return KILN_OK;
}

static const char docs_head[] =
    "# Layouts\n"
    "\n"
    "<!-- Made by `kiln layout docs`; do not edit. -->\n"
    "\n"
    "Where the elements of a tensor are in memory. Each layout on this page has a name, one line\n"
    "of `generator/layout/layouts.def`. A flag that takes a layout takes a name or a text that\n"
    "spells the layout out.\n"
    "\n"
    "**Spelling.** Capital letters are the dims from the outermost to the innermost; `16c` is a\n"
    "block of 16 of C. Two bars cut an image into rows, columns and the four lanes of a pixel.\n"
    "`;C%8` rounds C up to a multiple of 8, `;W%64B` rounds W up to whole 64 bytes, `;C=1/4`\n"
    "makes C 1 or 4.\n"
    "\n"
    "**Formulas.** Small letters are the element's coordinates, capitals the sizes, C' a size\n"
    "after rounding; divisions round down, % is the remainder. A kernel that writes a padded\n"
    "layout writes zeros into the padding, and readers rely on them.\n"
    "\n"
    "**Drawings** show the cells in the order of storage, each with its element's place in the\n"
    "logical order (for NCHW: `((n*C+c)*H+h)*W+w`); a dot is padding. Bars separate the innermost\n"
    "runs; in an image they separate pixels.\n";

/* Sizes that make a drawing small and still show padding. */
static bool small_storage(const kiln_layout *l, kiln_storage *s, char *why)
{
    static const struct {
        char dim;
        int64_t size;
    } small[] = {{'N', 1}, {'C', 5}, {'D', 2}, {'H', 2}, {'W', 3},
                 {'O', 5}, {'I', 3}, {'M', 1}, {'T', 2}, {'P', 3}};
    int64_t size[KILN_MAX_DIMS] = {0};
    for (int d = 0; d < l->ndims; d++) {
        size[d] = 2;
        for (size_t i = 0; i < sizeof small / sizeof *small; i++)
            if (small[i].dim == l->dims[d])
                size[d] = small[i].size;
        if (l->sizes[d][1] && size[d] > l->sizes[d][1])
            size[d] = l->sizes[d][1] > 1 ? l->sizes[d][1] - 1 : 1;
    }
    return kiln_storage_make(s, l, size, KILN_F16, why);
}

static void print_synonyms(const char *synonyms)
{
    for (const char *s = synonyms; *s; s += strspn(s, " ")) {
        size_t length = strcspn(s, " ");
        printf("%s`%.*s`", s == synonyms ? " Also called " : ", ", (int)length, s);
        s += length;
    }
    if (*synonyms)
        printf(".");
}

kiln_status layout_docs(const layout_request *r, char *why)
{
    const kiln_layout_entry *e;
    (void)r;
    fputs(docs_head, stdout);
    for (int i = 0; (e = kiln_layout_at(i)); i++) {
        kiln_layout l;
        kiln_storage s;
        if (!kiln_layout_parse(&l, e->name, NULL, why) || !small_storage(&l, &s, why))
            return KILN_INVALID;
        printf("\n## %s\n\n", e->name);
        printf("%c%s; of %s, spelt out `%s`.", toupper((unsigned char)*e->note), e->note + 1,
               e->dims, e->spec);
        print_synonyms(e->synonyms);
        printf("\n\n```\n");
        layout_print_formula(stdout, &l, "");
        printf("\n");
        layout_print_sizes(stdout, &s);
        printf("%s: %lld cells\n", strstr(l.spec, "B") ? ", f16" : "", (long long)s.cells);
        layout_print_picture(stdout, &s, "", DOCS_LINES);
        printf("```\n");
    }
    return KILN_OK;
}
