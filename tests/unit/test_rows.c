/* Sets of tuning rows: the rows that are found, and the files that they are from. */
#include "support/rows_box.h"
#include "support/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

START_TEST(newest_first)
{
    rows_append("a", "1", 3);
    rows_append("b", "2", 1);
    rows_append("a", "3", 2);
    kiln_rows *rows = kiln_rows_load(rows_file, "", &rows_logger);
    ck_assert_str_eq(kiln_rows_find(rows, "a", NULL, 0)->config, "3");
    ck_assert_str_eq(kiln_rows_find(rows, "a", rows_sample.solver, 1)->config, "1");
    ck_assert_ptr_null(kiln_rows_find(rows, "a", NULL, 2));
    ck_assert_str_eq(kiln_rows_find(rows, "b", NULL, 0)->config, "2");
    ck_assert_ptr_null(kiln_rows_find(rows, "b", "other", 0));
    ck_assert_ptr_null(kiln_rows_find(rows, "c", NULL, 0));
    kiln_rows_free(rows);
}
END_TEST

START_TEST(missing_file_is_empty)
{
    kiln_rows *rows = kiln_rows_load(rows_file, "", &rows_logger);
    ck_assert_uint_eq(kiln_rows_count(rows), 0);
    ck_assert_ptr_null(kiln_rows_find(rows, "a", NULL, 0));
    ck_assert(kiln_rows_missing(rows));
    ck_assert_str_eq(kiln_rows_trouble(rows), "");
    ck_assert_str_eq(rows_told, "");
    kiln_rows_free(rows);
    rows = kiln_rows_load("", "", &rows_logger);
    ck_assert_uint_eq(kiln_rows_count(rows), 0);
    ck_assert(!kiln_rows_missing(rows));
    kiln_rows_free(rows);
    rows = kiln_rows_load(rows_folder, "", &rows_logger);
    ck_assert_uint_eq(kiln_rows_count(rows), 0);
    ck_assert(!kiln_rows_missing(rows));
    ck_assert_ptr_nonnull(strstr(kiln_rows_trouble(rows), rows_folder));
    ck_assert_str_eq(rows_told, "");
    kiln_rows_free(rows);
}
END_TEST

/* Several CPUs may have the same device name. */
START_TEST(rows_of_another_core_are_left_out)
{
    kiln_row row = rows_sample;
    const char *cores[] = {"AMD 19h", "AMD 1Ah", ""};
    for (int i = 0; i < 3; i++) {
        snprintf(row.key, sizeof row.key, "%d", i);
        strcpy(row.core, cores[i]);
        ck_assert_int_eq(kiln_rows_append(rows_file, "d", &row), KILN_OK);
    }
    kiln_rows *rows = kiln_rows_load(rows_file, "AMD 1Ah", &rows_logger);
    ck_assert_uint_eq(kiln_rows_count(rows), 2);
    ck_assert_uint_eq(kiln_rows_elsewhere(rows), 1);
    ck_assert_ptr_null(kiln_rows_find(rows, "0", NULL, 0));
    ck_assert_str_eq(kiln_rows_find(rows, "1", NULL, 0)->core, "AMD 1Ah");
    ck_assert_ptr_nonnull(kiln_rows_find(rows, "2", NULL, 0));
    kiln_rows_free(rows);
    rows = kiln_rows_load(rows_file, "", &rows_logger);
    ck_assert_uint_eq(kiln_rows_count(rows), 3);
    ck_assert_uint_eq(kiln_rows_elsewhere(rows), 0);
    kiln_rows_free(rows);
}
END_TEST

static const struct {
    const char *head, *device, *said;
} heads[] = {
    {"device: \"d\"\n", "d", "d"},
    {"device: A b-3\n", "A b-3", "A b-3"},
    {"device: \"a ?device?\"\n",
     "a \xff"
     "device\n",
     "a ?device?"},
    {"", NULL, ""},
    {"device: any\n", NULL, "any"},
    {"device: \"dd\"\n", NULL, "dd"},
};

/* The head has the name as kiln writes it, whatever bytes a driver has in it. */
START_TEST(the_head_names_a_device)
{
    char text[256];
    snprintf(text, sizeof text, "schema: 1\n%srows:\n", heads[_i].head);
    kiln_rows *rows = rows_load_text(text);
    ck_assert_str_eq(kiln_rows_device(rows), heads[_i].said);
    ck_assert(!kiln_rows_name_device(kiln_rows_device(rows), "d "));
    ck_assert(heads[_i].device ? kiln_rows_name_device(kiln_rows_device(rows), heads[_i].device)
                               : !kiln_rows_name_device(kiln_rows_device(rows), "d"));
    kiln_rows_free(rows);
}
END_TEST

START_TEST(many_rows_are_found)
{
    enum { ROWS = 10000 };
    FILE *f = fopen(rows_file, "w");
    fputs(ROWS_HEAD, f);
    for (int i = 0; i < ROWS; i++)
        fprintf(f, "- {key: \"k%d\", solver: \"S\", version: 1, config: \"%d\"}\n", i, i);
    fclose(f);
    kiln_rows *rows = kiln_rows_load(rows_file, "", &rows_logger);
    ck_assert_uint_eq(kiln_rows_count(rows), ROWS);
    for (int i = 0; i < ROWS; i++) {
        char key[16];
        snprintf(key, sizeof key, "k%d", i);
        const kiln_row *row = kiln_rows_find(rows, key, NULL, 0);
        ck_assert_ptr_nonnull(row);
        ck_assert_int_eq(atoi(row->config), i);
        ck_assert_ptr_null(kiln_rows_find(rows, key, NULL, 1));
    }
    kiln_rows_free(rows);
}
END_TEST

START_TEST(device_files)
{
    char slug[128], path[256];
    kiln_device_slug("NVIDIA H100 80GB HBM3", slug, sizeof slug);
    ck_assert_str_eq(slug, "nvidia-h100-80gb-hbm3");
    kiln_device_slug("  Intel(R) \xc3\xa9 UHD/../620  ", slug, sizeof slug);
    ck_assert_str_eq(slug, "intel-r-uhd-620");
    kiln_device_slug("", slug, sizeof slug);
    ck_assert_str_eq(slug, "device");
    kiln_device_slug("abc-def", slug, 5);
    ck_assert_str_eq(slug, "abc");
    unsetenv("KILN_DB");
    setenv("XDG_DATA_HOME", "/data", 1);
    kiln_rows_default_file("A b", path, sizeof path);
    ck_assert_str_eq(path, "/data/kiln/a-b.yaml");
    setenv("XDG_DATA_HOME", "relative", 1);
    setenv("HOME", "/home/u", 1);
    kiln_rows_default_file("A b", path, sizeof path);
    ck_assert_str_eq(path, "/home/u/.local/share/kiln/a-b.yaml");
    setenv("KILN_DB", "/x.yaml", 1);
    kiln_rows_default_file("A b", path, sizeof path);
    ck_assert_str_eq(path, "/x.yaml");
    setenv("KILN_DB", "off", 1);
    kiln_rows_default_file("A b", path, sizeof path);
    ck_assert_str_eq(path, "");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rows");
    TCase *tests = tcase_create("rows");
    tcase_add_checked_fixture(tests, rows_make_folder, rows_remove_folder);
    tcase_add_test(tests, newest_first);
    tcase_add_test(tests, missing_file_is_empty);
    tcase_add_test(tests, rows_of_another_core_are_left_out);
    tcase_add_loop_test(tests, the_head_names_a_device, 0, sizeof heads / sizeof *heads);
    tcase_add_test(tests, many_rows_are_found);
    tcase_add_test(tests, device_files);
    suite_add_tcase(suite, tests);
    return support_run_apart(suite);
}
