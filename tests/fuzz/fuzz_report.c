/* Fuzzes the files of a report: rows, logs of trials and lines of --json, whatever they hold, make
 * a page that is well-formed XML of UTF-8 and has no address of another place. */
#include "driver/report/page.h"

#include "folder.h"

enum { DEEPEST = 32, TAG = 16 };

/* The page from `at` on, and the elements that are open there. */
typedef struct reader {
    const char *at, *end;
    char open[DEEPEST][TAG];
    int depth;
} reader;

static bool is_at(const reader *r, const char *text)
{
    const size_t length = strlen(text);
    return (size_t)(r->end - r->at) >= length && memcmp(r->at, text, length) == 0;
}

static void read_entity(reader *r)
{
    static const char *const known[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (is_at(r, known[i])) {
            r->at += strlen(known[i]);
            return;
        }
    require(!"an entity that XML knows");
}

/* One character of UTF-8 that XML may have: no overlong form, no surrogate, no control. */
static void read_character(reader *r)
{
    const unsigned char first = (unsigned char)*r->at++;
    if (first < 0x80) {
        require(first >= ' ' || first == '\n' || first == '\t');
        return;
    }
    const int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    uint32_t code = first & (0x3fu >> more);
    require(first >= 0xc2 && first < 0xf5 && r->end - r->at >= more);
    for (int i = 0; i < more; i++, r->at++) {
        require(((unsigned char)*r->at & 0xc0) == 0x80);
        code = code << 6 | ((unsigned char)*r->at & 0x3f);
    }
    require(code >= least[more] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff));
    require(code != 0xfffe && code != 0xffff);
}

static void read_name(reader *r, char name[TAG])
{
    size_t length = 0;
    while (r->at < r->end && (strchr("-:", *r->at) || (*r->at >= 'a' && *r->at <= 'z') ||
                              (*r->at >= 'A' && *r->at <= 'Z') || (*r->at >= '0' && *r->at <= '9')))
        if (length + 1 < TAG)
            name[length++] = *r->at++;
        else
            r->at++;
    name[length] = '\0';
    require(length > 0);
}

/* name="value", with no address outside the page. */
static void read_attribute(reader *r)
{
    char name[TAG];
    read_name(r, name);
    require(is_at(r, "=\""));
    r->at += 2;
    require((strcmp(name, "href") != 0 && strcmp(name, "src") != 0) || *r->at == '#');
    while (r->at < r->end && *r->at != '"') {
        require(*r->at != '<');
        if (*r->at == '&')
            read_entity(r);
        else
            read_character(r);
    }
    require(r->at < r->end);
    r->at++;
}

static void read_tag(reader *r)
{
    char name[TAG];
    if (is_at(r, "</")) {
        r->at += 2;
        read_name(r, name);
        require(r->depth > 0 && strcmp(r->open[--r->depth], name) == 0 && *r->at == '>');
        r->at++;
        return;
    }
    r->at++;
    require(r->depth < DEEPEST);
    read_name(r, r->open[r->depth]);
    for (;;) {
        r->at += strspn(r->at, " \n");
        if (is_at(r, "/>")) {
            r->at += 2;
            return;
        }
        if (*r->at == '>') {
            r->at++;
            r->depth++;
            return;
        }
        read_attribute(r);
    }
}

static void check_page(const char *text, size_t length)
{
    static const char begin[] = "<!DOCTYPE html>\n";
    reader r = {.at = text, .end = text + length};
    require(is_at(&r, begin));
    r.at += sizeof begin - 1;
    while (r.at < r.end) {
        if (*r.at == '<')
            read_tag(&r);
        else if (*r.at == '&')
            read_entity(&r);
        else
            read_character(&r);
    }
    require(r.depth == 0);
}

static const report_filter everything = {.match = ""};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char path[96];
    char why[KILN_ERROR_TEXT] = "", *text = NULL;
    size_t length = 0;
    report_data d = {.devices = 0};
    report_file file = {0};
    if (size > 4 * FUZZ_MOST)
        return 0;
    if (!*path)
        fuzz_path("input", path, sizeof path);
    fuzz_write(path, data, size);
    if (report_read(&d, path, &everything, &file, why)) {
        fuzz_check_why(why, sizeof why);
    } else {
        report_data_finish(&d);
        FILE *to = open_memstream(&text, &length);
        require(to != NULL);
        page_write(&(page){.to = to, .data = &d, .file = &file, .files = 1});
        require(fclose(to) == 0);
        check_page(text, length);
        free(text);
    }
    report_data_free(&d);
    return 0;
}
