/* Texts that are no problem: each is refused with a reason and leaves the problem as it was. */
#include "support/suite.h"
#include "support/texts.h"

#include <check.h>
#include <string.h>

static char why[KILN_ERROR_TEXT];

static const struct {
    const char *text, *says;
} hostile[] = {
    {"", "fwd, bwd or wrw"},
    {"fwd", ": \"fwd\""},
    {"fwd-f64-n1-c1-k1-i1x1-f1x1", "\"fwd-f64-"},
    {"FWD-f32-n1-c1-k1-i1x1-f1x1", "FWD"},
    {"fwd-f32", "-n is missing in \"fwd-f32\""},
    {"fwd-f32-n1-c1-k1-i1x1", "-f is missing"},
    {"fwd-f32-n1-c1-k1-f1x1", "-i is missing"},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-", "\"-\""},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1--det", "\"-\""},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-q7", "\"-q7\""},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1 -g1", "\"-f1x1 \""},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-s1x1-s1x1", "twice"},
    {"fwd-f32-n1-n1-c1-k1-i1x1-f1x1", "twice"},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-p1x1-s1x1", "before -p"},
    {"fwd-f32-c1-n1-k1-i1x1-f1x1", "before -c"},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-det-nondet", "contradicts"},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-exact-reduced", "contradicts"},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1x1", "\"-f1x1x1\""},
    {"fwd-f32-n1-c1-k1-i1x1x1x1-f1x1x1x1", "\"-i1x1x1x1\""},
    {"fwd-f32-n1-c1-k1-i1x-f1x1", "\"-i1x\""},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-s0x1", "\"-s0x1\""},
    {"fwd-f32-n0-c1-k1-i1x1-f1x1", "\"-n0\""},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-g0", "\"-g0\""},
    {"fwd-f32-n+1-c1-k1-i1x1-f1x1", "\"-n+1\""},
    {"fwd-f32-n1.5-c1-k1-i1x1-f1x1", "\"-n1.5\""},
    {"fwd-f32-n0x10-c1-k1-i1x1-f1x1", "\"-n0x10\""},
    {"fwd-f32-n99999999999999999999-c1-k1-i1x1-f1x1", "\"-n99999999999999999999\""},
    {"fwd-f32-n9223372036854775807-c9-k1-i1x1-f1x1", "overflow"},
    {"fwd-f32-n1-c1-k1-i1x9999999999999-f1x1", "largest"},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-trans-trans", "twice"},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-t:f32.f32", "types"},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-t:f32.f32.f32.f32", "behind"},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-t:f16.f16.f32", "differs"},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-t:default.f32.f32", "types"},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-l:NCHW.OIHW", "layouts"},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-l:N CHW.OIHW.NCHW", "layout of x"},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-l:NCHW.O\tIHW.NCHW", "layout of w"},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-l:..NCHWNCHWNCHWNCHWNCHWNCHWNCHWNCHW", "31"},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-a0", "\"-a0\""},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-a1e999", "finite"},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-anan", "\"-anan\""},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-a0x1p3", "\"-a0x1p3\""},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-a1,5", "\"-a1,5\""},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-act:swish", "activation"},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-act:elu:", "decimal"},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-act:elu:1:2:3", "behind"},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-o1x1", "transposed"},
    {"fwd-f32-n1-c1-k1-i1x1-f3x3", "larger than the padded input"},
    {"fwd-f32-n1-c3-k4-i1x1-f1x1-g2", "groups"},
    {"bwd-f32-n1-c1-k1-i1x1-f1x1-bias", "epilogue"},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-biased", "\"-biased\""},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-bias:f16", "type and layout"},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-bias:f64.W", "type and layout"},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-bias:i8.W", "epilogue.bias is 4"},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-bias:f32.NCHW", "dims W"},
    {"wrw-f32-n1-c1-k1-i1x1-f1x1-bias:f16.W", "gradient is written as f32"},
    {"fwd-i32-n1-c1-k1-i1x1-f1x1", "destination"},
    {"fwd-f32-\x1b[31m", "?[31m"},
    /* MIOpen's keys */
    {"1", "C-H-W"},
    {"192-28-28", "C-H-W"},
    {"192x28x28x1x1x64x28x28x16xNCHWxFP32x1", "C-H-W"},
    {"192-28-28-1x1-64-28-28-16-0x0-1x1-1x1-0-NCHW-FP32", "behind the type"},
    {"192-28-28-1x1-64-28-28-16-0x0-1x1-1x1-0-NCHW-FP32-X", "direction"},
    {"192-28-28-1x1-64-28-28-16-0x0-1x1-1x1-0-NCHW-FP32-F_g", "groups"},
    {"192-28-28-1x1-64-28-28-16-0x0-1x1-1x1-0-NCHW-FP32-F_g0", "groups"},
    {"192-28-28-1x1-64-28-28-16-0x0-1x1-1x1-0-NCHW-FP32-F=ConvOcl", "the end"},
    {"192-28-28-1x1-64-28-28-16-0x0-1x1-1x1-2-NCHW-FP32-F", "bias"},
    {"192-28-28-1x1-64-28-28-16-0x0-0x1-1x1-0-NCHW-FP32-F", "stride"},
    {"192-28-28-1x1-64-28-28-16-0x0-1x1x1-1x1-0-NCHW-FP32-F", "stride"},
    {"192-28-28-1x1-64-28-28-16-0x0-1x1-1x1-0-NCDHW-FP32-F", "layout"},
    {"192-28-28-1x1-64-28-28-16-0x0-1x1-1x1-0-NCHW-NCHW-FP32-F", "one layout or three"},
    {"192-28-28-1x1-64-28-28-16-0x0-1x1-1x1-0-NCHW-FP64-F", "type"},
    {"192-28-28-1x1-64-28-28-16-0x0-1x1-1x1-0-NCHW-FP32FP32-F", "one type or three"},
    {"192-28-28-1x1-64-27-28-16-0x0-1x1-1x1-0-NCHW-FP32-F", "size 1 is 27"},
    {"192-28-28-1x1-64-28-56-16-0x0-1x1-1x1-0-NCHW-FP32-F", "size 2 is 56"},
    {"192-28-28-1x1-64-28-28-16-0x0-2x2-1x1-0-NCHW-FP32-B", "size 1 is 28"},
    {"99999999999999999999-28-28-1x1-64-28-28-16-0x0-1x1-1x1-0-NCHW-FP32-F", "C-H-W"},
};

START_TEST(hostile_texts)
{
    kiln_problem before = texts_parsed("fwd-f32-n16-c192-k64-i28x28-f1x1"), p = before;
    why[0] = '\0';
    ck_assert_msg(kiln_problem_parse(&p, hostile[_i].text, why) == KILN_INVALID, "%s accepted",
                  hostile[_i].text);
    ck_assert_msg(strstr(why, hostile[_i].says), "%s: \"%s\" lacks \"%s\"", hostile[_i].text, why,
                  hostile[_i].says);
    ck_assert_int_eq(memcmp(&p, &before, sizeof p), 0);
    ck_assert_int_eq(kiln_problem_parse(&p, hostile[_i].text, NULL), KILN_INVALID);
}
END_TEST

/* Every text cut short or with one byte changed is refused or reads as a checked problem. */
START_TEST(mutated_texts)
{
    texts_seed(5);
    static const char *const start[] = {
        "fwd-i8-n1-c8-k1-i3x4-f1x1-t:i8.i8.i8-l:NHWC;C%8.OHWI.NCHW-bias-a-0.25-r1e-20-act:elu:0.01",
        "192-28-28-1x1-64-28-28-16-0x0-1x1-1x1-0-NCHW-FP32-F_g32"};
    for (int i = 0; i < 20000; i++) {
        char text[128];
        strcpy(text, start[i % 2]);
        size_t length = strlen(text);
        for (int j = 0; j <= texts_pick(2); j++)
            text[texts_pick((int64_t)length)] = "-x.:019aefnNF\xff\n\0"[texts_pick(16)];
        kiln_problem p;
        if (kiln_problem_parse(&p, text, why) == KILN_OK)
            texts_check_round_trip(&p);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("problem_hostile");
    TCase *tests = tcase_create("problem_hostile");
    tcase_add_loop_test(tests, hostile_texts, 0, (int)(sizeof hostile / sizeof *hostile));
    tcase_add_test(tests, mutated_texts);
    suite_add_tcase(suite, tests);
    return support_run_apart(suite);
}
