/* Places of a network's tensors: which lie in another's bytes, and which share bytes of the arena
 * because they are not in use at once. */
#include "arena.h"
#include "plan.h"

#include <stdlib.h>

/* A tensor's place relative to the node whose block it shares: a concatenation, the source of a
 * split, a residual that is written over. */
typedef struct home {
    int node; /* its own index: it has a block */
    int64_t offset;
} home;

typedef struct homes {
    const kiln_graph *g;
    const kiln_net_plan *plan;
    home *at;
    int *last;     /* the last step that reads the bytes of a home */
    int *latest;   /* the tensor that was written into a home last */
    bool *divided; /* the home holds several tensors at once */
} homes;

static bool is_kind(const homes *h, int i, kiln_node_kind kind)
{
    return h->g->node[i].node.kind == kind;
}

static void join(homes *h, int i, home at)
{
    h->at[i] = at;
    h->divided[at.node] = true;
}

/* From the last concatenation to the first, so that a concatenation in another one knows its place.
 */
static void join_concatenations(homes *h)
{
    for (int i = h->g->count - 1; i >= 0; i--) {
        const kiln_node_plan *n = &h->plan->node[i];
        for (int j = 0; is_kind(h, i, KILN_NODE_CONCAT) && j < h->g->node[i].sources; j++)
            if (n->source[j].way == KILN_WAY_DIRECT)
                join(h, n->source[j].node,
                     (home){h->at[i].node, h->at[i].offset + n->source[j].range});
    }
}

static void join_splits(homes *h)
{
    for (int i = 0; i < h->g->count; i++) {
        const kiln_source_plan *s = h->plan->node[i].source;
        if (is_kind(h, i, KILN_NODE_SPLIT) && s->way == KILN_WAY_DIRECT)
            join(h, i, (home){h->at[s->node].node, h->at[s->node].offset + s->range});
    }
}

static bool is_read(const homes *h, int node)
{
    for (int i = node + 1; i < h->g->count; i++)
        for (int j = 0; j < h->g->node[i].sources; j++)
            if (h->plan->node[i].source[j].node == node)
                return true;
    return false;
}

static void find_last(homes *h)
{
    for (int i = 0; i < h->g->count; i++)
        h->last[i] = i;
    for (int i = 0; i < h->g->count; i++) {
        int *own = &h->last[h->at[i].node];
        *own = i > *own ? i : *own;
        if (!is_read(h, i)) /* a result, whose bytes stay */
            *own = h->g->count;
        for (int j = 0; j < h->g->node[i].sources; j++) {
            int *last = &h->last[h->at[h->plan->node[i].source[j].node].node];
            *last = i > *last ? i : *last;
        }
    }
}

/* Whether node `i` may write over its second source: it is the last one to read those bytes, which
 * are of that tensor alone. */
static bool may_overwrite(const homes *h, int i)
{
    const kiln_graph_node *n = &h->g->node[i];
    if (n->sources != 2 || n->node.kept || h->at[i].node != i || h->divided[i] ||
        !(is_kind(h, i, KILN_NODE_CONV) ||
          (is_kind(h, i, KILN_NODE_POOL) && !n->pool.other_is_one)))
        return false;
    const kiln_source_plan *x = &h->plan->node[i].source[0], *other = &h->plan->node[i].source[1];
    const int from = h->at[other->node].node;
    return other->way == KILN_WAY_DIRECT && h->g->node[other->node].form.type == n->form.type &&
           from != h->at[x->node].node && h->last[from] == i && h->latest[from] == other->node &&
           !h->divided[from] && !h->g->node[from].node.kept && !is_kind(h, from, KILN_NODE_INPUT);
}

static void join_residuals(homes *h)
{
    for (int i = 0; i < h->g->count; i++) {
        if (!may_overwrite(h, i))
            continue;
        const int from = h->at[h->plan->node[i].source[1].node].node;
        h->at[i] = (home){from, 0};
        h->latest[from] = i;
        h->last[from] = h->last[i];
    }
}

/* Blocks: one for each node, then one for each source that is reformatted. */
static void list_blocks(const homes *h, kiln_net_block *blocks)
{
    int at = h->g->count;
    for (int i = 0; i < h->g->count; i++)
        blocks[i] = (kiln_net_block){.first = i, .last = i};
    for (int i = 0; i < h->g->count; i++) {
        const kiln_node_plan *n = &h->plan->node[i];
        const int root = h->at[i].node;
        kiln_net_block *b = &blocks[root];
        const bool callers = h->g->node[root].node.kept || is_kind(h, root, KILN_NODE_INPUT);
        if (root == i && !callers)
            b->bytes = kiln_form_bytes(&n->form, n->form.layout);
        b->first = i < b->first ? i : b->first;
        b->last = h->last[root] > b->last ? h->last[root] : b->last;
        for (int j = 0; j < h->g->node[i].sources; j++) {
            const kiln_source_plan *s = &n->source[j];
            const bool moved = s->way == KILN_WAY_REFORMAT;
            const int64_t bytes =
                moved ? kiln_form_bytes(&h->plan->node[s->node].form, s->reformat.to) : 0;
            blocks[at++] = (kiln_net_block){.bytes = bytes, .first = i, .last = i};
        }
    }
}

/* Counts inputs and outputs in the order of their nodes. */
static void set_places(const homes *h, kiln_net_plan *plan, const kiln_net_block *blocks)
{
    for (int i = 0; i < h->g->count; i++) {
        kiln_place *p = &plan->node[i].place;
        if (is_kind(h, i, KILN_NODE_INPUT))
            *p = (kiln_place){KILN_IN_INPUT, plan->inputs++, 0};
        else if (h->g->node[i].node.kept)
            *p = (kiln_place){KILN_IN_OUTPUT, plan->outputs++, 0};
        else
            *p = (kiln_place){KILN_IN_ARENA, 0, blocks[i].offset};
    }
    for (int i = 0; i < h->g->count; i++) {
        const home root = h->at[i];
        if (root.node != i) {
            plan->node[i].place = plan->node[root.node].place;
            plan->node[i].place.offset += root.offset;
        }
    }
    int at = h->g->count;
    for (int i = 0; i < h->g->count; i++)
        for (int j = 0; j < h->g->node[i].sources; j++, at++) {
            kiln_source_plan *s = &plan->node[i].source[j];
            s->place = s->way == KILN_WAY_REFORMAT
                           ? (kiln_place){KILN_IN_ARENA, 0, blocks[at].offset}
                           : plan->node[s->node].place;
        }
}

static int count_blocks(const kiln_graph *g)
{
    int count = g->count;
    for (int i = 0; i < g->count; i++)
        count += g->node[i].sources;
    return count;
}

kiln_status kiln_net_plan_place(const kiln *k, const kiln_graph *g, kiln_net_plan *plan)
{
    const int64_t align = k->facts.base_align > 0 ? k->facts.base_align : 1;
    const int count = count_blocks(g);
    kiln_net_block *blocks = calloc((size_t)count, sizeof *blocks);
    homes h = {.g = g,
               .plan = plan,
               .at = calloc((size_t)g->count, sizeof *h.at),
               .last = calloc((size_t)g->count, sizeof *h.last),
               .latest = calloc((size_t)g->count, sizeof *h.latest),
               .divided = calloc((size_t)g->count, sizeof *h.divided)};
    const bool fine = blocks && h.at && h.last && h.latest && h.divided;
    if (fine) {
        for (int i = 0; i < g->count; i++) {
            h.at[i] = (home){i, 0};
            h.latest[i] = i;
        }
        join_concatenations(&h);
        join_splits(&h);
        find_last(&h);
        join_residuals(&h);
        list_blocks(&h, blocks);
        plan->arena_size = kiln_net_arena_place(blocks, count, align);
        set_places(&h, plan, blocks);
    }
    free(blocks);
    free(h.at);
    free(h.last);
    free(h.latest);
    free(h.divided);
    return fine ? KILN_OK : kiln_fail(KILN_NO_MEMORY, "out of memory for the places of a net");
}
