/* Sums of products as a blocked matrix product: gather a block of columns, multiply, hand out.
 *
 * For a block of columns, every term's values are gathered from the grid into panels of PANEL
 * doubles; then the matrix's rows, four at a time, are multiplied with each panel in registers.
 * One gathering serves all rows, and no inner loop knows about padding.
 */
#include "contraction.h"

#include "contraction_multiply.h"
#include "host.h"

#include <limits.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEPTH = 192, /* terms gathered together: a panel of them stays in the first-level cache */
    ROWS = 256   /* rows that share one gathering */
};

/* One element of an index space. */
typedef struct place {
    int64_t position[3];
    int64_t grid, linear;
} place;

typedef struct panel {
    int64_t low[3], high[3]; /* range of the positions of its columns along each axis */
    bool dense;              /* its columns lie side by side in the grid */
} panel;

/* One thread's memory. */
typedef struct desk {
    place column[BLOCK];
    panel panel[PANELS];
    int64_t index[BLOCK];
    double magnitude[BLOCK];
    double column_square[BLOCK], row_square[ROWS];
    bool padded[BLOCK]; /* the column has a term outside the box */
    double terms[PANELS][DEPTH][PANEL] __attribute__((aligned(64)));
    double quad[DEPTH][QUAD];
    double sum[ROWS][BLOCK] __attribute__((aligned(64)));
} desk;

struct contraction_scratch {
    desk desk[1]; /* one for each thread */
};

contraction_scratch *contraction_scratch_new(void)
{
    return aligned_alloc(64, (size_t)omp_get_max_threads() * sizeof(desk));
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t space_count(const contraction_space *s)
{
    return s->outer * s->count[0] * s->count[1] * s->count[2];
}

static place place_at(const contraction *c, const contraction_space *s, int64_t i)
{
    place at = {.grid = 0};
    for (int a = 2; a >= 0; a--) {
        int64_t along = i % s->count[a];
        i /= s->count[a];
        at.position[a] = s->first[a] + along * s->step[a];
        at.grid += at.position[a] * c->box_step[a];
        at.linear += along * s->linear[a];
    }
    at.grid += i * s->outer_grid;
    at.linear += i * s->outer_linear;
    return at;
}

/* ---- gathering ---- */

/* Places the columns of a block. Columns past the last repeat it; their sums are not handed out. */
static void set_columns(desk *d, const contraction *c, int64_t first, int count)
{
    for (int i = 0; i < BLOCK; i++)
        d->column[i] = i < count ? place_at(c, &c->columns, first + i) : d->column[count - 1];
    for (int p = 0; p < PANELS; p++) {
        panel *to = &d->panel[p];
        const place *from = &d->column[p * PANEL];
        *to = (panel){.dense = true};
        memcpy(to->low, from->position, sizeof to->low);
        memcpy(to->high, from->position, sizeof to->high);
        for (int i = 1; i < PANEL; i++) {
            to->dense = to->dense && from[i].grid == from->grid + i;
            for (int a = 0; a < 3; a++) {
                to->low[a] = least(to->low[a], from[i].position[a]);
                to->high[a] = most(to->high[a], from[i].position[a]);
            }
        }
    }
}

static bool inside(const contraction *c, const int64_t *low, const int64_t *high, const place *term)
{
    for (int a = 0; a < 3; a++)
        if (low[a] + term->position[a] < 0 || high[a] + term->position[a] >= c->box[a])
            return false;
    return true;
}

/* Gathers one term's values for the columns of one panel, and notes the columns that it is outside
 * the box for. */
static void gather(const contraction *c, int64_t grid_first, const panel *p, const place *column,
                   const place *term, double *restrict to, bool *padded)
{
    const float *grid = c->grid;
    const int64_t at = grid_first + term->grid;
    if (!inside(c, p->low, p->high, term))
        for (int i = 0; i < PANEL; i++) {
            bool in = inside(c, column[i].position, column[i].position, term);
            to[i] = in ? grid[at + column[i].grid] : 0;
            padded[i] = padded[i] || !in;
        }
    else if (p->dense)
        for (int i = 0; i < PANEL; i++)
            to[i] = grid[at + column->grid + i];
    else
        for (int i = 0; i < PANEL; i++)
            to[i] = grid[at + column[i].grid];
}

/* Gathers `depth` terms from number `first` on and keeps the matrix offset of each. */
static void gather_terms(desk *d, const contraction *c, int64_t group, int panels, int64_t first,
                         int depth, int64_t *offset)
{
    int64_t grid_first = c->grid_first + group * c->grid_group;
    for (int t = 0; t < depth; t++) {
        place term = place_at(c, &c->sums, first + t);
        offset[t] = term.linear;
        for (int p = 0; p < panels; p++) {
            double *to = d->terms[p][t];
            gather(c, grid_first, &d->panel[p], &d->column[p * PANEL], &term, to,
                   &d->padded[p * PANEL]);
            for (int i = 0; i < PANEL; i++)
                d->column_square[p * PANEL + i] += to[i] * to[i];
        }
    }
}

/* Gathers four rows of the matrix from element `first` on; rows past the last are zero. */
static void gather_quad(desk *d, const contraction *c, int64_t first, int row, int rows, int depth,
                        const int64_t *offset)
{
    const float *matrix = c->matrix;
    for (int i = 0; i < QUAD; i++) {
        double square = 0;
        for (int t = 0; t < depth; t++) {
            double v = row + i < rows ? matrix[first + i * c->matrix_row + offset[t]] : 0;
            d->quad[t][i] = v;
            square += v * v;
        }
        d->row_square[row + i] += square;
    }
}

/* ---- blocks ---- */

typedef struct block {
    int64_t group, row, column;
    int rows, columns;
} block;

static void sum_block(desk *d, const contraction *c, const block *b, contraction_multiply *multiply)
{
    int64_t offset[DEPTH], terms = space_count(&c->sums);
    int64_t matrix = c->matrix_first + b->group * c->matrix_group + b->row * c->matrix_row;
    int panels = (b->columns + PANEL - 1) / PANEL;
    set_columns(d, c, b->column, b->columns);
    memset(d->column_square, 0, sizeof d->column_square);
    memset(d->padded, 0, sizeof d->padded);
    memset(d->row_square, 0, sizeof d->row_square);
    memset(d->sum, 0, (size_t)((b->rows + QUAD - 1) / QUAD * QUAD) * sizeof *d->sum);
    for (int64_t first = 0; first < terms; first += DEPTH) {
        int depth = (int)least(DEPTH, terms - first);
        gather_terms(d, c, b->group, panels, first, depth, offset);
        for (int row = 0; row < b->rows; row += QUAD) {
            gather_quad(d, c, matrix + row * c->matrix_row, row, b->rows, depth, offset);
            for (int p = 0; p < panels; p++)
                multiply(depth, d->quad[0], d->terms[p][0], &d->sum[row][p * PANEL]);
        }
    }
}

static void hand_out(desk *d, const contraction *c, const block *b, contraction_visit *visit,
                     void *user)
{
    for (int i = 0; i < b->columns; i++)
        d->column_square[i] = sqrt(d->column_square[i]);
    for (int r = 0; r < b->rows; r++) {
        double row_norm = sqrt(d->row_square[r]) * (1 + 1e-12); /* stays an upper bound */
        int64_t base = c->dst_first + b->group * c->dst_group + (b->row + r) * c->dst_row;
        for (int i = 0; i < b->columns; i++) {
            d->index[i] = base + d->column[i].linear;
            d->magnitude[i] = row_norm * d->column_square[i];
            if (d->padded[i] && !isfinite(row_norm)) /* a zero was multiplied with a NaN */
                d->sum[r][i] =
                    contraction_one(c, b->group, b->row + r, b->column + i, &d->magnitude[i]);
        }
        contraction_part part = {b->columns, d->index, d->sum[r], d->magnitude};
        visit(user, omp_get_thread_num(), &part);
    }
}

void contraction_all(const contraction *c, contraction_scratch *scratch, contraction_visit *visit,
                     void *user)
{
    contraction_multiply *multiply = contraction_multiply_here();
    int64_t columns = space_count(&c->columns);
    int64_t column_blocks = (columns + BLOCK - 1) / BLOCK;
    /* Few blocks get fewer rows each, so that every thread has a block. */
    int64_t wanted = 4 * omp_get_max_threads() / (column_blocks * c->groups) + 1;
    int64_t rows = most(QUAD, least(ROWS, (c->rows / wanted + QUAD - 1) / QUAD * QUAD));
    int64_t row_blocks = (c->rows + rows - 1) / rows;
    double work = (double)(c->groups * c->rows) * (double)columns * (double)space_count(&c->sums);
#pragma omp parallel for schedule(dynamic) if (work > 1e5)
    for (int64_t i = 0; i < c->groups * column_blocks * row_blocks; i++) {
        desk *d = &scratch->desk[omp_get_thread_num()];
        block b = {.row = i % row_blocks * rows,
                   .column = i / row_blocks % column_blocks * BLOCK,
                   .group = i / row_blocks / column_blocks};
        b.rows = (int)least(rows, c->rows - b.row);
        b.columns = (int)least(BLOCK, columns - b.column);
        sum_block(d, c, &b, multiply);
        hand_out(d, c, &b, visit, user);
    }
}

/* ---- one element ---- */

typedef struct range {
    int64_t from, to;
} range;

/* Returns the indices i in [0, count) with 0 <= start + i * step < size. */
static range indices_inside(int64_t start, int64_t step, int64_t count, int64_t size)
{
    if (step < 0) /* count from the other end */
        return (range){start >= size ? (start - size) / -step + 1 : 0,
                       start < 0 ? 0 : least(count, start / -step + 1)};
    if (step > 0)
        return (range){start < 0 ? (-start + step - 1) / step : 0,
                       start >= size ? 0 : least(count, (size - 1 - start) / step + 1)};
    return (range){0, start >= 0 && start < size ? count : 0};
}

double contraction_one(const contraction *c, int64_t group, int64_t row, int64_t column,
                       double *magnitude)
{
    const contraction_space *s = &c->sums;
    place at = place_at(c, &c->columns, column);
    int64_t matrix = c->matrix_first + group * c->matrix_group + row * c->matrix_row;
    int64_t grid = c->grid_first + group * c->grid_group + at.grid;
    int64_t grid_step[3];
    range in[3];
    for (int a = 0; a < 3; a++) {
        in[a] = indices_inside(at.position[a] + s->first[a], s->step[a], s->count[a], c->box[a]);
        grid += s->first[a] * c->box_step[a];
        grid_step[a] = s->step[a] * c->box_step[a];
    }
    double sum = 0, absolute = 0;
    for (int64_t o = 0; o < s->outer; o++)
        for (int64_t i = in[0].from; i < in[0].to; i++)
            for (int64_t j = in[1].from; j < in[1].to; j++) {
                int64_t m = matrix + o * s->outer_linear + i * s->linear[0] + j * s->linear[1];
                int64_t g = grid + o * s->outer_grid + i * grid_step[0] + j * grid_step[1];
                for (int64_t k = in[2].from; k < in[2].to; k++) {
                    double v = host_get(c->type, c->matrix, m + k * s->linear[2]) *
                               host_get(c->type, c->grid, g + k * grid_step[2]);
                    sum += v;
                    absolute += fabs(v);
                }
            }
    *magnitude = absolute;
    return sum;
}

bool contraction_pads(const contraction *c, int64_t group, int64_t row, int64_t column)
{
    const place at = place_at(c, &c->columns, column);
    const int64_t matrix = c->matrix_first + group * c->matrix_group + row * c->matrix_row;
    const int64_t terms = space_count(&c->sums);
    for (int64_t i = 0; i < terms; i++) {
        const place term = place_at(c, &c->sums, i);
        if (!inside(c, at.position, at.position, &term) &&
            !isfinite(host_get(c->type, c->matrix, matrix + term.linear)))
            return true;
    }
    return false;
}
