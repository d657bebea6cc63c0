/* Finds reformats that transpose a matrix or cut it into blocks, and how an item best moves a piece
 * of the matrix. */
#include "reformat_matrix.h"

enum { SPAN_CELLS = 16384, SHORTEST_SPAN = 64, LONG_SPAN = 1024 };

static bool is_whole(const kiln_storage *s, int a)
{
    const kiln_axis *axis = &s->layout.axis[a];
    return axis->mod == 0 && axis->div == 1 && s->extent[a] == s->dim[axis->dim];
}

/* Both axes are the same whole dim. */
static bool is_same(const kiln_storage *s, int a, const kiln_storage *t, int b)
{
    return s->layout.axis[a].dim == t->layout.axis[b].dim && is_whole(s, a) && is_whole(t, b);
}

static int64_t product(const kiln_storage *s, int from, int to)
{
    int64_t n = 1;
    for (int a = from; a < to; a++)
        n *= s->extent[a];
    return n;
}

/* NCHW and NCHW16c: `at` is the plain axis that is cut into blocks. */
static bool find_cut(const kiln_storage *plain, const kiln_storage *blocked, int at, kiln_matrix *m)
{
    int n = plain->layout.naxes;
    const kiln_axis *outer = &blocked->layout.axis[at], *inner = &blocked->layout.axis[n];
    if (blocked->layout.naxes != n + 1 || outer->dim != plain->layout.axis[at].dim ||
        inner->dim != outer->dim || inner->mod != outer->div)
        return false;
    for (int a = at + 1; a < n; a++)
        if (!is_same(plain, a, blocked, a))
            return false;
    m->rows = plain->extent[at];
    m->columns = product(plain, at + 1, n);
    m->block = inner->mod;
    m->blocks = blocked->extent[at];
    return true;
}

/* NCHW and NHWC, or NHWC;C%8: the plain axes from `at` on, transposed; rows become innermost. */
static bool find_turn(const kiln_storage *plain, const kiln_storage *blocked, int at,
                      kiln_matrix *m)
{
    int n = plain->layout.naxes, rows = 1;
    if (blocked->layout.naxes != n)
        return false;
    while (at + rows < n && plain->layout.axis[at + rows].dim != blocked->layout.axis[at].dim)
        rows++;
    for (int a = at; a < n; a++) {
        int b = a < at + rows ? a + n - at - rows : a - rows;
        const kiln_axis *axis = &blocked->layout.axis[b];
        bool padded = rows == 1 && a == at && axis->dim == plain->layout.axis[a].dim && !axis->mod;
        if (!padded && !is_same(plain, a, blocked, b))
            return false;
    }
    m->rows = product(plain, at, at + rows);
    m->columns = product(plain, at + rows, n);
    m->block = product(blocked, n - rows, n);
    m->blocks = 1;
    return true;
}

bool kiln_matrix_find(const kiln_storage *plain, const kiln_storage *blocked, kiln_matrix *m)
{
    int n = plain->layout.naxes, at = 0;
    if (plain->layout.image || blocked->layout.image)
        return false;
    for (int a = 0; a < n; a++)
        if (!is_whole(plain, a))
            return false;
    while (at < n && at < blocked->layout.naxes && is_same(plain, at, blocked, at))
        at++;
    m->batch = product(plain, 0, at);
    return at < n && (find_cut(plain, blocked, at, m) || find_turn(plain, blocked, at, m));
}

int kiln_matrix_tile(const kiln_matrix *m, const kiln_device_facts *d, kiln_type from, kiln_type to)
{
    int64_t least = m->block < m->columns ? m->block : m->columns;
    if (d->kind != KILN_DEVICE_CPU || (from == KILN_I32 && to == KILN_BF16))
        return 0;
    return least >= 16 ? 16 : least >= 8 ? 8 : least >= 4 ? 4 : 0;
}

/* An item needs enough columns to run long, and few enough to occupy the device. A join writes
 * along the columns; many rows that are written a little at a time are slow. */
int64_t kiln_matrix_span(const kiln_matrix *m, bool join, const kiln_device_facts *d)
{
    int64_t span = SPAN_CELLS / m->block, items = 4 * (int64_t)d->compute_units;
    int64_t least = join ? LONG_SPAN : 2 * SHORTEST_SPAN;
    span = span < least ? least : span / 16 * 16;
    while (span > SHORTEST_SPAN && m->columns / span * m->batch * m->blocks < items)
        span /= 2;
    return span < m->columns ? span : m->columns;
}
