/* Reformats of GPUs: tiles that pass through local memory, run on any device. */
#include "driver/layout/layout_host.h"
#include "driver/reference/host.h"
#include "generator/base/types.h"
#include "runtime/kiln/kiln_internal.h"
#include "support/suite.h"

#include "reformats.h"

#include <stdio.h>
#include <stdlib.h>

/* What GPUs do: layouts whose runs cross or lie in blocks, of whole vectors and of odd sizes, one
 * tile and several, padding on either side. */
START_TEST(turned)
{
    static const struct {
        const char *from, *to;
        int64_t size[4];
        bool turned;
    } cases[] = {
        {"NCHW", "NHWC", {2, 64, 16, 16}, true},      {"NCHW", "NHWC", {1, 35, 7, 7}, true},
        {"NCHW", "NHWC", {1, 3, 33, 9}, true},        {"NCHW", "NHWC", {2, 160, 14, 14}, true},
        {"NCHW", "NHWC", {1, 96, 1, 40}, true},       {"NCHW", "NHWC", {1, 8, 57, 57}, true},
        {"NCHW", "NHWC;C%8", {2, 13, 9, 7}, true},    {"NCHW", "NHWC;C%16", {1, 130, 6, 4}, true},
        {"NCHW", "NCHW2c", {1, 9, 8, 8}, true},       {"NCHW", "NCHW4c", {2, 6, 14, 14}, true},
        {"NCHW", "NCHW8c", {2, 72, 8, 8}, true},      {"NCHW", "NCHW16c", {1, 31, 7, 7}, true},
        {"NCHW", "NCHW32c", {2, 33, 5, 7}, true},     {"NCHW", "NCHW12c", {1, 25, 6, 6}, true},
        {"NCHW", "NHCW32c", {1, 33, 4, 50}, true},    {"NHWC", "NCHW8c", {2, 24, 9, 9}, true},
        {"NHWC", "NCHW4c", {1, 129, 12, 12}, true},   {"NHWC", "NCHW32c", {2, 35, 7, 5}, true},
        {"NHWC;C%8", "NCHW16c", {1, 50, 8, 8}, true}, {"NCHW8c", "NCHW32c", {2, 50, 8, 9}, true},
        {"NCHW16c", "NCHW4c", {1, 17, 13, 5}, true},  {"NHWC", "NHWC;C%16", {2, 21, 5, 9}, true},
        {"NCHW", "HWNC", {2, 40, 6, 10}, true},       {"NCHW", "CHWN", {40, 3, 5, 8}, true},
        {"NCHW", "HCNW", {9, 5, 6, 64}, true},        {"NCHW", "NWHC", {1, 16, 9, 48}, true},
        {"NCHW8c;C%24", "NCHW", {2, 9, 12, 8}, true}, {"NCHW", "NCHW", {2, 40, 6, 10}, false},
        {"NCHW", "NHWC;H%4", {2, 16, 5, 7}, false},   {"NCHW4c", "NHWC;W%4", {2, 16, 5, 7}, false},
        {"NCHW", "NHWC", {900, 3, 2, 2}, false},
    };
    static const kiln_type types[] = {KILN_F16, KILN_I8, KILN_F32, KILN_BF16, KILN_I8, KILN_F16};
    kiln *k = support_open()->kiln;
    const kiln_device_kind kind = k->facts.kind;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int j = 0; j < 2; j++) {
            const char *const side[] = {cases[i].from, cases[i].to};
            kiln_reformat r = {.dims = "NCHW", .pad_value = 3};
            r.from_type = types[(i + (size_t)j) % 5];
            r.to_type = types[(i + (size_t)j) % 5 + (i % 5 == 4)];
            memcpy(r.size, cases[i].size, sizeof cases[i].size);
            strcpy(r.from, side[j % 2]);
            strcpy(r.to, side[!(j % 2)]);
            k->facts.kind = KILN_DEVICE_GPU;
            fixture f = make(&r);
            k->facts.kind = kind;
            ck_assert_msg((strcmp(kernel_of(&f), "turn") == 0) == cases[i].turned, "%s to %s: %s",
                          r.from, r.to, kernel_of(&f));
            check_against_host(&f, i);
        }
}
END_TEST

int main(void)
{
    setenv("KILN_CACHE", "off", 1);
    TCase *cases = tcase_create("reformat_turn");
    tcase_add_test(cases, turned);
    Suite *suite = suite_create("reformat_turn");
    suite_add_tcase(suite, cases);
    return support_run_suite(suite);
}
