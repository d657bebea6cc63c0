/* Finds the rows and columns of a reformat on a GPU, and the tiles in which it goes through local
 * memory. */
#include "reformat_turn.h"

#include "generator/base/integers.h"

#include <stddef.h>

/* Bytes of a tile, the pieces in which local memory turns, bytes of a destination's run in a tile,
 * and the smallest matrix that is worth a tile. */
enum { ITEMS = 256, TILE_BYTES = 16384, PIECE = 16, RUN_BYTES = 128, LEAST_BYTES = 512 };

/* A dim, or several that follow one another the same way on both sides. */
typedef struct span {
    int64_t size, from, to; /* elements from one to the next */
} span;

/* ---- rows and columns ---- */

/* Returns the only axis of a dim that is neither cut nor padded, or -1. */
static int whole_axis(const kiln_storage *s, int dim)
{
    int found = -1;
    for (int a = 0; a < s->layout.naxes; a++) {
        if (s->layout.axis[a].dim != dim)
            continue;
        if (found >= 0 || s->layout.axis[a].mod || s->layout.axis[a].div != 1 ||
            s->extent[a] != s->dim[dim])
            return -1;
        found = a;
    }
    return found;
}

/* Describes the rows of a side along one dim, cut at most once. */
static bool find_rows(const kiln_storage *s, int dim, kiln_turn_side *side)
{
    int axes = 0;
    side->rows = 1;
    for (int a = 0; a < s->layout.naxes; a++) {
        const kiln_axis *axis = &s->layout.axis[a];
        if (axis->dim != dim)
            continue;
        axes++;
        side->rows *= s->extent[a];
        if (axis->div > 1) {
            side->block = s->stride[a];
            continue;
        }
        side->row = s->stride[a];
        side->neighbours = s->extent[a];
    }
    return axes <= 2 && side->neighbours > 0;
}

/* Adds a span behind the others, or to the last of them where both follow one another. */
static int add_span(span *all, int n, const span *s)
{
    if (s->size == 1)
        return n;
    span *last = n > 0 ? &all[n - 1] : NULL;
    if (last && last->from == s->size * s->from && last->to == s->size * s->to) {
        *last = (span){last->size * s->size, s->from, s->to};
        return n;
    }
    all[n] = *s;
    return n + 1;
}

/* Finds the spans in the order of the source, and the dim that is cut or padded, -1 for none.
 * Returns their number, or -1 where two dims are. */
static int find_spans(const kiln_storage *from, const kiln_storage *to, span *all, int *cut)
{
    int n = 0;
    *cut = -1;
    for (int a = 0; a < from->layout.naxes; a++) {
        const int dim = from->layout.axis[a].dim, source = whole_axis(from, dim),
                  target = whole_axis(to, dim);
        if (source >= 0 && target >= 0) {
            const span s = {from->extent[a], from->stride[a], to->stride[target]};
            n = add_span(all, n, &s);
        } else if (*cut >= 0 && *cut != dim) {
            return -1;
        } else {
            *cut = dim;
        }
    }
    return n;
}

/* Takes the span out that has the smallest distance, in the source or else in the destination. */
static span take_nearest(span *all, int *n, bool in_source)
{
    int best = 0;
    for (int i = 1; i < *n; i++)
        if (in_source ? all[i].from < all[best].from : all[i].to < all[best].to)
            best = i;
    const span s = all[best];
    for (int i = best; i + 1 < *n; i++)
        all[i] = all[i + 1];
    (*n)--;
    return s;
}

/* What no dim is left for has one row, column or index. */
static const span nothing = {1, 0, 0};

static bool find_matrix(const kiln_storage *from, const kiln_storage *to, kiln_turn *t)
{
    span all[KILN_MAX_AXES];
    int cut, n = find_spans(from, to, all, &cut);
    if (n < 1 || (cut < 0 && n < 2))
        return false;
    const bool far = cut >= 0 && all[n - 1].from > 1; /* a run of the source lies along the cut */
    const span column = take_nearest(all, &n, !far);
    t->columns = column.size;
    t->from.column = column.from;
    t->to.column = column.to;
    if (cut >= 0) {
        t->rows = from->dim[cut];
        if (!find_rows(from, cut, &t->from) || !find_rows(to, cut, &t->to))
            return false;
    } else {
        const span row = take_nearest(all, &n, false);
        t->rows = row.size;
        t->from.rows = t->from.neighbours = t->to.rows = t->to.neighbours = row.size;
        t->from.row = row.from;
        t->to.row = row.to;
    }
    if (n > 2)
        return false;
    for (int i = 0; i < 2; i++) {
        const span s = i < n ? all[i] : nothing;
        t->outer[i] = s.size;
        t->from.outer[i] = s.from;
        t->to.outer[i] = s.to;
    }
    return true;
}

/* ---- vectors and tiles ---- */

/* Finds along what the runs of a side lie, and the elements that move at once. */
static bool find_vector(const kiln_turn *t, kiln_turn_side *side, int64_t most)
{
    int64_t all = gcd(side->outer[0], side->outer[1]);
    if (side->neighbours < side->rows)
        all = gcd(all, side->block);
    if (side->row != 1 && side->column != 1)
        return false;
    side->down = side->row == 1;
    all = side->down ? gcd(gcd(all, side->column), side->neighbours)
                     : gcd(gcd(all, side->row), t->columns);
    side->vector = gcd(all, most);
    return true;
}

/* Finds how many elements of a tile follow one another on a side. */
static void find_run(const kiln_turn *t, kiln_turn_side *side)
{
    const int64_t tile = side->down ? t->tile_rows : t->tile_columns,
                  whole = side->down ? side->neighbours : t->columns;
    side->run = whole >= tile                                   ? tile
                : !side->down || side->neighbours == side->rows ? whole
                : tile % whole == 0                             ? whole
                                                                : side->vector;
}

/* Returns the positions of a tile along the destination's run: RUN_BYTES, or as many as there are.
 * What is left for a second tile of fewer than half the positions goes into the first one. */
static int64_t positions_of(int64_t along, int64_t size)
{
    int64_t positions = RUN_BYTES / size;
    if (positions < along && along < positions + positions / 2)
        positions *= 2;
    while (positions > PIECE / size && positions / 2 >= along)
        positions /= 2;
    return positions;
}

static void find_tile(kiln_turn *t, int64_t size)
{
    const bool down = t->to.down;
    const int64_t rows = t->to.rows > t->from.rows ? t->to.rows : t->from.rows,
                  along = down ? rows : t->columns, across = down ? t->columns : rows;
    int64_t positions = positions_of(along, size), lines = TILE_BYTES / size / positions;
    while (lines > 1 && lines / 2 >= across) {
        lines /= 2;
        positions *= positions < along ? 2 : 1;
    }
    t->tile_rows = down ? positions : lines;
    t->tile_columns = down ? lines : positions;
}

bool kiln_turn_find(const kiln_storage *from, const kiln_storage *to, int64_t size, bool same_type,
                    const kiln_device_facts *d, kiln_turn *turn)
{
    const int64_t most = same_type ? PIECE / size : 1;
    *turn = (kiln_turn){.rows = 0};
    if (d->kind != KILN_DEVICE_GPU || d->max_group < ITEMS || d->max_local[0] < ITEMS ||
        d->local_memory < TILE_BYTES)
        return false;
    if (from->layout.image || to->layout.image || !find_matrix(from, to, turn) ||
        !find_vector(turn, &turn->from, most) || !find_vector(turn, &turn->to, most) ||
        product_of(turn->rows, turn->columns) < LEAST_BYTES / size)
        return false;
    find_tile(turn, size);
    if (turn->from.down != turn->to.down) { /* vectors of a source are lines */
        const int64_t lines = turn->to.down ? turn->tile_columns : turn->tile_rows;
        turn->from.vector = gcd(turn->from.vector, lines);
    }
    find_run(turn, &turn->from);
    find_run(turn, &turn->to);
    return true;
}

/* ---- the plan ---- */

static void define_side(const kiln_turn_side *side, const char *const names[10], kiln_plan *plan)
{
    const int64_t values[10] = {side->outer[0], side->outer[1], side->rows,   side->neighbours,
                                side->block,    side->row,      side->column, side->down,
                                side->vector,   side->run};
    for (int i = 0; i < 10; i++)
        kiln_define(plan, names[i], values[i]);
}

void kiln_turn_define(const kiln_turn *t, kiln_plan *plan)
{
    static const char *const from[] = {
        "D_SRC_OUTER_0", "D_SRC_OUTER_1", "D_SRC_ROWS", "D_SRC_NEIGHBOURS", "D_SRC_BLOCK",
        "D_SRC_ROW",     "D_SRC_COLUMN",  "D_SRC_DOWN", "D_SRC_VECTOR",     "D_SRC_RUN"};
    static const char *const to[] = {
        "D_DST_OUTER_0", "D_DST_OUTER_1", "D_DST_ROWS", "D_DST_NEIGHBOURS", "D_DST_BLOCK",
        "D_DST_ROW",     "D_DST_COLUMN",  "D_DST_DOWN", "D_DST_VECTOR",     "D_DST_RUN"};
    const int64_t tiles =
        product_of(divide_up(t->to.rows, t->tile_rows), divide_up(t->columns, t->tile_columns));
    kiln_define(plan, "P_OUTER_0", t->outer[0]);
    kiln_define(plan, "P_OUTER_1", t->outer[1]);
    kiln_define(plan, "P_ROWS", t->rows);
    kiln_define(plan, "P_COLUMNS", t->columns);
    define_side(&t->from, from, plan);
    define_side(&t->to, to, plan);
    kiln_define(plan, "T_ROWS", t->tile_rows);
    kiln_define(plan, "T_COLUMNS", t->tile_columns);
    kiln_grid(plan, ITEMS, 1, 1, product_of(product_of(tiles, ITEMS), t->outer[0] * t->outer[1]), 1,
              1);
}
