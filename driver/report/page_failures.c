/* Trials that gave no time, by solver and reason. */
#include "html.h"
#include "page_part.h"

#include <string.h>

enum { MOST = 100 };

typedef struct failure {
    const report_trial *first;
    const report_layer *layer; /* of the first one */
    int count;
} failure;

static bool failed(const report_trial *t)
{
    return t->verdict != KILN_TRIAL_OK && t->verdict != KILN_TRIAL_SLOW;
}

static void add(failure *list, int *n, const report_layer *l, const report_trial *t)
{
    for (int i = 0; i < *n; i++)
        if (list[i].first->verdict == t->verdict && strcmp(list[i].first->solver, t->solver) == 0) {
            list[i].count++;
            return;
        }
    if (*n < MOST)
        list[(*n)++] = (failure){t, l, 1};
}

void page_failures(const page_part *p)
{
    failure list[MOST];
    int n = 0;
    char config[REPORT_CONFIG];
    for (size_t i = 0; i < p->count; i++)
        for (size_t j = 0; j < p->layer[i].trials; j++)
            if (failed(&p->layer[i].trial[j]))
                add(list, &n, &p->layer[i], &p->layer[i].trial[j]);
    if (n == 0)
        return;
    page_section(p->to, "failures", p->number, "Failures",
                 "Trials that gave no time, by solver. What crashed or took too long is not tried "
                 "again.");
    fputs("<div class=\"wide\"><table><thead><tr><th class=\"n\">trials</th><th>solver</th>"
          "<th>what</th><th>the first of them</th></tr></thead>\n<tbody>\n",
          p->to);
    for (int i = 0; i < n; i++) {
        const report_trial *t = list[i].first;
        fprintf(p->to, "<tr><td class=\"n\">%d</td>", list[i].count);
        html_fill(p->to, "<td>%</td><td>%</td><td class=\"name\">%: %: %</td></tr>\n", t->solver,
                  kiln_trial_verdict_text(t->verdict), list[i].layer->name,
                  page_config(t->config, t->solver, config),
                  t->why ? t->why : "no reason is known");
    }
    fputs("</tbody></table></div>\n", p->to);
    page_section_end(p->to);
}
