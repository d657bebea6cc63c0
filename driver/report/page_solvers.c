/* Which solver wins how many layers. */
#include "html.h"
#include "page_part.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 100 };

typedef struct solver_wins {
    const char *solver;
    size_t layers, gains;
    double ms, log_gain;
} solver_wins;

static void add(solver_wins *list, size_t *n, const report_layer *l)
{
    size_t at = 0;
    while (at < *n && strcmp(list[at].solver, l->best.solver) != 0)
        at++;
    if (at == MOST)
        return;
    if (at == *n)
        list[(*n)++] = (solver_wins){.solver = l->best.solver};
    list[at].layers++;
    list[at].ms += l->best.ms;
    list[at].gains += report_gain(l) > 0;
    list[at].log_gain += report_gain(l) > 0 ? log(report_gain(l)) : 0;
}

static int by_layers(const void *a, const void *b)
{
    const solver_wins *x = a, *y = b;
    return x->layers != y->layers ? (x->layers < y->layers) - (x->layers > y->layers)
                                  : strcmp(x->solver, y->solver);
}

static void put_row(const page_part *p, const solver_wins *w, bool gains)
{
    char share[HTML_NUMBER], gain[HTML_NUMBER];
    html_fill(p->to, "<tr><td>%</td>", w->solver);
    fprintf(p->to, "<td class=\"n\">%zu</td><td class=\"n\">%s %%</td>", w->layers,
            html_number(100 * w->ms / p->ms, share));
    if (gains)
        fprintf(p->to, "<td class=\"n\">%s</td>",
                w->gains > 0 ? html_number(exp(w->log_gain / (double)w->gains), gain) : "–");
    fputs("</tr>\n", p->to);
}

void page_solvers(const page_part *p)
{
    solver_wins list[MOST];
    size_t n = 0;
    bool gains = false;
    for (size_t i = 0; i < p->count; i++) {
        if (p->layer[i].best.ms > 0 && *p->layer[i].best.solver)
            add(list, &n, &p->layer[i]);
        gains = gains || report_gain(&p->layer[i]) > 0;
    }
    if (n == 0)
        return;
    qsort(list, n, sizeof *list, by_layers);
    page_section(p->to, "solvers", p->number, "Wins of each solver",
                 "In how many layers a solver has the best config, which share of the whole time "
                 "these layers take, and, where the guess was timed, too, their gain over it, a "
                 "geometric mean.");
    fprintf(p->to,
            "<div class=\"wide\"><table><thead><tr><th>solver</th><th class=\"n\">layers</th>"
            "<th class=\"n\">time</th>%s</tr></thead>\n<tbody>\n",
            gains ? "<th class=\"n\">gain</th>" : "");
    for (size_t i = 0; i < n; i++)
        put_row(p, &list[i], gains);
    fputs("</tbody></table></div>\n", p->to);
    page_section_end(p->to);
}
