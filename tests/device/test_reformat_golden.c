/* Golden storage of every layout, on a device: into the layout and back. Each op is compiled for,
 * so the first size of a layout goes both ways, and the others take turns. */
#include "support/suite.h"
#include "golden.h"
#include "reformats.h"

/* ---- golden storage ---- */

enum { MOST_CELLS = 16384 };

typedef struct golden_case {
    char layout[64], dims[16], fill[16];
    int64_t dim[KILN_MAX_DIMS], cell[MOST_CELLS];
    int64_t ncells, elements;
} golden_case;

static void read_case(const char *line, golden_case *c)
{
    ck_assert(golden_text(line, "layout", c->layout, sizeof c->layout));
    ck_assert(golden_text(line, "dims_order", c->dims, sizeof c->dims));
    ck_assert(golden_text(line, "fill", c->fill, sizeof c->fill));
    int ndims = golden_numbers(line, "dims", c->dim, KILN_MAX_DIMS);
    c->ncells = golden_numbers(line, "storage", c->cell, MOST_CELLS);
    c->elements = 1;
    for (int d = 0; d < ndims; d++)
        c->elements *= c->dim[d];
}

/* The ops of one layout and its dims, and where golden data put the elements: order[cell] is 1 +
 * the element's place in logical order, 0 for padding. */
typedef struct golden_ops {
    golden_case order;
    fixture to, back; /* without an op: not this way */
} golden_ops;

enum { TO = 1, BACK = 2 };

static void make_ops(golden_ops *ops, kiln_type type, int ways)
{
    const golden_case *c = &ops->order;
    kiln_reformat r = {.from_type = type};
    snprintf(r.dims, sizeof r.dims, "%.6s", c->dims);
    snprintf(r.from, sizeof r.from, "%.6s", c->dims);
    snprintf(r.to, sizeof r.to, "%.39s", c->layout);
    memcpy(r.size, c->dim, sizeof r.size);
    ops->to = ways & TO ? make(&r) : (fixture){0};
    memcpy(r.to, r.from, sizeof r.to);
    snprintf(r.from, sizeof r.from, "%.39s", c->layout);
    ops->back = ways & BACK ? make(&r) : (fixture){0};
}

/* Any values: here the fills of the golden lines. */
static void check_ways(const golden_ops *ops, const int64_t *cells)
{
    static float plain[MOST_CELLS], storage[MOST_CELLS], out[MOST_CELLS];
    const golden_case *c = &ops->order;
    const kiln_type type = ops->to.op ? ops->to.r.from_type : ops->back.r.from_type;
    for (int64_t i = 0; i < c->ncells; i++) {
        host_set(type, storage, i, (double)cells[i]);
        if (c->cell[i])
            host_set(type, plain, c->cell[i] - 1, (double)cells[i]);
    }
    if (ops->to.op) {
        ck_assert_int_eq(ops->to.to.cells, c->ncells);
        run(&ops->to, plain, out);
        check_same(&ops->to, out, storage);
    }
    if (ops->back.op) {
        ck_assert_int_eq(ops->back.to.cells, c->elements);
        run(&ops->back, storage, out);
        check_same(&ops->back, out, plain);
    }
}

START_TEST(golden_storage)
{
    static golden_ops ops;
    static golden_case c;
    char *line = NULL;
    size_t room = 0;
    int n = 0, orders = 0;
    FILE *f = golden_open("layout.jsonl");
    ck_assert_ptr_nonnull(f);
    while (getline(&line, &room, f) > 0) {
        read_case(line, &c);
        if (strcmp(c.fill, "index1") == 0) {
            kiln_op_release(ops.to.op);
            kiln_op_release(ops.back.op);
            const bool first = strcmp(c.layout, ops.order.layout) != 0;
            const int ways = first ? TO | BACK : orders / 2 % 2 ? BACK : TO;
            ops.order = c;
            make_ops(&ops, orders++ % 2 ? KILN_F16 : KILN_F32, ways);
        }
        /* A line with random values follows the one that says their order. */
        ck_assert_str_eq(c.layout, ops.order.layout);
        ck_assert_mem_eq(c.dim, ops.order.dim, sizeof c.dim);
        check_ways(&ops, c.cell);
        n++;
    }
    ck_assert_int_ge(n, 300);
    kiln_op_release(ops.to.op);
    kiln_op_release(ops.back.op);
    free(line);
    fclose(f);
}
END_TEST

int main(void)
{
    /* Hundreds of programs that nobody needs on disk. */
    setenv("KILN_CACHE", "off", 1);
    TCase *cases = tcase_create("reformat golden");
    tcase_add_test(cases, golden_storage);
    Suite *suite = suite_create("reformat golden");
    suite_add_tcase(suite, cases);
    return support_run_suite(suite);
}
