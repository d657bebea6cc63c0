/* Finds layers in older files. */
#include "report_before.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_key(const void *a, const void *b)
{
    const report_layer *l = *(const report_layer *const *)a, *m = *(const report_layer *const *)b;
    const int order = l->device != m->device ? l->device - m->device : strcmp(l->key, m->key);
    return order ? order : strcmp(l->name, m->name);
}

/* Returns the index of a device among those of other files; -1: it is not there. */
static int device_in(const report_data *of, const report_device *device)
{
    for (int i = 0; i < of->devices; i++) {
        const report_device *d = &of->device[i];
        if (strcmp(d->name, device->name) == 0 &&
            (!*d->core || !*device->core || strcmp(d->core, device->core) == 0))
            return i;
    }
    return -1;
}

/* Returns the layer of the same name, else the first one of the same row, which rows have no other
 * name for. */
static const report_layer *find(const report_layer *const *sorted, size_t n, int device,
                                const report_layer *like)
{
    size_t low = 0, high = n;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        const report_layer *l = sorted[middle];
        if (l->device < device || (l->device == device && strcmp(l->key, like->key) < 0))
            low = middle + 1;
        else
            high = middle;
    }
    const report_layer *first = NULL;
    for (; low < n && sorted[low]->device == device && strcmp(sorted[low]->key, like->key) == 0;
         low++) {
        if (strcmp(sorted[low]->name, like->name) == 0)
            return sorted[low];
        first = first ? first : sorted[low];
    }
    return first;
}

static size_t find_all(report_data *d, const report_data *before, const report_layer *const *sorted)
{
    size_t found = 0;
    for (size_t i = 0; i < d->layers; i++) {
        report_layer *l = &d->layer[i];
        const int device = device_in(before, &d->device[l->device]);
        l->before = device < 0 ? NULL : find(sorted, before->layers, device, l);
        if (l->before && l->before->best.ms <= 0)
            l->before = NULL;
        found += l->before != NULL;
    }
    return found;
}

/* Counts older layers whose row no layer has now. */
static void count_gone(report_data *d, const report_data *before)
{
    const report_layer **sorted = malloc((d->layers + 1) * sizeof *sorted);
    for (size_t i = 0; i < d->layers && sorted; i++)
        sorted[i] = &d->layer[i];
    if (sorted)
        qsort(sorted, d->layers, sizeof *sorted, by_key);
    for (size_t i = 0; i < before->layers && sorted; i++) {
        const report_layer *l = &before->layer[i];
        const int device = device_in(d, &before->device[l->device]);
        if (device >= 0 && l->best.ms > 0 && !find(sorted, d->layers, device, l))
            d->device[device].gone++;
    }
    free(sorted);
}

size_t report_before_find(report_data *d, const report_data *before)
{
    const report_layer **sorted = malloc((before->layers + 1) * sizeof *sorted);
    size_t found = 0;
    for (size_t i = 0; i < before->layers && sorted; i++)
        sorted[i] = &before->layer[i];
    if (sorted) {
        qsort(sorted, before->layers, sizeof *sorted, by_key);
        found = find_all(d, before, sorted);
        count_gone(d, before);
    } else {
        d->no_memory = true;
    }
    free(sorted);
    return found;
}

double report_before_ratio(const report_layer *l)
{
    return l->before && l->best.ms > 0 ? l->before->best.ms / l->best.ms : 0;
}

bool report_before_differs(const report_layer *l)
{
    const double noise = 0.02, spread = fmax(l->best.iqr, l->before ? l->before->best.iqr : 0);
    const double ratio = report_before_ratio(l);
    return ratio > 0 && fabs(log(ratio)) > log1p(fmax(noise, spread));
}
