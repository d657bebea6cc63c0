/* The roofline: what each layer reaches, under what the device can do. */
#include "axis.h"
#include "html.h"
#include "page_part.h"
#include "report_limits.h"

#include <math.h>

enum { HEIGHT = 440, TOP = 44, BOTTOM = 60 };

static bool is_drawn(const report_layer *l)
{
    return report_gflops(l) > 0 && l->bytes > 0;
}

static double intensity(const report_layer *l)
{
    return l->flops / l->bytes;
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
    *x = axis_make(true, low_x, high_x, PAGE_LEFT, PAGE_WIDTH - PAGE_RIGHT);
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
    /* Beside the line on its upper side, where there is room. */
    enum { LETTERS = 150 };
    const double middle_x = (x1 + x2) / 2, middle_y = (y1 + y2) / 2;
    const bool above = middle_x - x->from > LETTERS;
    fprintf(p->to, "<text class=\"roofname\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">",
            middle_x + (above ? -8 : 12), middle_y + (above ? 0 : 16), above ? "end" : "start");
    html_fill(p->to, "memory: % GB/s</text>\n", html_number(gbs, number));
}

static bool is_drawn_before(const page_part *p, kiln_type type)
{
    for (int t = 0; t < (int)type; t++)
        if (has_type(p, (kiln_type)t) &&
            p->device->gflops[t].value == p->device->gflops[type].value)
            return true;
    return false;
}

/* Returns how many other names stand at the height of a roof already. */
static int names_beside(const page_part *p, const axis *y, kiln_type type)
{
    const double least = 16, at = axis_at(y, p->device->gflops[type].value);
    int n = 0;
    for (int t = 0; t < (int)type; t++)
        n += has_type(p, (kiln_type)t) && !is_drawn_before(p, (kiln_type)t) &&
             p->device->gflops[t].value > 0 &&
             fabs(axis_at(y, p->device->gflops[t].value) - at) < least;
    return n;
}

/* Types with the same limit share a roof. */
static void draw_roof(const page_part *p, const axis *x, const axis *y, kiln_type type)
{
    const double peak = p->device->gflops[type].value, gbs = p->device->gbs.value;
    char number[HTML_NUMBER];
    if (peak <= 0 || is_drawn_before(p, type))
        return;
    const double from = gbs > 0 ? axis_at(x, peak / gbs) : x->from, at = axis_at(y, peak);
    const int beside = names_beside(p, y, type), apart = 330, above = 20;
    fprintf(p->to, "<line class=\"roof\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>", from,
            at, x->to, at);
    fprintf(p->to, "<text class=\"roofname\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">",
            x->to - beside % 2 * apart, at - 8 - beside / 2 * above);
    for (int t = type, said = 0; t < KILN_TYPES; t++)
        if (has_type(p, (kiln_type)t) && p->device->gflops[t].value == peak)
            fprintf(p->to, "%s%s", said++ ? ", " : "", kiln_type_name((kiln_type)t));
    html_fill(p->to, ": % GFLOP/s</text>\n", html_number(peak, number));
}

/* Says where the limits are from. */
static void put_limits(const page_part *p)
{
    char number[HTML_NUMBER], origin[REPORT_ORIGIN];
    fputs("<ul class=\"note\">\n", p->to);
    if (p->device->gbs.value > 0)
        html_fill(p->to, "<li>memory: % GB/s, %</li>\n", html_number(p->device->gbs.value, number),
                  report_limit_origin(&p->device->gbs, origin));
    for (int t = 0; t < KILN_TYPES; t++) {
        const report_limit *limit = &p->device->gflops[t];
        if (limit->value > 0 && has_type(p, (kiln_type)t))
            html_fill(p->to, "<li>% multiply-adds: % GFLOP/s, %</li>\n",
                      kiln_type_name((kiln_type)t), html_number(limit->value, number),
                      report_limit_origin(limit, origin));
    }
    fputs("</ul>\n", p->to);
    if (*p->device->doubt)
        html_fill(p->to, "<p class=\"warn\">Warning: %.</p>\n", p->device->doubt);
}

static void draw_layers(const page_part *p, const axis *x, const axis *y)
{
    for (size_t i = 0; i < p->count; i++) {
        const report_layer *l = &p->layer[i];
        if (!is_drawn(l))
            continue;
        page_mark(p, l);
        page_mark_draw(p->to, l, axis_at(x, intensity(l)), axis_at(y, report_gflops(l)));
        page_mark_end(p, l);
    }
}

/* Tells which mark is which direction, above the picture: words of a page find their own place. */
static void put_legend(const page_part *p)
{
    static const char *const words[] = {"forward", "backward data", "backward weights"};
    fputs("<p class=\"legend\">", p->to);
    for (int d = KILN_FORWARD; d <= KILN_BACKWARD_WEIGHTS; d++) {
        const report_layer like = {.problem = {.direction = (kiln_direction)d, .x_type = KILN_F32}};
        size_t n = 0;
        for (size_t i = 0; i < p->count; i++)
            n += is_drawn(&p->layer[i]) && p->layer[i].problem.direction == like.problem.direction;
        if (n == 0)
            continue;
        fputs("<span><svg class=\"key\" viewBox=\"0 0 14 14\">", p->to);
        page_mark_draw(p->to, &like, 7, 7);
        fprintf(p->to, "</svg> %s</span>\n", words[d]);
    }
    fputs("</p>\n", p->to);
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
    put_legend(p);
    page_picture(p->to, PAGE_WIDTH, HEIGHT,
                 "Roofline: operations a second over operations a byte, a mark a layer");
    axis_draw_x(p->to, &x, &y, 10, "operations per byte of x, w and y (FLOP/byte, logarithmic)");
    axis_draw_y(p->to, &x, &y, 10, "speed (GFLOP/s, logarithmic)");
    draw_layers(p, &x, &y);
    draw_slope(p, &x, &y);
    for (int t = 0; t < KILN_TYPES; t++)
        if (has_type(p, (kiln_type)t))
            draw_roof(p, &x, &y, (kiln_type)t);
    page_picture_end(p->to);
    put_limits(p);
    put_types(p);
    if (p->device->gbs.value <= 0)
        fputs("<p class=\"none\">The limits of this device are not known here: make the report on "
              "the machine that has it, or give them with --peak and --bandwidth.</p>\n",
              p->to);
    page_section_end(p->to);
}
