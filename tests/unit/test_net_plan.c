/* Plans of nets without a device: the search against every assignment, ranges of channels against
 * offsets, bytes of random graphs that hold what their readers expect, and nodes that do not fit.
 */
#include "generator/base/types.h"
#include "runtime/net/arena.h"
#include "runtime/net/plan.h"
#include "runtime/net/range.h"
#include "runtime/net/search.h"
#include "support/suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int below(int n)
{
    return (int)(random() % n);
}

/* ---- the search ---- */

enum { STEPS = 7, SOURCES = 3 };

static int from[STEPS][SOURCES];
static kiln_layout_times ms[STEPS][SOURCES];

static void make_steps(kiln_net_step *steps)
{
    for (int i = 0; i < STEPS; i++) {
        steps[i] = (kiln_net_step){.sources = i ? below(SOURCES + 1) : 0,
                                   .from = from[i],
                                   .ms = (const kiln_layout_times *)ms[i],
                                   .layouts = 1 + below(3)};
        for (int j = 0; j < steps[i].sources; j++) {
            from[i][j] = below(i);
            for (int a = 0; a < KILN_NET_LAYOUTS; a++)
                for (int b = 0; b < KILN_NET_LAYOUTS; b++)
                    ms[i][j][a][b] = below(20) ? 1 + below(100) : INFINITY;
        }
        for (int b = 0; b < KILN_NET_LAYOUTS; b++)
            steps[i].own[b] = below(40);
    }
}

static double time_of(const kiln_net_step *steps, const int *layout)
{
    double all = 0;
    for (int i = 0; i < STEPS; i++) {
        all += steps[i].own[layout[i]];
        for (int j = 0; j < steps[i].sources; j++)
            all += steps[i].ms[j][layout[steps[i].from[j]]][layout[i]];
    }
    return all;
}

static double best_of_all(const kiln_net_step *steps)
{
    int layout[STEPS] = {0}, i = 0;
    double best = INFINITY;
    while (i < STEPS) {
        best = fmin(best, time_of(steps, layout));
        for (i = 0; i < STEPS && ++layout[i] == steps[i].layouts; i++)
            layout[i] = 0;
    }
    return best;
}

START_TEST(search_is_exact)
{
    kiln_net_step steps[STEPS];
    int found = 0;
    srandom(1);
    for (int round = 0; round < 300; round++) {
        int layout[STEPS];
        double all = 0;
        make_steps(steps);
        const double best = best_of_all(steps);
        const kiln_net_found how = kiln_net_search(steps, STEPS, layout, &all);
        ck_assert_int_eq(how, isfinite(best) ? KILN_NET_EXACT : KILN_NET_NONE);
        if (how != KILN_NET_EXACT)
            continue;
        found++;
        ck_assert_double_eq_tol(all, best, 1e-9);
        ck_assert_double_eq_tol(time_of(steps, layout), best, 1e-9);
    }
    ck_assert_int_gt(found, 100);
}
END_TEST

/* Twelve tensors of six layouts in use at once are more than the search keeps; sixty-five more than
 * it can tell apart. */
START_TEST(search_says_when_it_gives_up)
{
    enum { MANY = 2 * (KILN_NET_LIVE + 1) };
    static kiln_net_step steps[MANY];
    static int both[MANY][2];
    static kiln_layout_times times[MANY][2];
    int layout[MANY];
    double all;
    for (int live = 12; live <= KILN_NET_LIVE + 1; live += KILN_NET_LIVE - 11) {
        for (int i = 0; i < 2 * live; i++) {
            both[i][0] = i - 1;
            both[i][1] = i - live;
            steps[i] = (kiln_net_step){.sources = i < live ? i > 0 : 2,
                                       .from = both[i],
                                       .ms = (const kiln_layout_times *)times[i],
                                       .layouts = 6};
            for (int a = 0; a < 36; a++)
                times[i][0][a / 6][a % 6] = a == 35 ? 1 : 2;
        }
        const kiln_net_found how = kiln_net_search(steps, 2 * live, layout, &all);
        ck_assert_int_eq(how, live == 12 ? KILN_NET_GOOD : KILN_NET_TOO_MANY);
    }
}
END_TEST

/* ---- ranges ---- */

static kiln_form form_of(int64_t batch, int64_t channels)
{
    return (kiln_form){
        .type = KILN_F32, .spatial_rank = 2, .batch = batch, .channels = channels, .size = {3, 5}};
}

/* Whether all cells of the part, padding included, are the cells of the whole from *begin on, by
 * asking for each. */
static bool is_piece(const kiln_form *whole, const kiln_form *part, int64_t first,
                     const char *layout)
{
    kiln_storage w, p;
    int64_t at[KILN_MAX_DIMS];
    bool fine =
        kiln_form_storage(whole, layout, &w, NULL) && kiln_form_storage(part, layout, &p, NULL);
    const int64_t begin = kiln_storage_offset(&w, (int64_t[]){0, first, 0, 0});
    for (int64_t i = 0; i < w.cells && fine; i++) {
        const bool in = i >= begin && i < begin + p.cells;
        const bool element = kiln_storage_coordinate(&w, i, at);
        const bool own = element && at[1] >= first && at[1] < first + part->channels;
        if (element && own != in)
            return false;
        at[1] -= first;
        if (own && kiln_storage_offset(&p, at) != i - begin)
            return false;
        if (in && !element && kiln_storage_coordinate(&p, i - begin, at))
            return false;
    }
    return fine && begin + p.cells <= w.cells;
}

START_TEST(ranges_are_tensors)
{
    static const char *const layouts[] = {"NCHW",   "NHWC", "NCHW16c",  "NCHW4c",
                                          "NHCW4c", "CHWN", "NHWC;C%8", "NCHW;W%64B"};
    int pieces = 0;
    srandom(3);
    for (int round = 0; round < 2000; round++) {
        const char *layout = layouts[below(8)];
        const kiln_form whole = form_of(1 + below(2), 1 + below(64));
        const int64_t first = below(4) ? below((int)whole.channels) / 4 * 4 : below(2);
        if (first >= whole.channels)
            continue;
        kiln_form part = form_of(whole.batch, 1 + below((int)(whole.channels - first)));
        if (below(2))
            part.channels = whole.channels - first;
        int64_t offset = -1;
        const bool told = kiln_range_is_tensor(&whole, &part, first, layout, &offset);
        const bool is = is_piece(&whole, &part, first, layout);
        /* A range whose end is followed by padding of the whole alone may be refused. */
        ck_assert_msg(is || !told, "%s: %lld of %lld from %lld", layout, (long long)part.channels,
                      (long long)whole.channels, (long long)first);
        pieces += told;
        if (strcmp(layout, "NCHW") == 0 && whole.batch == 1)
            ck_assert(told && offset == first * 15 * 4);
    }
    ck_assert_int_gt(pieces, 200);
}
END_TEST

/* ---- places ---- */

START_TEST(places_never_meet)
{
    enum { BLOCKS = 24, ALIGN = 128 };
    srandom(2);
    for (int round = 0; round < 200; round++) {
        kiln_net_block b[BLOCKS];
        int64_t sum = 0;
        for (int i = 0; i < BLOCKS; i++) {
            b[i] = (kiln_net_block){.bytes = below(5) ? 1 + below(5000) : 0, .first = below(20)};
            b[i].last = b[i].first + below(6);
            sum += b[i].bytes + ALIGN;
        }
        const int64_t size = kiln_net_arena_place(b, BLOCKS, ALIGN);
        ck_assert_int_le(size, sum);
        for (int i = 0; i < BLOCKS; i++) {
            ck_assert_int_eq(b[i].offset % ALIGN, 0);
            ck_assert_int_le(b[i].offset + b[i].bytes, size);
            for (int j = 0; j < i; j++)
                ck_assert(b[i].last < b[j].first || b[j].last < b[i].first ||
                          b[i].offset + b[i].bytes <= b[j].offset ||
                          b[j].offset + b[j].bytes <= b[i].offset);
        }
    }
}
END_TEST

enum { UNIT = 4, MOST_NODES = 24, MOST_CELLS = 1 << 19 };

/* A random graph over small images; returns its nodes. */
static kiln_graph *random_graph(int *count)
{
    kiln_graph *g = kiln_graph_new();
    const int64_t batch = below(3) ? 1 : 2;
    kiln_graph_add(g, &(kiln_node){.kind = KILN_NODE_INPUT,
                                   .form = {.batch = batch, .channels = 32, .size = {4, 8}}});
    const int n = 4 + below(MOST_NODES - 5);
    for (int i = 1; i < n; i++) {
        kiln_node node = {.from = {1 + (below(3) ? i - 1 : below(i))}, .kept = i == n - 1};
        kiln_form x, other;
        kiln_graph_form(g, node.from[0], &x);
        const int second = 1 + below(i);
        kiln_graph_form(g, second, &other);
        const bool alike = other.channels == x.channels;
        switch (below(6)) {
        case 0:
            node.kind = KILN_NODE_CONCAT;
            node.from[1] = second;
            break;
        case 1:
            node.kind = KILN_NODE_SPLIT;
            node.channels = x.channels > 16 ? 16 : x.channels;
            node.first = x.channels > 32 ? 16 : 0;
            break;
        case 2:
            node.kind = KILN_NODE_POOL;
            node.pool.with = alike ? KILN_WITH_SUM : KILN_WITH_NOTHING;
            node.from[1] = alike ? second : 0;
            break;
        default:
            node.problem = (kiln_problem){.out_channels = x.channels, .filter = {1, 1}};
            node.problem.epilogue.beta = alike ? 1 : 0;
            node.from[1] = alike ? second : 0;
            if (!alike)
                node.problem.out_channels = 16 + 16 * below(2) + below(2);
        }
        if (x.channels > 200)
            node = (kiln_node){
                .kind = KILN_NODE_SPLIT, .from = {1}, .channels = 16, .kept = node.kept};
        ck_assert_msg(kiln_graph_add(g, &node) == i + 1, "%s", kiln_last_error());
    }
    *count = n;
    return g;
}

/* Which node wrote each cell of a tensor, in the order of its cells. */
typedef struct tensor {
    int64_t cells;
    int *writer;
} tensor;

/* The arena by cells: the node that wrote each one last. A caller's buffer is a tensor of its own.
 */
static int arena[MOST_CELLS];

static tensor tensor_of(const kiln_net_plan *plan, const kiln_graph *g, const tensor *t, int i)
{
    const kiln_node_plan *n = &plan->node[i];
    tensor own = {.cells = kiln_form_bytes(&n->form, n->form.layout) / UNIT};
    own.writer = malloc((size_t)own.cells * sizeof(int));
    for (int64_t c = 0; c < own.cells; c++)
        own.writer[c] = i;
    for (int j = 0; j < g->node[i].sources; j++) {
        const kiln_source_plan *s = &n->source[j];
        if (s->way != KILN_WAY_DIRECT)
            continue;
        if (g->node[i].node.kind == KILN_NODE_CONCAT)
            memcpy(own.writer + s->range / UNIT, t[s->node].writer,
                   (size_t)t[s->node].cells * sizeof(int));
        if (g->node[i].node.kind == KILN_NODE_SPLIT)
            memcpy(own.writer, t[s->node].writer + s->range / UNIT,
                   (size_t)own.cells * sizeof(int));
    }
    return own;
}

static void expect(const kiln_place *p, const tensor *t, int reader)
{
    for (int64_t c = 0; p->base == KILN_IN_ARENA && c < t->cells; c++)
        ck_assert_msg(arena[p->offset / UNIT + c] == t->writer[c],
                      "node %d reads what node %d wrote instead of %d", reader + 1,
                      arena[p->offset / UNIT + c] + 1, t->writer[c] + 1);
}

/* Runs a plan by names: each node reads what its sources wrote, and writes its own number. */
static void simulate(const kiln_graph *g, const kiln_net_plan *plan)
{
    tensor t[MOST_NODES];
    ck_assert_int_lt(plan->arena_size / UNIT, MOST_CELLS);
    for (int64_t c = 0; c < plan->arena_size / UNIT; c++)
        arena[c] = -1;
    for (int i = 0; i < plan->count; i++) {
        const kiln_node_plan *n = &plan->node[i];
        for (int j = 0; j < g->node[i].sources; j++) {
            const kiln_source_plan *s = &n->source[j];
            expect(&plan->node[s->node].place, &t[s->node], i);
            const int64_t cells =
                s->way == KILN_WAY_REFORMAT
                    ? kiln_form_bytes(&plan->node[s->node].form, s->reformat.to) / UNIT
                    : 0;
            for (int64_t c = 0; c < cells; c++)
                arena[s->place.offset / UNIT + c] = MOST_NODES + j;
        }
        for (int j = 0; j < g->node[i].sources; j++) /* nor does one reformat spoil another */
            if (n->source[j].way == KILN_WAY_REFORMAT)
                ck_assert_int_eq(arena[n->source[j].place.offset / UNIT], MOST_NODES + j);
            else
                expect(&plan->node[n->source[j].node].place, &t[n->source[j].node], i);
        t[i] = tensor_of(plan, g, t, i);
        for (int64_t c = 0; n->place.base == KILN_IN_ARENA && c < t[i].cells; c++)
            if (t[i].writer[c] == i)
                arena[n->place.offset / UNIT + c] = i;
    }
    for (int i = 0; i < plan->count; i++)
        free(t[i].writer);
}

START_TEST(places_hold_what_readers_expect)
{
    enum { ROUNDS = 60 };
    kiln *k;
    int64_t places = 0, sum = 0, in_place = 0;
    ck_assert_int_eq(kiln_open(&k, NULL, NULL, NULL), KILN_OK);
    srandom(4);
    for (int round = 0; round < ROUNDS; round++) {
        int count;
        kiln_net_plan plan;
        kiln_graph *g = random_graph(&count);
        ck_assert_msg(kiln_net_plan_make(k, g, &plan) == KILN_OK, "%s", kiln_last_error());
        simulate(g, &plan);
        places += plan.arena_size;
        for (int i = 0; i < count; i++) {
            sum += kiln_form_bytes(&plan.node[i].form, plan.node[i].form.layout);
            for (int j = 0; g->node[i].node.kind == KILN_NODE_CONCAT && j < g->node[i].sources; j++)
                in_place += plan.node[i].source[j].way == KILN_WAY_DIRECT;
        }
        kiln_net_plan_free(&plan);
        kiln_graph_release(g);
    }
    ck_assert_int_lt(places, sum / 2);
    ck_assert_int_gt(in_place, 10);
    kiln_close(k);
}
END_TEST

/* ---- nodes that do not fit ---- */

START_TEST(misfits_name_their_node)
{
    static const struct {
        kiln_node node;
        const char *says;
    } cases[] = {
        {{.from = {2}, .problem = {.out_channels = 4, .filter = {1, 1}}}, "reads node 2"},
        {{.from = {0}, .problem = {.out_channels = 4, .filter = {1, 1}}}, "reads 0 tensors"},
        {{.from = {1}, .problem = {.in_channels = 4, .out_channels = 4, .filter = {1, 1}}},
         "in_channels is 4, but its source has 8"},
        {{.from = {1}, .problem = {.out_channels = 4, .filter = {9, 9}}}, "filter"},
        {{.from = {1, 1}, .problem = {.out_channels = 4, .filter = {1, 1}}},
         "2 tensors instead of 1"},
        {{.from = {1, 1},
          .problem = {.out_channels = 4, .filter = {1, 1}, .epilogue = {.beta = 1}}},
         "residual, node 1"},
        {{.kind = KILN_NODE_POOL, .from = {1}, .pool = {.window = {2, 2}}}, "need a kind"},
        {{.kind = KILN_NODE_SPLIT, .from = {1}, .first = 4, .channels = 5}, "are not among the 8"},
        {{.kind = KILN_NODE_CONCAT}, "reads 0 tensors instead of 1"},
        {{.kind = KILN_NODE_FOREIGN, .from = {1}}, "has `enqueue`"},
        {{.kind = KILN_NODE_INPUT, .form = {.batch = 1, .channels = 1}}, "from 1 to 2^40"},
        {{.kind = (kiln_node_kind)17, .from = {1}}, "its kind is 17"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kiln_graph *g = kiln_graph_new();
        kiln_node node = cases[i].node;
        kiln_net *net;
        node.name = "odd";
        kiln_graph_add(g, &(kiln_node){.kind = KILN_NODE_INPUT,
                                       .form = {.batch = 1, .channels = 8, .size = {5, 5}}});
        ck_assert_int_eq(kiln_graph_add(g, &node), 0);
        ck_assert_msg(strstr(kiln_last_error(), "node 2 (odd)") &&
                          strstr(kiln_last_error(), cases[i].says),
                      "%s", kiln_last_error());
        kiln *k;
        ck_assert_int_eq(kiln_open(&k, NULL, NULL, NULL), KILN_OK);
        ck_assert_int_eq(kiln_net_create(k, g, NULL, &net), KILN_INVALID);
        ck_assert_msg(strstr(kiln_last_error(), cases[i].says), "%s", kiln_last_error());
        kiln_close(k);
        kiln_graph_release(g);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("net_plan");
    TCase *tcase = tcase_create("net_plan");
    tcase_add_test(tcase, search_is_exact);
    tcase_add_test(tcase, search_says_when_it_gives_up);
    tcase_add_test(tcase, places_never_meet);
    tcase_add_test(tcase, ranges_are_tensors);
    tcase_add_test(tcase, places_hold_what_readers_expect);
    tcase_add_test(tcase, misfits_name_their_node);
    suite_add_tcase(suite, tcase);
    return support_run_apart(suite);
}
