/* Layouts against golden storage, refusals, and awkward inputs of the parser. */
#include "support/suite.h"

#include "golden.h"
#include "kiln_layout.h"

#include <check.h>

static FILE *golden(const char *name)
{
    FILE *f = golden_open(name);
    ck_assert_msg(f != NULL, "cannot open %s", name);
    return f;
}

enum { MOST_CELLS = 16384 };

/* The fill "index1" is 1 + linear index of the logical element; with "rand" only padding and the
 * inverse are checked. */
static void check_case(const char *line)
{
    static int64_t cells[MOST_CELLS];
    char name[64], dims[16], fill[16], why[KILN_ERROR_TEXT] = "";
    int64_t dim[KILN_MAX_DIMS], storage_dims[KILN_MAX_AXES], image[2];
    ck_assert(golden_text(line, "layout", name, sizeof name));
    ck_assert(golden_text(line, "dims_order", dims, sizeof dims));
    ck_assert(golden_text(line, "fill", fill, sizeof fill));
    int ndims = golden_numbers(line, "dims", dim, KILN_MAX_DIMS);
    int nstorage = golden_numbers(line, "storage_dims", storage_dims, KILN_MAX_AXES);
    int64_t ncells = golden_numbers(line, "storage", cells, MOST_CELLS);

    kiln_layout layout;
    kiln_storage s;
    ck_assert_msg(kiln_layout_parse(&layout, name, dims, why), "%s: %s", name, why);
    ck_assert_int_eq(layout.ndims, ndims);
    ck_assert_msg(kiln_storage_make(&s, &layout, dim, KILN_F16, why), "%s: %s", name, why);
    ck_assert_msg(s.cells == ncells, "%s has %lld cells, not %lld", name, (long long)s.cells,
                  (long long)ncells);
    if (golden_numbers(line, "image", image, 2) == 2) {
        ck_assert_int_eq(s.width, image[0]);
        ck_assert_int_eq(s.height, image[1]);
    } else {
        ck_assert_int_eq(nstorage, layout.naxes);
        for (int a = 0; a < nstorage; a++)
            ck_assert_int_eq(s.extent[a], storage_dims[a]);
    }
    int64_t elements = 1, filled = 0;
    for (int d = 0; d < ndims; d++)
        elements *= dim[d];
    for (int64_t at = 0; at < ncells; at++) {
        int64_t x[KILN_MAX_DIMS];
        bool inside = kiln_storage_coordinate(&s, at, x);
        ck_assert_msg(inside == (cells[at] != 0), "%s: cell %lld is %lld", name, (long long)at,
                      (long long)cells[at]);
        if (!inside)
            continue;
        filled++;
        ck_assert_int_eq(kiln_storage_offset(&s, x), at);
        int64_t linear = 0;
        for (int d = 0; d < ndims; d++)
            linear = linear * dim[d] + x[d];
        if (strcmp(fill, "index1") == 0)
            ck_assert_msg(cells[at] == linear + 1, "%s: cell %lld", name, (long long)at);
    }
    ck_assert_int_eq(filled, elements);
}

START_TEST(golden_storage)
{
    FILE *f = golden("layout.jsonl");
    char *line = NULL;
    size_t room = 0;
    int n = 0;
    while (getline(&line, &room, f) > 0) {
        check_case(line);
        n++;
    }
    ck_assert_int_ge(n, 300);
    free(line);
    fclose(f);
}
END_TEST

START_TEST(refusals)
{
    FILE *f = golden("layout_reject.jsonl");
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, f) > 0) {
        char name[64], dims[16], profile[16], type[16], why[KILN_ERROR_TEXT] = "";
        int64_t dim[KILN_MAX_DIMS], most[2];
        golden_text(line, "layout", name, sizeof name);
        golden_text(line, "dims_order", dims, sizeof dims);
        golden_numbers(line, "dims", dim, KILN_MAX_DIMS);
        kiln_type t = KILN_F32;
        if (golden_text(line, "dtype", type, sizeof type))
            t = strcmp(type, "int8") == 0 ? KILN_I8 : KILN_F32;
        kiln_layout layout;
        kiln_storage s;
        ck_assert_msg(kiln_layout_parse(&layout, name, dims, why), "%s: %s", name, why);
        bool fine = kiln_storage_make(&s, &layout, dim, t, why);
        if (fine && golden_numbers(line, "image2d_max", most, 2) == 2)
            fine = kiln_storage_fits_image(&s, most[0], most[1], why);
        if (fine && golden_text(line, "profile", profile, sizeof profile))
            fine = kiln_profile_accepts(profile, &s, t, why);
        ck_assert_msg(!fine, "accepted: %s", line);
        ck_assert_int_gt(strlen(why), 10);
    }
    free(line);
    fclose(f);
}
END_TEST

/* Changes one number of a layout, as a caller's own code may. */
static void spoil(kiln_layout *l, int how)
{
    int *const numbers[] = {&l->ndims, &l->naxes, &l->axis[0].dim};
    int64_t *const sizes[] = {&l->axis[1].div, &l->round[1], &l->round_bytes[1], &l->sizes[1][0]};
    static const int values[][3] = {{0, -1, 99}, {0, -1, 99}, {-1, 4, 99}};
    if (how < 9)
        *numbers[how / 3] = values[how / 3][how % 3];
    else
        *sizes[how - 9] = how < 11 ? 0 : -1;
}

START_TEST(layouts_by_hand)
{
    char why[KILN_ERROR_TEXT] = "";
    kiln_layout layout;
    kiln_storage s;
    ck_assert(kiln_layout_parse(&layout, "NCHW", NULL, why));
    spoil(&layout, _i);
    ck_assert(!kiln_storage_make(&s, &layout, (int64_t[]){1, 2, 3, 4}, KILN_F32, why));
    ck_assert_msg(strstr(why, "kiln_layout_parse()"), "%s", why);
    ck_assert_int_eq(kiln_storage_elements(&s), 0);
}
END_TEST

static void check_same(const char *one, const char *other, const char *dims)
{
    char why[KILN_ERROR_TEXT];
    kiln_layout a, b;
    ck_assert_msg(kiln_layout_parse(&a, one, NULL, why), "%s: %s", one, why);
    ck_assert_msg(kiln_layout_parse(&b, other, dims, why), "%s: %s", other, why);
    ck_assert_msg(a.naxes == b.naxes, "%s, %s", one, other);
    ck_assert_msg(memcmp(a.axis, b.axis, sizeof a.axis) == 0, "%s, %s", one, other);
    ck_assert_msg(memcmp(a.round, b.round, sizeof a.round) == 0, "%s, %s", one, other);
}

START_TEST(every_name_parses)
{
    const kiln_layout_entry *e;
    for (int i = 0; (e = kiln_layout_at(i)); i++)
        check_same(e->name, e->spec, e->dims);
}
END_TEST

START_TEST(spellings)
{
    static const char *const same[][3] = {
        {"NC/16HW16", "nChw16c", "NCHW16c"},
        {"kHWC8", "NHWC8", "NHWC;C%8"},
        {"INT8x32", "kCHW32", "NC/32HW32"},
        {"IN_OUT_CHANNEL", "NH|CW|4c", "IMG_CHANNEL_MAJOR"},
        {"OIhw4i16o4i", "OIHW4i16o4i", "oihw4i16o4i"},
        {"nhwc", "acdb", "NHWC"},
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        for (int j = 1; j < 3; j++)
            check_same(same[i][0], same[i][j], NULL);
}
END_TEST

START_TEST(nonsense)
{
    static const char *const bad[] = {
        "",
        "NCH",
        "NCHWW",
        "NCHW0c",
        "NCHW16x",
        "NC/16HW8",
        "NC/HW",
        "NH|CW",
        "NH|CW|4c|",
        "NH|CW|8c",
        "NCHW;",
        "NCHW;C",
        "NCHW;C%",
        "NCHW;C%0",
        "NCHW;Q%4",
        "NCHW;C%8x",
        "16cNCHW",
        "N16cCHW",
        "NCHW16c;C%8",
        "NCHW99999c",
        "hello",
        "NCHW4096c4096c",
        "|||",
        "NCHW;C%99999999999999999999",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char why[KILN_ERROR_TEXT] = "";
        kiln_layout layout;
        ck_assert_msg(!kiln_layout_parse(&layout, bad[i], "NCHW", why) && *why, "accepted \"%s\"",
                      bad[i]);
    }
}
END_TEST

START_TEST(overflow)
{
    kiln_layout layout;
    kiln_storage s;
    char why[KILN_ERROR_TEXT];
    ck_assert(kiln_layout_parse(&layout, "NCHW16c", "NCHW", why));
    const int64_t huge[4] = {INT64_MAX, 1, 1, 1}, wide[4] = {1 << 20, 1 << 20, 1 << 20, 1 << 20};
    const int64_t edge[4] = {1, INT64_MAX - 3, 1, 1};
    ck_assert(!kiln_storage_make(&s, &layout, huge, KILN_F32, why));
    ck_assert(!kiln_storage_make(&s, &layout, wide, KILN_F32, why));
    ck_assert(!kiln_storage_make(&s, &layout, edge, KILN_F32, why));
}
END_TEST

START_TEST(strides_and_expressions)
{
    kiln_layout layout;
    kiln_storage s;
    char why[KILN_ERROR_TEXT], text[KILN_EXPRESSION_TEXT];
    const int64_t dim[4] = {2, 33, 5, 7};
    ck_assert(kiln_layout_parse(&layout, "NCHW32c", "NCHW", why));
    ck_assert(kiln_storage_make(&s, &layout, dim, KILN_F32, why));
    ck_assert_int_eq(kiln_storage_stride(&s, 3), 32);
    ck_assert_int_eq(kiln_storage_stride(&s, 1), -1);
    kiln_storage_expression(&s, 'o', text, sizeof text);
    ck_assert_str_eq(text, "(((n*2+c/32)*5+h)*7+w)*32+c%32");
    ck_assert(kiln_layout_parse(&layout, "NH|CW|4c", "NCHW", why));
    ck_assert(kiln_storage_make(&s, &layout, dim, KILN_F32, why));
    kiln_storage_expression(&s, 'x', text, sizeof text);
    ck_assert_str_eq(text, "c/4*7+w");
    kiln_storage_expression(&s, 'y', text, sizeof text);
    ck_assert_str_eq(text, "n*5+h");
    kiln_storage_expression(&s, 'l', text, sizeof text);
    ck_assert_str_eq(text, "c%4");
    kiln_storage_inverse(&s, 1, text, sizeof text);
    ck_assert_str_eq(text, "px/7*4+lane");
    kiln_storage_inverse(&s, 2, text, sizeof text);
    ck_assert_str_eq(text, "py%5");
    ck_assert(kiln_layout_parse(&layout, "NC/16HW16", "NCHW", why));
    ck_assert(kiln_storage_make(&s, &layout, dim, KILN_F32, why));
    kiln_storage_inverse(&s, 0, text, sizeof text);
    ck_assert_str_eq(text, "cell/1680");
    kiln_storage_inverse(&s, 1, text, sizeof text);
    ck_assert_str_eq(text, "cell/560%3*16+cell%16");
}
END_TEST

START_TEST(dla_sizes)
{
    kiln_layout layout;
    kiln_storage s;
    char why[KILN_ERROR_TEXT];
    const int64_t three[4] = {1, 3, 2, 5}, one[4] = {1, 1, 2, 5}, five[4] = {1, 5, 2, 5};
    ck_assert(kiln_layout_parse(&layout, "kDLA_HWC4", NULL, why));
    ck_assert(kiln_storage_make(&s, &layout, three, KILN_F16, why));
    ck_assert_int_eq(s.cells, 2 * 8 * 4);
    ck_assert(kiln_storage_make(&s, &layout, one, KILN_I8, why));
    ck_assert_int_eq(s.cells, 2 * 64);
    ck_assert(!kiln_storage_make(&s, &layout, five, KILN_I8, why));
    ck_assert(kiln_layout_parse(&layout, "kDLA_LINEAR", NULL, why));
    ck_assert(kiln_storage_make(&s, &layout, three, KILN_F16, why));
    ck_assert_int_eq(s.cells, 3 * 2 * 32);
}
END_TEST

START_TEST(kin)
{
    kiln_layout layout;
    char why[KILN_ERROR_TEXT];
    ck_assert(kiln_layout_parse(&layout, "NHWC", "NCDHW", why));
    ck_assert_str_eq(layout.spec, "NDHWC");
    ck_assert(kiln_layout_parse(&layout, "NC/16HW16", "NCW", why));
    ck_assert_str_eq(layout.spec, "NCW16c");
    ck_assert(kiln_layout_parse(&layout, "OIHW", "OIDHW", why));
    ck_assert_str_eq(layout.spec, "OIDHW");
}
END_TEST

/* Names that say their dims themselves; names of other dims keep the table's. */
START_TEST(own_dims)
{
    static const struct {
        const char *name, *dims, *spec;
    } names[] = {
        {"NCDHW", "NCDHW", "NCDHW"},
        {"NDHWC", "NCDHW", "NDHWC"},
        {"kDHWC", "NCDHW", "NDHWC"},
        {"ncdhw", "NCDHW", "NCDHW"},
        {"NCW", "NCW", "NCW"},
        {"NWC", "NCW", "NWC"},
        {"OIDHW", "OIDHW", "OIDHW"},
        {"OIW", "OIW", "OIW"},
        {"ODHWI", "OIDHW", "ODHWI"},
        {"NDHWC8", "NCDHW", "NDHWC;C%8"},
        {"kCHW8", "NCHW", "NCHW8c"},
        {"NCHW", "NCHW", "NCHW"},
        {"IN_OUT_WIDTH", "NCHW", "NH|CW|4w"},
        {"W", "W", "W"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        kiln_layout l;
        char why[KILN_ERROR_TEXT];
        ck_assert_msg(kiln_layout_parse(&l, names[i].name, NULL, why), "%s", why);
        ck_assert_str_eq(l.dims, names[i].dims);
        ck_assert_str_eq(l.spec, names[i].spec);
    }
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("layout");
    tcase_add_test(cases, golden_storage);
    tcase_add_test(cases, refusals);
    tcase_add_test(cases, every_name_parses);
    tcase_add_test(cases, spellings);
    tcase_add_test(cases, nonsense);
    tcase_add_loop_test(cases, layouts_by_hand, 0, 13);
    tcase_add_test(cases, overflow);
    tcase_add_test(cases, own_dims);
    tcase_add_test(cases, strides_and_expressions);
    tcase_add_test(cases, dla_sizes);
    tcase_add_test(cases, kin);
    Suite *suite = suite_create("layout");
    suite_add_tcase(suite, cases);
    return support_run_apart(suite);
}
