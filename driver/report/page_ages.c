/* How old the best times are, and with which driver they were measured. */
#include "html.h"
#include "page_part.h"

#include <string.h>

enum { MOST = 100 };

typedef struct driver_age {
    const char *driver;
    const char *oldest, *newest; /* "": unknown */
    size_t layers;
} driver_age;

static void add(driver_age *list, size_t *n, const report_best *b)
{
    size_t at = 0;
    while (at < *n && strcmp(list[at].driver, b->driver) != 0)
        at++;
    if (at == MOST)
        return;
    if (at == *n)
        list[(*n)++] = (driver_age){b->driver, b->date, b->date, 0};
    driver_age *a = &list[at];
    a->layers++;
    if (*b->date && (!*a->oldest || strcmp(b->date, a->oldest) < 0))
        a->oldest = b->date;
    if (strcmp(b->date, a->newest) > 0)
        a->newest = b->date;
}

void page_ages(const page_part *p)
{
    driver_age list[MOST];
    size_t n = 0;
    for (size_t i = 0; i < p->count; i++)
        if (p->layer[i].best.ms > 0 && (*p->layer[i].best.date || *p->layer[i].best.driver))
            add(list, &n, &p->layer[i].best);
    if (n == 0)
        return;
    page_section(p->to, "ages", p->number, "Age and driver",
                 "When the best times were measured, and with which driver of the device. Another "
                 "driver compiles other code: its rows are still used, but may not be the best.");
    if (*p->device->driver)
        html_fill(p->to, "<p class=\"says\">The driver of the device is % now.</p>\n",
                  p->device->driver);
    fputs("<div class=\"wide\"><table><thead><tr><th>driver</th><th class=\"n\">layers</th>"
          "<th>oldest</th><th>newest</th></tr></thead>\n<tbody>\n",
          p->to);
    for (size_t i = 0; i < n; i++) {
        html_fill(p->to, "<tr><td>%</td>", *list[i].driver ? list[i].driver : "unknown");
        fprintf(p->to, "<td class=\"n\">%zu</td>", list[i].layers);
        html_fill(p->to, "<td>%</td><td>%</td></tr>\n", *list[i].oldest ? list[i].oldest : "–",
                  *list[i].newest ? list[i].newest : "–");
    }
    fputs("</tbody></table></div>\n", p->to);
    page_section_end(p->to);
}
