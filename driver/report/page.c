/* The frame of the page: style, head, the parts of each device, sources. */
#include "page.h"

#include "html.h"
#include "page_part.h"
#include "page_style.h"

#include <stdlib.h>
#include <time.h>

static void put_device(const page_part *p)
{
    fprintf(p->to, "<div id=\"d%d\">\n", p->number);
    html_fill(p->to, *p->device->core ? "<h2>% (%)</h2>\n" : "<h2>%</h2>\n", p->device->name,
              p->device->core);
    page_tiles(p);
    page_shares(p);
    page_roofline(p);
    page_gains(p);
    page_before(p);
    page_predicted(p);
    page_progress(p);
    page_heat(p);
    page_solvers(p);
    page_ages(p);
    page_table(p);
    page_failures(p);
    fputs("</div>\n", p->to);
}

static void put_files(FILE *to, const report_file *file, int n, const char *what)
{
    for (int i = 0; i < n; i++) {
        const report_file *f = &file[i];
        html_fill(to, "<li><code>%</code>%: %, ", f->name, what, f->kind);
        fprintf(to, "%lld used", (long long)f->count);
        if (f->skipped > 0)
            fprintf(to, ", %lld line%s could not be read", (long long)f->skipped,
                    page_plural((size_t)f->skipped));
        fputs("</li>\n", to);
    }
}

static void put_sources(const page *p)
{
    fputs("<section id=\"sources\">\n<h2>Sources</h2>\n<ul>\n", p->to);
    put_files(p->to, p->file, p->files, "");
    put_files(p->to, p->before, p->befores, " (before)");
    fputs("</ul>\n<p class=\"note\">Operations are those of plain sums, a multiply-add counted as "
          "two; bytes are those of x, w and y, once each. Of several rows of a problem the newest "
          "of each solver counts, and of these the fastest; of several runs the fastest, or the "
          "newest of its solver; a search in the log counts more than a row, a row more than a "
          "single run.</p>\n</section>\n",
          p->to);
}

static void put_head(const page *p)
{
    char when[40] = "";
    const time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc))
        strftime(when, sizeof when, "%Y-%m-%d %H:%M UTC", &utc);
    fputs("<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n"
          "<meta charset=\"utf-8\"/>\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
          "'unsafe-inline'; script-src 'unsafe-inline'\"/>\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
          "<title>kiln report</title>\n<style>\n",
          p->to);
    fputs(page_style, p->to);
    html_fill(p->to,
              "</style>\n</head>\n<body>\n<h1>kiln report</h1>\n<p class=\"when\">%, by kiln %"
              "</p>\n",
              when, kiln_version());
}

void page_write(const page *p)
{
    const report_data *d = p->data;
    put_head(p);
    for (int i = 0; i < d->devices; i++) {
        page_part part = {.to = p->to, .data = d, .device = &d->device[i], .number = i + 1};
        for (size_t j = 0; j < d->layers; j++) {
            if (d->layer[j].device != i)
                continue;
            if (part.count++ == 0)
                part.layer = &d->layer[j];
            part.ms += d->layer[j].best.ms;
        }
        if (part.count > 0)
            put_device(&part);
    }
    if (d->layers == 0)
        fputs("<p class=\"none\">The files have nothing that can be shown.</p>\n", p->to);
    put_sources(p);
    fputs("<script>\n", p->to);
    fputs(page_script, p->to);
    fputs("</script>\n</body>\n</html>\n", p->to);
}
