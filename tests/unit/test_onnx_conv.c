/* Convolutions of ONNX models: every form of their attributes gives the problem that was worked out
 * by hand from the operator's definition. */
#include "support/onnx_cases.h"
#include "support/suite.h"

#include <stdio.h>

typedef struct form {
    const char *op, *x, *w, *attributes, *problem; /* sizes of x and w; "!": no size */
    int x_type, w_type;
} form;

enum { FLOAT = 1, U8 = 2, I8 = 3, HALF = 10, BF16 = 16 };

static const form forms[] = {
    /* attributes at their defaults; kernel_shape from the weights */
    {"Conv", "2,3,10,12", "8,3,3,5", "", "fwd-f32-n2-c3-k8-i10x12-f3x5", FLOAT, FLOAT},
    {"Conv", "2,3,10,12", "8,3,3,5", "kernel_shape=[3,5]", "fwd-f32-n2-c3-k8-i10x12-f3x5", FLOAT,
     FLOAT},
    {"Conv", "2,3,10,12", "8,3,3,5", "kernel_shape=[5,3]", "!", FLOAT, FLOAT},
    {"Conv", "1,4,10,12", "8,4,3,3", "strides=[2,1] dilations=[1,2] pads=[1,0,2,3]",
     "fwd-f32-n1-c4-k8-i10x12-f3x3-s2x1-p1x0-e2x3-d1x2", FLOAT, FLOAT},
    {"Conv", "1,8,10,10", "8,1,3,3", "group=8 pads=[1,1,1,1]",
     "fwd-f32-n1-c8-k8-i10x10-f3x3-p1x1-g8", FLOAT, FLOAT},
    /* 1 and 3 axes; more are none of kiln's */
    {"Conv", "1,4,100", "8,4,5", "pads=[2,2] strides=[3]", "fwd-f32-n1-c4-k8-i100-f5-s3-p2", FLOAT,
     FLOAT},
    {"Conv", "1,4,8,9,10", "8,4,3,1,2", "", "fwd-f32-n1-c4-k8-i8x9x10-f3x1x2", FLOAT, FLOAT},
    {"Conv", "1,4,8,9,10,11", "8,4,1,1,1,1", "", "!", FLOAT, FLOAT},
    /* SAME: (10 - 1) / 2 + 1 = 5 windows need 4 * 2 + 4 = 12 of 10: 2 more, and of 11: 6 windows
     * need 5 * 2 + 4 = 14: 3 more */
    {"Conv", "1,4,10,11", "8,4,4,4", "auto_pad='SAME_UPPER' strides=[2,2]",
     "fwd-f32-n1-c4-k8-i10x11-f4x4-s2x2-p1x1-e1x2", FLOAT, FLOAT},
    {"Conv", "1,4,10,11", "8,4,4,4", "auto_pad='SAME_LOWER' strides=[2,2]",
     "fwd-f32-n1-c4-k8-i10x11-f4x4-s2x2-p1x2-e1x1", FLOAT, FLOAT},
    {"Conv", "1,4,10,11", "8,4,4,4", "auto_pad='VALID' pads=[1,1,1,1]",
     "fwd-f32-n1-c4-k8-i10x11-f4x4", FLOAT, FLOAT},
    {"Conv", "1,4,10,11", "8,4,4,4", "auto_pad='NOTSET' pads=[1,1,1,1]",
     "fwd-f32-n1-c4-k8-i10x11-f4x4-p1x1", FLOAT, FLOAT},
    /* with a dilation of 2 a filter of 3 covers 5 */
    {"Conv", "1,4,10,10", "8,4,3,3", "auto_pad='SAME_UPPER' dilations=[2,2]",
     "fwd-f32-n1-c4-k8-i10x10-f3x3-p2x2-d2x2", FLOAT, FLOAT},
    /* weights that do not fit */
    {"Conv", "1,4,10,10", "8,3,3,3", "", "!", FLOAT, FLOAT},
    {"Conv", "1,4,10,10", "8,4,3", "", "!", FLOAT, FLOAT},
    {"Conv", "1,4,10,10", "8,4,3,3", "pads=[1,1]", "!", FLOAT, FLOAT},
    {"Conv", "1,4,10,10", "8,4,3,3", "pads=[-1,0,0,0]", "!", FLOAT, FLOAT},
    {"Conv", "1,4,10,10", "8,4,3,3", "strides=[0,1]", "!", FLOAT, FLOAT},
    {"Conv", "1,4,10,10", "8,4,11,3", "", "!", FLOAT, FLOAT},
    {"Conv", "1,4,10,10", "8,4,3,3", "group=0", "!", FLOAT, FLOAT},
    {"Conv", "1,4,10,10", "9,2,3,3", "group=2", "!", FLOAT, FLOAT},
    {"Conv", "1,4,2000000000,10", "8,4,3,3", "", "!", FLOAT, FLOAT},
    /* types */
    {"Conv", "1,4,10,10", "8,4,3,3", "", "fwd-f16-n1-c4-k8-i10x10-f3x3", HALF, HALF},
    {"Conv", "1,4,10,10", "8,4,3,3", "", "fwd-bf16-n1-c4-k8-i10x10-f3x3", BF16, BF16},
    {"ConvInteger", "1,4,10,10", "8,4,3,3", "", "fwd-i8-n1-c4-k8-i10x10-f3x3", I8, I8},
    {"ConvInteger", "1,4,10,10", "8,4,3,3", "", "fwd-u8-n1-c4-k8-i10x10-f3x3", U8, I8},
    {"ConvInteger", "1,4,10,10", "8,4,3,3", "", "fwd-u8-n1-c4-k8-i10x10-f3x3", U8, U8},
    /* transposed: weights are [C][K / groups]; 2 * (10 - 1) + 3 = 21 */
    {"ConvTranspose", "1,8,10,10", "8,3,3,3", "strides=[2,2]",
     "fwd-f32-n1-c8-k3-i10x10-f3x3-s2x2-trans", FLOAT, FLOAT},
    {"ConvTranspose", "1,8,10,10", "8,3,3,3",
     "strides=[2,2] group=2 pads=[1,1,1,1] "
     "output_padding=[1,1]",
     "fwd-f32-n1-c8-k6-i10x10-f3x3-s2x2-p1x1-g2-trans-o1x1", FLOAT, FLOAT},
    /* a result of 20 asks for 21 - 20 = 1 of padding: behind for SAME_UPPER, else before */
    {"ConvTranspose", "1,8,10,10", "8,3,3,3", "strides=[2,2] auto_pad='SAME_UPPER'",
     "fwd-f32-n1-c8-k3-i10x10-f3x3-s2x2-e1x1-trans", FLOAT, FLOAT},
    {"ConvTranspose", "1,8,10,10", "8,3,3,3", "strides=[2,2] auto_pad='SAME_LOWER'",
     "fwd-f32-n1-c8-k3-i10x10-f3x3-s2x2-p1x1-e0x0-trans", FLOAT, FLOAT},
    {"ConvTranspose", "1,8,10,10", "8,3,3,3", "strides=[2,2] output_shape=[20,19]",
     "fwd-f32-n1-c8-k3-i10x10-f3x3-s2x2-p1x1-e0x1-trans", FLOAT, FLOAT},
    {"ConvTranspose", "1,8,10,10", "8,3,3,3", "strides=[2,2] output_shape=[1,3,20,19]",
     "fwd-f32-n1-c8-k3-i10x10-f3x3-s2x2-p1x1-e0x1-trans", FLOAT, FLOAT},
    /* 22 is one more than there is: output padding */
    {"ConvTranspose", "1,8,10,10", "8,3,3,3", "strides=[2,2] output_shape=[22,21]",
     "fwd-f32-n1-c8-k3-i10x10-f3x3-s2x2-trans-o1x0", FLOAT, FLOAT},
    {"ConvTranspose", "1,8,10,10", "8,3,3,3", "strides=[2,2] output_shape=[30,21]", "!", FLOAT,
     FLOAT},
    {"ConvTranspose", "1,8,10", "4,3,3", "", "!", FLOAT, FLOAT},
};

START_TEST(each_form_gives_its_problem)
{
    const form *f = &forms[_i];
    onnx_writer w;
    onnx_begin(&w, 13);
    onnx_input(&w, "x", f->x_type, f->x);
    onnx_weights(&w, "w", f->w_type, f->w);
    onnx_node(&w, f->op, "x w", "y", f->attributes);
    onnx_expect(&w, f->problem);
}
END_TEST

START_TEST(a_quantized_convolution_has_its_inputs_elsewhere)
{
    onnx_writer w;
    onnx_begin(&w, 13);
    onnx_input(&w, "x", U8, "1,4,10,10");
    onnx_floats(&w, "s", "", "0.5");
    onnx_weights(&w, "z", U8, "");
    onnx_weights(&w, "w", I8, "8,4,3,3");
    onnx_weights(&w, "b", 6, "8");
    onnx_node(&w, "QLinearConv", "x s z w s z s z b", "y", "");
    onnx_node(&w, "QLinearConv", "x s z w s z s z", "v", "");
    onnx_expect(&w, "fwd-u8-n1-c4-k8-i10x10-f3x3-t:u8.i8.u8-bias:i32.W "
                    "fwd-u8-n1-c4-k8-i10x10-f3x3-t:u8.i8.u8");
}
END_TEST

/* The sizes of x are those of a result before; the epilogue ends where the result is needed. */
START_TEST(one_convolution_reads_another)
{
    onnx_writer w;
    onnx_begin(&w, 13);
    onnx_input(&w, "x", FLOAT, "1,3,32,32");
    onnx_weights(&w, "w", FLOAT, "8,3,3,3");
    onnx_weights(&w, "v", FLOAT, "16,8,1,1");
    onnx_weights(&w, "b", FLOAT, "16");
    onnx_node(&w, "Conv", "x w", "a", "strides=[2,2]");
    onnx_node(&w, "Conv", "a v b", "y", "");
    onnx_output(&w, "y");
    onnx_expect(&w, "fwd-f32-n1-c3-k8-i32x32-f3x3-s2x2 fwd-f32-n1-c8-k16-i15x15-f1x1-bias");
}
END_TEST

typedef struct following {
    const char *op, *inputs, *attributes, *problem;
} following;

/* What is behind x -> Conv -> c, and the end of the problem's name. "r" is of c's size, "k" has a
 * number for each channel, "one" is a single constant, "big" has another number for each pixel. */
static const following followings[] = {
    {"Relu", "c", "", "-act:relu"},
    {"Clip", "c zero six", "", "-act:clipped_relu:6"},
    {"Clip", "c zero", "", "-act:relu"},
    {"Clip", "c one six", "", "-act:hard_tanh:1:6"},
    {"Clip", "c six one", "", ""},
    {"HardSigmoid", "c", "", "-act:hard_sigmoid:0.2:0.5"},
    {"HardSigmoid", "c", "alpha=0.25f beta=1.5f", "-act:hard_sigmoid:0.25:1.5"},
    {"HardSwish", "c", "", "-act:hard_swish:0.16666667:0.5"},
    {"Mish", "c", "", "-act:mish"},
    {"Softplus", "c", "", "-act:softplus:1"},
    {"Exp", "c", "", "-act:exp"},
    {"Abs", "c", "", "-act:abs"},
    {"LeakyRelu", "c", "alpha=0.2f", "-act:leaky_relu:0.2"},
    {"LeakyRelu", "c", "", "-act:leaky_relu:0.01"},
    {"PRelu", "c one", "", "-act:leaky_relu:1"},
    {"Elu", "c", "alpha=0.5f", "-act:elu:0.5"},
    {"Sigmoid", "c", "", "-act:sigmoid"},
    {"Tanh", "c", "", "-act:tanh:1:1"},
    {"Softmax", "c", "", ""},
    {"Add", "c k", "", "-bias"},
    {"Add", "k c", "", "-bias"},
    {"Sub", "c k", "", "-bias"},
    {"Add", "c r", "", "-r1"},
    {"Add", "r c", "", "-r1"},
    {"Sub", "c r", "", ""},
    {"Add", "c c", "", ""},
    {"Add", "c big", "", ""},
    {"Mul", "c k", "", ""},
    {"BatchNormalization", "c k1 k1 k1 k1", "", "-bias"},
};

START_TEST(what_follows_becomes_the_epilogue)
{
    const following *f = &followings[_i];
    char problem[200];
    onnx_writer w;
    onnx_begin(&w, 13);
    onnx_input(&w, "x", FLOAT, "1,3,8,8");
    onnx_input(&w, "r", FLOAT, "1,4,8,8");
    onnx_weights(&w, "w", FLOAT, "4,3,1,1");
    onnx_weights(&w, "k", FLOAT, "4,1,1");
    onnx_weights(&w, "k1", FLOAT, "4");
    onnx_weights(&w, "big", FLOAT, "8,8");
    onnx_floats(&w, "zero", "", "0");
    onnx_floats(&w, "six", "", "6");
    onnx_floats(&w, "one", "1", "1");
    onnx_node(&w, "Conv", "x w", "c", "");
    onnx_node(&w, f->op, f->inputs, "y", f->attributes);
    onnx_output(&w, "y");
    snprintf(problem, sizeof problem, "fwd-f32-n1-c3-k4-i8x8-f1x1%s", f->problem);
    onnx_expect(&w, problem);
}
END_TEST

static void begin_chain(onnx_writer *w)
{
    onnx_begin(w, 13);
    onnx_input(w, "x", FLOAT, "1,3,8,8");
    onnx_weights(w, "w", FLOAT, "3,3,1,1");
    onnx_weights(w, "k", FLOAT, "3");
}

START_TEST(a_chain_is_taken_as_far_as_it_can_be)
{
    onnx_writer w;
    begin_chain(&w);
    onnx_node(&w, "Conv", "x w", "c", "");
    onnx_node(&w, "BatchNormalization", "c k k k k", "n", "");
    onnx_node(&w, "Add", "n x", "a", "");
    onnx_node(&w, "Relu", "a", "y", "");
    onnx_node(&w, "Relu", "y", "z", "");
    onnx_expect(&w, "fwd-f32-n1-c3-k3-i8x8-f1x1-bias-r1-act:relu");
    /* A normalisation of the sum would have to scale the residual. */
    begin_chain(&w);
    onnx_node(&w, "Conv", "x w", "c", "");
    onnx_node(&w, "Add", "c x", "a", "");
    onnx_node(&w, "BatchNormalization", "a k k k k", "n", "");
    onnx_expect(&w, "fwd-f32-n1-c3-k3-i8x8-f1x1-r1");
    /* v * sigmoid(v) */
    begin_chain(&w);
    onnx_node(&w, "Conv", "x w", "c", "");
    onnx_node(&w, "Sigmoid", "c", "s", "");
    onnx_node(&w, "Mul", "c s", "y", "");
    onnx_expect(&w, "fwd-f32-n1-c3-k3-i8x8-f1x1-act:silu");
    /* v * hard_sigmoid(v), whose parameters stay those of the gate */
    begin_chain(&w);
    onnx_node(&w, "Conv", "x w", "c", "");
    onnx_node(&w, "HardSigmoid", "c", "s", "alpha=0.25f");
    onnx_node(&w, "Mul", "c s", "y", "");
    onnx_expect(&w, "fwd-f32-n1-c3-k3-i8x8-f1x1-act:hard_swish:0.25:0.5");
    /* A result that others read, or that leaves the graph, must be in memory. */
    begin_chain(&w);
    onnx_node(&w, "Conv", "x w", "c", "");
    onnx_node(&w, "Relu", "c", "y", "");
    onnx_node(&w, "Tanh", "c", "z", "");
    onnx_expect(&w, "fwd-f32-n1-c3-k3-i8x8-f1x1");
    begin_chain(&w);
    onnx_node(&w, "Conv", "x w", "c", "");
    onnx_node(&w, "Relu", "c", "y", "");
    onnx_output(&w, "c");
    onnx_expect(&w, "fwd-f32-n1-c3-k3-i8x8-f1x1");
    /* One of two sums is the other's residual: the one that runs later. */
    begin_chain(&w);
    onnx_node(&w, "Conv", "x w", "a", "");
    onnx_node(&w, "Conv", "x w", "b", "");
    onnx_node(&w, "Add", "a b", "y", "");
    onnx_expect(&w, "fwd-f32-n1-c3-k3-i8x8-f1x1 fwd-f32-n1-c3-k3-i8x8-f1x1-r1");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("onnx_conv");
    TCase *t = tcase_create("conv");
    tcase_add_loop_test(t, each_form_gives_its_problem, 0, sizeof forms / sizeof *forms);
    tcase_add_test(t, a_quantized_convolution_has_its_inputs_elsewhere);
    tcase_add_test(t, one_convolution_reads_another);
    tcase_add_loop_test(t, what_follows_becomes_the_epilogue, 0,
                        sizeof followings / sizeof *followings);
    tcase_add_test(t, a_chain_is_taken_as_far_as_it_can_be);
    suite_add_tcase(s, t);
    return support_run_suite(s);
}
