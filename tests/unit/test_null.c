/* Every function of the library that can fail does so for a NULL that it cannot use. */
#include "runtime/error.h"
#include "kiln.h"

#include <check.h>
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

#define FAILS(call) check_status(#call, call)
#define SAYS_WHY(call) check_why(#call, call)

static int seen(void *user, const kiln_op *op)
{
    (void)user, (void)op;
    return 0;
}

/* A kiln without a device only plans, so that nothing uses the pretended queue. */
START_TEST(operations)
{
    const kiln_buffers buffers = {0};
    const cl_command_queue queue = (cl_command_queue)&buffers;
    const kiln_reformat reformat = {.dims = "NCHW", .size = {1, 2, 3, 4}, .to = "NHWC"};
    const kiln_tune_options tune = {.verify = seen}, unverified = {0};
    kiln *k;
    kiln_op *op, *none;
    kiln_stage_info stage;
    kiln_verdict verdict;
    kiln_trial trial;
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
    FAILS(kiln_reformat_create(NULL, &reformat, &none));
    FAILS(kiln_reformat_create(k, NULL, &none));
    FAILS(kiln_reformat_create(k, &reformat, NULL));
    FAILS(kiln_prepare(NULL, &problem, 1, 1));
    FAILS(kiln_prepare(k, NULL, 1, 1));
    FAILS(kiln_op_stage(NULL, 0, &stage));
    FAILS(kiln_op_stage(op, 0, NULL));
    FAILS(kiln_op_fact(NULL, 0, &name, &value));
    FAILS(kiln_op_fact(op, 0, NULL, &value));
    FAILS(kiln_op_fact(op, 0, &name, NULL));
    FAILS(kiln_op_enqueue(NULL, queue, &buffers, 0, NULL, NULL));
    FAILS(kiln_op_enqueue(op, NULL, &buffers, 0, NULL, NULL));
    FAILS(kiln_op_enqueue(op, queue, NULL, 0, NULL, NULL));
    FAILS(kiln_op_enqueue(op, queue, &buffers, 1, NULL, NULL));
    FAILS(kiln_op_pack(NULL, queue, &buffers, 0, NULL, NULL));
    FAILS(kiln_finish(NULL, queue));
    FAILS(kiln_finish(k, NULL));
    FAILS(kiln_op_time(NULL, queue, &buffers, &ms, NULL));
    FAILS(kiln_op_time(op, NULL, &buffers, &ms, NULL));
    FAILS(kiln_op_time(op, queue, NULL, &ms, NULL));
    FAILS(kiln_op_time(op, queue, &buffers, NULL, NULL));
    FAILS(kiln_explain(NULL, &problem, 0, &verdict));
    FAILS(kiln_explain(k, NULL, 0, &verdict));
    FAILS(kiln_explain(k, &problem, 0, NULL));
    FAILS(kiln_tune(NULL, &problem, queue, &buffers, &tune, &trial));
    FAILS(kiln_tune(k, NULL, queue, &buffers, &tune, &trial));
    FAILS(kiln_tune(k, &problem, NULL, &buffers, &tune, &trial));
    FAILS(kiln_tune(k, &problem, queue, NULL, &tune, &trial));
    FAILS(kiln_tune(k, &problem, queue, &buffers, NULL, &trial));
    FAILS(kiln_tune(k, &problem, queue, &buffers, &unverified, &trial));
    FAILS(kiln_tune(k, &problem, queue, &buffers, &tune, NULL));

    kiln_op_release(op);
    kiln_close(k);
}
END_TEST

/* Functions without a status set the error sentence, too. */
START_TEST(descriptions)
{
    kiln_op_info info = {.stages = 7};
    forget();
    kiln_op_describe(NULL, &info);
    check_sentence("kiln_op_describe(NULL, &info)", kiln_last_error());
    ck_assert_int_eq(info.stages, 0);
    ck_assert_str_eq(info.solver, "");
    kiln_op_describe(NULL, NULL);
    check_sentence("kiln_op_describe(NULL, NULL)", kiln_last_error());
    ck_assert_ptr_null(kiln_op_source(NULL, 0));
    check_sentence("kiln_op_source(NULL, 0)", kiln_last_error());
    ck_assert_str_eq(kiln_cache_dir(NULL), "");
    check_sentence("kiln_cache_dir(NULL)", kiln_last_error());
    ck_assert_str_eq(kiln_rows_file(NULL), "");
    check_sentence("kiln_rows_file(NULL)", kiln_last_error());
    ck_assert_str_eq(kiln_shipped_dir(NULL), "");
    check_sentence("kiln_shipped_dir(NULL)", kiln_last_error());
    kiln_op_release(NULL);
    kiln_close(NULL);
}
END_TEST

static void see_entry(void *user, const kiln_cache_entry *e)
{
    (void)user, (void)e;
}

static void see_piece(void *user, const kiln_rows_piece *p)
{
    (void)user, (void)p;
}

START_TEST(files)
{
    forget();
    FAILS(kiln_cache_list("", NULL, NULL));
    FAILS(kiln_rows_read(NULL, see_piece, NULL));
    FAILS(kiln_rows_read("/dev/null", NULL, NULL));
    ck_assert_int_eq(kiln_cache_list("", see_entry, NULL), KILN_OK);
    ck_assert_int_eq(kiln_cache_clear("", NULL), KILN_OK);
}
END_TEST

START_TEST(values)
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
END_TEST

int main(void)
{
    Suite *s = suite_create("null");
    TCase *t = tcase_create("null");
    tcase_add_test(t, operations);
    tcase_add_test(t, descriptions);
    tcase_add_test(t, files);
    tcase_add_test(t, values);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
