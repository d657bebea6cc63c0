/* Every function of the public headers refuses a NULL, a problem that nobody checked and a value
 * outside its enum, or answers with "", NULL or zero. No function of the headers is left out. */
#include "runtime/base/error.h"
#include "support/suite.h"

#include "kiln_chain.h"
#include "kiln_device.h"
#include "kiln_find.h"
#include "kiln_net.h"
#include "kiln_tune.h"

#include <check.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static kiln_problem problem = {
    .batch = 1, .in_channels = 3, .out_channels = 4, .input = {5, 5}, .filter = {3, 3}};

static char why[KILN_ERROR_TEXT];

static void forget(void)
{
    kiln_fail(KILN_OK, "nothing");
    strcpy(why, "nothing");
}

static void check_sentence(const char *call, const char *sentence)
{
    ck_assert_msg(strstr(sentence, "NULL"), "%s: %s", call, sentence);
    forget();
}

static void check_status(const char *call, kiln_status status)
{
    ck_assert_msg(status == KILN_INVALID, "%s: %s", call, kiln_status_text(status));
    check_sentence(call, kiln_last_error());
}

static void check_why(const char *call, bool refused)
{
    ck_assert_msg(refused, "%s", call);
    check_sentence(call, why);
}

/* The functions that were called, by name. */
enum { MOST_FUNCTIONS = 140, NAME = 48 };
static char called[MOST_FUNCTIONS][NAME];
static int ncalled;

static bool was_called(const char *name)
{
    for (int i = 0; i < ncalled; i++)
        if (strcmp(called[i], name) == 0)
            return true;
    return false;
}

static void note(const char *call)
{
    char name[NAME];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(call, "("), call);
    ck_assert_int_lt(ncalled, MOST_FUNCTIONS);
    if (!was_called(name))
        strcpy(called[ncalled++], name);
}

static void check_text(const char *call, const char *text, const char *expected)
{
    ck_assert_msg(text && strcmp(text, expected) == 0, "%s: %s", call, text ? text : "NULL");
}

#define FAILS(call) (note(#call), check_status(#call, call))
#define SAYS_WHY(call) (note(&#call[#call[0] == '!']), check_why(#call, call))
#define GIVES(call, value) (note(#call), ck_assert_msg((call) == (value), "%s", #call))
#define GIVES_TEXT(call, value) (note(#call), check_text(#call, call, value))
#define CALLS(call) (note(#call), call)

static void seen_row(void *user, const kiln_row_verdict *verdict)
{
    (void)user, (void)verdict;
}

static void seen_op(void *user, const kiln_op *op)
{
    (void)user, (void)op;
}

static int seen(void *user, const kiln_op *op, double *error)
{
    (void)error;
    (void)user, (void)op;
    return 0;
}

/* A kiln without a device only plans, so that nothing uses the pretended queue. */
static void operations(void)
{
    const kiln_buffers buffers = {0};
    const cl_command_queue queue = (cl_command_queue)&buffers;
    const cl_event no_event = NULL;
    const kiln_reformat reformat = {.dims = "NCHW", .size = {1, 2, 3, 4}, .to = "NHWC"};
    const kiln_pool pool = {.batch = 1, .channels = 2, .input = {3, 4}};
    const kiln_tune_options tune = {.verify = seen}, unverified = {0};
    kiln *k;
    kiln_op *op, *none;
    kiln_op_info info;
    kiln_link link = {.problem = problem};
    kiln_stage_info stage;
    kiln_argument argument;
    kiln_verdict verdict;
    kiln_solution solution = {.solver = NULL};
    size_t count;
    kiln_trial trial;
    kiln_helpers *helpers;
    const char *name;
    int64_t value;
    double ms;
    ck_assert_int_eq(kiln_open(&k, NULL, NULL, NULL), KILN_OK);
    ck_assert_int_eq(kiln_conv_create(k, &problem, NULL, &op), KILN_OK);
    forget();

    FAILS(kiln_open(NULL, NULL, NULL, NULL));
    FAILS(kiln_conv_create(NULL, &problem, NULL, &none));
    FAILS(kiln_conv_create(k, NULL, NULL, &none));
    FAILS(kiln_conv_create(k, &problem, NULL, NULL));
    FAILS(kiln_conv_plan(NULL, &problem, NULL, &info));
    FAILS(kiln_conv_plan(k, NULL, NULL, &info));
    FAILS(kiln_conv_plan(k, &problem, NULL, NULL));
    FAILS(kiln_chain(NULL, &link, 1, NULL));
    FAILS(kiln_chain(k, NULL, 1, NULL));
    FAILS(kiln_reformat_create(NULL, &reformat, &none));
    FAILS(kiln_reformat_create(k, NULL, &none));
    FAILS(kiln_reformat_create(k, &reformat, NULL));
    FAILS(kiln_pool_create(NULL, &pool, &none));
    FAILS(kiln_pool_create(k, NULL, &none));
    FAILS(kiln_pool_create(k, &pool, NULL));
    SAYS_WHY(kiln_pool_check(NULL, why) == KILN_INVALID);
    GIVES(kiln_pool_output(NULL, 0), 0);
    GIVES(kiln_pool_output(&pool, 0), 0);
    GIVES(kiln_pool_bytes(NULL, 'x'), 0);
    GIVES(kiln_pool_bytes(&pool, 'x'), 0);
    FAILS(kiln_prepare(NULL, &problem, 1, 1));
    FAILS(kiln_prepare(k, NULL, 1, 1));
    ck_assert_int_eq(kiln_prepare(k, &problem, 1, -1), KILN_INVALID);
    ck_assert_ptr_nonnull(strstr(kiln_last_error(), "-1 threads"));
    forget();
    FAILS(kiln_prepare_begin(NULL, &problem, 1, 1, &helpers));
    FAILS(kiln_prepare_begin(k, NULL, 1, 1, &helpers));
    FAILS(kiln_prepare_begin(k, &problem, 1, 1, NULL));
    CALLS(kiln_prepare_end(NULL));
    FAILS(kiln_bundle(NULL, &problem, 1, 1, "bundle"));
    FAILS(kiln_bundle(k, NULL, 1, 1, "bundle"));
    FAILS(kiln_bundle(k, &problem, 1, 1, NULL));
    FAILS(kiln_op_warm(NULL));
    FAILS(kiln_op_stage(NULL, 0, &stage));
    FAILS(kiln_op_stage(op, 0, NULL));
    FAILS(kiln_op_argument(NULL, 0, 0, &argument));
    FAILS(kiln_op_argument(op, 0, 0, NULL));
    FAILS(kiln_op_fact(NULL, 0, &name, &value));
    FAILS(kiln_op_fact(op, 0, NULL, &value));
    FAILS(kiln_op_fact(op, 0, &name, NULL));
    FAILS(kiln_op_enqueue(NULL, queue, &buffers, 0, NULL, NULL));
    FAILS(kiln_op_enqueue(op, NULL, &buffers, 0, NULL, NULL));
    FAILS(kiln_op_enqueue(op, queue, NULL, 0, NULL, NULL));
    FAILS(kiln_op_enqueue(op, queue, &buffers, 1, NULL, NULL));
    FAILS(kiln_op_enqueue(op, queue, &buffers, 1, &no_event, NULL));
    FAILS(kiln_op_pack(NULL, queue, &buffers, 0, NULL, NULL));
    FAILS(kiln_finish(NULL, queue));
    FAILS(kiln_finish(k, NULL));
    FAILS(kiln_flush(NULL, queue));
    FAILS(kiln_flush(k, NULL));
    FAILS(kiln_op_time(NULL, queue, &buffers, &ms, NULL));
    FAILS(kiln_op_time(op, NULL, &buffers, &ms, NULL));
    FAILS(kiln_op_time(op, queue, NULL, &ms, NULL));
    FAILS(kiln_op_time(op, queue, &buffers, NULL, NULL));
    FAILS(kiln_solutions(NULL, &problem, &solution, 1, &count));
    FAILS(kiln_solutions(k, NULL, &solution, 1, &count));
    FAILS(kiln_solutions(k, &problem, NULL, 1, &count));
    FAILS(kiln_solutions(k, &problem, &solution, 1, NULL));
    FAILS(kiln_find(NULL, &problem, NULL, NULL, NULL, NULL, 0, &count));
    FAILS(kiln_find(k, &problem, NULL, NULL, NULL, NULL, 0, &count));
    FAILS(kiln_solution_create(NULL, &solution, &none));
    FAILS(kiln_solution_create(k, NULL, &none));
    FAILS(kiln_solution_create(k, &solution, &none));
    FAILS(kiln_explain(NULL, &problem, 0, &verdict));
    FAILS(kiln_explain(k, NULL, 0, &verdict));
    FAILS(kiln_explain(k, &problem, 0, NULL));
    FAILS(kiln_explain_rows(NULL, &problem, seen_row, NULL));
    FAILS(kiln_explain_rows(k, NULL, seen_row, NULL));
    FAILS(kiln_explain_rows(k, &problem, NULL, NULL));
    FAILS(kiln_conv_show(NULL, &problem, NULL, seen_op, NULL));
    FAILS(kiln_conv_show(k, NULL, NULL, seen_op, NULL));
    FAILS(kiln_conv_show(k, &problem, NULL, NULL, NULL));
    FAILS(kiln_device_measure(NULL));
    GIVES(kiln_run_seconds() >= 0, 1);
    FAILS(kiln_tune(NULL, &problem, queue, &buffers, &tune, &trial));
    FAILS(kiln_tune(k, NULL, queue, &buffers, &tune, &trial));
    FAILS(kiln_tune(k, &problem, NULL, &buffers, &tune, &trial));
    FAILS(kiln_tune(k, &problem, queue, NULL, &tune, &trial));
    FAILS(kiln_tune(k, &problem, queue, &buffers, NULL, &trial));
    FAILS(kiln_tune(k, &problem, queue, &buffers, &unverified, &trial));
    FAILS(kiln_tune(k, &problem, queue, &buffers, &tune, NULL));
    kiln_row row = {.key = "fwd-f32-n1-c2-k3-i4x4-f1x1", .solver = "naive"};
    kiln_problem compared;
    kiln_op_info guess;
    kiln_trial_verdict judged;
    FAILS(kiln_row_guess(NULL, &row, &compared, &guess));
    FAILS(kiln_row_guess(k, NULL, &compared, &guess));
    FAILS(kiln_row_guess(k, &row, NULL, &guess));
    FAILS(kiln_row_guess(k, &row, &compared, NULL));
    FAILS(kiln_tune_row(NULL, &row, queue, &buffers, &tune, &judged));
    FAILS(kiln_tune_row(k, NULL, queue, &buffers, &tune, &judged));
    FAILS(kiln_tune_row(k, &row, NULL, &buffers, &tune, &judged));
    FAILS(kiln_tune_row(k, &row, queue, NULL, &tune, &judged));
    FAILS(kiln_tune_row(k, &row, queue, &buffers, NULL, &judged));
    FAILS(kiln_tune_row(k, &row, queue, &buffers, &unverified, &judged));
    FAILS(kiln_tune_row(k, &row, queue, &buffers, &tune, NULL));
    const kiln_trial_line end = {.solver = ""};
    int restored;
    FAILS(kiln_tune_restore(NULL, &problem, NULL, &end, &restored));
    FAILS(kiln_tune_restore(k, NULL, NULL, &end, &restored));
    FAILS(kiln_tune_restore(k, &problem, NULL, NULL, &restored));
    FAILS(kiln_tune_restore(k, &problem, NULL, &end, NULL));
    GIVES(kiln_tune_restore(k, &problem, NULL, &end, &restored), KILN_UNSUPPORTED);
    forget();

    kiln_op_release(op);
    kiln_close(k);
}

/* Functions without a status set the error sentence, too. */
/* A net that is planned only. */
static void nets(void)
{
    const kiln_buffer buffer = {NULL, 0};
    const cl_command_queue queue = (cl_command_queue)&buffer;
    kiln_node image = {.kind = KILN_NODE_INPUT,
                       .form = {.batch = 1, .channels = 3, .size = {5, 5}}};
    kiln_node conv = {.from = {1}, .problem = {.out_channels = 4, .filter = {3, 3}}, .kept = 1};
    kiln_form form;
    kiln_net_info info;
    kiln_net *net, *none;
    kiln *k;
    int ready;
    kiln_graph *g = CALLS(kiln_graph_new());
    ck_assert_int_eq(kiln_open(&k, NULL, NULL, NULL), KILN_OK);
    ck_assert_int_eq(kiln_graph_add(g, &image), 1);
    ck_assert_int_eq(kiln_graph_add(g, &conv), 2);
    ck_assert_int_eq(kiln_net_create(k, g, NULL, &net), KILN_OK);
    forget();

    GIVES(kiln_graph_add(NULL, &image), 0);
    check_sentence("kiln_graph_add", kiln_last_error());
    GIVES(kiln_graph_add(g, NULL), 0);
    check_sentence("kiln_graph_add", kiln_last_error());
    FAILS(kiln_device_pick("cpu", NULL));
    FAILS(kiln_device_list(NULL, 0, NULL));
    ck_assert_int_eq(CALLS(kiln_threads(-1, 0)), KILN_INVALID);
    forget();
    FAILS(kiln_graph_form(NULL, 1, &form));
    FAILS(kiln_graph_form(g, 1, NULL));
    ck_assert_int_eq(kiln_graph_form(g, 3, &form), KILN_INVALID);
    FAILS(kiln_net_create(NULL, g, NULL, &none));
    FAILS(kiln_net_create(k, NULL, NULL, &none));
    FAILS(kiln_net_create(k, g, NULL, NULL));
    FAILS(kiln_net_describe(NULL, &info));
    FAILS(kiln_net_describe(net, NULL));
    FAILS(kiln_net_tensor(NULL, 1, &form, NULL));
    FAILS(kiln_net_tensor(net, 1, NULL, NULL));
    ck_assert_int_eq(kiln_net_tensor(net, 0, &form, NULL), KILN_INVALID);
    FAILS(kiln_net_lend(NULL, buffer, buffer));
    FAILS(kiln_net_pack(NULL, queue));
    FAILS(kiln_net_pack(net, NULL));
    FAILS(kiln_net_enqueue(NULL, queue, &buffer, &buffer, 0, NULL, NULL));
    FAILS(kiln_net_enqueue(net, NULL, &buffer, &buffer, 0, NULL, NULL));
    FAILS(kiln_net_enqueue(net, queue, NULL, &buffer, 0, NULL, NULL));
    FAILS(kiln_net_enqueue(net, queue, &buffer, NULL, 0, NULL, NULL));
    FAILS(kiln_net_enqueue(net, queue, &buffer, &buffer, 1, NULL, NULL));
    FAILS(kiln_net_ready(NULL, &ready));
    FAILS(kiln_net_ready(net, NULL));
    FAILS(kiln_net_warm(NULL));
    FAILS(kiln_net_bundle(NULL, "bundle"));
    FAILS(kiln_net_resize(NULL, queue, 0, NULL));
    ck_assert_int_eq(kiln_net_warm(net), KILN_INVALID);
    ck_assert_int_eq(kiln_net_resize(net, NULL, 3, NULL), KILN_OK);
    ck_assert_int_eq(kiln_net_tensor(net, 2, &form, NULL), KILN_OK);
    ck_assert_int_eq(form.batch, 3);
    CALLS(kiln_net_release(NULL));
    CALLS(kiln_graph_release(NULL));
    kiln_net_release(net);
    kiln_graph_release(g);
    kiln_close(k);
}

static void descriptions(void)
{
    kiln_op_info info = {.stages = 7};
    forget();
    CALLS(kiln_op_describe(NULL, &info));
    check_sentence("kiln_op_describe(NULL, &info)", kiln_last_error());
    ck_assert_int_eq(info.stages, 0);
    ck_assert_str_eq(info.solver, "");
    kiln_op_describe(NULL, NULL);
    check_sentence("kiln_op_describe(NULL, NULL)", kiln_last_error());
    FAILS(kiln_op_hash(NULL, (char[40]){0}, 40));
    GIVES(kiln_op_source(NULL, 0), NULL);
    check_sentence("kiln_op_source(NULL, 0)", kiln_last_error());
    GIVES_TEXT(kiln_cache_dir(NULL), "");
    check_sentence("kiln_cache_dir(NULL)", kiln_last_error());
    GIVES_TEXT(kiln_rows_file(NULL), "");
    check_sentence("kiln_rows_file(NULL)", kiln_last_error());
    GIVES_TEXT(kiln_shipped_dir(NULL), "");
    check_sentence("kiln_shipped_dir(NULL)", kiln_last_error());
    GIVES(kiln_device_gflops(NULL, KILN_F32), 0);
    check_sentence("kiln_device_gflops(NULL)", kiln_last_error());
    GIVES(kiln_device_gbs(NULL), 0);
    check_sentence("kiln_device_gbs(NULL)", kiln_last_error());
    GIVES_TEXT(kiln_device_measured(NULL), "");
    check_sentence("kiln_device_measured(NULL)", kiln_last_error());
    CALLS(kiln_op_release(NULL));
    CALLS(kiln_close(NULL));
}

static void see_entry(void *user, const kiln_cache_entry *e)
{
    (void)user, (void)e;
}

static void see_piece(void *user, const kiln_rows_piece *p)
{
    (void)user, (void)p;
}

static void see_trial(void *user, const kiln_trial_line *line)
{
    (void)user, (void)line;
}

static void trials(void)
{
    const kiln_trial none = {.verdict = KILN_TRIAL_OK};
    kiln_trial_line line;
    char file[16] = "?";
    forget();
    FAILS(kiln_trials_append(NULL, &line));
    FAILS(kiln_trials_append("/dev/null", NULL));
    FAILS(kiln_trials_read(NULL, NULL, see_trial, NULL, NULL));
    FAILS(kiln_trials_read("/dev/null", NULL, NULL, NULL, NULL));
    CALLS(kiln_trial_line_fill(NULL, NULL, NULL, NULL));
    CALLS(kiln_trial_line_fill(&line, NULL, NULL, &none));
    ck_assert_str_eq(line.solver, "");
    CALLS(kiln_trials_file(NULL, file, sizeof file));
    ck_assert_str_eq(file, "");
    CALLS(kiln_trials_file("rows.yaml", NULL, 0));
    CALLS(kiln_trials_file("rows.yaml", NULL, sizeof file));
    GIVES_TEXT(kiln_trial_verdict_text((kiln_trial_verdict)99), "");
}

static void files(void)
{
    forget();
    FAILS(kiln_cache_list("", NULL, NULL));
    FAILS(kiln_rows_read(NULL, see_piece, NULL));
    FAILS(kiln_rows_read("/dev/null", NULL, NULL));
    char text[4] = "?";
    const kiln_row row = {.ms = 1};
    GIVES(kiln_row_text(NULL, text, sizeof text), 0);
    ck_assert_str_eq(text, "");
    GIVES(kiln_row_text(&row, NULL, 99), 0);
    GIVES(kiln_row_text(&row, text, 0), 0);
    SAYS_WHY(kiln_row_wins(NULL, why) == 0);
    GIVES(kiln_row_wins(NULL, NULL), 0);
    FAILS(kiln_rows_make(NULL, "d"));
    FAILS(kiln_rows_make("/dev/null", NULL));
    ck_assert_int_eq(kiln_cache_list("", see_entry, NULL), KILN_OK);
    GIVES(kiln_cache_clear("", NULL), KILN_OK);
}

static void values(void)
{
    const int64_t size[] = {1, 2, 3, 4};
    kiln_problem p = problem;
    kiln_reformat reformat = {.dims = "NCHW", .size = {1, 2, 3, 4}};
    kiln_layout layout;
    kiln_storage storage;
    ck_assert(kiln_layout_parse(&layout, "NHWC", "NCHW", NULL));
    forget();
    SAYS_WHY(kiln_problem_check(NULL, why) == KILN_INVALID);
    SAYS_WHY(kiln_problem_parse(NULL, "", why) == KILN_INVALID);
    SAYS_WHY(kiln_problem_parse(&p, NULL, why) == KILN_INVALID);
    SAYS_WHY(kiln_reformat_check(NULL, &storage, &storage, why) == KILN_INVALID);
    SAYS_WHY(kiln_reformat_check(&reformat, NULL, &storage, why) == KILN_INVALID);
    SAYS_WHY(kiln_reformat_check(&reformat, &storage, NULL, why) == KILN_INVALID);
    SAYS_WHY(!kiln_layout_parse(NULL, "NHWC", NULL, why));
    SAYS_WHY(!kiln_layout_parse(&layout, NULL, NULL, why));
    SAYS_WHY(!kiln_storage_make(NULL, &layout, size, KILN_F32, why));
    SAYS_WHY(!kiln_storage_make(&storage, NULL, size, KILN_F32, why));
    SAYS_WHY(!kiln_storage_make(&storage, &layout, NULL, KILN_F32, why));
    SAYS_WHY(!kiln_problem_storage(NULL, 'x', &storage, why));
    SAYS_WHY(!kiln_problem_storage(&p, 'x', NULL, why));
    SAYS_WHY(!kiln_storage_fits_image(NULL, 1, 1, why));
    SAYS_WHY(!kiln_profile_accepts(NULL, &storage, KILN_F32, why));
    SAYS_WHY(!kiln_profile_accepts("dla", NULL, KILN_F32, why));
    ck_assert_int_eq(kiln_problem_check(NULL, NULL), KILN_INVALID);
}

/* Functions without a status and without a sentence. */
static void names(void)
{
    kiln_type type;
    kiln_activation activation;
    GIVES_TEXT(kiln_version(), KILN_VERSION);
    GIVES_TEXT(kiln_status_text((kiln_status)99), "unknown status");
    ck_assert_ptr_nonnull(CALLS(kiln_last_error()));
    GIVES_TEXT(kiln_type_name((kiln_type)-1), "?");
    GIVES_TEXT(kiln_type_name((kiln_type)KILN_TYPES), "?");
    GIVES(kiln_type_named(NULL, &type), false);
    GIVES(kiln_type_named("f32", NULL), false);
    GIVES(kiln_type_is_integer((kiln_type)-1), false);
    GIVES(kiln_type_fraction_bits((kiln_type)KILN_TYPES), 0);
    GIVES(kiln_type_exponent_bits((kiln_type)KILN_TYPES), 0);
    GIVES(kiln_type_poison((kiln_type)-1), 0);
    GIVES(kiln_type_size((kiln_type)-1), 0);
    GIVES(kiln_type_size((kiln_type)KILN_TYPES), 0);
    GIVES_TEXT(kiln_direction_name((kiln_direction)3), "?");
    GIVES(kiln_activation_name((kiln_activation)-1), NULL);
    GIVES(kiln_activation_name((kiln_activation)KILN_ACTIVATIONS), NULL);
    GIVES(kiln_activation_named(NULL, &activation), false);
    GIVES(kiln_activation_named("relu", NULL), false);
    GIVES(kiln_layout_at(-1), NULL);
    GIVES(kiln_layout_at(INT_MAX), NULL);
    GIVES(kiln_profile_name(-1), NULL);
    GIVES(kiln_profile_name(3), NULL);
}

/* What cannot be answered about a problem is zero, and its text is empty. */
static void check_no_answers(const kiln_problem *p)
{
    char text[KILN_KEY_TEXT];
    GIVES(kiln_problem_output(p, -1), 0);
    GIVES(kiln_problem_output(p, 3), 0);
    GIVES(kiln_problem_output(p, INT_MAX), 0);
    for (const char *t = "xwybq"; *t; t++) {
        GIVES(kiln_problem_bytes(p, *t, NULL), 0);
        GIVES(kiln_problem_count(p, *t), 0);
    }
    strcpy(text, "something");
    GIVES(kiln_problem_text(p, text, sizeof text), 0);
    ck_assert_str_eq(text, "");
    strcpy(text, "something");
    GIVES(kiln_problem_row_key(p, text, sizeof text), 0);
    ck_assert_str_eq(text, "");
    strcpy(text, "something");
    GIVES(kiln_problem_miopen_key(p, text, sizeof text), 0);
    ck_assert_str_eq(text, "");
    GIVES(kiln_problem_text(p, NULL, 700), 0);
    GIVES(kiln_problem_row_key(p, NULL, 700), 0);
    GIVES(kiln_problem_miopen_key(p, NULL, 700), 0);
}

/* A NULL text is only counted. */
static void answers(void)
{
    char text[KILN_KEY_TEXT];
    kiln_problem p = problem;
    check_no_answers(NULL);
    check_no_answers(&(kiln_problem){0});
    check_no_answers(&problem);
    ck_assert_int_eq(kiln_problem_check(&p, why), KILN_OK);
    GIVES(kiln_problem_output(&p, -1), 0);
    GIVES(kiln_problem_output(&p, 2), 0);
    GIVES(kiln_problem_bytes(&p, 'q', NULL), 0);
    GIVES(kiln_problem_count(&p, 'q'), 0);
    GIVES(kiln_problem_text(&p, NULL, 700), kiln_problem_text(&p, text, sizeof text));
    GIVES(kiln_problem_row_key(&p, NULL, 700), kiln_problem_row_key(&p, text, sizeof text));
    GIVES(kiln_problem_miopen_key(&p, NULL, 700), kiln_problem_miopen_key(&p, text, sizeof text));
    ck_assert_uint_gt(kiln_problem_miopen_key(&p, NULL, 0), 0);
}

/* Refused, with the name of the argument, and no other function falls over it. */
static void check_refused(const char *names, const kiln_problem *given)
{
    kiln *k;
    kiln_op *op;
    kiln_storage storage;
    kiln_verdict verdict;
    char text[KILN_KEY_TEXT];
    kiln_problem p = *given;
    ck_assert_msg(kiln_problem_check(&p, why) == KILN_INVALID && strstr(why, names), "%s: %s",
                  names, why);
    ck_assert_int_eq(kiln_open(&k, NULL, NULL, NULL), KILN_OK);
    ck_assert_int_eq(kiln_conv_create(k, given, NULL, &op), KILN_INVALID);
    ck_assert_msg(strstr(kiln_last_error(), names), "%s: %s", names, kiln_last_error());
    ck_assert_int_eq(kiln_explain(k, given, 0, &verdict), KILN_INVALID);
    kiln_close(k);
    for (int i = -1; i <= KILN_MAX_RANK; i++)
        kiln_problem_output(given, i);
    for (const char *t = "xwybq"; *t; t++) {
        kiln_problem_bytes(given, *t, NULL);
        kiln_problem_count(given, *t);
        kiln_problem_storage(given, *t, &storage, why);
    }
    kiln_problem_text(given, text, sizeof text);
    kiln_problem_row_key(given, text, sizeof text);
    kiln_problem_miopen_key(given, text, sizeof text);
}

#define REFUSED(names, ...)                                                                        \
    do {                                                                                           \
        kiln_problem p = problem;                                                                  \
        kiln_problem_check(&p, NULL);                                                              \
        __VA_ARGS__;                                                                               \
        check_refused(names, &p);                                                                  \
    } while (0)

static void unchecked_problems(void)
{
    static const int outside[] = {-1, 77, INT_MIN, INT_MAX};
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
        const int v = outside[i];
        REFUSED("direction is", p.direction = (kiln_direction)v);
        REFUSED("transposed is", p.transposed = v);
        REFUSED("rank is", p.spatial_rank = v);
        REFUSED("x_type is", p.x_type = (kiln_type)v);
        REFUSED("w_type is", p.w_type = (kiln_type)v);
        REFUSED("y_type is", p.y_type = (kiln_type)v);
        REFUSED("epilogue.bias is", p.epilogue.bias = v);
        REFUSED("epilogue.activation is", p.epilogue.activation = (kiln_activation)v);
        REFUSED("determinism is", p.determinism = (kiln_determinism)v);
        REFUSED("math is", p.math = (kiln_math)v);
    }
    REFUSED("transposed is 5", p.transposed = 5);
    REFUSED("layout of w", memset(p.w_layout, 'N', sizeof p.w_layout));
    REFUSED("filter", p.filter[0] = p.dilation[0] = INT64_MAX);
    REFUSED("", memset(&p, 0x7f, sizeof p));
    REFUSED("", memset(&p, 0xff, sizeof p));
    REFUSED("", memset(&p, 0x01, sizeof p));
}

static void storages(void)
{
    const int64_t size[] = {1, 2, 3, 4};
    const kiln_storage none = {0};
    int64_t at[KILN_MAX_DIMS] = {0};
    char text[KILN_EXPRESSION_TEXT] = "something";
    kiln_layout layout;
    kiln_storage s;
    ck_assert(kiln_layout_parse(&layout, "NHWC", "NCHW", NULL));
    ck_assert(kiln_storage_make(&s, &layout, size, KILN_F32, NULL));
    ck_assert(!kiln_storage_make(&s, &layout, size, (kiln_type)77, why));
    ck_assert_msg(strstr(why, "type is 77"), "%s", why);
    ck_assert(!kiln_profile_accepts("dla", &s, (kiln_type)77, why));
    ck_assert_msg(strstr(why, "type is 77"), "%s", why);
    ck_assert(kiln_storage_make(&s, &layout, size, KILN_F32, NULL));
    const kiln_storage *const empty[] = {NULL, &none};
    for (int i = 0; i < 2; i++) {
        GIVES(kiln_storage_elements(empty[i]), 0);
        GIVES(kiln_storage_offset(empty[i], at), -1);
        GIVES(kiln_storage_coordinate(empty[i], 0, at), false);
        GIVES(kiln_storage_stride(empty[i], 0), -1);
        GIVES(kiln_storage_expression(empty[i], 'o', text, sizeof text), 0);
        GIVES(kiln_storage_inverse(empty[i], 0, text, sizeof text), 0);
    }
    ck_assert_str_eq(text, "");
    GIVES(kiln_storage_offset(&s, NULL), -1);
    GIVES(kiln_storage_coordinate(&s, 0, NULL), false);
    GIVES(kiln_storage_coordinate(&s, -1, at), false);
    GIVES(kiln_storage_coordinate(&s, 24, at), false);
    GIVES(kiln_storage_stride(&s, -1), -1);
    GIVES(kiln_storage_stride(&s, 99), -1);
    GIVES(kiln_storage_expression(&s, 'q', text, sizeof text), 0);
    GIVES(kiln_storage_expression(&s, 'x', text, sizeof text), 0);
    GIVES(kiln_storage_expression(&s, 'o', NULL, 700),
          kiln_storage_expression(&s, 'o', text, sizeof text));
    GIVES(kiln_storage_inverse(&s, 99, text, sizeof text), 0);
    GIVES(kiln_storage_inverse(&s, 0, NULL, 700), kiln_storage_inverse(&s, 0, text, sizeof text));
    kiln_reformat r = {.dims = "NCHW", .size = {1, 2, 3, 4}, .from_type = (kiln_type)77};
    ck_assert_int_eq(kiln_reformat_check(&r, &s, &s, why), KILN_INVALID);
    ck_assert_msg(strstr(why, "from_type is 77"), "%s", why);
    r = (kiln_reformat){.dims = "NCHW", .size = {1, 2, 3, 4}, .to_type = (kiln_type)-1};
    ck_assert_int_eq(kiln_reformat_check(&r, &s, &s, why), KILN_INVALID);
    ck_assert_msg(strstr(why, "to_type is -1"), "%s", why);
    memset(&r, 'A', sizeof r);
    r.from_type = r.to_type = KILN_F32;
    ck_assert_int_eq(kiln_reformat_check(&r, &s, &s, why), KILN_INVALID);
}

/* Finds the names behind KILN_API in a header, and fails for one that was not called. */
static int check_header(const char *file)
{
    static char text[1 << 17];
    char path[4096];
    const char *data = getenv("KILN_TEST_DATA");
    int functions = 0;
    ck_assert_msg(data, "KILN_TEST_DATA names no folder");
    snprintf(path, sizeof path, "%s/../../%s", data, file);
    FILE *f = fopen(path, "r");
    ck_assert_msg(f, "cannot open %s", path);
    const size_t size = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    ck_assert_uint_lt(size, sizeof text - 1);
    text[size] = 0;
    for (const char *at = text; (at = strstr(at, "\nKILN_API ")) != NULL;) {
        char name[NAME];
        const char *end = strchr(++at, '('), *start = end;
        ck_assert_ptr_nonnull(end);
        while (start[-1] != ' ' && start[-1] != '*' && start[-1] != '\n')
            start--;
        snprintf(name, sizeof name, "%.*s", (int)(end - start), start);
        ck_assert_msg(was_called(name), "%s: no test here calls %s()", file, name);
        functions++;
    }
    return functions;
}

START_TEST(every_function)
{
    operations();
    nets();
    descriptions();
    files();
    trials();
    values();
    names();
    answers();
    unchecked_problems();
    storages();
    const int functions =
        check_header("runtime/kiln.h") + check_header("runtime/kiln_chain.h") +
        check_header("runtime/kiln_find.h") + check_header("runtime/kiln_tune.h") +
        check_header("generator/kiln_problem.h") + check_header("generator/kiln_layout.h") +
        check_header("generator/kiln_pool.h") + check_header("runtime/kiln_net.h") +
        check_header("runtime/kiln_device.h");
    ck_assert_int_eq(functions, ncalled);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("null");
    TCase *t = tcase_create("null");
    tcase_add_test(t, every_function);
    suite_add_tcase(s, t);
    return support_run_apart(s);
}
