/* Prints layouts as formulas and pictures. */
#include "layout_words.h"

#include <ctype.h>
#include <string.h>

enum { WIDEST_ROW = 32 };

bool layout_check_sizes(const layout_request *r, const kiln_layout *l, char *why)
{
    if (r->sizes == l->ndims)
        return true;
    snprintf(why, KILN_ERROR_TEXT,
             "--dims has %d numbers, but layout %s has the %d dims %s; give a number for each, or "
             "other dims with --order",
             r->sizes, l->name, l->ndims, l->dims);
    return false;
}

/* ---- formulas, over the names of the dims ---- */

/* Whether the layout rounds the dim up: its size in storage is C' instead of C then. */
static bool is_rounded(const kiln_layout *l, int d)
{
    return l->round[d] > 1 || l->round_bytes[d] || (l->sizes[d][0] && l->sizes[d][1] > 1);
}

static void put_extent(FILE *to, const kiln_layout *l, int a)
{
    const kiln_axis *axis = &l->axis[a];
    const char *prime = is_rounded(l, axis->dim) ? "'" : "";
    if (axis->mod)
        fprintf(to, "%lld", (long long)axis->mod);
    else if (axis->div > 1)
        fprintf(to, "(%c%s/%lld)", l->dims[axis->dim], prime, (long long)axis->div);
    else
        fprintf(to, "%c%s", l->dims[axis->dim], prime);
}

static void put_subscript(FILE *to, const kiln_layout *l, int a)
{
    const kiln_axis *axis = &l->axis[a];
    char letter = (char)tolower((unsigned char)l->dims[axis->dim]);
    bool both = axis->div > 1 && axis->mod;
    fprintf(to, both ? "(%c" : "%c", letter);
    if (axis->div > 1)
        fprintf(to, both ? "/%lld)" : "/%lld", (long long)axis->div);
    if (axis->mod)
        fprintf(to, "%%%lld", (long long)axis->mod);
}

/* Prints the number that axes [from, end) make together: ((a*B+b)*C+c). */
static void put_fold(FILE *to, const kiln_layout *l, int from, int end)
{
    if (from == end)
        fputs("0", to);
    for (int a = from + 2; a < end; a++)
        fputs("(", to);
    for (int a = from; a < end; a++) {
        if (a > from) {
            fputs("*", to);
            put_extent(to, l, a);
            fputs("+", to);
        }
        put_subscript(to, l, a);
        if (a > from && a + 1 < end)
            fputs(")", to);
    }
}

static void put_product(FILE *to, const kiln_layout *l, int from, int end)
{
    if (from == end)
        fputs("1", to);
    for (int a = from; a < end; a++) {
        fputs(a > from ? "*" : "", to);
        put_extent(to, l, a);
    }
}

static void print_rounding(FILE *to, const kiln_layout *l, int d, const char *indent)
{
    if (l->sizes[d][0] && l->sizes[d][1] == 1)
        fprintf(to, "%s%c must be 1\n", indent, l->dims[d]);
    if (!is_rounded(l, d))
        return;
    fprintf(to, "%s%c' = ", indent, l->dims[d]);
    if (l->sizes[d][0])
        fprintf(to, "%lld or %lld, at least %c\n", (long long)l->sizes[d][0],
                (long long)l->sizes[d][1], l->dims[d]);
    else if (l->round_bytes[d])
        fprintf(to, "%c rounded up to whole %lld bytes\n", l->dims[d],
                (long long)l->round_bytes[d]);
    else
        fprintf(to, "%c rounded up to a multiple of %lld\n", l->dims[d], (long long)l->round[d]);
}

void layout_print_formula(FILE *to, const kiln_layout *l, const char *indent)
{
    if (l->image) {
        fprintf(to, "%sx    = ", indent);
        put_fold(to, l, l->row_end, l->col_end);
        fprintf(to, "\n%sy    = ", indent);
        put_fold(to, l, 0, l->row_end);
        fprintf(to, "\n%slane = ", indent);
        put_fold(to, l, l->col_end, l->naxes);
        fprintf(to, "\n%simage width ", indent);
        put_product(to, l, l->row_end, l->col_end);
        fputs(", height ", to);
        put_product(to, l, 0, l->row_end);
    } else {
        fprintf(to, "%soffset = ", indent);
        put_fold(to, l, 0, l->naxes);
    }
    fputs("\n", to);
    for (int d = 0; d < l->ndims; d++)
        print_rounding(to, l, d, indent);
}

/* ---- pictures ---- */

int64_t layout_count(const kiln_storage *s)
{
    int64_t count = 1;
    for (int d = 0; d < s->layout.ndims; d++)
        count *= s->dim[d];
    return count;
}

void layout_print_sizes(FILE *to, const kiln_storage *s)
{
    for (int d = 0; d < s->layout.ndims; d++)
        fprintf(to, "%s%c=%lld", d ? " " : "", s->layout.dims[d], (long long)s->dim[d]);
}

/* Returns the cells of one line: the innermost axes that fit, at least one; in an image a row of
 * pixels. */
static int64_t row_cells(const kiln_storage *s)
{
    if (s->layout.image)
        return s->width * 4;
    int64_t cells = 1;
    for (int a = s->layout.naxes - 1; a >= 0; a--) {
        if (cells > 1 && cells * s->extent[a] > WIDEST_ROW)
            break;
        cells *= s->extent[a];
    }
    return cells;
}

static void put_cell(FILE *to, const kiln_storage *s, int64_t cell, int width)
{
    int64_t at[KILN_MAX_DIMS], place = 0;
    if (!kiln_storage_coordinate(s, cell, at)) {
        fprintf(to, "%*s", width, ".");
        return;
    }
    for (int d = 0; d < s->layout.ndims; d++)
        place = place * s->dim[d] + at[d];
    fprintf(to, "%*lld", width, (long long)place);
}

void layout_print_picture(FILE *to, const kiln_storage *s, const char *indent, int most)
{
    int64_t row = row_cells(s), shown = row < 2 * WIDEST_ROW ? row : 2 * WIDEST_ROW, lines = 0;
    int64_t inner = s->layout.image ? 4 : s->extent[s->layout.naxes - 1];
    int width = snprintf(NULL, 0, "%lld", (long long)layout_count(s) - 1);
    int label = snprintf(NULL, 0, "%lld", (long long)(s->layout.image ? s->height : s->cells) - 1);
    for (int64_t start = 0; start < s->cells; start += row, lines++) {
        if (lines == most) {
            fprintf(to, "%s...\n", indent);
            return;
        }
        fprintf(to, "%s%s %*lld:", indent, s->layout.image ? "row" : "offset", label,
                (long long)(s->layout.image ? start / row : start));
        for (int64_t i = 0; i < shown; i++) {
            fputs(i && i % inner == 0 && inner > 1 ? " | " : " ", to);
            put_cell(to, s, start + i, width);
        }
        fputs(shown < row ? " ...\n" : "\n", to);
    }
}
