/* Files that are damaged or made to do harm: each is refused with a sentence, or read. */
#include "support/onnx_cases.h"
#include "support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FLOAT = 1, INT64 = 7 };

static void begin(onnx_writer *w)
{
    onnx_begin(w, 13);
    onnx_input(w, "x", FLOAT, "1,3,8,8");
    onnx_weights(w, "w", FLOAT, "3,3,1,1");
}

/* A small model with a body, a function, constants and types. */
static void write_small(onnx_writer *w)
{
    begin(w);
    onnx_ints(w, "shape", "1,3,-1,4");
    onnx_value_info(w, "y", FLOAT, "1,3,8,8");
    onnx_node(w, "Conv", "x w", "y", "pads=[0,0,0,0] auto_pad='NOTSET'");
    onnx_node(w, "Reshape", "y shape", "r", "");
    onnx_node_close(w, onnx_node_open(w, "F", "own", "r w", "f", ""));
    const size_t n = onnx_node_open(w, "Loop", "", "- - f", "l", "");
    const onnx_body b = onnx_body_open(w, "body");
    onnx_input(w, "i", INT64, "");
    onnx_input(w, "g", 9, "");
    onnx_input(w, "v", FLOAT, "1,3,16,4");
    onnx_node(w, "Identity", "g", "h", "");
    onnx_node(w, "Conv", "v w", "u", "");
    onnx_output(w, "h");
    onnx_output(w, "u");
    onnx_body_close(w, b);
    onnx_node_close(w, n);
    onnx_output(w, "l");
    onnx_graph_end(w);
    const size_t f = onnx_function_open(w, "own", "F", "a b", "c");
    onnx_function_node(w, "Conv", "a b", "c", "");
    onnx_function_close(w, f);
}

/* Opens bytes that may be anything; only what is said is checked. */
static kiln_status open_any(const uint8_t *bytes, size_t size)
{
    onnx_model *m;
    char why[ONNX_WHY];
    /* In a block of exactly this size, where a sanitizer sees a read past the end. */
    uint8_t *copy = malloc(size ? size : 1);
    ck_assert_ptr_nonnull(copy);
    if (size)
        memcpy(copy, bytes, size);
    const kiln_status status = onnx_open_bytes(&m, copy, size, ".", NULL, why);
    ck_assert((m == NULL) == (status != KILN_OK));
    ck_assert((*why != '\0') == (status != KILN_OK));
    ck_assert(memchr(why, '\0', ONNX_WHY) != NULL);
    for (size_t i = 0; m && i < m->layers; i++) {
        kiln_problem p = m->layer[i].problem;
        ck_assert(!m->layer[i].sized || kiln_problem_check(&p, NULL) == KILN_OK);
        ck_assert(m->layer[i].sized == (*m->layer[i].why == '\0'));
    }
    onnx_close(m);
    free(copy);
    return status;
}

START_TEST(a_damaged_file_is_refused_or_read)
{
    onnx_writer w;
    write_small(&w);
    ck_assert_int_eq(open_any(w.bytes, w.size), KILN_OK);
    for (size_t n = 0; n < w.size; n++)
        open_any(w.bytes, n);
    for (size_t i = 0; i < w.size; i++) {
        static const uint8_t flips[] = {1, 4, 8, 16, 128, 255};
        for (size_t f = 0; f < sizeof flips; f++) {
            w.bytes[i] ^= flips[f];
            open_any(w.bytes, w.size);
            w.bytes[i] ^= flips[f];
        }
    }
    onnx_free(&w);
}
END_TEST

START_TEST(circles_are_named)
{
    onnx_writer w;
    begin(&w);
    onnx_node(&w, "Add", "x b", "a", "name=first");
    onnx_node(&w, "Relu", "a", "b", "name=second");
    onnx_expect_refusal(&w, KILN_INVALID, "first reads its own result");
    begin(&w);
    onnx_node(&w, "Relu", "a", "a", "");
    onnx_expect_refusal(&w, KILN_INVALID, "Relu of 'a' reads its own result");
    begin(&w);
    onnx_node(&w, "Relu", "x", "a", "name=one");
    onnx_node(&w, "Relu", "x", "a", "name=two");
    onnx_expect_refusal(&w, KILN_INVALID, "'a' is made twice, the second time by two");
    begin(&w);
    onnx_node_close(&w, onnx_node_open(&w, "F", "own", "x", "y", ""));
    onnx_graph_end(&w);
    const size_t f = onnx_function_open(&w, "own", "F", "a", "b");
    const size_t n = wire_open(&w, 7);
    wire_text(&w, 1, "a");
    wire_text(&w, 2, "b");
    wire_text(&w, 4, "F");
    wire_text(&w, 7, "own");
    wire_close(&w, n);
    onnx_function_close(&w, f);
    char why[ONNX_WHY];
    kiln_status status;
    ck_assert_ptr_null(onnx_read_written(&w, NULL, &status, why));
    ck_assert_int_eq(status, KILN_INVALID);
    ck_assert(strstr(why, "in a circle") != NULL);
}
END_TEST

/* Functions that call the next one twice: 2^40 nodes in a few hundred bytes. */
START_TEST(functions_do_not_multiply_without_end)
{
    enum { DEPTH = 40 };
    char name[16], next[16], why[ONNX_WHY];
    kiln_status status;
    onnx_writer w;
    begin(&w);
    onnx_node_close(&w, onnx_node_open(&w, "F0", "own", "x", "y", ""));
    onnx_graph_end(&w);
    for (int i = 0; i < DEPTH; i++) {
        snprintf(name, sizeof name, "F%d", i);
        snprintf(next, sizeof next, "F%d", i + 1);
        const size_t f = onnx_function_open(&w, "own", name, "a", "c");
        for (int call = 0; call < 2; call++) {
            const size_t n = wire_open(&w, 7);
            wire_text(&w, 1, call ? "b" : "a");
            wire_text(&w, 2, call ? "c" : "b");
            wire_text(&w, 4, i + 1 < DEPTH ? next : "Relu");
            wire_text(&w, 7, i + 1 < DEPTH ? "own" : "");
            wire_close(&w, n);
        }
        onnx_function_close(&w, f);
    }
    ck_assert_ptr_null(onnx_read_written(&w, NULL, &status, why));
    ck_assert_msg(status == KILN_UNSUPPORTED || status == KILN_NO_MEMORY, "%s", why);
}
END_TEST

/* Bodies in bodies, and types in types, which end no stack. */
START_TEST(nesting_has_a_limit)
{
    enum { BODIES = 60, TYPES = 200000 };
    size_t node[BODIES];
    onnx_body body[BODIES];
    onnx_writer w;
    begin(&w);
    for (int i = 0; i < BODIES; i++) {
        node[i] = onnx_node_open(&w, "If", "", "c", "y", "");
        body[i] = onnx_body_open(&w, "then_branch");
    }
    for (int i = BODIES - 1; i >= 0; i--) {
        onnx_body_close(&w, body[i]);
        onnx_node_close(&w, node[i]);
    }
    onnx_expect_refusal(&w, KILN_INVALID, "more than 100 messages in one another");
    begin(&w);
    size_t *open = malloc(2 * TYPES * sizeof *open);
    ck_assert_ptr_nonnull(open);
    const size_t info = wire_open(&w, 11), type = wire_open(&w, 2);
    for (int i = 0; i < TYPES; i++) {
        open[2 * i] = wire_open(&w, 4); /* a sequence of */
        open[2 * i + 1] = wire_open(&w, 1);
    }
    for (int i = 2 * TYPES - 1; i >= 0; i--)
        wire_close(&w, open[i]);
    wire_close(&w, type);
    wire_close(&w, info);
    free(open);
    onnx_expect_refusal(&w, KILN_INVALID, "more than 100 messages in one another");
}
END_TEST

/* Nodes of two bytes each, which unpack to a hundred bytes and more. */
START_TEST(memory_has_a_limit)
{
    enum { EMPTY = 4000000 };
    onnx_writer w;
    begin(&w);
    for (int i = 0; i < EMPTY; i++)
        wire_bytes(&w, 1, "", 0);
    onnx_expect_refusal(&w, KILN_UNSUPPORTED, "unpacks to more memory than a model of its size");
}
END_TEST

START_TEST(sizes_do_not_overflow)
{
    static const char *const huge[] = {"4611686018427387904", "9223372036854775807",
                                       "1099511627777", "-9223372036854775808"};
    onnx_writer w;
    for (size_t i = 0; i < sizeof huge / sizeof *huge; i++) {
        char dims[64];
        snprintf(dims, sizeof dims, "%s,3,1,1", huge[i]);
        begin(&w);
        onnx_weights(&w, "v", FLOAT, dims);
        onnx_node(&w, "Conv", "x v", "y", "");
        onnx_expect_refusal(&w, KILN_INVALID, "dim 0 of a tensor of the file is");
        /* an input whose dim is that: an open one */
        onnx_begin(&w, 13);
        onnx_input(&w, "x", FLOAT, dims);
        onnx_expect_refusal(&w, KILN_INVALID, "sizes of inputs are open");
    }
    begin(&w);
    onnx_ints(&w, "n", "1099511627776,1099511627776,1,1");
    onnx_node(&w, "Tile", "x n", "a", "");
    onnx_node(&w, "Conv", "a w", "b", "");
    onnx_ints(&w, "m", "9223372036854775807,1,1,1");
    onnx_node(&w, "Expand", "x m", "c", "");
    onnx_node(&w, "Conv", "c w", "d", "");
    onnx_node(&w, "Conv", "x w", "e", "dilations=[9223372036854775807,1]");
    onnx_node(&w, "Conv", "x w", "f", "group=9223372036854775807");
    onnx_node(&w, "Conv", "x w", "g", "pads=[4611686018427387904,0,0,4611686018427387904]");
    onnx_node(&w, "ConvTranspose", "x w", "h", "output_shape=[-9223372036854775808,1]");
    onnx_node(&w, "MaxPool", "x", "i", "kernel_shape=[9223372036854775807,1]");
    onnx_node(&w, "Conv", "i w", "j", "");
    onnx_node(&w, "Slice", "x m m m", "k", "");
    onnx_node(&w, "Conv", "k w", "l", "");
    onnx_node(&w, "DepthToSpace", "x", "o", "blocksize=9223372036854775807");
    onnx_node(&w, "Conv", "o w", "p", "");
    onnx_node(&w, "Transpose", "x", "q", "perm=[-9223372036854775808,0,1,2]");
    onnx_node(&w, "Conv", "q w", "r", "");
    onnx_node(&w, "Concat", "x x", "s", "axis=-9223372036854775808");
    onnx_node(&w, "Conv", "s w", "t", "");
    onnx_expect(&w, "! ! ! ! ! ! ! ! ! ! !");
}
END_TEST

START_TEST(what_is_no_model_is_told)
{
    static const char text[] = "# a list of problems\nfwd-f32-n1-c1-k1-i1x1-f1x1\n";
    char why[ONNX_WHY];
    onnx_model *m;
    onnx_writer w;
    ck_assert_int_eq(onnx_open_bytes(&m, text, sizeof text - 1, ".", NULL, why), KILN_INVALID);
    ck_assert(strstr(why, "no ONNX model, or damaged") != NULL);
    ck_assert_int_eq(onnx_open_bytes(&m, "", 0, ".", NULL, why), KILN_INVALID);
    ck_assert(strstr(why, "no graph") != NULL);
    onnx_begin(&w, 6);
    onnx_expect_refusal(&w, KILN_UNSUPPORTED, "opset 6; kiln reads 7 and later");
    onnx_begin(&w, 0);
    onnx_expect_refusal(&w, KILN_INVALID, "names no set of operators");
    onnx_begin(&w, 13);
    onnx_input(&w, "x", FLOAT, "1,3,8,8");
    onnx_node(&w, "Conv", "x nowhere", "y", "");
    onnx_expect(&w, "!");
    onnx_begin(&w, 13);
    const size_t at = wire_open(&w, 5);
    wire_number(&w, 1, 4);
    wire_number(&w, 2, INT64);
    wire_text(&w, 8, "short");
    wire_bytes(&w, 9, "12345678", 8);
    wire_close(&w, at);
    onnx_expect_refusal(&w, KILN_INVALID, "tensor 'short' has 8 bytes of its 32");
}
END_TEST

START_TEST(nodes_may_lack_anything)
{
    onnx_writer w;
    begin(&w);
    onnx_node(&w, "", "", "", "");
    onnx_node(&w, "Conv", "", "", "");
    onnx_node(&w, "Conv", "x w", "", "");
    onnx_node(&w, "Conv", "x w", "c", "");
    onnx_node(&w, "Sigmoid", "c", "s", "");
    onnx_node(&w, "Mul", "c s", "", "");
    onnx_expect(&w, "! fwd-f32-n1-c3-k3-i8x8-f1x1 fwd-f32-n1-c3-k3-i8x8-f1x1-act:silu");
}
END_TEST

START_TEST(control_characters_reach_nobody)
{
    char why[ONNX_WHY];
    kiln_status status;
    onnx_writer w;
    begin(&w);
    onnx_node(&w, "Conv", "x w", "y", "name=a\033[2Jb\xe2\x80\xae\xff");
    onnx_node(&w, "Conv", "none w", "z", "name=c\a");
    onnx_end(&w);
    onnx_model *m = onnx_read_written(&w, NULL, &status, why);
    ck_assert_msg(m != NULL, "%s", why);
    ck_assert_str_eq(m->layer[0].name, "a?[2Jb????");
    ck_assert_str_eq(m->layer[1].name, "c?");
    onnx_close(m);
    begin(&w);
    onnx_node(&w, "Relu", "e\033", "e\033", "");
    onnx_expect_refusal(&w, KILN_INVALID, "Relu of 'e?' reads");
}
END_TEST

/* A list of `n` whole numbers in another file. */
static void put_external(onnx_writer *w, const char *name, const char *location, int n)
{
    const size_t at = wire_open(w, 5);
    wire_number(w, 1, (uint64_t)n);
    wire_number(w, 2, INT64);
    wire_text(w, 8, name);
    const size_t entry = wire_open(w, 13);
    wire_text(w, 1, "location");
    wire_text(w, 2, location);
    wire_close(w, entry);
    wire_number(w, 14, 1);
    wire_close(w, at);
}

START_TEST(external_data_stay_in_the_folder)
{
    static const char *const outside[] = {"/etc/passwd", "../x", "a/../../x", "..", ""};
    onnx_writer w;
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
        begin(&w);
        put_external(&w, "n", outside[i], 4);
        onnx_expect_refusal(&w, KILN_INVALID, "must be in the model's folder");
    }
    const int64_t sizes[] = {1, 3, 16, 4};
    FILE *file = fopen("onnx_external.bin", "wb");
    ck_assert_ptr_nonnull(file);
    fwrite(sizes, sizeof *sizes, 4, file);
    fclose(file);
    begin(&w);
    put_external(&w, "n", "onnx_external.bin", 4);
    put_external(&w, "gone", "onnx_nowhere.bin", 4);
    onnx_node(&w, "Reshape", "x n", "a", "");
    onnx_node(&w, "Conv", "a w", "b", "");
    onnx_node(&w, "Reshape", "x gone", "c", "");
    onnx_node(&w, "Conv", "c w", "d", "");
    onnx_expect(&w, "fwd-f32-n1-c3-k3-i16x4-f1x1 !");
    remove("onnx_external.bin");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("onnx_hostile");
    TCase *t = tcase_create("hostile");
    tcase_add_test(t, a_damaged_file_is_refused_or_read);
    tcase_add_test(t, circles_are_named);
    tcase_add_test(t, functions_do_not_multiply_without_end);
    tcase_add_test(t, nesting_has_a_limit);
    tcase_add_test(t, memory_has_a_limit);
    tcase_add_test(t, sizes_do_not_overflow);
    tcase_add_test(t, what_is_no_model_is_told);
    tcase_add_test(t, nodes_may_lack_anything);
    tcase_add_test(t, control_characters_reach_nobody);
    tcase_add_test(t, external_data_stay_in_the_folder);
    suite_add_tcase(s, t);
    return support_run_suite(s);
}
