/* The frame of the page: style, head, the parts of each device, sources. */
#include "page.h"

#include "html.h"
#include "page_part.h"

#include <math.h>
#include <string.h>
#include <time.h>

/* Blue, vermilion and green are told apart by people who do not see red or green (Okabe and Ito's
 * palette), and are lighter on a dark screen. */
static const char style[] =
    ":root{color-scheme:light dark;--back:#fff;--ink:#1c1e21;--soft:#5a6068;--grid:#e3e6ea;"
    "--axis:#8a919a;--card:#f5f6f8;--fwd:#0072b2;--bwd:#d55e00;--wrw:#00805e;--roof:#3a3f46;"
    "--mark:#fff5b8}\n"
    "@media(prefers-color-scheme:dark){:root{--back:#16181c;--ink:#e8eaed;--soft:#a3abb5;"
    "--grid:#2c3037;--axis:#6d7580;--card:#1f2228;--fwd:#56b4e9;--bwd:#f59a5a;--wrw:#4cc9a0;"
    "--roof:#c6ccd4;--mark:#4a4420}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;max-width:1200px;padding:24px 20px 60px;background:var(--back);"
    "color:var(--ink);font:15px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',"
    "sans-serif}\n"
    "h1{font-size:26px;margin:0 0 2px}h2{font-size:21px;margin:40px 0 4px}"
    "h3{font-size:17px;margin:36px 0 2px}\n"
    "p{margin:4px 0 12px;max-width:76ch}.says,.note,.none,.when{color:var(--soft)}\n"
    ".tiles{display:flex;flex-wrap:wrap;gap:12px;margin:14px 0}"
    ".tile{background:var(--card);border-radius:8px;padding:10px 16px;min-width:120px}"
    ".tile b{display:block;font-size:21px;font-weight:600}.tile span{color:var(--soft);"
    "font-size:13px}\n"
    "svg{display:block;width:100%;height:auto;font:12px system-ui,-apple-system,'Segoe UI',Roboto,"
    "'DejaVu Sans',sans-serif}.chart{overflow-x:auto}.chart svg{min-width:640px}"
    ".small .chart svg,.heat .chart svg{min-width:0}\n"
    "svg text{fill:var(--ink)}svg .tick{fill:var(--soft);font-size:12px}svg "
    ".title{fill:var(--soft);"
    "font-size:13px}svg .legend{font-size:13px}svg .roofname{fill:var(--roof);font-size:13px;"
    "paint-order:stroke;stroke:var(--back);stroke-width:4px;stroke-linejoin:round}"
    "svg .name{font:12px ui-monospace,'DejaVu Sans Mono',monospace}"
    "svg .value{font-size:12px}svg .onlight{fill:#111}svg .ondark{fill:#fff}\n"
    ".grid{stroke:var(--grid)}.axis{stroke:var(--axis)}"
    ".roof{stroke:var(--roof);stroke-width:2}\n"
    ".mark>*{stroke:var(--back);stroke-width:1;fill-opacity:.85}.fwd>*{fill:var(--fwd)}"
    ".bwd>*{fill:var(--bwd)}.wrw>*{fill:var(--wrw)}a:hover .mark>*,a:focus .mark>*"
    "{stroke:var(--ink);stroke-width:2}\n"
    ".hollow.fwd>*{stroke:var(--fwd)}.hollow.bwd>*{stroke:var(--bwd)}"
    ".hollow.wrw>*{stroke:var(--wrw)}.mark.hollow>*{fill:var(--back);stroke-width:2}\n"
    ".bar{fill:var(--fwd)}a:hover .bar{fill:var(--bwd)}\n"
    ".line{fill:none;stroke-width:2}.median{stroke:var(--fwd)}"
    ".tenth{stroke:var(--bwd);stroke-dasharray:6 4}.worst{stroke:var(--wrw);stroke-dasharray:2 3}"
    ".trial circle{fill:var(--axis);fill-opacity:.55}.trial:hover circle{fill:var(--ink);"
    "fill-opacity:1}\n"
    ".failed{fill:none;stroke:var(--axis);stroke-dasharray:3 3}svg .failedtext{fill:var(--soft);"
    "font-size:11px}\n"
    ".smalls{display:grid;grid-template-columns:repeat(auto-fill,minmax(290px,1fr));gap:18px}"
    "figure{margin:0}figure.heat{margin:0 0 26px;max-width:900px}"
    "figcaption{font:12px ui-monospace,'DejaVu Sans Mono',monospace;overflow-wrap:anywhere;"
    "margin-bottom:2px}\n"
    ".wide{overflow-x:auto}table{border-collapse:collapse;font-size:13px}"
    "th,td{padding:4px 9px;text-align:left;border-bottom:1px solid var(--grid);"
    "white-space:nowrap}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}"
    "td.name{font:12px ui-monospace,'DejaVu Sans Mono',monospace;white-space:normal;"
    "overflow-wrap:anywhere;min-width:23ch}"
    "thead th{border-bottom:1px solid var(--axis);color:var(--soft);font-weight:600}"
    "tbody tr:hover{background:var(--card)}tr:target{background:var(--mark)}\n"
    "th button{all:unset;cursor:pointer}th button:focus-visible{outline:2px solid var(--fwd)}"
    "th[aria-sort=ascending] button::after{content:' \\25B4'}"
    "th[aria-sort=descending] button::after{content:' \\25BE'}\n"
    "@media print{body{max-width:none}.wide{overflow:visible}}\n";

/* Sorts a table by the column whose name is clicked: by numbers where cells have data-v. */
static const char script[] =
    "for (const table of document.querySelectorAll('table.sortable'))\n"
    "  table.tHead.addEventListener('click', event => {\n"
    "    const head = event.target.closest('th');\n"
    "    if (!head) return;\n"
    "    const body = table.tBodies[0], column = head.cellIndex;\n"
    "    const up = head.getAttribute('aria-sort') == 'descending' || (!head.matches('.n')\n"
    "      ? head.getAttribute('aria-sort') != 'ascending' : false);\n"
    "    const value = row => {\n"
    "      const cell = row.cells[column];\n"
    "      return 'v' in cell.dataset ? +cell.dataset.v : cell.textContent;\n"
    "    };\n"
    "    const order = (a, b) => {\n"
    "      const x = value(a), y = value(b);\n"
    "      return typeof x == 'number' ? x - y : x.localeCompare(y);\n"
    "    };\n"
    "    for (const other of head.parentNode.cells) other.removeAttribute('aria-sort');\n"
    "    head.setAttribute('aria-sort', up ? 'ascending' : 'descending');\n"
    "    const rows = Array.from(body.rows).sort((a, b) => up ? order(a, b) : order(b, a));\n"
    "    body.append(...rows);\n"
    "  });\n";

static void tile(FILE *to, double value, const char *words)
{
    char number[HTML_NUMBER];
    fprintf(to, "<div class=\"tile\"><b>%s</b><span>%s</span></div>\n", html_number(value, number),
            words);
}

static void put_tiles(const page_part *p)
{
    double trials = 0, seconds = 0, log_gain = 0, log_roof = 0;
    int gains = 0, roofs = 0;
    for (size_t i = 0; i < p->count; i++) {
        const report_layer *l = &p->layer[i];
        const double gain = report_gain(l), roof = report_roof(p->data, l);
        trials += (double)l->trials;
        seconds += l->seconds;
        log_gain += gain > 0 ? log(gain) : 0;
        gains += gain > 0;
        if (roof > 0 && report_gflops(l) > 0) {
            log_roof += log(report_gflops(l) / roof);
            roofs++;
        }
    }
    fputs("<div class=\"tiles\">\n", p->to);
    tile(p->to, (double)p->count, p->count == 1 ? "layer" : "layers");
    if (gains > 0)
        tile(p->to, exp(log_gain / gains), "times the guess' speed, geometric mean");
    if (roofs > 0)
        tile(p->to, 100 * exp(log_roof / roofs), "% of the roof, geometric mean");
    if (trials > 0)
        tile(p->to, trials, "trials");
    if (seconds > 0)
        tile(p->to, seconds / 60, "minutes of searches");
    fputs("</div>\n", p->to);
}

static void put_device(const page_part *p)
{
    html_fill(p->to, *p->device->core ? "<h2>% (%)</h2>\n" : "<h2>%</h2>\n", p->device->name,
              p->device->core);
    put_tiles(p);
    page_roofline(p);
    page_gains(p);
    page_progress(p);
    page_heat(p);
    page_table(p);
    page_failures(p);
}

static void put_sources(const page *p)
{
    fputs("<section id=\"sources\">\n<h2>Sources</h2>\n<ul>\n", p->to);
    for (int i = 0; i < p->files; i++) {
        const report_file *f = &p->file[i];
        html_fill(p->to, "<li><code>%</code>: %, ", f->name, f->kind);
        fprintf(p->to, "%lld used", (long long)f->count);
        if (f->skipped > 0)
            fprintf(p->to, ", %lld line%s could not be read", (long long)f->skipped,
                    page_plural((size_t)f->skipped));
        fputs("</li>\n", p->to);
    }
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
    fputs(style, p->to);
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
        }
        if (part.count > 0)
            put_device(&part);
    }
    if (d->layers == 0)
        fputs("<p class=\"none\">The files have nothing that can be shown.</p>\n", p->to);
    put_sources(p);
    fputs("<script>\n", p->to);
    fputs(script, p->to);
    fputs("</script>\n</body>\n</html>\n", p->to);
}
