/* The page of `kiln report`: it is well-formed, has the elements that its data call for, and takes
 * hostile files as texts. */
#include "driver/report/flat_json.h"
#include "driver/report/html.h"
#include "driver/report/page.h"
#include "driver/report/report_limits.h"
#include "runtime/kiln/kiln_internal.h"
#include "support/suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char file[] = "/tmp/kiln_report_XXXXXX";
static report_data data;
static report_file read_files[4];
static int nfiles;
static char *text; /* of the page */
static const report_filter everything = {.match = ""};

static void setup(void)
{
    close(mkstemp(file));
    nfiles = 0;
}

static void teardown(void)
{
    unlink(file);
    strcpy(file + strlen(file) - 6, "XXXXXX");
    report_data_free(&data);
    free(text);
    text = NULL;
}

/* Replaces the file's contents and reads it into the report. */
static void take(const char *contents)
{
    char why[KILN_ERROR_TEXT];
    FILE *to = fopen(file, "w");
    ck_assert(to && fputs(contents, to) >= 0 && fclose(to) == 0);
    ck_assert_int_eq(report_read(&data, file, &everything, &read_files[nfiles++], why), KILN_OK);
}

static void make_page(void)
{
    size_t size;
    const page p = {
        .to = open_memstream(&text, &size), .data = &data, .file = read_files, .files = nfiles};
    report_data_finish(&data);
    ck_assert_ptr_nonnull(p.to);
    page_write(&p);
    fclose(p.to);
}

/* By hand: AddressSanitizer looks at all of a page in each strstr(). */
static int count(const char *what)
{
    const size_t length = strlen(what);
    int n = 0;
    for (const char *s = text; *s; s++)
        n += *s == *what && strncmp(s, what, length) == 0;
    return n;
}

/* ---- a reader that knows as much of XML as the page uses ---- */

/* Returns what is behind an attribute's quoted value. */
static const char *check_value(const char *s)
{
    ck_assert_msg(*s == '"', "a value without quotes: %.40s", s);
    for (s++; *s != '"'; s++)
        ck_assert_msg(*s && *s != '<', "'<' in a value: %.40s", s);
    return s + 1;
}

/* Returns what is behind a tag; writes its name, and whether it has an end of its own. */
static const char *check_tag(const char *s, char name[32], bool *whole)
{
    const size_t length = strcspn(s, " />\n");
    ck_assert(length > 0 && length < 32);
    snprintf(name, 32, "%.*s", (int)length, s);
    s += length;
    for (;;) {
        s += strspn(s, " \n");
        *whole = s[0] == '/' && s[1] == '>';
        if (*whole)
            return s + 2;
        if (*s == '>')
            return s + 1;
        const size_t attribute =
            strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-0123456789");
        ck_assert_msg(attribute > 0 && s[attribute] == '=', "no attribute: %.40s", s);
        s = check_value(s + attribute + 1);
    }
}

static void check_entity(const char *s)
{
    static const char *const known[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;", "&#37;"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strncmp(s, known[i], strlen(known[i])) == 0)
            return;
    ck_abort_msg("a bare '&': %.40s", s);
}

/* Every element ends, in the right order; every '&' begins an entity. */
static void check_well_formed(void)
{
    char open[32][32], name[32];
    int depth = 0;
    bool whole;
    const char *s = text;
    ck_assert(strncmp(s, "<!DOCTYPE html>\n", 16) == 0);
    for (s += 16; *s;) {
        if (*s == '&')
            check_entity(s);
        if (*s != '<') {
            s++;
            continue;
        }
        if (s[1] == '/') {
            const size_t length = strcspn(s + 2, ">");
            ck_assert_msg(depth > 0 && strlen(open[depth - 1]) == length &&
                              strncmp(open[depth - 1], s + 2, length) == 0,
                          "%.20s ends <%s>", s, depth > 0 ? open[depth - 1] : "nothing");
            depth--;
            s += length + 3;
            continue;
        }
        s = check_tag(s + 1, name, &whole);
        ck_assert_int_lt(depth, 31);
        if (!whole)
            strcpy(open[depth++], name);
    }
    ck_assert_int_eq(depth, 0);
}

/* ---- tests ---- */

#define TRIAL(problem, index, config, verdict, ms)                                                 \
    "{\"schema\": 1, \"kind\": \"trial\", \"problem\": \"" problem "\", \"key\": \"" problem       \
    "\", \"index\": " #index ", \"solver\": \"direct\", \"version\": 1, \"config\": \"" config     \
    "\", \"params\": \"T_A,T_B,T_C\", \"origin\": \"grid\", \"verdict\": \"" verdict               \
    "\", \"ms\": " #ms ", \"seconds\": 1, \"why\": \"a reason\", \"device\": \"a card\"}\n"
#define END_BY(turns, problem, verdict, ms, guess_ms)                                              \
    "{\"schema\": 1, \"kind\": \"search\", \"problem\": \"" problem "\", \"key\": \"" problem      \
    "\", \"solver\": \"direct\", \"version\": 1, \"config\": \"1,2,3\", \"verdict\": \"" verdict   \
    "\", \"ms\": " #ms ", \"guess\": \"1,1,1 of direct\", \"guess_ms\": " #guess_ms turns          \
    ", \"device\": \"a card\"}\n"
#define END(problem, verdict, ms, guess_ms)                                                        \
    END_BY(", \"turns\": 8, \"turns_won\": 8", problem, verdict, ms, guess_ms)
#define A "fwd-f32-n1-c16-k16-i8x8-f3x3-p1x1"
#define B "bwd-f32-n1-c16-k16-i8x8-f1x1"
#define C "wrw-f16-n4-c16-k32-i8x8-f1x1"

static const char search[] = TRIAL(A, 0, "1,1,1", "ok", 4) TRIAL(A, 1, "1,2,1", "ok", 3)
    TRIAL(A, 2, "2,1,1", "slow", 9) TRIAL(A, 3, "2,2,1", "wrong", 0) TRIAL(A, 4, "4,2,1", "ok", 2)
        TRIAL(A, 5, "4,1,1", "ok", 2.5) TRIAL(A, 6, "4,1,3", "crashed", 0) END(A, "done", 2, 4);

START_TEST(a_page_has_what_its_data_call_for)
{
    take(search);
    take("schema: 1\ndevice: \"a card\"\nrows:\n"
         "- {key: \"" B "\", solver: direct, version: 1, config: \"1\", ms: 5}\n"
         "- {key: \"" B "\", solver: direct, version: 1, config: \"2\", ms: 7}\n"
         "- {key: \"" B "\", solver: naive, version: 1, config: \"\", ms: 6}\n");
    take("{\"schema\":1,\"problem\":\"" C "\",\"device\":\"0:0 a card (a platform)\",\"solver\":"
         "\"gemm\",\"config\":\"8\",\"median_ms\":1.5,\"verify\":\"ok\",\"repro\":null}\n");
    const double peak[KILN_TYPES] = {[KILN_F32] = 100, [KILN_F16] = 200};
    report_limits_give(&data, peak, 10);
    make_page();
    check_well_formed();
    ck_assert_int_eq(data.devices, 1);
    ck_assert_uint_eq(data.layers, 3);
    const char *const parts[] = {"roofline", "gains",    "progress", "heat",
                                 "layers",   "failures", "shares",   "solvers"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char id[40];
        snprintf(id, sizeof id, "<section id=\"d1-%s\">", parts[i]);
        ck_assert_msg(count(id) == 1, "%s", id);
    }
    /* marks, a bar for the gain of A, and bars for the shares */
    ck_assert_int_eq(count("<a href=\"#d1-l"), 3 + 1 + 3);
    ck_assert_int_eq(count("<tr id=\"d1-l"), 3);
    ck_assert_int_eq(count("class=\"roof\""), 3); /* a slope, f32 and f16 */
    ck_assert_int_eq(count("class=\"mark wrw hollow\""), 1);
    ck_assert_int_eq(count("is not known here"), 0);
    ck_assert_int_eq(count("as given on the command line"), 3);
    ck_assert_int_eq(count("<figure class=\"small\">"), 1);
    ck_assert_int_eq(count("<figure class=\"heat\">"), 1);
    ck_assert_int_eq(count("class=\"trial\""), 5); /* those with a time */
    ck_assert_int_eq(count("<td>wrong</td>") + count("<td>crashed</td>"), 2);
    /* the newest row of a solver, and the fastest of these */
    ck_assert_int_eq(count("data-v=\"6\""), 1);
    ck_assert_int_eq(count("data-v=\"5\""), 0);
    ck_assert_int_eq(count("<button>"), 14); /* columns that have something */
    ck_assert_int_eq(count("<button>predicted ms</button>"), 0);
    ck_assert_int_eq(count("<script>"), 1);
}
END_TEST

START_TEST(nothing_comes_from_elsewhere)
{
    take(search);
    make_page();
    const char *const words[] = {"http:", "https:", "src=", "url(", "@import", "<link", "<img"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const int namespaces = strcmp(words[i], "http:") == 0; /* that of the page itself */
        ck_assert_msg(count(words[i]) == namespaces, "%s", words[i]);
    }
    ck_assert_int_eq(count("<script>"), 1);
}
END_TEST

#define HOSTILE "</title><script>alert('&')</script>\\\"%s%n"

START_TEST(hostile_texts_stay_texts)
{
    take(TRIAL(HOSTILE, 0, HOSTILE, "ok", 4) TRIAL(HOSTILE, 1, "1,2", "build failed", 0)
             TRIAL(HOSTILE, 2, "2,2,-999999999999999999999", "ok", 3)
                 TRIAL(HOSTILE, 3, "1,2,3", "ok", 1e-300) TRIAL(HOSTILE, 4, ",,,", "ok", 1e300)
                     TRIAL(HOSTILE, 5, "", "nonsense", 2) TRIAL(HOSTILE, 6, "1,1,1", "ok", 2)
                         END(HOSTILE, "done", 1e-300, 1e300));
    take("{\"schema\":1,\"problem\":\"\xff\xfe \\u0001 \\ud800 <b>\",\"device\":\"a card\","
         "\"solver\":\"<i>\",\"config\":\"\",\"median_ms\":1.5}\n"
         "{\"schema\":1,\"problem\":[1]}\nnonsense\n{\"schema\":1,\"problem\":\"cut");
    make_page();
    check_well_formed();
    ck_assert_int_eq(count("<script>"), 1);
    ck_assert_int_eq(count("alert('"), 0);
    ck_assert_int_gt(count("&lt;/title&gt;&lt;script&gt;alert(&#39;&amp;&#39;)"), 1);
    ck_assert_int_eq(count("<b>\""), 0);
    ck_assert_int_eq(read_files[1].count, 1);
    ck_assert_int_eq(read_files[1].skipped, 3);
}
END_TEST

/* What a row tells of itself stands in tables, tiles and titles of the page. */
START_TEST(hostile_rows_stay_texts)
{
    static const char *const hidden[] = {"\xe2\x80\xae", "\xe2\x81\xa6", "\xe2\x80\x8b"};
#define ODD "<b>'\\u202e\\u2066\\u200b"
    take("schema: 1\ndevice: \"" ODD "\"\nrows:\n"
         "- {key: \"" A "\", solver: \"" ODD "\", version: 1, config: \"" ODD "\", ms: 2, "
         "driver: \"" ODD "\", date: \"" ODD "\", core: \"" ODD "\", guess: \"" ODD
         "\", guess_ms: 1e308, "
         "turns: 3, turns_won: 9, iqr: 1e300}\n"
         "- {key: \"" ODD "\", solver: \"direct\", version: 1, config: \"1\", ms: 3}\n");
    make_page();
    check_well_formed();
    ck_assert_uint_eq(data.layers, 2);
    ck_assert_int_eq(count("<b>'"), 0);
    ck_assert_int_eq(count(" of 3 turns"), 0); /* nobody wins more turns than there are */
    ck_assert_int_ge(count("&lt;b&gt;&#39;\\u202e"), 6);
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
        ck_assert_msg(count(hidden[i]) == 0, "%zu", i);
    ck_assert_int_eq(count("nan") + count("inf\""), 0);
}
END_TEST

/* The name that a session prints is that of rows and logs, brackets of a maker or not. */
START_TEST(a_device_has_one_name)
{
    static const char *const printed[] = {"Intel(R) card", "0:0 Intel(R) card (Intel(R) OpenCL)",
                                          "1:12 Intel(R) card (OpenCL (a) (b))",
                                          "0:0 Intel(R) card (a platform)"};
    for (size_t i = 0; i < sizeof printed / sizeof *printed; i++)
        ck_assert_int_eq(report_data_device(&data, printed[i], ""), 0);
    ck_assert_str_eq(data.device[0].name, "Intel(R) card");
    ck_assert_int_eq(report_data_device(&data, "0:0 odd) (name)", ""), 1);
    ck_assert_str_eq(data.device[1].name, "odd)");
    ck_assert_int_eq(report_data_device(&data, "0:0 odd)", ""), 1);
}
END_TEST

#define RESULT(problem, ms)                                                                        \
    "{\"schema\":1,\"problem\":\"" problem "\",\"device\":\"a card\",\"solver\":\"direct\","       \
    "\"config\":\"8\",\"median_ms\":" ms "}\n"

#define RUN(solver, ms)                                                                            \
    "{\"schema\":1,\"problem\":\"" A "\",\"device\":\"a card\",\"solver\":\"" solver               \
    "\",\"config\":\"8\",\"median_ms\":" ms "}\n"

/* The fastest of single runs, unless its solver ran again; a search counts more. */
START_TEST(the_best_of_several_runs)
{
    take(RUN("gemm", "3") RUN("direct", "2") RUN("gemm", "4"));
    ck_assert_double_eq(data.layer[0].best.ms, 2);
    ck_assert_str_eq(data.layer[0].best.solver, "direct");
    take(RUN("direct", "5"));
    ck_assert_double_eq(data.layer[0].best.ms, 5);
    take(END(A, "done", 6, 7));
    take(RUN("gemm", "1"));
    ck_assert_double_eq(data.layer[0].best.ms, 6);
}
END_TEST

/* What no device can take, and what none can do, is no number of a picture. */
/* What the open device of the report is: the facts that the library's limits are counted from. */
static void be_gpu(kiln_device_facts *facts, kiln_gpu_id id, int units)
{
    *facts = kiln_device_generic();
    facts->kind = KILN_DEVICE_GPU;
    facts->compute_units = units;
    facts->gpu.id = id;
    snprintf(facts->name, sizeof facts->name, "a card");
    kiln_device_set_roofline(facts, 1.5);
}

/* By the public functions, with no device that could be measured. */
START_TEST(gpus_have_a_counted_roofline)
{
    static const kiln_gpu_id ids[] = {{KILN_GPU_NVIDIA, KILN_GPU_VERSION(9, 0)},
                                      {KILN_GPU_AMD, KILN_GPU_VERSION(9, 0)},
                                      {KILN_GPU_INTEL, KILN_GPU_VERSION(12, 55)},
                                      {KILN_GPU_UNKNOWN, 0}};
    const kiln_settings none = {.cache_dir = "off", .rows_file = "off", .shipped_dir = "off"};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        session s = {0};
        ck_assert_int_eq(kiln_open(&s.kiln, NULL, NULL, &none), KILN_OK);
        be_gpu(&s.kiln->facts, ids[i], 64);
        take("{\"schema\":1,\"problem\":\"" C
             "\",\"device\":\"0:0 a card (a platform)\",\"solver\":"
             "\"gemm\",\"config\":\"8\",\"median_ms\":1.5,\"verify\":\"ok\",\"repro\":null}\n");
        report_limits_find(&data, &s, true);
        make_page();
        check_well_formed();
        ck_assert_int_eq(count("class=\"roof\""), 2); /* a slope and f16 */
        ck_assert_int_eq(count("counted from units and clock"), 2);
        ck_assert_int_eq(count("not known here"), 0);
        kiln_close(s.kiln);
        teardown();
        setup();
    }
}
END_TEST

START_TEST(pictures_have_numbers)
{
    const double peak[KILN_TYPES] = {[KILN_F32] = 100};
    take(RESULT(A, "1e-310") RESULT(B, "1e300") RESULT(C, "1e-300"));
    take(TRIAL(A, 0, "1,1,1", "ok", 1e-300) TRIAL(A, 1, "1,2,1", "ok", 1e300)
             TRIAL(A, 2, "2,1,1", "ok", 1e-310) TRIAL(A, 3, "2,2,1", "ok", 2)
                 TRIAL(A, 4, "4,2,1", "ok", 3) TRIAL(A, 5, "4,2,2", "ok", 4)
                     END(A, "done", 1e-300, 1e300));
    report_limits_give(&data, peak, 10);
    make_page();
    check_well_formed();
    ck_assert_int_eq(count("nan\""), 0);
    ck_assert_int_eq(count("inf\""), 0);
    ck_assert_uint_eq(data.layers, 1);
    ck_assert_double_eq(data.layer[0].best.ms, 2);
}
END_TEST

START_TEST(a_file_that_cannot_be_read_is_an_error)
{
    char why[KILN_ERROR_TEXT];
    report_file of;
    ck_assert_int_eq(report_read(&data, "/proc/self/mem", &everything, &of, why), KILN_FILE);
    ck_assert_msg(strstr(why, "Input/output error"), "%s", why);
}
END_TEST

/* A kill may leave half a line, which tells nothing of the file. */
START_TEST(half_a_line_is_no_first_line)
{
    take("{\"schema\": 1, \"kind\": \"trial\", \"prob\n" RESULT(A, "3"));
    ck_assert_str_eq(read_files[0].kind, "results");
    ck_assert_int_eq(read_files[0].count, 1);
    ck_assert_int_eq(read_files[0].skipped, 1);
    make_page();
    ck_assert_int_eq(count("1 line could not be read"), 1);
}
END_TEST

#define DATED(time, index, config, origin, ms)                                                     \
    "{\"schema\": 1, \"kind\": \"trial\", \"time\": \"" time "\", \"problem\": \"" A               \
    "\", \"key\": \"" A "\", \"index\": " #index                                                   \
    ", \"solver\": \"direct\", \"version\": 1, \"config\": \"" config "\", \"origin\": \"" origin  \
    "\", \"verdict\": \"ok\", \"ms\": " #ms ", \"seconds\": 1, \"device\": \"a card\"}\n"
#define ROW "schema: 1\ndevice: \"a card\"\nrows:\n- {key: \"" A "\", solver: direct, version: 1, "

/* A guess of another day, when the machine may have been slower, says nothing of the best time. */
START_TEST(guess_and_best_are_of_one_measurement)
{
    static const struct {
        const char *first, *then;
        double gain;
    } cases[] = {
        {END(A, "done", 2, 4), ROW "config: \"1\", ms: 1}\n", 2},
        /* a search without turns: the trials of one run tell, or nothing does */
        {"", END_BY("", A, "done", 2, 4), 0},
        {"", END_BY("", A, "done", 2, 2), 1},
        {DATED("2026-01-01T10:00:00Z", 0, "1", "guess", 9)
             DATED("2026-01-01T10:00:02Z", 1, "1,2,3", "grid", 2),
         END_BY("", A, "done", 2, 4), 4.5},
        {DATED("2026-01-01T10:00:00Z", 0, "1", "guess", 9)
             DATED("2026-01-02T10:00:02Z", 1, "1,2,3", "grid", 2),
         END_BY("", A, "done", 2, 9), 0},
        /* a stopped search, whose best is from the day on which the guess took 3 */
        {DATED("2026-01-01T10:00:00Z", 0, "1", "guess", 8)
             DATED("2026-01-01T10:00:02Z", 1, "2", "grid", 6),
         DATED("2026-01-02T10:00:00Z", 2, "1", "guess", 3)
             DATED("2026-01-02T10:00:01Z", 3, "3", "grid", 2),
         1.5},
        /* the same, but only the first run timed the guess */
        {DATED("2026-01-01T10:00:00Z", 0, "1", "guess", 8),
         DATED("2026-01-02T10:00:00Z", 1, "2", "grid", 2), 0},
        /* trials of a search that was stopped, and the row of another one */
        {DATED("2026-01-01T10:00:00Z", 0, "1", "guess", 8), ROW "config: \"2\", ms: 1}\n", 0},
        {"{\"schema\":1,\"problem\":\"" A "\",\"device\":\"a card\",\"solver\":\"direct\","
         "\"config\":\"8\",\"best_ms\":5,\"guess_ms\":6,\"turns\":8,\"turns_won\":6}\n",
         END(A, "done", 2, 0), 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (*cases[i].first)
            take(cases[i].first);
        take(cases[i].then);
        report_data_finish(&data);
        ck_assert_uint_eq(data.layers, 1);
        ck_assert_msg(fabs(report_gain(&data.layer[0]) - cases[i].gain) < 1e-9, "%zu: %g", i,
                      report_gain(&data.layer[0]));
        teardown();
        setup();
    }
}
END_TEST

/* Stairs of two days do not make a curve of the search's progress. */
START_TEST(a_search_of_two_days_has_no_curve)
{
    const char *const day = DATED("2026-01-01T10:00:00Z", 0, "1", "guess", 8)
        DATED("2026-01-01T10:00:02Z", 1, "2", "grid", 6)
            DATED("2026-01-01T10:00:03Z", 2, "3", "grid", 5)
                DATED("2026-01-01T10:00:04Z", 3, "4", "grid", 5)
                    DATED("2026-01-01T10:00:05Z", 4, "5", "grid", 5)
                        DATED("2026-01-01T10:00:06Z", 5, "6", "grid", 5);
    take(day);
    make_page();
    ck_assert_int_eq(count("Share of the final speed over trials"), 1);
    ck_assert_int_eq(count("<figure class=\"small\">"), 1);
    teardown();
    setup();
    take(day);
    take(DATED("2026-01-02T10:00:00Z", 6, "1", "guess", 3)
             DATED("2026-01-02T10:00:01Z", 7, "7", "grid", 2));
    make_page();
    check_well_formed();
    ck_assert_int_eq(count("Share of the final speed over trials"), 0);
    ck_assert_int_eq(count("<figure class=\"small\">"), 1);
    ck_assert_int_eq(count("the guess: 3 ms"), 1);
}
END_TEST

/* The dashes of a picture are the guess that was timed with the best. */
START_TEST(a_picture_has_the_lines_of_one_measurement)
{
    take(search);
    make_page();
    ck_assert_int_eq(count("the guess: 4 ms"), 1);
    ck_assert_int_eq(count("the best, in the same measurement: 2 ms"), 1);
}
END_TEST

/* Operations are those of plain sums: 32768 of A, and 9216 bytes. */
START_TEST(a_headline_is_never_above_the_roof)
{
    static const struct {
        const char *solver, *ms, *says;
    } cases[] = {
        {"winograd_fused", "1e-3", "1 by Winograd"},
        {"direct", "1e-3", "1 of another kind"},
        {"winograd_fused", "1", NULL},
    };
    const double peak[KILN_TYPES] = {[KILN_F32] = 10};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[500];
        snprintf(line, sizeof line,
                 "{\"schema\":1,\"problem\":\"" A "\",\"device\":\"a card\",\"solver\":\"%s\","
                 "\"config\":\"8\",\"median_ms\":%s}\n",
                 cases[i].solver, cases[i].ms);
        take(line);
        report_limits_give(&data, peak, 1000);
        make_page();
        ck_assert_int_eq(count("% of the roof, geometric mean"), !cases[i].says);
        ck_assert_int_eq(count("1 of 1 layer lies above the roof, and is left out"),
                         cases[i].says != NULL);
        if (cases[i].says)
            ck_assert_msg(count(cases[i].says) == 1, "%s", cases[i].says);
        teardown();
        setup();
    }
}
END_TEST

/* The first links of the page lead to rows that are there. */
static void check_links(void)
{
    enum { MOST = 20 };
    int links = 0;
    for (const char *s = text; links < MOST && (s = strstr(s, "<a href=\"#")); s++, links++) {
        char row[80];
        const char *name = s + strlen("<a href=\"#");
        snprintf(row, sizeof row, "<tr id=\"%.*s\"", (int)strcspn(name, "\""), name);
        ck_assert_msg(count(row) == 1, "%s", row);
    }
    ck_assert_int_gt(links, 0);
}

/* A layer that is too many for the table has a mark, and no link. */
START_TEST(links_lead_to_rows)
{
    enum { LAYERS = REPORT_ROWS + 200 };
    size_t size;
    char *list = NULL;
    FILE *to = open_memstream(&list, &size);
    ck_assert_ptr_nonnull(to);
    for (int i = 0; i < LAYERS; i++)
        fprintf(to,
                "{\"schema\":1,\"problem\":\"fwd-f32-n1-c%d-k16-i4x4-f1x1\",\"device\":\"a card\","
                "\"solver\":\"direct\",\"config\":\"1\",\"median_ms\":%d}\n",
                i + 1, i == 7 ? LAYERS + 1 : LAYERS - i);
    fclose(to);
    take(list);
    free(list);
    make_page();
    check_links();
    ck_assert_int_eq(count("<tr id=\"d1-l"), REPORT_ROWS);
    ck_assert_int_eq(count("<a href=\"#d1-l"), REPORT_ROWS + 40); /* and bars of the shares */
    ck_assert_int_eq(count("class=\"mark fwd\""), LAYERS + 1);    /* one is the legend's */
    ck_assert_int_eq(count("data-v=\"5201\""), 1);                /* the slowest layer has a row */
    ck_assert_int_eq(count("The 5000 layers of 5200 that take longest"), 1);
}
END_TEST

#define FIELDS                                                                                     \
    ", driver: \"1.0\", date: \"2026-01-31\", guess: \"1 of direct\", guess_ms: 9, turns: 8, "     \
    "turns_won: 7, win_iqr: 0.1}\n"

/* What rows tell of themselves: age, driver, turns; and who wins how much of the time. */
START_TEST(rows_tell_why_they_are_believed)
{
    take("schema: 1\ndevice: \"a card\"\nrows:\n"
         "- {key: \"" A "\", solver: direct, version: 1, config: \"1\", ms: 6, iqr: 0.04" FIELDS
         "- {key: \"" B "\", solver: gemm, version: 1, config: \"1\", ms: 1, driver: \"1.0\", "
         "date: \"2025-12-24\"}\n"
         "- {key: \"" C "\", solver: gemm, version: 1, config: \"1\", ms: 1, driver: \"2.0\"}\n");
    make_page();
    check_well_formed();
    ck_assert_int_eq(count("<td>won 7 of 8 turns</td>"), 1);
    ck_assert_int_eq(count("1 layer was timed in turns with the guess; in 1 of them"), 1);
    ck_assert_int_eq(count("guess 9 ms, won 7 of 8 turns"), 3); /* a mark and two bars */
    ck_assert_int_eq(count("data-v=\"75\">75 %</td>"), 1);      /* its share */
    ck_assert_int_eq(count("data-v=\"1.5\">1.5</td>"), 1);      /* its gain */
    ck_assert_int_eq(count("data-v=\"4\">4 %</td>"), 1);        /* its spread */
    ck_assert_int_eq(count("<b>75.00 %</b>"), 1);
    ck_assert_int_eq(count("<tr><td>gemm</td><td class=\"n\">2</td><td class=\"n\">25 %</td>"), 1);
    ck_assert_int_eq(count("<tr><td>direct</td><td class=\"n\">1</td><td class=\"n\">75 %</td>"
                           "<td class=\"n\">1.5</td>"),
                     1);
    ck_assert_int_eq(count("<tr><td>1.0</td><td class=\"n\">2</td><td>2025-12-24</td>"
                           "<td>2026-01-31</td></tr>"),
                     1);
    ck_assert_int_eq(count("<tr><td>2.0</td><td class=\"n\">1</td><td>–</td><td>–</td></tr>"), 1);
}
END_TEST

/* A log tells what was predicted of the winner. */
START_TEST(predictions_stand_beside_times)
{
    take("{\"schema\": 1, \"kind\": \"search\", \"problem\": \"" A "\", \"key\": \"" A
         "\", \"solver\": \"direct\", \"version\": 1, \"config\": \"1\", \"verdict\": \"done\", "
         "\"ms\": 2, \"expected_ms\": 5, \"guess_ms\": 2, \"turns\": 8, "
         "\"device\": \"a card\"}\n");
    make_page();
    check_well_formed();
    ck_assert_int_eq(count("<section id=\"d1-predicted\">"), 1);
    ck_assert_int_eq(count("Half of the predictions are 2.5 to 2.5 times the measured time; the "
                           "median is 2.5."),
                     1);
    ck_assert_int_eq(count("<button>predicted ms</button>"), 1);
    ck_assert_int_eq(count("data-v=\"5\">5</td>"), 1);
    ck_assert_int_eq(count(" of 8 turns"), 0); /* the guess wins none against itself */
}
END_TEST

START_TEST(a_section_without_data_is_not_shown)
{
    const char *const parts[] = {"roofline", "gains",  "progress",  "heat",
                                 "failures", "shares", "predicted", "ages"};
    take(RESULT("something that is no problem", "1"));
    make_page();
    check_well_formed();
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char id[40];
        snprintf(id, sizeof id, "<section id=\"d1-%s\">", parts[i]);
        ck_assert_msg(count(id) == 0, "%s", id);
    }
    ck_assert_int_eq(count("<section id=\"d1-layers\">"), 1);
    ck_assert_int_eq(count("class=\"none\""), 0);
    ck_assert_int_eq(count("gain</"), 0); /* nor is a column */
}
END_TEST

START_TEST(a_restart_forgets_what_was_before)
{
    take(TRIAL(A, 0, "1,1,1", "ok", 1) END(A, "restarted", 0, 0) TRIAL(A, 0, "1,2,1", "ok", 3));
    report_data_finish(&data);
    ck_assert_uint_eq(data.layer[0].trials, 1);
    ck_assert_double_eq(data.layer[0].best.ms, 3);
}
END_TEST

START_TEST(a_report_of_nothing_is_a_page)
{
    take("schema: 1\ndevice: \"a card\"\nrows:\n");
    make_page();
    check_well_formed();
    ck_assert_int_eq(count("nothing that can be shown"), 1);
}
END_TEST

START_TEST(objects_are_read_without_trust)
{
    char word[4] = "old";
    double number = 7;
    const flat_json_field fields[] = {{"w", word, sizeof word, NULL}, {"n", NULL, 0, &number}};
    const char *const bad[] = {"",
                               "{",
                               "[]",
                               "{\"w\"}",
                               "{\"w\":}",
                               "{\"w\":\"x}",
                               "{\"w\":{}}",
                               "{\"w\":[]}",
                               "{\"n\":1,}",
                               "{\"n\":0x10}",
                               "{\"n\":inf}",
                               "{} x",
                               "{\"w\":\"\\x\"}",
                               "{\"w\":\"\\u12g4\"}",
                               "{,}",
                               "{\"w\":\"\\"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(!flat_json_read(bad[i], fields, 2), "%s", bad[i]);
    ck_assert(
        flat_json_read(" { \"w\" : \"a\\u00e9long\", \"n\":-1.5e1,\"x\":null } \n", fields, 2));
    ck_assert_str_eq(word, "a\xc3\xa9");
    ck_assert_double_eq(number, -15);
    ck_assert(flat_json_read("{\"n\":\"text\",\"w\":12}", fields, 2));
    ck_assert_double_eq(number, -15);
}
END_TEST

START_TEST(numbers_are_short)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0, "0"},         {1, "1"},       {12.345, "12.3"}, {0.0012345, "0.00123"},
                 {99999, "99999"}, {-2.5, "-2.5"}, {1e300, "?"},     {NAN, "?"}};
    char number[HTML_NUMBER];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_str_eq(html_number(cases[i].value, number), cases[i].text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("report");
    TCase *all = tcase_create("report");
    tcase_add_checked_fixture(all, setup, teardown);
    tcase_add_test(all, a_page_has_what_its_data_call_for);
    tcase_add_test(all, nothing_comes_from_elsewhere);
    tcase_add_test(all, hostile_texts_stay_texts);
    tcase_add_test(all, hostile_rows_stay_texts);
    tcase_add_test(all, a_device_has_one_name);
    tcase_add_test(all, the_best_of_several_runs);
    tcase_add_test(all, gpus_have_a_counted_roofline);
    tcase_add_test(all, pictures_have_numbers);
    tcase_add_test(all, a_file_that_cannot_be_read_is_an_error);
    tcase_add_test(all, half_a_line_is_no_first_line);
    tcase_add_test(all, guess_and_best_are_of_one_measurement);
    tcase_add_test(all, a_search_of_two_days_has_no_curve);
    tcase_add_test(all, a_picture_has_the_lines_of_one_measurement);
    tcase_add_test(all, a_headline_is_never_above_the_roof);
    tcase_add_test(all, links_lead_to_rows);
    tcase_add_test(all, rows_tell_why_they_are_believed);
    tcase_add_test(all, predictions_stand_beside_times);
    tcase_add_test(all, a_section_without_data_is_not_shown);
    tcase_add_test(all, a_restart_forgets_what_was_before);
    tcase_add_test(all, a_report_of_nothing_is_a_page);
    tcase_add_test(all, objects_are_read_without_trust);
    tcase_add_test(all, numbers_are_short);
    suite_add_tcase(suite, all);
    return support_run_apart(suite);
}
