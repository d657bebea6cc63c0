/* The table of layers, which a click on a column sorts and words filter, and which can be read
 * without. */
#include "html.h"
#include "report_before.h"
#include "roof_sum.h"

#include <string.h>

enum { CELL = REPORT_CONFIG };

/* ---- what columns show ---- */

static double place(const page_part *p, const report_layer *l)
{
    return (double)(l - p->layer) + 1;
}

static double best_ms(const page_part *p, const report_layer *l)
{
    (void)p;
    return l->best.ms;
}

static double share(const page_part *p, const report_layer *l)
{
    return p->ms > 0 ? 100 * l->best.ms / p->ms : 0;
}

static double spread(const page_part *p, const report_layer *l)
{
    (void)p;
    return 100 * l->best.iqr;
}

static double guess_ms(const page_part *p, const report_layer *l)
{
    (void)p;
    return l->best.guess_ms;
}

static double gain(const page_part *p, const report_layer *l)
{
    (void)p;
    return report_gain(l);
}

static double predicted_ms(const page_part *p, const report_layer *l)
{
    (void)p;
    return l->best.predicted_ms;
}

static double before_ms(const page_part *p, const report_layer *l)
{
    (void)p;
    return l->before ? l->before->best.ms : 0;
}

static double before_ratio(const page_part *p, const report_layer *l)
{
    (void)p;
    return report_before_ratio(l);
}

static double gflops(const page_part *p, const report_layer *l)
{
    (void)p;
    return report_gflops(l);
}

static double gbs(const page_part *p, const report_layer *l)
{
    (void)p;
    return report_gbs(l);
}

static double of_roof(const page_part *p, const report_layer *l)
{
    const double roof = report_roof(p->data, l);
    return roof > 0 ? 100 * report_gflops(l) / roof : 0;
}

static double trials(const page_part *p, const report_layer *l)
{
    (void)p;
    return (double)l->trials;
}

static double seconds(const page_part *p, const report_layer *l)
{
    (void)p;
    return l->seconds;
}

static void problem(const page_part *p, const report_layer *l, char text[CELL])
{
    (void)p;
    snprintf(text, CELL, "%.*s", CELL - 1, l->name);
}

static void turns(const page_part *p, const report_layer *l, char text[CELL])
{
    (void)p;
    if (l->best.turns > 0)
        snprintf(text, CELL, "won %d of %d turns", l->best.turns_won, l->best.turns);
}

static void limit(const page_part *p, const report_layer *l, char text[CELL])
{
    if (report_roof(p->data, l) > 0)
        snprintf(text, CELL, "%s", roof_is_memory(p, l) ? "memory" : "arithmetic");
}

static void config(const page_part *p, const report_layer *l, char text[CELL])
{
    (void)p;
    page_config(l->best.config, l->best.solver, text);
}

static void source(const page_part *p, const report_layer *l, char text[CELL])
{
    static const char *const sources[] = {
        [FROM_NOWHERE] = "", [FROM_RESULT] = "run", [FROM_ROW] = "row", [FROM_SEARCH] = "search"};
    (void)p;
    snprintf(text, CELL, "%s", sources[l->source]);
}

static void date(const page_part *p, const report_layer *l, char text[CELL])
{
    (void)p;
    snprintf(text, CELL, "%s", l->best.date);
}

static void driver(const page_part *p, const report_layer *l, char text[CELL])
{
    (void)p;
    snprintf(text, CELL, "%s", l->best.driver);
}

typedef struct column {
    const char *name, *says;
    page_value *number; /* NULL: it has texts */
    const char *unit;   /* of a number */
    void (*text)(const page_part *p, const report_layer *l, char text[CELL]);
    const char *class; /* of a text */
} column;

static const column columns[] = {
    {"#", "order of the names", place, "", NULL, NULL},
    {"problem", "the problem's name", NULL, NULL, problem, "name"},
    {"best ms", "the best time, a median", best_ms, "", NULL, NULL},
    {"share", "of the sum of all best times", share, " %", NULL, NULL},
    {"spread", "(upper - lower quartile) / median of its samples", spread, " %", NULL, NULL},
    {"guess ms", "the time of the config that runs without tuning rows, in the same measurement",
     guess_ms, "", NULL, NULL},
    {"gain", "guess / best", gain, "", NULL, NULL},
    {"turns", "in which guess and best were timed one after the other", NULL, NULL, turns, NULL},
    {"predicted ms", "what kiln predicts for the best config", predicted_ms, "", NULL, NULL},
    {"before ms", "the best time in the older files", before_ms, "", NULL, NULL},
    {"before / best", "above 1: it is faster now", before_ratio, "", NULL, NULL},
    {"GFLOP/s", "operations of plain sums in the best time", gflops, "", NULL, NULL},
    {"GB/s", "bytes of x, w and y in the best time", gbs, "", NULL, NULL},
    {"of roof", "speed, as a share of what the roofline allows", of_roof, " %", NULL, NULL},
    {"limit", "what the roofline says limits the layer", NULL, NULL, limit, NULL},
    {"config", "config and solver of the best", NULL, NULL, config, "name"},
    {"from", "where the best time is from", NULL, NULL, source, NULL},
    {"date", "when it was measured", NULL, NULL, date, NULL},
    {"driver", "of the device, as it was measured", NULL, NULL, driver, NULL},
    {"trials", "in the log", trials, "", NULL, NULL},
    {"s", "seconds that searches took", seconds, "", NULL, NULL},
};

enum { COLUMNS = sizeof columns / sizeof *columns };

/* ---- the table ---- */

/* Returns whether a listed layer has something for a column: without that it is left out. */
static bool is_shown(const page_part *p, const column *c)
{
    for (size_t i = 0; i < p->count; i++) {
        const report_layer *l = &p->layer[i];
        char text[CELL] = "";
        if (c->text)
            c->text(p, l, text);
        if (l->listed && (c->number ? c->number(p, l) > 0 : *text != '\0'))
            return true;
    }
    return false;
}

static void put_number(FILE *to, double value, const char *unit)
{
    char number[HTML_NUMBER];
    if (value > 0)
        fprintf(to, "<td class=\"n\" data-v=\"%.9g\">%s%s</td>", value, html_number(value, number),
                unit);
    else
        fputs("<td class=\"n\" data-v=\"-1\">–</td>", to);
}

static void put_cell(const page_part *p, const column *c, const report_layer *l)
{
    char text[CELL] = "";
    if (c->number) {
        put_number(p->to, c->number(p, l), c->unit);
        return;
    }
    c->text(p, l, text);
    html_fill(p->to, c->class ? "<td class=\"name\">%</td>" : "<td>%</td>", *text ? text : "–");
}

static void put_head(const page_part *p, const bool shown[COLUMNS])
{
    fprintf(p->to, "<p class=\"filter\" hidden=\"hidden\"><label>Filter: <input type=\"search\" "
                   "size=\"28\"/></label> <output></output></p>\n"
                   "<div class=\"wide\"><table class=\"sortable\"><thead><tr>");
    for (int i = 0; i < COLUMNS; i++)
        if (shown[i])
            html_fill(p->to,
                      columns[i].number
                          ? "<th class=\"n\" scope=\"col\" title=\"%\"><button>%</button></th>"
                          : "<th scope=\"col\" title=\"%\"><button>%</button></th>",
                      columns[i].says, columns[i].name);
    fputs("</tr></thead>\n<tbody>\n", p->to);
}

void page_table(const page_part *p)
{
    bool shown[COLUMNS];
    for (int i = 0; i < COLUMNS; i++)
        shown[i] = is_shown(p, &columns[i]);
    page_section(p->to, "layers", p->number, "Layers",
                 "A click on a column's name sorts by it, a second click the other way round. The "
                 "filter leaves layers whose row has all its words, and none that begins with !, "
                 "here and in the pictures.");
    put_head(p, shown);
    for (size_t i = 0; i < p->count; i++) {
        if (!p->layer[i].listed)
            continue;
        fprintf(p->to, "<tr id=\"d%d-l%zu\">", p->number, i + 1);
        for (int c = 0; c < COLUMNS; c++)
            if (shown[c])
                put_cell(p, &columns[c], &p->layer[i]);
        fputs("</tr>\n", p->to);
    }
    fputs("</tbody></table></div>\n", p->to);
    if (p->count > REPORT_ROWS)
        fprintf(p->to,
                "<p class=\"note\">The %d layers of %zu that take longest; --match picks "
                "others.</p>\n",
                REPORT_ROWS, p->count);
    page_section_end(p->to);
}
