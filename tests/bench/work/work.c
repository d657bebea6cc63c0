/* Reads lists of layers and makes the tensors of one. */
#include "work.h"

#include "driver/problem_list/problem_list.h"
#include "driver/reference/host.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEED = 17 };

/* ---- lists ---- */

static bool is_known(const layers *l, const kiln_problem *p)
{
    for (int i = 0; i < l->count; i++)
        if (memcmp(&l->at[i].problem, p, sizeof *p) == 0)
            return true;
    return false;
}

static bool add(layers *l, const list_entry *entry, int64_t batch)
{
    kiln_problem p = entry->problem;
    if (batch > 0)
        p.batch = batch;
    p.direction = KILN_FORWARD;
    if (kiln_problem_check(&p, NULL) || is_known(l, &p))
        return true;
    if (l->count == l->room) {
        int room = l->room ? 2 * l->room : 64;
        layer *more = realloc(l->at, (size_t)room * sizeof *more);
        if (!more)
            return false;
        l->at = more;
        l->room = room;
    }
    layer *to = &l->at[l->count++];
    to->problem = p;
    snprintf(to->name, sizeof to->name, "%.60s n%lld", *entry->name ? entry->name : "-",
             (long long)p.batch);
    return true;
}

static FILE *open_list(const char *file)
{
    char path[4096];
    FILE *f = fopen(file, "r");
    if (!f && !strchr(file, '/')) {
        snprintf(path, sizeof path, "%s/%s.txt", BENCH_SHAPES, file);
        f = fopen(path, "r");
    }
    if (!f)
        fprintf(stderr, "%s: %s; give a file of layers or the name of a list in %s\n", file,
                strerror(errno), BENCH_SHAPES);
    return f;
}

bool layers_read(layers *l, const char *file, const int64_t *batch, int batches)
{
    FILE *f = open_list(file);
    if (!f)
        return false;
    char line[4096];
    list_reader reader = {0};
    list_entry entry;
    bool fine = true;
    for (int number = 1; fine && fgets(line, sizeof line, f); number++) {
        list_kind kind = list_read(&reader, line, &entry);
        if (kind == LIST_NOTHING)
            continue;
        fine = kind == LIST_SHAPE || kind == LIST_PROBLEM;
        if (!fine)
            fprintf(stderr, "%s:%d: %s\n", file, number,
                    kind == LIST_BAD ? entry.why : "this is no layer of a list of sizes");
        for (int i = 0; fine && i < batches; i++)
            fine = add(l, &entry, batch[i]);
    }
    fclose(f);
    return fine;
}

bool layers_read_all(layers *l, char *const *lists, char *const *usual, const int64_t *batch,
                     int batches)
{
    for (char *const *at = *lists ? lists : usual; *at; at++)
        if (!layers_read(l, *at, batch, batches))
            return false;
    return true;
}

static bool is_same_layer(const layer *l, const layer *other)
{
    kiln_problem p = other->problem;
    p.batch = l->problem.batch;
    return memcmp(&p, &l->problem, sizeof p) == 0;
}

void layers_thin(layers *l, int every)
{
    int kept = 0, number = 0;
    for (int i = 0; i < l->count; i++) {
        number += i > 0 && !is_same_layer(&l->at[i - 1], &l->at[i]);
        if (number % every == 0)
            l->at[kept++] = l->at[i];
    }
    l->count = kept;
}

void layers_free(layers *l)
{
    free(l->at);
    *l = (layers){0};
}

/* ---- work ---- */

/* Returns the share of the taps along an axis that meet the image, not its padding. */
static double share_inside(const kiln_problem *p, int axis)
{
    int64_t out = kiln_problem_output(p, axis), inside = 0;
    for (int64_t o = 0; o < out; o++)
        for (int64_t f = 0; f < p->filter[axis]; f++) {
            int64_t i = o * p->stride[axis] + f * p->dilation[axis] - p->pad_begin[axis];
            inside += i >= 0 && i < p->input[axis];
        }
    return (double)inside / ((double)out * (double)p->filter[axis]);
}

kiln_type work_type(const work *w, char tensor)
{
    const kiln_problem *p = &w->problem;
    return tensor == 'x' ? p->x_type : tensor == 'w' ? p->w_type : p->y_type;
}

static void count_costs(work *w)
{
    const kiln_problem *p = &w->problem;
    w->flops = reference_flops(p);
    for (const char *t = "xwy"; *t; t++)
        w->bytes += (double)kiln_problem_count(p, *t) * (double)kiln_type_size(work_type(w, *t));
    w->useful_flops = w->flops;
    for (int i = 0; i < p->spatial_rank; i++)
        w->useful_flops *= share_inside(p, i);
}

static void *make_tensor(const work *w, char name, int tensor)
{
    const kiln_problem *p = &w->problem;
    const kiln_type type = work_type(w, name);
    int64_t count = kiln_problem_count(p, name);
    size_t bytes = (size_t)count * kiln_type_size(type);
    void *data = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    if (data && name == w->to)
        host_poison(type, data, count);
    else if (data)
        host_fill_tensor(HOST_FILL_UNIFORM, SEED, tensor, type, reference_terms(p), data, count);
    return data;
}

static bool make(work *w, const layer *l, kiln_direction direction, kiln_type type, kiln_type to,
                 float alpha)
{
    kiln_type *types[] = {&w->problem.x_type, &w->problem.w_type, &w->problem.y_type};
    *w = (work){
        .layer = l,
        .problem = l->problem,
    };
    w->problem.direction = direction;
    w->to = reference_destination(&w->problem);
    for (int i = 0; i < 3; i++)
        *types[i] = "xwy"[i] == w->to ? to : type;
    if (alpha != 0)
        w->problem.epilogue.alpha = alpha;
    if (l->problem.transposed || kiln_problem_check(&w->problem, NULL))
        return false;
    count_costs(w);
    w->x = make_tensor(w, 'x', HOST_X);
    w->w = make_tensor(w, 'w', HOST_W);
    w->y = make_tensor(w, 'y', HOST_Y);
    if (w->x && w->w && w->y)
        return true;
    work_free(w);
    return false;
}

bool work_make(work *w, const layer *l, kiln_direction direction, kiln_type type)
{
    return make(w, l, direction, type, KILN_TYPE_DEFAULT, 0);
}

bool work_make_bytes(work *w, const layer *l)
{
    /* Products of two uniform bytes are 73 * 73 in the root mean square, a third of the range. */
    const double terms = (double)reference_terms(&l->problem);
    return make(w, l, KILN_FORWARD, KILN_I8, KILN_I8, (float)(42 / (73 * 73 * sqrt(terms))));
}

void work_free(work *w)
{
    free(w->x);
    free(w->w);
    free(w->y);
    w->x = w->w = w->y = NULL;
}

reference_tensors work_sources(const work *w)
{
    return (reference_tensors){.x = w->x, .w = w->w, .y = w->y};
}

bool work_is_depthwise(const kiln_problem *p)
{
    return p->groups > 1 && p->groups == p->in_channels;
}

bool work_is_winograd(const kiln_problem *p)
{
    bool fits = p->spatial_rank == 2 && p->groups == 1;
    for (int i = 0; i < p->spatial_rank; i++)
        fits = fits && p->filter[i] == 3 && p->stride[i] == 1 && p->dilation[i] == 1;
    return fits;
}
