/* ConvOclDirectFwd1x1 against MIOpen's own numbers: options, launch sizes, defaults, search grid
 * and refusals. The expected values are files that were made without this code. */
#include "generator/solvers/miopen1x1/miopen1x1.h"
#include "support/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static kiln_plan plan;
static const kiln_solver *const solver = &kiln_solver_miopen1x1;

static kiln_shape shape_of(kiln_problem p)
{
    char why[KILN_ERROR_TEXT] = "";
    ck_assert_msg(kiln_problem_check(&p, why) == KILN_OK, "%s", why);
    return kiln_shape_of(&p);
}

static void plan_config(const kiln_shape *s, const kiln_config *c)
{
    kiln_device_facts d = kiln_device_generic();
    kiln_why why = {.text = ""};
    ck_assert_msg(!kiln_config_refused(solver, s, &d, c, true, &why), "%s", why.text);
    ck_assert_msg(kiln_solver_plan(solver, s, &d, c, &plan, &why), "%s", why.text);
}

static const kiln_stage *launch(void)
{
    return &plan.stage[plan.nstages - 1];
}

static int64_t option(const char *name)
{
    char text[80];
    snprintf(text, sizeof text, " -D%s=", name);
    const char *at = strstr(launch()->options, text);
    ck_assert_msg(at != NULL, "no %s in %s", name, launch()->options);
    return atoll(at + strlen(text));
}

static int64_t fact(const char *name)
{
    for (int i = 0; i < plan.nfacts; i++)
        if (strcmp(plan.fact[i].name, name) == 0)
            return plan.fact[i].value;
    ck_abort_msg("no fact %s", name);
}

static FILE *open_golden(const char *name)
{
    const char *folder = getenv("KILN_TEST_GOLDEN");
    char path[1024], header[1024];
    snprintf(path, sizeof path, "%s/%s", folder ? folder : "tests/golden", name);
    FILE *file = fopen(path, "r");
    ck_assert_msg(file != NULL, "cannot open %s", path);
    ck_assert(fgets(header, sizeof header, file) != NULL);
    return file;
}

/* Reads the cells of the next row; returns false at the end. */
static bool next_row(FILE *file, char *line, int size, char *cell[], int cells)
{
    if (!fgets(line, size, file))
        return false;
    line[strcspn(line, "\n")] = '\0';
    for (int i = 0; i < cells; i++) {
        cell[i] = strsep(&line, ";");
        ck_assert(cell[i] != NULL);
    }
    return true;
}

/* Reads MIOpen's key by its definition: in backward data its input is kiln's dy. */
static kiln_shape shape_of_key(const char *key)
{
    long long c, h, w, k, oh, ow, n, sh, sw;
    char type[8], direction;
    ck_assert_int_eq(sscanf(key,
                            "%lld-%lld-%lld-1x1-%lld-%lld-%lld-%lld-0x0-%lldx%lld-1x1-0-NCHW-"
                            "%7[A-Z0-9]-%c",
                            &c, &h, &w, &k, &oh, &ow, &n, &sh, &sw, type, &direction),
                     11);
    kiln_problem p = {.batch = n,
                      .in_channels = c,
                      .out_channels = k,
                      .input = {h, w},
                      .filter = {1, 1},
                      .stride = {sh, sw}};
    p.x_type = strcmp(type, "FP16") == 0 ? KILN_F16 : KILN_F32;
    p.w_type = p.y_type = p.x_type;
    if (direction == 'B') {
        p.direction = KILN_BACKWARD_DATA;
        p.in_channels = k;
        p.out_channels = c;
        p.input[0] = oh;
        p.input[1] = ow;
    }
    return shape_of(p);
}

static void expect_size(const size_t size[3], const char *text)
{
    char got[80];
    snprintf(got, sizeof got, "%zux%zux%zu", size[0], size[1], size[2]);
    ck_assert_str_eq(got, text);
}

static kiln_config parse(const char *text)
{
    kiln_config c = {{0}};
    kiln_why why;
    ck_assert_msg(kiln_config_parse(solver, text, &c, &why), "%s", why.text);
    return c;
}

static void expect_default(const kiln_shape *s, const char *text)
{
    char got[KILN_CONFIG_TEXT];
    kiln_config c = kiln_miopen1x1_default(s);
    kiln_config_text(solver, &c, got, sizeof got);
    ck_assert_str_eq(got, text);
}

START_TEST(options_are_miopens)
{
    FILE *file = open_golden("conv1x1.csv");
    char line[4096], *cell[8];
    int rows = 0, defaults = 0;
    for (; next_row(file, line, sizeof line, cell, 8); rows++) {
        kiln_shape s = shape_of_key(cell[1]);
        kiln_config c = parse(cell[2]);
        if (c.v[MIOPEN1X1_N_STACKS] == 1) { /* the mark of a default: searches leave 0 */
            expect_default(&s, cell[2]);
            defaults++;
        }
        plan_config(&s, &c);
        size_t length = strlen(cell[7]);
        ck_assert_msg(strncmp(launch()->options, cell[7], length) == 0, "%s\n%s\n%s", cell[0],
                      launch()->options, cell[7]);
        ck_assert(launch()->options[length] == ' ');
        ck_assert_str_eq(launch()->kernel, cell[4]);
        bool s_path = strcmp(cell[3], "MIOpenConv1x1S.cl") == 0;
        ck_assert_str_eq(launch()->template_file, s_path ? "miopen1x1_s.cl" : "miopen1x1_j1.cl");
        expect_size(launch()->local, cell[5]);
        expect_size(launch()->global, cell[6]);
    }
    ck_assert_int_eq(rows, 21);
    ck_assert_int_eq(defaults, 16);
    fclose(file);
}
END_TEST

static kiln_config config_of(const kiln_shape *s, const char *text)
{
    int n_out, n_in, cheat;
    bool is_default = strncmp(text, "default:", 8) == 0;
    ck_assert_int_eq(sscanf(text + (is_default ? 8 : 0), "%d,%d,%d", &n_out, &n_in, &cheat), 3);
    if (!is_default)
        return (kiln_config){{1, 64, 1, 1, 1, cheat, n_out, n_in, 0}};
    kiln_config c = kiln_miopen1x1_default(s);
    ck_assert_int_eq(c.v[MIOPEN1X1_N_OUT_PIX_TILES], n_out);
    ck_assert_int_eq(c.v[MIOPEN1X1_N_IN_DATA_TILES], n_in);
    ck_assert_int_eq(c.v[MIOPEN1X1_OUT_PIX_TILE0], cheat);
    return c;
}

static void expect_fact(const char *name, const char *cell)
{
    if (*cell != '-')
        ck_assert_msg(fact(name) == atoll(cell), "%s is %lld, not %s", name, (long long)fact(name),
                      cell);
}

static void expect_facts(char *cell[14])
{
    expect_fact("N_LCL_IN_MAPS", cell[4]);
    expect_fact("N_LCL_OUT_MAPS", cell[5]);
    expect_fact("N_LCL_IN_MAPS_ONCE", cell[6]);
    expect_fact("N_IN_GROUPS", cell[7]);
    expect_fact("N_OUT_GROUPS", cell[8]);
    expect_fact("CLOOP0", cell[9]);
    expect_fact("CLOOP2", strchr(cell[9], '/') + 1);
    for (char *more = cell[13], *word; (word = strsep(&more, " ")) != NULL && *word;) {
        char name[64] = "MLO_";
        strncat(name, word, strcspn(word, "="));
        ck_assert_int_eq(option(name), atoll(strchr(word, '=') + 1));
    }
}

START_TEST(derived_numbers_are_miopens)
{
    FILE *file = open_golden("conv1x1_numbers.csv");
    char line[1024], *cell[14];
    int rows = 0;
    for (; next_row(file, line, sizeof line, cell, 14); rows++) {
        long long n, c, h, w, k, u, v;
        char direction;
        ck_assert_int_eq(sscanf(cell[1], "%lld,%lld,%lld,%lld,%lld,%lld,%lld,%c", &n, &c, &h, &w,
                                &k, &u, &v, &direction),
                         8);
        kiln_shape s = shape_of(
            (kiln_problem){.direction = direction == 'F' ? KILN_FORWARD : KILN_BACKWARD_DATA,
                           .x_type = strncmp(cell[0], "fp16", 4) == 0 ? KILN_F16 : KILN_F32,
                           .batch = n,
                           .in_channels = c,
                           .out_channels = k,
                           .input = {h, w},
                           .filter = {1, 1},
                           .stride = {u, v}});
        kiln_config config = config_of(&s, cell[2]);
        plan_config(&s, &config);
        ck_assert_str_eq(launch()->template_file,
                         *cell[3] == 'S' ? "miopen1x1_s.cl" : "miopen1x1_j1.cl");
        expect_facts(cell);
        ck_assert_uint_eq(launch()->local[0], (size_t)atoll(cell[10]));
        expect_size(launch()->global, cell[11]);
        ck_assert_int_eq(!plan.deterministic, *cell[12] == '1');
    }
    ck_assert_int_eq(rows, 36);
    fclose(file);
}
END_TEST

static const kiln_problem seed = {
    .batch = 16, .in_channels = 192, .out_channels = 64, .input = {28, 28}, .filter = {1, 1}};

START_TEST(a_split_clears_first_and_is_not_deterministic)
{
    kiln_shape s = shape_of(seed);
    kiln_config split = kiln_miopen1x1_default(&s), c;
    plan_config(&s, &split);
    ck_assert_int_eq(plan.nstages, 2);
    ck_assert_int_eq(plan.stage[0].kind, KILN_STAGE_CLEAR);
    ck_assert_int_eq(plan.stage[0].clear_role, KILN_ROLE_Y);
    ck_assert_int_eq(plan.stage[0].clear_bytes, 16 * 64 * 28 * 28 * 4);
    ck_assert(!plan.deterministic);

    kiln_device_facts d = kiln_device_generic();
    kiln_why why;
    ck_assert(kiln_config_refused(solver, &s, &d, &split, false, &why));
    s.determinism = KILN_DETERMINISTIC;
    ck_assert(kiln_config_refused(solver, &s, &d, &split, true, &why));
    solver->guess(solver, &s, &d, &c);
    ck_assert_int_eq(c.v[MIOPEN1X1_N_IN_DATA_TILES], 2048);
    ck_assert(!kiln_config_refused(solver, &s, &d, &c, false, &why));
    s.determinism = KILN_NONDETERMINISTIC;
    ck_assert(!kiln_config_refused(solver, &s, &d, &split, false, &why));
    solver->guess(solver, &s, &d, &c);
    ck_assert_mem_eq(&c, &split, sizeof c);

    s.epilogue.bias = 1;
    ck_assert(kiln_config_refused(solver, &s, &d, &split, true, &why));
    ck_assert_msg(strstr(why.text, "epilogue") != NULL, "%s", why.text);
    solver->guess(solver, &s, &d, &c);
    ck_assert(!kiln_config_refused(solver, &s, &d, &c, false, &why));
}
END_TEST

static int grid_size(kiln_problem p, kiln_determinism determinism)
{
    static char seen[800][KILN_OPTIONS_TEXT + 64];
    kiln_device_facts d = kiln_device_generic();
    kiln_shape s = shape_of(p);
    s.determinism = determinism;
    int64_t position = 0;
    int count = 0;
    for (kiln_config c; kiln_config_next(solver, &s, &d, &position, &c); count++) {
        plan_config(&s, &c);
        snprintf(seen[count], sizeof *seen, "%s %zu", launch()->options, launch()->local[0]);
        for (int i = 0; i < count; i++)
            ck_assert_msg(strcmp(seen[i], seen[count]) != 0, "twice: %s", seen[i]);
    }
    return count;
}

START_TEST(search_tries_each_kernel_of_miopens_grid_once)
{
    /* 3 numbers of maps, 3 of the compiler cheat; C = 192 in one piece, in 64s and in 128 + 64. */
    ck_assert_int_eq(grid_size(seed, KILN_NONDETERMINISTIC), 3 * 3 * 3);
    ck_assert_int_eq(grid_size(seed, KILN_DETERMINISM_DEFAULT), 3 * 3);
    kiln_problem p = seed;
    p.in_channels = 4096;
    ck_assert_int_eq(grid_size(p, KILN_NONDETERMINISTIC), 3 * 3 * 5);
    ck_assert_int_eq(grid_size(p, KILN_DETERMINISTIC), 3 * 3);
    /* 3 group sizes, steps of 4 and 8; maps 4, 8, 16 with 1, 2, 4 pixels, 32 with 1, 2, 64 with 1.
     */
    p = seed;
    p.direction = KILN_BACKWARD_DATA;
    ck_assert_int_eq(grid_size(p, KILN_DETERMINISM_DEFAULT), 3 * 2 * (3 * 3 + 2 + 1));
    p.input[1] = 27;
    ck_assert_int_eq(grid_size(p, KILN_DETERMINISM_DEFAULT), 3 * 2 * 5);
    /* 28 / 2 is even: 1 or 2 pixels; K = 33 leaves maps of 1 only, C = 20 steps of 4. */
    p = (kiln_problem){.batch = 2,
                       .in_channels = 20,
                       .out_channels = 33,
                       .input = {28, 28},
                       .filter = {1, 1},
                       .stride = {2, 2}};
    ck_assert_int_eq(grid_size(p, KILN_DETERMINISM_DEFAULT), 3 * 2);
}
END_TEST

static void expect_rejected(kiln_problem p, const char *words)
{
    kiln_shape s = shape_of(p);
    kiln_device_facts d = kiln_device_generic();
    kiln_why why = {.text = ""};
    ck_assert_msg(solver->reject(solver, &s, &d, &why), "accepted, but should name %s", words);
    ck_assert_msg(strstr(why.text, words) != NULL, "\"%s\" does not name %s", why.text, words);
}

/* A problem that the solver takes, with some fields changed. */
#define BUT(...)                                                                                   \
    ((kiln_problem){                                                                               \
        .batch = 2, .in_channels = 32, .out_channels = 32, .input = {8, 8}, __VA_ARGS__})
#define BUT_1X1(...) BUT(.filter = {1, 1}, __VA_ARGS__)

START_TEST(what_it_cannot_do_is_rejected_by_name)
{
    expect_rejected(BUT(.filter = {3, 1}), "1x1 filter; this one is 3 along H");
    expect_rejected(BUT_1X1(.pad_begin = {0, 1}), "1 before");
    expect_rejected(BUT_1X1(.pad_end = {5, 0}), "5 after along H");
    expect_rejected(BUT_1X1(.dilation = {1, 2}), "dilation 1; this is 2 along W");
    expect_rejected(BUT_1X1(.groups = 2), "1 group; the problem has 2");
    kiln_problem line = BUT_1X1(.spatial_rank = 1);
    line.input[1] = line.filter[1] = 0;
    expect_rejected(line, "2 spatial axes; the problem has 1");
    expect_rejected(BUT_1X1(.x_type = KILN_I8), "x is i8");
    expect_rejected(BUT_1X1(.x_layout = "NHWC"), "NHWC");
    expect_rejected(BUT_1X1(.direction = KILN_BACKWARD_WEIGHTS), "backward weights");
    kiln_problem huge = BUT_1X1(.stride = {1, 1});
    huge.out_channels = (int64_t)3 << 30;
    expect_rejected(huge, "3221225472");
}
END_TEST

static void expect_illegal(kiln_problem p, const char *config, const char *words)
{
    kiln_shape s = shape_of(p);
    kiln_device_facts d = kiln_device_generic();
    kiln_config c = parse(config);
    kiln_why why = {.text = ""};
    ck_assert_msg(kiln_config_refused(solver, &s, &d, &c, true, &why), "%s accepted", config);
    ck_assert_msg(strstr(why.text, words) != NULL, "\"%s\" does not name %s", why.text, words);
}

START_TEST(what_would_be_wrong_is_illegal)
{
    expect_illegal(seed, "1,64,1,1,1,1,24,2048,0", "12 does not divide the 64");
    expect_illegal(seed, "1,64,1,1,1,1,16,0,0", "n_in_data_tiles is 0");
    kiln_problem p = seed;
    p.direction = KILN_BACKWARD_DATA;
    expect_illegal(p, "1,64,1,1,0,0,16,4,0", "out_pix_tile0 is 0");
    expect_illegal(p, "1,1024,1,1,0,4,96,4,0", "384 sums");
    expect_illegal(p, "1,2048,1,1,0,1,16,4,0", "grp_tile0 is 2048");
    p.out_channels = 512;
    expect_illegal(p, "1,64,1,1,0,1,16,512,0", "512 channels");
}
END_TEST

START_TEST(rows_of_miopens_databases_are_legal)
{
    static const char *const rows[] = {
        "8,8,16,16,1,0,32,128,1", "1,8,1,1,1,1,16,2048,0",
        "16,16,16,16,1,1,2,3,1", /* left behind by a search that found nothing better */
        "1,64,1,1,1,0,16,128,0",  "1,64,1,1,1,4,64,8,0", /* one step for each part of C */
        "1,64,1,1,1,1,16,24,0",                          /* three */
    };
    kiln_shape s = shape_of(seed);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        kiln_config c = parse(rows[i]);
        plan_config(&s, &c);
    }
}
END_TEST

START_TEST(small_devices_get_small_groups)
{
    kiln_device_facts d = kiln_device_generic();
    kiln_shape s = shape_of(seed);
    kiln_why why;
    kiln_config c;
    d.max_group = 32;
    ck_assert(solver->reject(solver, &s, &d, &why));
    kiln_problem p = seed;
    p.in_channels = 24;
    s = shape_of(p);
    ck_assert(!solver->reject(solver, &s, &d, &why));
    solver->guess(solver, &s, &d, &c);
    ck_assert_int_eq(c.v[MIOPEN1X1_GRP_TILE0], 32);
    ck_assert(!kiln_config_refused(solver, &s, &d, &c, false, &why));
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("miopen1x1");
    tcase_add_test(tests, options_are_miopens);
    tcase_add_test(tests, derived_numbers_are_miopens);
    tcase_add_test(tests, a_split_clears_first_and_is_not_deterministic);
    tcase_add_test(tests, search_tries_each_kernel_of_miopens_grid_once);
    tcase_add_test(tests, what_it_cannot_do_is_rejected_by_name);
    tcase_add_test(tests, what_would_be_wrong_is_illegal);
    tcase_add_test(tests, rows_of_miopens_databases_are_legal);
    tcase_add_test(tests, small_devices_get_small_groups);
    Suite *suite = suite_create("miopen1x1");
    suite_add_tcase(suite, tests);
    return support_run_apart(suite);
}
