/* Reads and writes MIOpen's keys of problems. */
#include "support/suite.h"
#include "support/texts.h"

#include <check.h>

static const struct {
    const char *key, *text;
} keys[] = {
    {"192-28-28-1x1-64-28-28-16-0x0-1x1-1x1-0-NCHW-FP32-F", "fwd-f32-n16-c192-k64-i28x28-f1x1"},
    {"256-56-56-1x1-512-28-28-128-0x0-2x2-1x1-0-NCHW-FP32-F",
     "fwd-f32-n128-c256-k512-i56x56-f1x1-s2x2"},
    /* Backward: the key starts with the forward output. */
    {"64-28-28-1x1-192-28-28-16-0x0-1x1-1x1-0-NCHW-FP32-B", "bwd-f32-n16-c192-k64-i28x28-f1x1"},
    {"512-28-28-1x1-256-56-56-16-0x0-2x2-1x1-0-NCHW-FP32-B",
     "bwd-f32-n16-c256-k512-i56x56-f1x1-s2x2"},
    {"512-28-28-1x1-256-56-56-16-0x0-2x2-1x1-0-NCHW-BF16-W",
     "wrw-bf16-n16-c256-k512-i56x56-f1x1-s2x2"},
    {"192-28-28-1x1-64-28-28-16-0x0-1x1-1x1-0-NCHW-FP16-F", "fwd-f16-n16-c192-k64-i28x28-f1x1"},
    {"32-14-15-3x5-64-14-15-2-1x2-1x1-1x1-1-NCHW-FP32-F_g32",
     "fwd-f32-n2-c32-k64-i14x15-f3x5-p1x2-g32-bias"},
    {"3-8-16-17-3x5x5-4-8-12-13-2-1x0x0-1x1x1-1x1x1-0-NCDHW-FP32-F",
     "fwd-f32-n2-c3-k4-i8x16x17-f3x5x5-p1x0x0"},
    {"32-14-14-1x1-64-14-14-2-0x0-1x1-1x1-0-NHWC-NHWC-NHWC-FP16-F",
     "fwd-f16-n2-c32-k64-i14x14-f1x1-l:NHWC.OHWI.NHWC"},
    {"32-14-14-1x1-64-14-14-2-0x0-1x1-1x1-0-NCHW-INT8INT8INT32-F", "fwd-i8-n2-c32-k64-i14x14-f1x1"},
    {"32-14-14-1x1-64-14-14-2-0x0-1x1-1x1-0-NCHW-INT8-F",
     "fwd-i8-n2-c32-k64-i14x14-f1x1-t:i8.i8.i8"},
    /* Blocks of layouts and types are exchanged as well. */
    {"64-14-14-1x1-32-14-14-2-0x0-1x1-1x1-0-NHWC-NCHW-NCHW-BF16BF16FP32-B",
     "bwd-bf16-n2-c32-k64-i14x14-f1x1-t:f32.bf16.bf16-l:NCHW.OIHW.NHWC"},
};

START_TEST(miopen_keys)
{
    char key[KILN_KEY_TEXT];
    kiln_problem p = texts_parsed(keys[_i].key);
    ck_assert_str_eq(texts_of(&p), keys[_i].text);
    kiln_problem_miopen_key(&p, key, sizeof key);
    ck_assert_str_eq(key, keys[_i].key);
}
END_TEST

START_TEST(no_miopen_key)
{
    static const char *const texts[] = {
        "fwd-f32-n1-c1-k1-i5-f3",
        "fwd-f32-n1-c1-k1-i5x5-f3x3-p1x1-e0x0",
        "fwd-f32-n1-c1-k1-i5x5-f3x3-trans",
        "fwd-f32-n1-c1-k1-i5x5-f3x3-l:any.any.any",
        "fwd-f32-n1-c1-k1-i5x5-f3x3-act:relu",
        "fwd-f32-n1-c1-k1-i5x5-f3x3-a2",
        "fwd-f32-n1-c1-k1-i5x5-f3x3-r1",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char key[KILN_KEY_TEXT] = "x";
        kiln_problem p = texts_parsed(texts[i]);
        ck_assert_msg(kiln_problem_miopen_key(&p, key, sizeof key) == 0, "%s", texts[i]);
        ck_assert_str_eq(key, "");
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("problem_miopen");
    TCase *tests = tcase_create("problem_miopen");
    tcase_add_loop_test(tests, miopen_keys, 0, (int)(sizeof keys / sizeof *keys));
    tcase_add_test(tests, no_miopen_key);
    suite_add_tcase(suite, tests);
    return support_run_apart(suite);
}
