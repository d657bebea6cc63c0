/* Sizes behind operators, in bodies and functions, and what is said where there are none. The
 * random models of tests/portability/onnx_shapes.py compare most operators with ONNX's own
 * inference; here is what it does not know, or knows differently. */
#include "support/onnx_cases.h"
#include "support/suite.h"

#include <stdio.h>
#include <string.h>

enum { FLOAT = 1, INT64 = 7, BOOL = 9 };

/* A convolution that shows the sizes of a value of three to five dims, with its channels. */
static void show(onnx_writer *w, const char *value, const char *weights)
{
    char name[100];
    snprintf(name, sizeof name, "w_%s", value);
    onnx_weights(w, name, FLOAT, weights);
    snprintf(name, sizeof name, "%s w_%s", value, value);
    onnx_node(w, "Conv", name, "", "");
}

typedef struct sized {
    int opset;
    const char *op, *inputs, *outputs, *attributes; /* of x, "1,8,9,10", and constants below */
    const char *weights, *problem;                  /* for what "y" is then */
} sized;

static const sized table[] = {
    /* (9 + 2 - 3) / 2 + 1 = 5, (10 + 2 - 3) / 2 + 1 = 5.5: 6 with ceil_mode, whose window begins at
     * 10, in the tensor and its padding of 1 before: 11 */
    {13, "MaxPool", "x", "y", "kernel_shape=[3,3] strides=[2,2] pads=[1,1,1,1] ceil_mode=1",
     "1,8,1,1", "i5x6"},
    /* (9 - 1) / 3 + 1 = 3.67: 4, but the window would begin at 9, behind the tensor: 3 */
    {13, "AveragePool", "x", "y", "kernel_shape=[1,1] strides=[3,4] ceil_mode=1", "1,8,1,1",
     "i3x3"},
    {13, "MaxPool", "x", "y", "kernel_shape=[3,3] dilations=[2,3]", "1,8,1,1", "i5x4"},
    {18, "Resize", "x - - sizes2", "y", "axes=[2,3]", "1,8,1,1", "i30x20"},
    /* a ratio of 20 / 10 for both, not of 30 / 9 */
    {18, "Resize", "x - - sizes2", "y", "axes=[2,3] keep_aspect_ratio_policy='not_larger'",
     "1,8,1,1", "i18x20"},
    {18, "Resize", "x - - sizes2", "y", "axes=[2,3] keep_aspect_ratio_policy='not_smaller'",
     "1,8,1,1", "i30x33"},
    {18, "Split", "x", "y z", "axis=2 num_outputs=2", "1,8,1,1", "i5x10"},
    {18, "Pad", "x two_ones - axes2", "y", "", "1,8,1,1", "i10x11"},
    {18, "ReduceMean", "x axes2", "y", "", "1,8,1,1", "i1x1"},
    {15, "Trilu", "x", "y", "", "1,8,1,1", "i9x10"},
    {16, "GridSample", "x grid", "y", "", "1,8,1,1", "i4x5"},
    {16, "RoiAlign", "x rois ids", "y", "output_height=7 output_width=6", "1,8,1,1", "i7x6"},
    {12, "Einsum", "x m", "y", "equation='bchw,wd->bchd'", "1,8,1,1", "i9x4"},
    {13, "DepthToSpace", "x", "y", "blocksize=2 mode='CRD'", "1,2,1,1", "i18x20"},
    {13, "SpaceToDepth", "x", "y", "blocksize=1", "1,8,1,1", "i9x10"},
    {13, "Clip", "x", "y", "", "1,8,1,1", "i9x10"},
    {18, "GroupNormalization", "x k k", "y", "num_groups=2", "1,8,1,1", "i9x10"},
    {13, "LRN", "x", "y", "size=5", "1,8,1,1", "i9x10"},
    {13, "InstanceNormalization", "x k k", "y", "", "1,8,1,1", "i9x10"},
};

START_TEST(an_operator_has_the_sizes_of_its_definition)
{
    const sized *t = &table[_i];
    char problem[200];
    onnx_writer w;
    onnx_begin(&w, t->opset);
    onnx_input(&w, "x", FLOAT, "1,8,9,10");
    onnx_input(&w, "grid", FLOAT, "1,4,5,2");
    onnx_input(&w, "rois", FLOAT, "1,4");
    onnx_input(&w, "ids", INT64, "1");
    onnx_ints(&w, "sizes2", "30,20");
    onnx_ints(&w, "axes2", "2,-1");
    onnx_ints(&w, "two_ones", "1,0,0,1");
    onnx_weights(&w, "m", FLOAT, "10,4");
    onnx_weights(&w, "k", FLOAT, "8");
    onnx_node(&w, t->op, t->inputs, t->outputs, t->attributes);
    show(&w, "y", t->weights);
    snprintf(problem, sizeof problem, "fwd-f32-n1-c%c-k1-%s-f1x1", t->weights[2], t->problem);
    onnx_expect(&w, problem);
}
END_TEST

/* Two branches that differ in one size. */
static void add_if(onnx_writer *w, const char *condition)
{
    const size_t n = onnx_node_open(w, "If", "", condition, "y", "name=choice");
    onnx_body b = onnx_body_open(w, "then_branch");
    onnx_node(w, "Conv", "x w", "t", "name=one");
    onnx_output(w, "t");
    onnx_body_close(w, b);
    b = onnx_body_open(w, "else_branch");
    onnx_node(w, "Conv", "x w", "e", "strides=[1,2]");
    onnx_output(w, "e");
    onnx_body_close(w, b);
    onnx_node_close(w, n);
}

START_TEST(both_branches_are_read_unless_the_condition_is_known)
{
    onnx_writer w;
    onnx_begin(&w, 13);
    onnx_input(&w, "x", FLOAT, "1,3,8,8");
    onnx_input(&w, "c", BOOL, "");
    onnx_weights(&w, "w", FLOAT, "4,3,1,1");
    add_if(&w, "c");
    show(&w, "y", "1,4,1,1"); /* 8x8 or 8x4 */
    onnx_expect(&w, "fwd-f32-n1-c3-k4-i8x8-f1x1 fwd-f32-n1-c3-k4-i8x8-f1x1-s1x2 !");
    onnx_begin(&w, 13);
    onnx_input(&w, "x", FLOAT, "1,3,8,8");
    onnx_weights(&w, "w", FLOAT, "4,3,1,1");
    onnx_ints(&w, "eight", "8");
    onnx_node(&w, "Shape", "x", "s", "start=3");
    onnx_node(&w, "Equal", "s eight", "c", "");
    add_if(&w, "c");
    show(&w, "y", "1,4,1,1");
    onnx_expect(&w, "fwd-f32-n1-c3-k4-i8x8-f1x1 fwd-f32-n1-c4-k1-i8x8-f1x1");
}
END_TEST

/* x -> Conv -> next x, so many times; each pass makes the image narrower by `less`. */
static onnx_model *loop_model(const char *trips, const char *weights, kiln_status *status,
                              char why[ONNX_WHY])
{
    onnx_writer w;
    onnx_begin(&w, 13);
    onnx_input(&w, "x", FLOAT, "1,3,8,8");
    onnx_input(&w, "unknown", INT64, "");
    onnx_weights(&w, "w", FLOAT, weights);
    onnx_ints(&w, "five", "5");
    onnx_node(&w, "Squeeze", "five", "m", "");
    const size_t n = onnx_node_open(&w, "Loop", "", trips, "y ys", "name=loop");
    const onnx_body b = onnx_body_open(&w, "body");
    onnx_input(&w, "i", INT64, "");
    onnx_input(&w, "go", BOOL, "");
    onnx_node(&w, "Identity", "go", "goes", "");
    onnx_node(&w, "Conv", "v w", "next", "name=inner");
    onnx_node(&w, "ReduceMax", "next", "top", "axes=[2,3] keepdims=0");
    onnx_output(&w, "goes");
    onnx_output(&w, "next");
    onnx_output(&w, "top");
    /* An input of the body whose sizes are those of the pass before. */
    const size_t info = wire_open(&w, 11);
    wire_text(&w, 1, "v");
    wire_close(&w, info);
    onnx_body_close(&w, b);
    onnx_node_close(&w, n);
    onnx_node(&w, "Transpose", "ys", "row", "perm=[1,2,0]");
    onnx_weights(&w, "v1", FLOAT, "1,3,1");
    onnx_node(&w, "Conv", "row v1", "z", "name=behind");
    onnx_end(&w);
    return onnx_read_written(&w, NULL, status, why);
}

START_TEST(a_loop_is_counted_as_often_as_it_runs)
{
    char why[ONNX_WHY], text[KILN_KEY_TEXT];
    kiln_status status;
    onnx_model *m = loop_model("m - x", "3,3,1,1", &status, why);
    ck_assert_msg(m != NULL, "%s", why);
    ck_assert_uint_eq(m->layers, 2);
    ck_assert_str_eq(m->layer[0].name, "loop/inner");
    ck_assert_int_eq(m->layer[0].times, 5);
    ck_assert_str_eq(m->layer[0].note, "");
    ck_assert(m->layer[0].sized && m->layer[1].sized);
    kiln_problem_text(&m->layer[1].problem, text, sizeof text);
    ck_assert_str_eq(text, "fwd-f32-n1-c3-k1-i5-f1"); /* five results, one behind the other */
    onnx_close(m);
    m = loop_model("unknown - x", "3,3,1,1", &status, why);
    ck_assert_msg(m != NULL, "%s", why);
    ck_assert_int_eq(m->layer[0].times, 1);
    ck_assert(strstr(m->layer[0].note, "counted once") != NULL);
    ck_assert(!m->layer[1].sized);
    onnx_close(m);
    /* Sizes that change from pass to pass are not those of the first. */
    m = loop_model("m - x", "3,3,2,2", &status, why);
    ck_assert_msg(m != NULL, "%s", why);
    ck_assert(!m->layer[0].sized);
    ck_assert_msg(strstr(m->layer[0].why, "differs between the passes of loop") != NULL, "%s",
                  m->layer[0].why);
    onnx_close(m);
}
END_TEST

START_TEST(a_scan_runs_once_for_each_step)
{
    char why[ONNX_WHY], text[KILN_KEY_TEXT];
    kiln_status status;
    onnx_writer w;
    onnx_begin(&w, 13);
    onnx_input(&w, "x", FLOAT, "7,1,3,8");
    onnx_weights(&w, "w", FLOAT, "4,3,1");
    const size_t n = onnx_node_open(&w, "Scan", "", "x", "y", "num_scan_inputs=1");
    const onnx_body b = onnx_body_open(&w, "body");
    const size_t info = wire_open(&w, 11);
    wire_text(&w, 1, "step");
    wire_close(&w, info);
    onnx_node(&w, "Conv", "step w", "next", "");
    onnx_output(&w, "next");
    onnx_body_close(&w, b);
    onnx_node_close(&w, n);
    show(&w, "y", "1,1,1,1");
    onnx_end(&w);
    onnx_model *m = onnx_read_written(&w, NULL, &status, why);
    ck_assert_msg(m != NULL, "%s", why);
    ck_assert_int_eq(m->layer[0].times, 7);
    kiln_problem_text(&m->layer[0].problem, text, sizeof text);
    ck_assert_str_eq(text, "fwd-f32-n1-c3-k4-i8-f1");
    kiln_problem_text(&m->layer[1].problem, text, sizeof text);
    ck_assert_str_eq(text, "fwd-f32-n7-c1-k1-i4x8-f1x1");
    onnx_close(m);
}
END_TEST

START_TEST(a_function_takes_attributes_of_its_caller)
{
    char why[ONNX_WHY], text[KILN_KEY_TEXT];
    kiln_status status;
    onnx_writer w;
    onnx_begin(&w, 15);
    onnx_input(&w, "x", FLOAT, "1,3,8,8");
    onnx_weights(&w, "w", FLOAT, "3,3,3,3");
    onnx_node_close(&w, onnx_node_open(&w, "Twice", "own", "x w", "y", "s=[2,1] name=call"));
    onnx_node(&w, "Relu", "y", "z", "");
    onnx_graph_end(&w);
    const size_t f = onnx_function_open(&w, "own", "Twice", "a b", "r");
    onnx_function_node(&w, "Conv", "a b", "t", "strides=$s pads=[1,1,1,1] name=first");
    onnx_function_node(&w, "Conv", "t b", "r", "name=second");
    onnx_function_close(&w, f);
    onnx_model *m = onnx_read_written(&w, NULL, &status, why);
    ck_assert_msg(m != NULL, "%s", why);
    ck_assert_uint_eq(m->layers, 2);
    ck_assert_str_eq(m->layer[1].name, "call/second");
    kiln_problem_text(&m->layer[0].problem, text, sizeof text);
    ck_assert_str_eq(text, "fwd-f32-n1-c3-k3-i8x8-f3x3-s2x1-p1x1");
    kiln_problem_text(&m->layer[1].problem, text, sizeof text);
    ck_assert_str_eq(text, "fwd-f32-n1-c3-k3-i4x8-f3x3");
    onnx_close(m);
}
END_TEST

START_TEST(an_unknown_operator_ends_only_what_is_behind)
{
    char why[ONNX_WHY];
    kiln_status status;
    onnx_writer w;
    onnx_begin(&w, 13);
    onnx_input(&w, "x", FLOAT, "1,3,8,8");
    onnx_weights(&w, "w", FLOAT, "3,3,1,1");
    onnx_value_info(&w, "told", FLOAT, "1,3,5,5");
    onnx_node_close(&w, onnx_node_open(&w, "Magic", "own", "x", "m", "name=wand"));
    onnx_node_close(&w, onnx_node_open(&w, "Magic", "own", "x", "told", ""));
    onnx_node(&w, "Conv", "m w", "a", "");
    onnx_node(&w, "Relu", "a", "b", "");
    onnx_node(&w, "Conv", "b w", "c", "");
    onnx_node(&w, "Conv", "x w", "d", "");
    onnx_node(&w, "Conv", "told w", "e", "");
    onnx_end(&w);
    onnx_model *m = onnx_read_written(&w, NULL, &status, why);
    ck_assert_msg(m != NULL, "%s", why);
    ck_assert_uint_eq(m->layers, 4);
    ck_assert_str_eq(m->layer[0].why, "wand is a own.Magic, which kiln does not know");
    ck_assert_str_eq(m->layer[1].why, "wand is a own.Magic, which kiln does not know");
    ck_assert(m->layer[2].sized && m->layer[3].sized);
    ck_assert_int_eq(m->layer[3].problem.input[0], 5);
    onnx_close(m);
}
END_TEST

/* Nodes in the wrong order are put into the right one. */
START_TEST(order_does_not_matter)
{
    onnx_writer w;
    onnx_begin(&w, 13);
    onnx_input(&w, "x", FLOAT, "1,3,8,8");
    onnx_weights(&w, "w", FLOAT, "3,3,3,3");
    onnx_node(&w, "Conv", "b w", "c", "");
    onnx_node(&w, "Relu", "a", "b", "");
    onnx_node(&w, "Conv", "x w", "a", "");
    onnx_expect(&w, "fwd-f32-n1-c3-k3-i8x8-f3x3-act:relu fwd-f32-n1-c3-k3-i6x6-f3x3");
}
END_TEST

typedef struct given_case {
    onnx_given given;
    const char *expected; /* the problem, or a part of the sentence */
} given_case;

/* The inputs are "image", batch x 3 x height x width, and "mask", batch x 1 x ? x 7. */
static const given_case givens[] = {
    {{.dim = {"batch=2", "height=8", "width=9"}, .dims = 3, .input = {"mask=2x1x5x7"}, .inputs = 1},
     "fwd-f32-n2-c3-k3-i8x9-f1x1"},
    {{.input = {"image=2x3x8x9", "mask=2x1x5x7"}, .inputs = 2}, "fwd-f32-n2-c3-k3-i8x9-f1x1"},
    {{.input = {"image=2,3,8,9", "mask=2,1,5,7"}, .inputs = 2, .batch = 0},
     "fwd-f32-n2-c3-k3-i8x9-f1x1"},
    {{.dim = {"height=8", "width=9"},
      .dims = 2,
      .input = {"mask=4x1x5x7"},
      .inputs = 1,
      .batch = 4},
     "fwd-f32-n4-c3-k3-i8x9-f1x1"},
    {{.batch = 0},
     "image is batch x 3 x height x width; mask is batch x 1 x ? x 7; say --dim "
     "batch=N --dim height=N --dim width=N, or --input image=Nx3xNxN"},
    {{.dim = {"batch=2", "height=8", "width=9"}, .dims = 3},
     "mask is 2 x 1 x ? x 7; say --input mask=2x1xNx7"},
    {{.dim = {"depth=2"}, .dims = 1},
     "--dim names 'depth', which no input has; the inputs have "
     "batch, height, width"},
    {{.dim = {"batch"}, .dims = 1}, "--dim is 'batch'; it must be NAME=N"},
    {{.dim = {"batch=0"}, .dims = 1}, "--dim is 'batch=0'"},
    {{.dim = {"batch=-1"}, .dims = 1}, "--dim is 'batch=-1'"},
    {{.dim = {"batch=99999999999999999999"}, .dims = 1}, "--dim is 'batch=9"},
    {{.input = {"picture=1"}, .inputs = 1}, "the model's inputs are image, mask"},
    {{.input = {"image=1x2x3"}, .inputs = 1}, "of 3 dims; the model's input has 4"},
    {{.input = {"image=1x2x3x4x5x6x7x8x9x1x2x3x4"}, .inputs = 1}, "of more than 12 dims"},
};

START_TEST(open_sizes_are_given_or_asked_for)
{
    const given_case *g = &givens[_i];
    char why[ONNX_WHY], text[KILN_KEY_TEXT];
    kiln_status status;
    onnx_writer w;
    onnx_begin(&w, 13);
    onnx_input(&w, "image", FLOAT, "batch,3,height,width");
    onnx_input(&w, "mask", FLOAT, "batch,1,?,7");
    onnx_weights(&w, "w", FLOAT, "3,3,1,1");
    onnx_node(&w, "Conv", "image w", "y", "");
    onnx_end(&w);
    onnx_model *m = onnx_read_written(&w, &g->given, &status, why);
    if (strncmp(g->expected, "fwd", 3) == 0) {
        ck_assert_msg(m != NULL, "%s", why);
        kiln_problem_text(&m->layer[0].problem, text, sizeof text);
        ck_assert_str_eq(text, g->expected);
    } else {
        ck_assert_int_eq(status, KILN_INVALID);
        ck_assert_msg(strstr(why, g->expected) != NULL, "%s", why);
    }
    onnx_close(m);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("onnx_sizes");
    TCase *t = tcase_create("sizes");
    tcase_add_loop_test(t, an_operator_has_the_sizes_of_its_definition, 0,
                        sizeof table / sizeof *table);
    tcase_add_test(t, both_branches_are_read_unless_the_condition_is_known);
    tcase_add_test(t, a_loop_is_counted_as_often_as_it_runs);
    tcase_add_test(t, a_scan_runs_once_for_each_step);
    tcase_add_test(t, a_function_takes_attributes_of_its_caller);
    tcase_add_test(t, an_unknown_operator_ends_only_what_is_behind);
    tcase_add_test(t, order_does_not_matter);
    tcase_add_loop_test(t, open_sizes_are_given_or_asked_for, 0, sizeof givens / sizeof *givens);
    suite_add_tcase(s, t);
    return support_run_suite(s);
}
