/* The check of padding: silent over what is right, and over templates that leave something there
 * it names stage and layout. */
#include "driver/base/memory.h"
#include "driver/layout/layout_host.h"
#include "runtime/programs/template.h"
#include "support/suite.h"
#include "support/support.h"

#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- templates with a defect ---- */

static char folder[64];

static char *read_template(const char *file)
{
    const kiln_template *t = kiln_embedded_templates;
    while (t->file && strcmp(t->file, file) != 0)
        t++;
    ck_assert_msg(t->file != NULL, "%s", file);
    return strdup(t->text);
}

/* Writes a copy of a template in which `wrong` stands for the first `right`. */
static void plant(const char *file, const char *right, const char *wrong)
{
    char path[4096];
    snprintf(folder, sizeof folder, "/tmp/kiln-padding.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/%s", folder, file);
    char *text = read_template(file), *at = strstr(text, right);
    ck_assert_msg(at != NULL, "%s has no %s", file, right);
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fwrite(text, 1, (size_t)(at - text), f);
    fputs(wrong, f);
    fputs(at + strlen(right), f);
    fclose(f);
    free(text);
}

static void pull_out(const char *file)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    remove(path);
    rmdir(folder);
}

/* ---- one run under the check ---- */

static kiln_problem problem(const char *data)
{
    kiln_problem p = {.batch = 2,
                      .in_channels = 5,
                      .out_channels = 6,
                      .input = {7, 9},
                      .filter = {3, 3},
                      .pad_begin = {1, 1},
                      .pad_end = {1, 1},
                      .epilogue = {.activation = KILN_SIGMOID}};
    snprintf(p.x_layout, sizeof p.x_layout, "%s", data);
    snprintf(p.y_layout, sizeof p.y_layout, "%s", data);
    return p;
}

static cl_mem make(const support_device *d, const kiln_problem *p, char tensor, bool dirty)
{
    kiln_storage s;
    cl_int code;
    ck_assert(kiln_problem_storage(p, tensor, &s, NULL));
    const memory_kind kind = memory_of(&s, KILN_F32);
    float *plain = calloc((size_t)kiln_problem_count(p, tensor), sizeof *plain);
    float *cells = calloc((size_t)s.cells, sizeof *cells);
    host_fill_tensor(HOST_FILL_INT, 1, HOST_X, KILN_F32, 1, plain, kiln_problem_count(p, tensor));
    layout_host_store(&s, KILN_F32, plain, cells);
    int64_t at[KILN_MAX_DIMS];
    for (int64_t i = s.cells - 1; i >= 0 && dirty; i--)
        if (!kiln_storage_coordinate(&s, i, at)) {
            cells[i] = 0.5f;
            dirty = false;
        }
    cl_mem mem = memory_make(d->context, &kind, &code);
    ck_assert_int_eq(code, CL_SUCCESS);
    ck_assert_int_eq(memory_write(d->queue, &kind, mem, cells), CL_SUCCESS);
    free(plain);
    free(cells);
    return mem;
}

static void *open_gate(void *gate)
{
    const struct timespec moment = {.tv_nsec = 20000000};
    nanosleep(&moment, NULL);
    clSetUserEventStatus(gate, CL_COMPLETE);
    return NULL;
}

/* Another queue makes x clean, a moment after the enqueue that waits for that. */
static kiln_status enqueue_behind_cleaning(kiln_op *op, cl_command_queue queue,
                                           const kiln_buffers *b)
{
    const cl_uint zero = 0;
    size_t bytes;
    cl_int code;
    pthread_t thread;
    cl_event gate = clCreateUserEvent(support_open()->context, &code), cleaned;
    cl_command_queue other = support_queue(false);
    clGetMemObjectInfo(b->x.mem, CL_MEM_SIZE, sizeof bytes, &bytes, NULL);
    code = clEnqueueFillBuffer(other, b->x.mem, &zero, sizeof zero, 0, bytes, 1, &gate, &cleaned);
    ck_assert_int_eq(code, CL_SUCCESS);
    ck_assert_int_eq(pthread_create(&thread, NULL, open_gate, gate), 0);
    kiln_status status = kiln_op_enqueue(op, queue, b, 1, &cleaned, NULL);
    pthread_join(thread, NULL);
    clReleaseEvent(gate);
    clReleaseEvent(cleaned);
    clReleaseCommandQueue(other);
    return status;
}

typedef enum padding { CLEAN, DIRTY, CLEANED_LATER } padding;

/* Says what the enqueue says. */
static kiln_status run(kiln *k, kiln_problem p, const char *solver, padding x, bool out_of_order)
{
    const support_device *d = support_open();
    const kiln_choice choice = {.solver = solver, .ignore_rows = 1};
    kiln_op *op;
    kiln_op_info info;
    cl_int code;
    ck_assert_msg(kiln_conv_create(k, &p, &choice, &op) == KILN_OK, "%s", kiln_last_error());
    kiln_op_describe(op, &info);
    cl_command_queue queue = support_queue(out_of_order);
    kiln_buffers b = {.x = {make(d, &info.problem, 'x', x != CLEAN), 0},
                      .w = {make(d, &info.problem, 'w', false), 0},
                      .y = {make(d, &info.problem, 'y', false), 0}};
    if (info.workspace_size)
        b.workspace.mem =
            clCreateBuffer(d->context, CL_MEM_READ_WRITE, (size_t)info.workspace_size, NULL, &code);
    kiln_status status = x == CLEANED_LATER ? enqueue_behind_cleaning(op, queue, &b)
                                            : kiln_op_enqueue(op, queue, &b, 0, NULL, NULL);
    clFinish(queue);
    clReleaseCommandQueue(queue);
    clReleaseMemObject(b.x.mem);
    clReleaseMemObject(b.w.mem);
    clReleaseMemObject(b.y.mem);
    if (b.workspace.mem)
        clReleaseMemObject(b.workspace.mem);
    kiln_op_release(op);
    return status;
}

static kiln *open_checked(const char *templates)
{
    const support_device *d = support_open();
    const kiln_settings settings = {
        .check_padding = 1, .template_dir = templates, .cache_dir = "off", .rows_file = "off"};
    kiln *k;
    ck_assert_msg(kiln_open(&k, d->context, d->device, &settings) == KILN_OK, "%s",
                  kiln_last_error());
    return k;
}

static void says(const char *word)
{
    ck_assert_msg(strstr(kiln_last_error(), word), "%s", kiln_last_error());
}

static const struct {
    const char *layout, *solver;
} cases[] = {{"IMG_CHANNEL_MAJOR", "direct_image"},
             {"IMG_CHANNEL_MAJOR", "winograd_image"},
             {"IMG_CHANNEL_MAJOR", "naive"},
             {"NC/8HW8", "direct_blocked"},
             {"NHWC8", "direct"},
             {"NCHW", "direct"}};

enum { CASES = sizeof cases / sizeof *cases };

START_TEST(what_is_right_passes)
{
    kiln *k = open_checked(NULL);
    ck_assert_msg(run(k, problem(cases[_i].layout), cases[_i].solver, CLEAN, _i % 2) == KILN_OK,
                  "%s", kiln_last_error());
    kiln_close(k);
}
END_TEST

START_TEST(a_result_with_something_in_its_padding_is_reported)
{
    plant("image.cl", "#if D_CHANNELS % 4", "#if 0");
    kiln *k = open_checked(folder);
    ck_assert_int_eq(run(k, problem("IMG_CHANNEL_MAJOR"), "direct_image", CLEAN, false),
                     KILN_WRONG);
    /* 2 x 7 x 9 pixels with 2 lanes that sigmoid makes 0.5. */
    says("direct_image of direct_image.cl, left 252 of 252 cells of padding in y");
    says("layout NH|CW|4c");
    kiln_close(k);
    pull_out("image.cl");
}
END_TEST

START_TEST(blocks_of_channels_are_looked_at_too)
{
    plant("channels.cl", "#if D_CHANNELS % D_B || D_DST_PADDED > D_CHANNELS", "#if 0");
    kiln *k = open_checked(folder);
    ck_assert_int_eq(run(k, problem("NC/8HW8"), "direct_blocked", CLEAN, true), KILN_WRONG);
    says("of 252 cells of padding in y, layout NCHW8c");
    kiln_close(k);
    pull_out("channels.cl");
}
END_TEST

/* What MACE's product leaves: rows of U behind the last of one t. The result itself is clean. */
START_TEST(an_intermediate_is_reported_with_its_stage)
{
    plant("winograd_image.cl", "#if D_DST_C % 4", "#if 0");
    kiln *k = open_checked(folder);
    ck_assert_int_eq(run(k, problem("IMG_CHANNEL_MAJOR"), "winograd_image", CLEAN, false),
                     KILN_WRONG);
    says("stage 2, product of winograd_image.cl");
    says("layout IMG_WINO_MATRIX");
    kiln_close(k);
    pull_out("winograd_image.cl");
}
END_TEST

START_TEST(a_reformat_is_looked_at)
{
    plant("reformat.cl", "D_INSIDE ? element : (VAL_T)(P_PAD)", "element");
    kiln *k = open_checked(folder);
    ck_assert_int_eq(run(k, problem("IMG_CHANNEL_MAJOR"), "naive", CLEAN, false), KILN_WRONG);
    says("reformat of reformat.cl");
    says("cells of padding in y, layout NH|CW|4c");
    kiln_close(k);
    pull_out("reformat.cl");
}
END_TEST

START_TEST(what_the_caller_gives_is_looked_at)
{
    kiln *k = open_checked(NULL);
    ck_assert_int_eq(run(k, problem("IMG_CHANNEL_MAJOR"), "direct_image", DIRTY, false),
                     KILN_WRONG);
    says("1 of 378 cells of padding in x, layout NH|CW|4c, are not zero as they were");
    ck_assert_int_eq(run(k, problem("NHWC8"), "direct", DIRTY, false), KILN_WRONG);
    says("1 of 378 cells of padding in x, layout NHWC;C%8");
    kiln_close(k);
}
END_TEST

START_TEST(what_an_event_brings_is_looked_at_behind_it)
{
    kiln *k = open_checked(NULL);
    for (int out_of_order = 0; out_of_order < 2; out_of_order++)
        ck_assert_msg(run(k, problem("NC/8HW8"), "direct_blocked", CLEANED_LATER, out_of_order) ==
                          KILN_OK,
                      "%s", kiln_last_error());
    kiln_close(k);
}
END_TEST

START_TEST(without_the_setting_nobody_looks)
{
    ck_assert_int_eq(
        run(support_open()->kiln, problem("IMG_CHANNEL_MAJOR"), "direct_image", DIRTY, false),
        KILN_OK);
}
END_TEST

START_TEST(the_environment_turns_it_on)
{
    const support_device *d = support_open();
    const kiln_settings settings = {.cache_dir = "off", .rows_file = "off"};
    const char *const values[] = {"1", "0", "off", ""};
    for (int i = 0; i < 4; i++) {
        kiln *k;
        setenv("KILN_CHECK_PADDING", values[i], 1);
        ck_assert_int_eq(kiln_open(&k, d->context, d->device, &settings), KILN_OK);
        ck_assert_int_eq(run(k, problem("IMG_CHANNEL_MAJOR"), "direct_image", DIRTY, false),
                         i ? KILN_OK : KILN_WRONG);
        kiln_close(k);
    }
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("padding");
    tcase_set_timeout(c, 300);
    tcase_add_loop_test(c, what_is_right_passes, 0, CASES);
    tcase_add_test(c, a_result_with_something_in_its_padding_is_reported);
    tcase_add_test(c, blocks_of_channels_are_looked_at_too);
    tcase_add_test(c, an_intermediate_is_reported_with_its_stage);
    tcase_add_test(c, a_reformat_is_looked_at);
    tcase_add_test(c, what_the_caller_gives_is_looked_at);
    tcase_add_test(c, what_an_event_brings_is_looked_at_behind_it);
    tcase_add_test(c, without_the_setting_nobody_looks);
    tcase_add_test(c, the_environment_turns_it_on);
    Suite *s = suite_create("padding");
    suite_add_tcase(s, c);
    return support_run_suite(s);
}
