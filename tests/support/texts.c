/* Makes problems and reads their texts back. */
#include "texts.h"

#include <check.h>
#include <stdbool.h>
#include <string.h>

kiln_problem texts_seed_problem(void)
{
    return (kiln_problem){
        .batch = 16, .in_channels = 192, .out_channels = 64, .input = {28, 28}, .filter = {1, 1}};
}

kiln_problem texts_parsed(const char *text)
{
    kiln_problem p;
    char why[KILN_ERROR_TEXT];
    if (kiln_problem_parse(&p, text, why))
        ck_abort_msg("%s: %s", text, why);
    return p;
}

const char *texts_of(const kiln_problem *p)
{
    static char text[KILN_KEY_TEXT];
    ck_assert_uint_lt(kiln_problem_text(p, text, sizeof text), sizeof text);
    return text;
}

static uint64_t state;

void texts_seed(uint64_t seed)
{
    state = seed;
}

int64_t texts_pick(int64_t below) /* splitmix64 */
{
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (int64_t)((z ^ (z >> 31)) % (uint64_t)below);
}

float texts_random_float(void)
{
    uint32_t bits = (uint32_t)texts_pick((int64_t)1 << 32);
    float f;
    memcpy(&f, &bits, sizeof f);
    const float tame[] = {0.5f, -1, 0.1f, 6, 1e-3f, 0};
    return texts_pick(2) ? tame[texts_pick(6)] : f;
}

static void random_layouts(kiln_problem *p)
{
    static const char *const names[] = {"",         "any",      "NHWC",      "NCHW32c",
                                        "NHWC;C%8", "NH|CW|4c", "NC/32HW32", "OIHW4i16o4i"};
    char *const layouts[] = {p->x_layout, p->w_layout, p->y_layout};
    for (int i = 0; i < 3; i++)
        strcpy(layouts[i], names[texts_pick(8)]);
}

kiln_problem texts_random_problem(void)
{
    kiln_problem p = {.direction = (kiln_direction)texts_pick(3),
                      .transposed = texts_pick(4) == 0,
                      .spatial_rank = (int)texts_pick(4),
                      .batch = 1 + texts_pick(5),
                      .groups = texts_pick(4),
                      .x_type = (kiln_type)texts_pick(6),
                      .determinism = (kiln_determinism)texts_pick(3),
                      .math = (kiln_math)texts_pick(4),
                      .workspace_limit = texts_pick(3) ? 0 : texts_pick((int64_t)1 << 62)};
    p.in_channels = (p.groups + !p.groups) * (1 + texts_pick(7));
    p.out_channels = (p.groups + !p.groups) * (1 + texts_pick(7));
    if (texts_pick(3) == 0)
        p.y_type = (kiln_type)texts_pick(6);
    if (texts_pick(3) == 0)
        p.w_type = (kiln_type)texts_pick(6);
    for (int i = 0; i < (p.spatial_rank ? p.spatial_rank : 2); i++) {
        p.input[i] = 1 + texts_pick(30);
        p.filter[i] = 1 + texts_pick(5);
        p.stride[i] = texts_pick(4);
        p.dilation[i] = texts_pick(3);
        p.pad_begin[i] = texts_pick(4);
        p.pad_end[i] = texts_pick(2) ? p.pad_begin[i] : texts_pick(4);
        p.output_pad[i] = p.transposed ? texts_pick(3) : 0;
    }
    if (texts_pick(2))
        random_layouts(&p);
    if (p.direction == KILN_FORWARD && texts_pick(2))
        p.epilogue = (kiln_epilogue){.bias = (int)texts_pick(3),
                                     .alpha = texts_random_float(),
                                     .beta = texts_random_float(),
                                     .activation = (kiln_activation)texts_pick(KILN_ACTIVATIONS),
                                     .param = {texts_random_float(), texts_random_float()}};
    if (texts_pick(4) == 0)
        strcpy(p.bias_layout, ((const char *[]){"W", "any", "IMG_ARGUMENT", "W8w"})[texts_pick(4)]);
    return p;
}

/* The key begins the text, but for the layout of a filter that is packed. */
static void check_row_key(const kiln_problem *p, const char *key, size_t length)
{
    char text[KILN_KEY_TEXT], again[KILN_KEY_TEXT];
    const kiln_problem of_key = texts_parsed(key);
    kiln_problem plain = *p;
    memcpy(plain.w_layout, of_key.w_layout, sizeof plain.w_layout);
    kiln_problem_text(&plain, text, sizeof text);
    ck_assert_msg(strncmp(text, key, length) == 0, "%s is no start of %s", key, text);
    kiln_problem_row_key(&of_key, again, sizeof again);
    ck_assert_str_eq(again, key);
}

void texts_check_round_trip(const kiln_problem *p)
{
    char text[KILN_KEY_TEXT], key[KILN_KEY_TEXT];
    size_t length = kiln_problem_text(p, text, sizeof text);
    ck_assert_uint_eq(length, strlen(text));
    kiln_problem back = texts_parsed(text);
    ck_assert_msg(memcmp(p, &back, sizeof back) == 0, "%s comes back as %s", text, texts_of(&back));
    size_t row = kiln_problem_row_key(p, key, sizeof key);
    ck_assert_uint_eq(row, strlen(key));
    check_row_key(p, key, row);
    size_t miopen = kiln_problem_miopen_key(p, key, sizeof key);
    if (miopen == 0)
        return;
    ck_assert_uint_eq(miopen, strlen(key));
    back = texts_parsed(key);
    kiln_problem same = *p; /* copies the fields that the key lacks */
    same.determinism = back.determinism;
    same.math = back.math;
    same.workspace_limit = back.workspace_limit;
    ck_assert_msg(memcmp(&same, &back, sizeof back) == 0, "%s is not %s", key, text);
}
