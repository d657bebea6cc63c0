/* The table of layers, which a click on a column sorts, and which can be read without. */
#include "html.h"
#include "roof_sum.h"

static const struct {
    const char *name, *says;
    bool number;
} columns[] = {
    {"#", "order of the names", true},
    {"problem", "the problem's name", false},
    {"best ms", "the best time, a median", true},
    {"spread", "(upper - lower quartile) / median of its samples", true},
    {"guess ms", "the time of the config that runs without tuning rows", true},
    {"gain", "guess / best", true},
    {"GFLOP/s", "operations of plain sums in the best time", true},
    {"GB/s", "bytes of x, w and y in the best time", true},
    {"of roof", "speed, as a share of what the roofline allows", true},
    {"limit", "what the roofline says limits the layer", false},
    {"config", "config and solver of the best", false},
    {"from", "where the best time is from", false},
    {"trials", "in the log", true},
    {"s", "seconds that searches took", true},
};

static void put_number(FILE *to, double value, const char *unit)
{
    char number[HTML_NUMBER];
    if (value > 0)
        fprintf(to, "<td class=\"n\" data-v=\"%.9g\">%s%s</td>", value, html_number(value, number),
                unit);
    else
        fputs("<td class=\"n\" data-v=\"-1\">–</td>", to);
}

static const char *limit_of(const page_part *p, const report_layer *l)
{
    if (report_roof(p->data, l) <= 0)
        return "–";
    return roof_is_memory(p, l) ? "memory" : "arithmetic";
}

static void put_row(const page_part *p, size_t i)
{
    static const char *const sources[] = {
        [FROM_NOWHERE] = "–", [FROM_RESULT] = "run", [FROM_ROW] = "row", [FROM_SEARCH] = "search"};
    const report_layer *l = &p->layer[i];
    const double roof = report_roof(p->data, l);
    char config[REPORT_CONFIG];
    fprintf(p->to, "<tr id=\"d%d-l%zu\"><td class=\"n\" data-v=\"%zu\">%zu</td>", p->number, i + 1,
            i + 1, i + 1);
    html_fill(p->to, "<td class=\"name\">%</td>", l->name);
    put_number(p->to, l->best.ms, "");
    put_number(p->to, l->best.iqr * 100, " %");
    put_number(p->to, l->best.guess_ms, "");
    put_number(p->to, report_gain(l), "");
    put_number(p->to, report_gflops(l), "");
    put_number(p->to, report_gbs(l), "");
    put_number(p->to, roof > 0 ? 100 * report_gflops(l) / roof : 0, " %");
    html_fill(p->to, "<td>%</td><td class=\"name\">%</td><td>%</td>", limit_of(p, l),
              page_config(l->best.config, l->best.solver, config), sources[l->source]);
    put_number(p->to, (double)l->trials, "");
    put_number(p->to, l->seconds, "");
    fputs("</tr>\n", p->to);
}

void page_table(const page_part *p)
{
    page_section(p->to, "layers", p->number, "Layers",
                 "All layers. A click on a column's name sorts by it, a second click the other way "
                 "round.");
    fputs("<div class=\"wide\"><table class=\"sortable\"><thead><tr>", p->to);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        html_fill(p->to,
                  columns[i].number
                      ? "<th class=\"n\" scope=\"col\" title=\"%\"><button>%</button></th>"
                      : "<th scope=\"col\" title=\"%\"><button>%</button></th>",
                  columns[i].says, columns[i].name);
    fputs("</tr></thead>\n<tbody>\n", p->to);
    for (size_t i = 0; i < p->count; i++)
        if (p->layer[i].listed)
            put_row(p, i);
    fputs("</tbody></table></div>\n", p->to);
    if (p->count > REPORT_ROWS)
        fprintf(p->to,
                "<p class=\"note\">The %d layers of %zu that take longest; --match picks "
                "others.</p>\n",
                REPORT_ROWS, p->count);
    page_section_end(p->to);
}
