/* Decides the layouts of a chain, and where its tensors lie. */
#include "generator/plan/shape.h"
#include "runtime/choose/choose.h"
#include "runtime/kiln/probes.h"

#include "chain_arena.h"
#include "chain_check.h"
#include "chain_layouts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LINKS = 4096 };

/* ---- layouts ---- */

/* Fills the search's table: for each layout in which x was written, the best one to read it in. */
static void make_step(const kiln *k, const kiln_link *links, int i, kiln_link_costs *costs,
                      kiln_chain_step *step)
{
    kiln_link_costs *c = &costs[i];
    const int x = links[i].x_back ? i - links[i].x_back : -1;
    const int residual = links[i].residual_back ? i - links[i].residual_back : -1;
    const kiln_layout_set *written = x < 0 ? NULL : &costs[x].y;
    *step = (kiln_chain_step){.x = x, .residual = residual, .layouts = c->y.count};
    for (int a = 0; a < (written ? written->count : 1); a++)
        for (int b = 0; b < c->y.count; b++) {
            step->ms[a][b] = INFINITY;
            for (int own = 0; own < c->x.count; own++) {
                double ms = c->ms[own][b];
                if (written)
                    ms += kiln_chain_reformat_ms(k, &links[x].problem, written->name[a],
                                                 c->x.name[own]);
                if (ms < step->ms[a][b]) {
                    step->ms[a][b] = ms;
                    c->best_x[a][b] = own;
                }
            }
        }
    for (int a = 0; residual >= 0 && a < costs[residual].y.count; a++)
        for (int b = 0; b < c->y.count; b++)
            step->residual_ms[a][b] = kiln_chain_reformat_ms(
                k, &links[residual].problem, costs[residual].y.name[a], c->y.name[b]);
}

/* Says which reformat leads from a link's y to another layout. */
static int set_reformat(const kiln_problem *from, const char *to, kiln_reformat *r)
{
    kiln_storage storage;
    *r = (kiln_reformat){.from_type = from->y_type, .to_type = from->y_type};
    if (strcmp(from->y_layout, to) == 0 || !kiln_problem_storage(from, 'y', &storage, NULL))
        return 0;
    memcpy(r->dims, storage.layout.dims, sizeof r->dims);
    memcpy(r->size, storage.dim, sizeof r->size);
    strcpy(r->from, from->y_layout);
    strcpy(r->to, to);
    return 1;
}

/* Sets the layouts that the search found, those of weights and bias as the solver has them. */
static kiln_status settle(kiln *k, kiln_link *links, int i, const kiln_link_costs *costs,
                          const kiln_chain_step *step, const int *layout, int *reformats)
{
    kiln_link *l = &links[i];
    const int a = step->x < 0 ? 0 : layout[step->x], b = layout[i], x = costs[i].best_x[a][b];
    kiln_pick pick;
    memcpy(l->problem.x_layout, costs[i].x.name[x], KILN_LAYOUT_TEXT);
    memcpy(l->problem.y_layout, costs[i].y.name[b], KILN_LAYOUT_TEXT);
    const kiln_shape shape = kiln_shape_of(&l->problem);
    kiln_status status = kiln_choose(k, &l->problem, &shape, NULL, &pick);
    if (status)
        return status;
    kiln_shape_give_layouts(&pick.shape, &l->problem);
    l->predicted_ms = step->ms[a][b];
    l->x_reformat = l->residual_reformat = (kiln_reformat){0};
    if (step->x >= 0)
        *reformats += set_reformat(&links[step->x].problem, l->problem.x_layout, &l->x_reformat);
    if (step->residual < 0)
        return KILN_OK;
    l->predicted_ms += step->residual_ms[layout[step->residual]][b];
    *reformats +=
        set_reformat(&links[step->residual].problem, l->problem.y_layout, &l->residual_reformat);
    return KILN_OK;
}

static kiln_status search(const kiln_chain_step *steps, int count, int *layout,
                          kiln_chain_info *info)
{
    double weighed;
    switch (kiln_chain_search(steps, count, layout, &weighed)) {
    case KILN_CHAIN_EXACT:
        info->exact = 1;
        return KILN_OK;
    case KILN_CHAIN_GOOD:
        return KILN_OK;
    case KILN_CHAIN_NONE:
        return kiln_fail(KILN_UNSUPPORTED, "no layouts suit all links of the chain");
    case KILN_CHAIN_TOO_MANY:
        return kiln_fail(KILN_UNSUPPORTED,
                         "more than %d tensors of the chain are in use at once; cut it into parts",
                         KILN_CHAIN_LIVE);
    default:
        return kiln_fail(KILN_NO_MEMORY, "out of memory for the layouts of a chain");
    }
}

/* ---- places ---- */

/* Three tensors of a link may need a place: its y, and what reformats make of x and residual. */
enum { PLACES = 3 };

/* Returns the last link that reads the y of link `from`; -1: none does. */
static int last_reader(const kiln_link *links, int count, int from)
{
    for (int i = count - 1; i > from; i--)
        if (i - links[i].x_back == from || i - links[i].residual_back == from)
            return i;
    return -1;
}

static int64_t bytes_of(const kiln_reformat *reformat)
{
    kiln_reformat r = *reformat;
    kiln_storage from, to;
    return *r.to && kiln_reformat_check(&r, &from, &to, NULL) == KILN_OK
               ? to.cells * (int64_t)kiln_type_size(r.to_type)
               : 0;
}

/* A link that is the last to read its residual writes y in its place. */
static bool is_in_place(const kiln_link *links, int count, int i)
{
    const kiln_link *l = &links[i];
    return l->residual_back && !*l->residual_reformat.to && l->x_back != l->residual_back &&
           last_reader(links, count, i - l->residual_back) == i;
}

static void list_blocks(const kiln_link *links, int count, kiln_arena_block *blocks, int *home)
{
    for (int i = 0; i < count; i++) {
        const kiln_link *l = &links[i];
        const int last = last_reader(links, count, i);
        kiln_arena_block *own = &blocks[PLACES * i];
        own[0] = (kiln_arena_block){kiln_problem_bytes(&l->problem, 'y', NULL), i,
                                    last < 0 ? count : last, 0};
        own[1] = (kiln_arena_block){bytes_of(&l->x_reformat), i, i, 0};
        own[2] = (kiln_arena_block){bytes_of(&l->residual_reformat), i, i, 0};
        home[i] = PLACES * i;
        if (!is_in_place(links, count, i))
            continue;
        home[i] = home[i - l->residual_back];
        if (own[0].last > blocks[home[i]].last)
            blocks[home[i]].last = own[0].last;
        own[0].bytes = 0;
    }
}

static kiln_status place(const kiln *k, kiln_link *links, int count, int64_t *size)
{
    const int64_t align = k->facts.base_align > 0 ? k->facts.base_align : 1;
    kiln_arena_block *blocks = calloc((size_t)count * PLACES, sizeof *blocks);
    int *home = calloc((size_t)count, sizeof *home);
    if (blocks && home) {
        list_blocks(links, count, blocks, home);
        *size = kiln_arena_place(blocks, PLACES * count, align);
    }
    for (int i = 0; blocks && home && i < count; i++) {
        kiln_link *l = &links[i];
        const int x = *l->x_reformat.to ? PLACES * i + 1 : home[i - l->x_back];
        const int residual = *l->residual_reformat.to ? PLACES * i + 2 : home[i - l->residual_back];
        l->y_offset = blocks[home[i]].offset;
        l->x_offset = l->x_back ? blocks[x].offset : -1;
        l->residual_offset = l->residual_back ? blocks[residual].offset : -1;
    }
    const bool fine = blocks && home;
    free(blocks);
    free(home);
    return fine ? KILN_OK : kiln_fail(KILN_NO_MEMORY, "out of memory for the places of a chain");
}

/* ---- the whole ---- */

/* What the search works on. */
typedef struct tables {
    kiln_link_costs *costs;
    kiln_chain_step *steps;
    int *layout;
} tables;

static kiln_status decide(kiln *k, kiln_link *links, int count, const tables *t,
                          kiln_chain_info *info)
{
    kiln_status status = KILN_OK;
    for (int i = 0; i < count; i++) {
        const kiln_shape shape = kiln_shape_of(&links[i].problem);
        kiln_probe_for(k, &shape);
    }
    kiln_chain_candidates(k, links, count, t->costs);
    for (int i = 0; i < count && !status; i++) {
        status = kiln_chain_costs(k, links, i, t->costs);
        if (!status)
            make_step(k, links, i, t->costs, &t->steps[i]);
    }
    if (!status)
        status = search(t->steps, count, t->layout, info);
    for (int i = 0; i < count && !status; i++) {
        status = settle(k, links, i, t->costs, &t->steps[i], t->layout, &info->reformats);
        info->predicted_ms += links[i].predicted_ms;
    }
    return status ? status : place(k, links, count, &info->arena_size);
}

static kiln_status check_and_decide(kiln *k, kiln_link *links, int count, kiln_chain_info *info)
{
    const tables t = {.costs = calloc((size_t)count, sizeof *t.costs),
                      .steps = calloc((size_t)count, sizeof *t.steps),
                      .layout = calloc((size_t)count, sizeof *t.layout)};
    kiln_status status = t.costs && t.steps && t.layout
                             ? kiln_chain_check(links, count)
                             : kiln_fail(KILN_NO_MEMORY, "out of memory for a chain");
    if (!status)
        status = decide(k, links, count, &t, info);
    free(t.costs);
    free(t.steps);
    free(t.layout);
    return status;
}

kiln_status kiln_chain(kiln *k, kiln_link *links, size_t count, kiln_chain_info *info)
{
    kiln_chain_info own = {0};
    if (info)
        *info = own;
    if (!k || (count > 0 && !links))
        return kiln_fail(KILN_INVALID, "kiln_chain: k and links must not be NULL");
    if (kiln_process_check(k))
        return KILN_INVALID;
    if (count > MOST_LINKS)
        return kiln_fail(KILN_INVALID, "kiln_chain: %zu links; %d are the most", count, MOST_LINKS);
    if (count == 0)
        return KILN_OK;
    kiln_link *copy = malloc(count * sizeof *copy);
    if (!copy)
        return kiln_fail(KILN_NO_MEMORY, "out of memory for a chain");
    memcpy(copy, links, count * sizeof *copy);
    kiln_status status = check_and_decide(k, copy, (int)count, &own);
    if (!status) {
        memcpy(links, copy, count * sizeof *copy);
        if (info)
            *info = own;
    }
    free(copy);
    return status;
}
