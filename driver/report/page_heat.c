/* Heat maps: the best time for each pair of values of two parameters. */
#include "html.h"
#include "page_part.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PARAMS = 16,
    ENOUGH = 6,
    VALUES = 16,
    MAPS = 4,
    SLOWEST = 4,
    CELL_W = 62,
    CELL_H = 28,
    LEFT = 84,
    TOP = 34
};

/* The trials of one solver with one layer, by their parameters. */
typedef struct grid {
    const report_layer *layer;
    const char *solver;
    char name[PARAMS][32];
    int params;
    long value[PARAMS][VALUES]; /* the different values, in order */
    int values[PARAMS];         /* VALUES + 1: too many for a picture */
} grid;

typedef struct cell {
    double ms; /* the best; 0: none */
    int tried;
    const report_trial *best;
} cell;

/* Reads the numbers of "8,1,2". Returns how many there are. */
static int read_values(const char *config, long value[PARAMS])
{
    int n = 0;
    while (*config && n < PARAMS) {
        char *end;
        value[n] = strtol(config, &end, 10);
        if (end == config)
            return 0;
        n++;
        config = end + (*end == ',');
        if (*end && *end != ',')
            return 0;
    }
    return *config ? 0 : n;
}

static int read_names(const char *params, char name[PARAMS][32])
{
    int n = 0;
    while (*params && n < PARAMS) {
        const size_t length = strcspn(params, ",");
        snprintf(name[n++], 32, "%.*s", (int)(length < 31 ? length : 31), params);
        params += length + (params[length] == ',');
    }
    return n;
}

static int by_value(const void *a, const void *b)
{
    const long x = *(const long *)a, y = *(const long *)b;
    return (x > y) - (x < y);
}

static void note(grid *g, int param, long value)
{
    for (int i = 0; i < g->values[param] && i < VALUES; i++)
        if (g->value[param][i] == value)
            return;
    if (g->values[param] < VALUES)
        g->value[param][g->values[param]] = value;
    if (g->values[param] <= VALUES)
        g->values[param]++;
}

static bool belongs(const grid *g, const report_trial *t, long value[PARAMS])
{
    return strcmp(t->solver, g->solver) == 0 && read_values(t->config, value) == g->params;
}

static size_t count_measured(const report_layer *l, const char *solver)
{
    size_t n = 0;
    for (size_t i = 0; i < l->trials; i++)
        n += l->trial[i].ms > 0 && strcmp(l->trial[i].solver, solver) == 0;
    return n;
}

/* Returns a trial of the winner's solver, if that has enough of them, else of the solver with most
 * trials that have a time; NULL: there is none. */
static const report_trial *trial_of_interest(const report_layer *l)
{
    const report_trial *found = NULL;
    size_t most = 0;
    for (size_t i = 0; i < l->trials; i++) {
        const report_trial *t = &l->trial[i];
        if (!*t->params || (found && strcmp(found->solver, t->solver) == 0))
            continue;
        const size_t n = count_measured(l, t->solver);
        if (strcmp(t->solver, l->solver) == 0 && n >= ENOUGH)
            return t;
        if (n > most) {
            most = n;
            found = t;
        }
    }
    return found;
}

static bool open_grid(grid *g, const report_layer *l)
{
    const report_trial *of = trial_of_interest(l);
    long value[PARAMS];
    *g = (grid){.layer = l};
    if (!of)
        return false;
    g->solver = of->solver;
    g->params = read_names(of->params, g->name);
    for (size_t i = 0; i < l->trials; i++)
        if (belongs(g, &l->trial[i], value))
            for (int p = 0; p < g->params; p++)
                note(g, p, value[p]);
    for (int p = 0; p < g->params; p++)
        if (g->values[p] <= VALUES)
            qsort(g->value[p], (size_t)g->values[p], sizeof(long), by_value);
    return true;
}

static int index_of(const grid *g, int param, long value)
{
    for (int i = 0; i < g->values[param]; i++)
        if (g->value[param][i] == value)
            return i;
    return 0;
}

static void fill(const grid *g, int x, int y, cell cells[VALUES][VALUES])
{
    long value[PARAMS];
    memset(cells, 0, sizeof(cell) * VALUES * VALUES);
    for (size_t i = 0; i < g->layer->trials; i++) {
        const report_trial *t = &g->layer->trial[i];
        if (!belongs(g, t, value))
            continue;
        cell *c = &cells[index_of(g, y, value[y])][index_of(g, x, value[x])];
        c->tried++;
        if (t->ms > 0 && (c->ms == 0 || t->ms < c->ms)) {
            c->ms = t->ms;
            c->best = t;
        }
    }
}

/* How much two parameters matter: how far apart the best times of their pairs are, on average. */
static double weight_of(const grid *g, int x, int y)
{
    cell(*cells)[VALUES] = malloc(sizeof(cell) * VALUES * VALUES);
    double sum = 0, squares = 0;
    int n = 0;
    if (!cells)
        return 0;
    fill(g, x, y, cells);
    for (int i = 0; i < g->values[y]; i++)
        for (int j = 0; j < g->values[x]; j++)
            if (cells[i][j].ms > 0) {
                const double value = log(cells[i][j].ms);
                sum += value;
                squares += value * value;
                n++;
            }
    free(cells);
    /* A pair with few cells shows little. */
    return n > 2 ? sqrt(fmax(squares / n - sum * sum / n / n, 0)) * fmin(n, 12) : 0;
}

static bool fits(const grid *g, int param)
{
    return g->values[param] > 1 && g->values[param] <= VALUES;
}

static bool pick(const grid *g, int *best_x, int *best_y)
{
    double most = 0;
    for (int x = 0; x < g->params; x++)
        for (int y = x + 1; y < g->params; y++) {
            const double weight = fits(g, x) && fits(g, y) ? weight_of(g, x, y) : 0;
            if (weight > most) {
                most = weight;
                *best_x = x;
                *best_y = y;
            }
        }
    if (most > 0 && g->values[*best_y] > g->values[*best_x]) { /* wide pictures fit better */
        const int other = *best_x;
        *best_x = *best_y;
        *best_y = other;
    }
    return most > 0;
}

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

static void draw_cell(const page_part *p, const cell *c, double least, double most, double x,
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

static void draw_values(const page_part *p, const grid *g, int x, int y)
{
    const double bottom = TOP + (double)g->values[y] * CELL_H;
    for (int j = 0; j < g->values[x]; j++)
        fprintf(p->to,
                "<text class=\"tick\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%ld</text>",
                LEFT + (j + 0.5) * CELL_W - 1, bottom + 15, g->value[x][j]);
    for (int i = 0; i < g->values[y]; i++)
        fprintf(p->to, "<text class=\"tick\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%ld</text>\n",
                LEFT - 7, TOP + (i + 0.5) * CELL_H + 3, g->value[y][i]);
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

static void draw(const page_part *p, const grid *g, int x, int y)
{
    cell cells[VALUES][VALUES];
    double least = 0, most = 0;
    const double width = (double)g->values[x] * CELL_W, height = (double)g->values[y] * CELL_H;
    fill(g, x, y, cells);
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
    page_picture(p->to, LEFT + width + 170, TOP + height + 46, "Heat map of two parameters");
    for (int i = 0; i < g->values[y]; i++)
        for (int j = 0; j < g->values[x]; j++)
            draw_cell(p, &cells[i][j], least, most, LEFT + j * CELL_W, TOP + i * CELL_H);
    draw_values(p, g, x, y);
    draw_scale(p, least, most, cut, LEFT + width + 16, fmax(height, 40));
    page_picture_end(p->to);
    fputs("</figure>\n", p->to);
}

static double trials_of(const report_layer *l)
{
    return (double)l->trials;
}

void page_heat(const page_part *p)
{
    enum { LOOKED_AT = 64 };
    const report_layer *list[LOOKED_AT];
    size_t n = page_largest(p, trials_of, LOOKED_AT, list);
    int drawn = 0, x = 0, y = 0;
    n = n < LOOKED_AT ? n : LOOKED_AT;
    page_section(p->to, "heat", p->number, "Two parameters",
                 "The best time in ms for each pair of values of the two parameters that matter "
                 "most, whatever the others were, in the layers with most trials. Empty: not "
                 "tried.");
    for (size_t i = 0; i < n && drawn < MAPS; i++) {
        grid g;
        if (!open_grid(&g, list[i]) || !pick(&g, &x, &y))
            continue;
        draw(p, &g, x, y);
        drawn++;
    }
    if (drawn == 0)
        fputs("<p class=\"none\">No layer has trials with enough different values.</p>\n", p->to);
    page_section_end(p->to);
}
