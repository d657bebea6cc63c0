/* Prints rows and classes, as text and as JSON, one object per line. */
#include "results.h"

#include "driver/base/json_csv.h"

#include <math.h>
#include <string.h>

static void json_member(FILE *f, const char *name, const char *text)
{
    fprintf(f, ",\"%s\":", name);
    json_string(f, text ? text : "");
}

void results_start(results *r, const machine *m, FILE *json)
{
    *r = (results){.machine = m, .json = json};
    printf("%-16s %-34s %3s  %9s %7s %5s %9s %7s %6s  kiln | the best peer\n", "class", "layer",
           "N", "kiln ms", "GFLOP/s", "limit", "peer ms", "GFLOP/s", "ratio");
    if (!json)
        return;
    fprintf(json, "{\"kind\":\"run\",\"schema\":1");
    json_member(json, "date", m->date);
    json_member(json, "cpu", m->cpu);
    json_member(json, "kiln", kiln_version());
    json_member(json, "opencl", m->opencl);
    json_member(json, "onednn", contender_onednn_version());
    json_member(json, "clblast", contender_clblast_version());
    fprintf(json, ",\"threads\":%d,\"peak_gflops\":%.1f,\"bandwidth_gbs\":%.2f,", m->threads,
            m->peak_gflops, m->bandwidth_gbs);
    fprintf(json, "\"hand_off_ns\":%.1f}\n", m->hand_off_ns);
}

/* Returns the shortest time that the machine's limits allow over the time taken. It is above 1
 * where tensors stay in the caches, or where an algorithm multiplies less than the definition does.
 */
static double share_of_limit(const machine *m, const work *w, double ms)
{
    if (m->peak_gflops <= 0 || m->bandwidth_gbs <= 0 || ms <= 0)
        return 0;
    double least = fmax(w->useful_flops / m->peak_gflops, w->bytes / m->bandwidth_gbs) / 1e9 * 1e3;
    return least / ms;
}

static double gflops(const work *w, double ms)
{
    return ms > 0 ? w->flops / ms / 1e6 : 0;
}

static void print_text(const results *r, const row *row)
{
    const work *w = row->work;
    const result *k = &row->result[0], *p = &row->result[row->rival];
    printf("%-16s %-34.34s %3lld  %9.4f %7.1f %5.2f", row->class_name, w->layer->name,
           (long long)w->problem.batch, k->times.ms, gflops(w, k->times.ms),
           share_of_limit(r->machine, w, k->times.ms));
    if (row->rival)
        printf(" %9.4f %7.1f %6.3f%c %s | %s", p->times.ms, gflops(w, p->times.ms), p->ratio,
               turns_doubtful(&k->times, &p->times) ? '~' : ' ', k->detail, p->detail);
    else
        printf(" %9s %7s %6s  %s | none", "", "", "", k->detail);
    for (int i = 1; i < row->count; i++)
        if (strcmp(row->result[i].name, p->name) != 0)
            printf(" | %s %.4f ms (%s), ratio %.2f", row->result[i].name, row->result[i].times.ms,
                   row->result[i].detail, row->result[i].ratio);
    printf("\n");
    fflush(stdout);
}

static void json_result(FILE *f, const work *w, const result *c)
{
    fprintf(f, "{\"name\":");
    json_string(f, c->name);
    json_member(f, "detail", c->detail);
    fprintf(f, ",\"ms\":%.6f,\"gflops\":%.2f,\"ratio\":%.4f,\"rounds\":[", c->times.ms,
            gflops(w, c->times.ms), c->ratio);
    for (int i = 0; i < c->times.rounds; i++)
        fprintf(f, "%s%.6f", i ? "," : "", c->times.round[i]);
    fprintf(f, "],\"disturbed\":%d}", c->times.disturbed);
}

static void json_problem(FILE *f, const char *kind, const char *class_name, const work *w)
{
    char key[KILN_KEY_TEXT];
    kiln_problem_text(&w->problem, key, sizeof key);
    fprintf(f, "{\"kind\":\"%s\"", kind);
    json_member(f, "class", class_name);
    json_member(f, "layer", w->layer->name);
    json_member(f, "problem", key);
}

void results_row(results *r, const row *row)
{
    for (int i = 0; i < row->count; i++) {
        r->rounds += row->result[i].times.rounds;
        r->disturbed += row->result[i].times.disturbed;
        r->slow += row->result[i].times.slow;
    }
    print_text(r, row);
    FILE *f = r->json;
    if (!f)
        return;
    const work *w = row->work;
    json_problem(f, "row", row->class_name, w);
    fprintf(f, ",\"flops\":%.0f,\"useful_flops\":%.0f,\"bytes\":%.0f,\"limit_share\":%.4f",
            w->flops, w->useful_flops, w->bytes,
            share_of_limit(r->machine, w, row->result[0].times.ms));
    if (row->rival) {
        const result *rival = &row->result[row->rival];
        json_member(f, "rival", rival->detail);
        fprintf(f, ",\"ratio\":%.4f,\"doubtful\":%s", rival->ratio,
                turns_doubtful(&row->result[0].times, &rival->times) ? "true" : "false");
    }
    fprintf(f, ",\"contenders\":[");
    for (int i = 0; i < row->count; i++) {
        fprintf(f, "%s", i ? "," : "");
        json_result(f, w, &row->result[i]);
    }
    fprintf(f, "]}\n");
    fflush(f);
}

void results_skip(const results *r, const char *class_name, const work *w, const char *why)
{
    printf("%-16s %-34.34s %3lld  not measured: %s\n", class_name, w->layer->name,
           (long long)w->problem.batch, why);
    if (!r->json)
        return;
    json_problem(r->json, "skip", class_name, w);
    json_member(r->json, "why", why);
    fprintf(r->json, "}\n");
}

void results_end(const results *r, int begun, int of, bool interrupted)
{
    printf("%d of %d turns were disturbed, %d by a machine below its full speed; rows without a "
           "quiet one are marked ~ and do not count\n",
           r->disturbed, r->rounds, r->slow);
    if (interrupted)
        printf("interrupted in layer %d of %d; the rows above count\n", begun, of);
    if (!r->json)
        return;
    fprintf(r->json, "{\"kind\":\"compared\",\"layers\":%d,\"of\":%d,\"interrupted\":%s,", begun,
            of, interrupted ? "true" : "false");
    fprintf(r->json, "\"turns\":%d,\"disturbed\":%d,\"slow\":%d}\n", r->rounds, r->disturbed,
            r->slow);
}

void results_class(const results *r, const char *class_name, const char *of, const stats_mean *mean,
                   int doubtful)
{
    printf("class %s%s layers %d", class_name, of, mean->count);
    if (mean->count)
        printf(" geomean %.3f worst %.3f (%s)", stats_geomean(mean), mean->worst, mean->worst_name);
    if (doubtful)
        printf("; %d more were disturbed", doubtful);
    printf("\n");
    if (!r->json)
        return;
    fprintf(r->json, "{\"kind\":\"class\"");
    json_member(r->json, "class", class_name);
    json_member(r->json, "of", *of ? of + 1 : "kiln");
    fprintf(r->json, ",\"layers\":%d,\"doubtful\":%d,\"geomean\":%.4f,\"worst\":%.4f", mean->count,
            doubtful, stats_geomean(mean), mean->worst);
    json_member(r->json, "worst_layer", mean->worst_name);
    fprintf(r->json, "}\n");
}
