/* Deals problems out to the tasks of an array job, and orders them. */
#include "tune_list.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* What a search takes beside the runs of the operation, in runs: compiling, tensors, reference. */
static const double fixed_ms = 20;

static double work_of(const tune_item *item)
{
    return fixed_ms + item->cost;
}

static int by_work(const void *a, const void *b)
{
    const tune_item *x = *(const tune_item *const *)a, *y = *(const tune_item *const *)b;
    const double p = work_of(x), q = work_of(y);
    return p != q ? (p < q) - (p > q) : strcmp(x->name, y->name);
}

/* Gives the longest work first to the shard that has the least. Returns false: out of memory. More
 * shards than problems leave the last ones empty. */
static bool deal_by_cost(tune_list *list, int64_t most, int64_t *shard_of)
{
    const int64_t shards = most < (int64_t)list->count ? most : (int64_t)list->count;
    tune_item **sorted = malloc(list->count * sizeof *sorted);
    double *load = calloc((size_t)shards, sizeof *load);
    const bool ok = sorted && load;
    for (size_t i = 0; ok && i < list->count; i++)
        sorted[i] = &list->item[i];
    if (ok)
        qsort(sorted, list->count, sizeof *sorted, by_work);
    for (size_t i = 0; ok && i < list->count; i++) {
        int64_t least = 0;
        for (int64_t s = 1; s < shards; s++)
            if (load[s] < load[least])
                least = s;
        load[least] += work_of(sorted[i]);
        shard_of[sorted[i] - list->item] = least;
    }
    free(sorted);
    free(load);
    return ok;
}

/* Writes what the names of the problems have in common in all shards, whatever their order. */
static void digest(tune_list *list)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < list->count; i++)
        sum += XXH3_64bits(list->item[i].name, strlen(list->item[i].name));
    snprintf(list->digest, sizeof list->digest, "%016llx", (unsigned long long)sum);
    list->whole = list->count;
}

void tune_list_shard(tune_list *list, const tune_options *o)
{
    int64_t *shard_of = malloc(list->count * sizeof *shard_of);
    size_t kept = 0;
    digest(list);
    if (o->shard_count <= 1 || !shard_of) {
        list->no_memory = list->no_memory || !shard_of;
        free(shard_of);
        return;
    }
    if (o->shard_by == SHARD_BY_KEY)
        for (size_t i = 0; i < list->count; i++)
            shard_of[i] = (int64_t)(XXH3_64bits(list->item[i].name, strlen(list->item[i].name)) %
                                    (uint64_t)o->shard_count);
    else
        list->no_memory = list->no_memory || !deal_by_cost(list, o->shard_count, shard_of);
    for (size_t i = 0; i < list->count && !list->no_memory; i++) {
        if (shard_of[i] == o->shard_index)
            list->item[kept++] = list->item[i];
        else
            list->unwanted++;
    }
    list->count = list->no_memory ? list->count : kept;
    free(shard_of);
}

static int by_weight(const void *a, const void *b)
{
    const tune_item *x = a, *y = b;
    const double p = x->cost * (double)x->count, q = y->cost * (double)y->count;
    return p != q ? (p < q) - (p > q) : strcmp(x->name, y->name);
}

void tune_list_by_weight(tune_list *list)
{
    qsort(list->item, list->count, sizeof *list->item, by_weight);
}
