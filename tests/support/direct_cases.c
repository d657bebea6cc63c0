/* Shapes for the direct solvers over plain tensors. */
#include "direct_cases.h"

#include <check.h>
#include <stdio.h>

const char *const direct_shapes[DIRECT_SHAPES] = {
    "n1-c1-k1-i1x1-f1x1",
    "n3-c5-k7-i11x13-f1x1",
    "n2-c13-k17-i19x23-f3x3-p1x1",
    /* Read in place, with whole tiles and with a last tile that is moved back. */
    "n2-c6-k8-i16x16-f1x1",
    "n3-c16-k20-i7x37-f1x1",
    /* Slots: a stride above the dilation, below it, and with a common divisor; unequal padding. */
    "n2-c4-k6-i17x9-f2x3-s5x4-p1x2-e3x0-g2",
    "n1-c3-k2-i23x19-f3x5-s4x3-p5x4-e6x3-d6x2",
    /* Backward data: vectors within a row of a phase, and vectors that end in another row. */
    "n2-c3-k5-i9x67-f3x3-s2x2-p1x1",
    "n2-c6-k4-i8x100-f3x5-s3x2-p1x3-e0x2-g2",
    /* Rows that share no border, and outputs that only read padding. */
    "n2-c5-k4-i6x6-f2x2",
    "n1-c2-k3-i4x5-f2x1-p4x3-e2x5",
    "n2-c3-k3-i2x1-f5x4-p2x2-e3x1",
    /* More source channels than fit a row. */
    "n1-c67-k33-i5x6-f3x3-p1x1",
    "n2-c12-k18-i9x6-f3x3-p1x1-g6",
    "n3-c4-k6-i131-f7-s3-p6-e1-d2-g2",
    "n2-c3-k5-i5x6x7-f3x2x3-s2x1x3-p1x0x2-e0x2x1-d1x3x1",
    "n2-c4-k6-i5x3-f2x3-s4x3-g2-trans-o3x2",
    "n1-c3-k2-i4x6-f3x3-s2x1-p1x2-e0x3-d1x3-trans-o1x2",
};

kiln_problem direct_problem(int direction, const char *type, const char *shape)
{
    static const char *const directions[DIRECT_DIRECTIONS] = {"fwd", "bwd", "wrw"};
    char text[KILN_KEY_TEXT], why[KILN_ERROR_TEXT];
    kiln_problem p;
    snprintf(text, sizeof text, "%s-%s-%s", directions[direction], type, shape);
    ck_assert_msg(kiln_problem_parse(&p, text, why) == KILN_OK, "%s: %s", text, why);
    return p;
}

const kiln_epilogue direct_epilogues[DIRECT_EPILOGUES] = {
    {.bias = 1},
    {.alpha = -2, .beta = 3, .bias = 1, .activation = KILN_RELU},
    {.alpha = 0.125f, .beta = 0.5f, .activation = KILN_SILU},
};

kiln_problem direct_finished(int shape, int epilogue)
{
    static const char *const some[DIRECT_FINISHED] = {
        "n2-c13-k17-i19x23-f3x3-p1x1", "n2-c6-k8-i15x15-f1x1-g2",
        "n2-c4-k6-i5x3-f2x3-s4x3-g2-trans-o3x2", "n2-c4-k6-i3x30-f3x3-s2x2-g2-trans"};
    kiln_problem p = direct_problem(0, epilogue == 2 ? "f16" : "f32", some[shape]);
    p.epilogue = direct_epilogues[epilogue];
    return p;
}
