/* The roofline: what each layer reaches, under what the device can do. */
#include "axis.h"
#include "html.h"
#include "page_part.h"
#include "report_limits.h"

#include <math.h>

enum { WIDTH = 960, HEIGHT = 500, LEFT = 64, RIGHT = 24, TOP = 44, BOTTOM = 52 };

/* How the directions look. */
static const struct {
    const char *class, *words;
} looks[] = {{"fwd", "forward"}, {"bwd", "backward data"}, {"wrw", "backward weights"}};

static bool is_drawn(const report_layer *l)
{
    return report_gflops(l) > 0 && l->bytes > 0;
}

static double intensity(const report_layer *l)
{
    return l->flops / l->bytes;
}

/* Marks of other types than f32 are hollow: another roof is theirs. */
static void draw_mark(FILE *to, kiln_direction direction, bool hollow, double x, double y)
{
    fprintf(to, "<g class=\"mark %s%s\">", looks[direction].class, hollow ? " hollow" : "");
    switch (direction) {
    case KILN_FORWARD:
        fprintf(to, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"5\"/>", x, y);
        break;
    case KILN_BACKWARD_DATA:
        fprintf(to, "<rect x=\"%.1f\" y=\"%.1f\" width=\"9\" height=\"9\"/>", x - 4.5, y - 4.5);
        break;
    default:
        fprintf(to, "<path d=\"M%.1f %.1fl5.5 9.5h-11z\"/>", x, y - 6);
    }
    fputs("</g>", to);
}

static void widen(double *low, double *high, double value)
{
    if (!(value > 0))
        return;
    *low = *low > 0 ? fmin(*low, value) : value;
    *high = fmax(*high, value);
}

/* Which types have layers: each has a roof of its own. */
static bool has_type(const page_part *p, kiln_type type)
{
    for (size_t i = 0; i < p->count; i++)
        if (is_drawn(&p->layer[i]) && p->layer[i].problem.x_type == type)
            return true;
    return false;
}

static void make_axes(const page_part *p, axis *x, axis *y)
{
    double low_x = 0, high_x = 0, low_y = 0, high_y = 0;
    const double gbs = p->device->gbs.value;
    for (size_t i = 0; i < p->count; i++) {
        if (!is_drawn(&p->layer[i]))
            continue;
        widen(&low_x, &high_x, intensity(&p->layer[i]));
        widen(&low_y, &high_y, report_gflops(&p->layer[i]));
    }
    for (int t = 0; t < KILN_TYPES; t++)
        if (has_type(p, (kiln_type)t)) {
            const double peak = p->device->gflops[t].value;
            widen(&low_y, &high_y, peak * 1.15);
            if (peak > 0 && gbs > 0) {
                widen(&low_x, &high_x, peak / gbs * 2);
                widen(&low_x, &high_x, peak / gbs / 8);
            }
        }
    if (gbs > 0)
        widen(&low_y, &high_y, gbs * low_x);
    *x = axis_make(true, low_x, high_x, LEFT, WIDTH - RIGHT);
    *y = axis_make(true, low_y, high_y, HEIGHT - BOTTOM, TOP);
}

/* The slope ends where the highest roof begins. */
static void draw_slope(const page_part *p, const axis *x, const axis *y)
{
    const double gbs = p->device->gbs.value;
    double top = 0;
    char number[HTML_NUMBER];
    for (int t = 0; t < KILN_TYPES; t++)
        if (has_type(p, (kiln_type)t))
            top = fmax(top, p->device->gflops[t].value);
    if (gbs <= 0)
        return;
    if (top <= 0)
        top = y->high;
    const double from = fmax(x->low, y->low / gbs), to = fmin(x->high, top / gbs);
    if (from >= to)
        return;
    const double x1 = axis_at(x, from), y1 = axis_at(y, gbs * from), x2 = axis_at(x, to),
                 y2 = axis_at(y, gbs * to);
    fprintf(p->to, "<line class=\"roof\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>", x1, y1,
            x2, y2);
    const double angle = atan2(y2 - y1, x2 - x1) * 180 / acos(-1), at = 0.06;
    fprintf(p->to,
            "<text class=\"roofname\" y=\"-7\" transform=\"translate(%.1f %.1f) rotate(%.1f)\">",
            x1 + at * (x2 - x1), y1 + at * (y2 - y1), angle);
    html_fill(p->to, "memory: % GB/s, %</text>\n", html_number(gbs, number),
              report_limit_origin(&p->device->gbs));
}

static void draw_roof(const page_part *p, const axis *x, const axis *y, kiln_type type)
{
    const report_limit *limit = &p->device->gflops[type];
    const double peak = limit->value, gbs = p->device->gbs.value;
    char number[HTML_NUMBER];
    if (peak <= 0)
        return;
    const double from = gbs > 0 ? axis_at(x, peak / gbs) : x->from, at = axis_at(y, peak);
    fprintf(p->to, "<line class=\"roof\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>", from,
            at, x->to, at);
    fprintf(p->to, "<text class=\"roofname\" x=\"%.1f\" y=\"%.1f\">", fmin(from + 4, x->to - 300),
            at - 8);
    html_fill(p->to, "% multiply-adds: % GFLOP/s, %</text>\n", kiln_type_name(type),
              html_number(peak, number), report_limit_origin(limit));
}

static void draw_layers(const page_part *p, const axis *x, const axis *y)
{
    for (size_t i = 0; i < p->count; i++) {
        const report_layer *l = &p->layer[i];
        if (!is_drawn(l))
            continue;
        page_layer(p, l);
        draw_mark(p->to, l->problem.direction, l->problem.x_type != KILN_F32,
                  axis_at(x, intensity(l)), axis_at(y, report_gflops(l)));
        page_layer_end(p, l);
    }
}

static void draw_legend(const page_part *p)
{
    static const double from_right[] = {348, 262, 136};
    const double y = 18;
    for (int d = KILN_FORWARD; d <= KILN_BACKWARD_WEIGHTS; d++) {
        const double x = WIDTH - RIGHT - from_right[d];
        draw_mark(p->to, (kiln_direction)d, false, x, y - 4);
        fprintf(p->to, "<text class=\"legend\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", x + 11, y,
                looks[d].words);
    }
}

/* Says which types have marks of their own, and which have no roof. */
static void put_types(const page_part *p)
{
    bool hollow = false;
    for (int t = KILN_F32 + 1; t < KILN_TYPES; t++)
        hollow = hollow || has_type(p, (kiln_type)t);
    if (hollow)
        fputs("<p class=\"note\">Hollow marks are layers of other types than f32.</p>\n", p->to);
    for (int t = KILN_F32; t < KILN_TYPES && p->device->gbs.value > 0; t++)
        if (has_type(p, (kiln_type)t) && p->device->gflops[t].value <= 0)
            html_fill(p->to,
                      "<p class=\"note\">What the device can do with % is not known here; --peak "
                      "%=GFLOPS gives it.</p>\n",
                      kiln_type_name((kiln_type)t), kiln_type_name((kiln_type)t));
}

void page_roofline(const page_part *p)
{
    axis x, y;
    size_t drawn = 0;
    for (size_t i = 0; i < p->count; i++)
        drawn += is_drawn(&p->layer[i]);
    if (drawn == 0)
        return;
    page_section(p->to, "roofline", p->number, "Roofline",
                 "How fast each layer runs, under what the device can do at most. Both scales are "
                 "logarithmic. A layer under the slope is limited by memory, one under the flat "
                 "roof by multiply-adds. Operations are those of plain sums, so Winograd can stand "
                 "above its roof; and what a cache holds from one run to the next can stand above "
                 "the slope.");
    make_axes(p, &x, &y);
    page_picture(p->to, WIDTH, HEIGHT,
                 "Roofline: operations a second over operations a byte, a mark a layer");
    axis_draw_x(p->to, &x, &y, 14, "operations per byte of x, w and y (FLOP/byte, logarithmic)");
    axis_draw_y(p->to, &x, &y, 12, "speed (GFLOP/s, logarithmic)");
    draw_slope(p, &x, &y);
    for (int t = 0; t < KILN_TYPES; t++)
        if (has_type(p, (kiln_type)t))
            draw_roof(p, &x, &y, (kiln_type)t);
    draw_layers(p, &x, &y);
    draw_legend(p);
    page_picture_end(p->to);
    put_types(p);
    if (p->device->gbs.value <= 0)
        fputs("<p class=\"none\">The limits of this device are not known here: make the report on "
              "the machine that has it, or give them with --peak and --bandwidth.</p>\n",
              p->to);
    page_section_end(p->to);
}
