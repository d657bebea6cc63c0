/* Heat maps: the best time for each pair of values of two parameters. */
#include "heat_grid.h"
#include "html.h"
#include "page_part.h"

#include <math.h>

enum { MAPS = 4, SLOWEST = 4, CELL_W = 62, CELL_H = 28, LEFT = 84, TOP = 34, VALUE = 32 };

/* Colours from slow (dark blue) to fast (yellow), whose lightness alone tells their order. */
static void colour(double share, int rgb[3])
{
    static const int stops[][3] = {{0, 34, 78},     {53, 69, 108},   {102, 105, 112},
                                   {148, 142, 119}, {200, 184, 102}, {254, 232, 56}};
    enum { LAST = sizeof stops / sizeof *stops - 1 };
    const double at = fmin(fmax(share, 0), 1) * LAST;
    const int i = at >= LAST ? LAST - 1 : (int)at;
    for (int c = 0; c < 3; c++)
        rgb[c] = (int)lrint(stops[i][c] + (at - i) * (stops[i + 1][c] - stops[i][c]));
}

static void draw_cell(const page_part *p, const heat_cell *c, double least, double most, double x,
                      double y)
{
    char number[HTML_NUMBER], config[REPORT_CONFIG];
    int rgb[3];
    if (c->tried == 0)
        return;
    if (c->ms <= 0) {
        fprintf(p->to,
                "<g><title>%d trial%s, none with a time</title><rect class=\"failed\" x=\"%.1f\" "
                "y=\"%.1f\" width=\"%d\" height=\"%d\"/><text class=\"failedtext\" x=\"%.1f\" "
                "y=\"%.1f\" text-anchor=\"middle\">failed</text></g>\n",
                c->tried, page_plural((size_t)c->tried), x, y, CELL_W - 2, CELL_H - 2,
                x + CELL_W / 2.0 - 1, y + CELL_H / 2.0 + 3);
        return;
    }
    const double share = most > least ? log(most / c->ms) / log(most / least) : 1;
    const bool light = share > 0.55;
    colour(share, rgb);
    html_fill(p->to, "<g><title>% ms: %", html_number(c->ms, number),
              page_config(c->best->config, c->best->solver, config));
    fprintf(p->to, " (the best of %d trial%s)</title>", c->tried, page_plural((size_t)c->tried));
    fprintf(p->to,
            "<rect fill=\"#%02x%02x%02x\" x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\"/>",
            rgb[0], rgb[1], rgb[2], x, y, CELL_W - 2, CELL_H - 2);
    fprintf(p->to,
            "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\" "
            "text-anchor=\"middle\">%s</text></g>\n",
            light ? "onlight" : "ondark", x + CELL_W / 2.0 - 1, y + CELL_H / 2.0 + 3, number);
}

/* A value that has no room for its digits gets an exponent. */
static const char *value_text(long value, char text[VALUE])
{
    const long most = 9999999;
    snprintf(text, VALUE, value > most || value < -most / 10 ? "%.2g" : "%.0f", (double)value);
    return text;
}

static void draw_values(const page_part *p, const heat_grid *g, int x, int y)
{
    const double bottom = TOP + (double)g->values[y] * CELL_H;
    char text[VALUE];
    for (int j = 0; j < g->values[x]; j++)
        fprintf(p->to,
                "<text class=\"tick\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>",
                LEFT + (j + 0.5) * CELL_W - 1, bottom + 15, value_text(g->value[x][j], text));
    for (int i = 0; i < g->values[y]; i++)
        fprintf(p->to, "<text class=\"tick\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
                LEFT - 7, TOP + (i + 0.5) * CELL_H + 3, value_text(g->value[y][i], text));
    fprintf(p->to, "<text class=\"title\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">",
            LEFT + g->values[x] * CELL_W / 2.0, bottom + 34);
    html_fill(p->to, "%</text>", g->name[x]);
    fprintf(p->to, "<text class=\"title\" x=\"4\" y=\"%d\">", TOP - 14);
    html_fill(p->to, "%</text>\n", g->name[y]);
}

/* Beside the cells: which colour is which time. */
static void draw_scale(const page_part *p, double least, double most, bool cut, double x,
                       double height)
{
    enum { STEPS = 24, BAR = 14 };
    char number[HTML_NUMBER];
    int rgb[3];
    for (int i = 0; i < STEPS; i++) {
        colour((i + 0.5) / STEPS, rgb);
        fprintf(p->to,
                "<rect fill=\"#%02x%02x%02x\" x=\"%.1f\" y=\"%.1f\" width=\"%d\" "
                "height=\"%.2f\"/>",
                rgb[0], rgb[1], rgb[2], x, TOP + height * (STEPS - 1 - i) / STEPS, BAR,
                height / STEPS + 0.3);
    }
    fprintf(p->to, "<text class=\"tick\" x=\"%.1f\" y=\"%d\">%s ms, fastest</text>", x + BAR + 5,
            TOP + 10, html_number(least, number));
    fprintf(p->to, "<text class=\"tick\" x=\"%.1f\" y=\"%.1f\">%s ms, %s</text>\n", x + BAR + 5,
            TOP + height - 2, html_number(most, number), cut ? "and slower" : "slowest");
}

static void draw(const page_part *p, const heat_grid *g, int x, int y)
{
    heat_cell cells[HEAT_VALUES][HEAT_VALUES];
    double least = 0, most = 0;
    const double width = (double)g->values[x] * CELL_W, height = (double)g->values[y] * CELL_H;
    heat_grid_fill(g, x, y, cells);
    for (int i = 0; i < g->values[y]; i++)
        for (int j = 0; j < g->values[x]; j++) {
            const double ms = cells[i][j].ms;
            if (ms <= 0)
                continue;
            least = least > 0 ? fmin(least, ms) : ms;
            most = fmax(most, ms);
        }
    /* One very slow cell would make all others look alike. */
    const bool cut = most > SLOWEST * least;
    most = cut ? SLOWEST * least : most;
    fputs("<figure class=\"heat\">\n", p->to);
    html_fill(p->to, "<figcaption>%: % by % and %</figcaption>\n", g->layer->name, g->solver,
              g->name[y], g->name[x]);
    page_picture(p->to, LEFT + width + 220, TOP + height + 46, "Heat map of two parameters");
    for (int i = 0; i < g->values[y]; i++)
        for (int j = 0; j < g->values[x]; j++)
            draw_cell(p, &cells[i][j], least, most, LEFT + j * CELL_W, TOP + i * CELL_H);
    draw_values(p, g, x, y);
    draw_scale(p, least, most, cut, LEFT + width + 16, fmax(height, 40));
    page_picture_end(p->to);
    fputs("</figure>\n", p->to);
}

static double trials_of(const page_part *p, const report_layer *l)
{
    (void)p;
    return (double)l->trials;
}

void page_heat(const page_part *p)
{
    enum { LOOKED_AT = 64 };
    const report_layer *list[LOOKED_AT];
    size_t n = page_largest(p, trials_of, LOOKED_AT, list);
    int drawn = 0, x = 0, y = 0;
    n = n < LOOKED_AT ? n : LOOKED_AT;
    for (size_t i = 0; i < n && drawn < MAPS; i++) {
        heat_grid g;
        if (!heat_grid_open(&g, list[i]) || !heat_grid_pick(&g, &x, &y))
            continue;
        if (drawn++ == 0)
            page_section(p->to, "heat", p->number, "Two parameters",
                         "The best time in ms for each pair of values of the two parameters that "
                         "matter most, whatever the others were, in the layers with most trials. "
                         "Empty: not tried.");
        draw(p, &g, x, y);
    }
    if (drawn > 0)
        page_section_end(p->to);
}
