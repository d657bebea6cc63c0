/* Templates that include others: the source that they make, and refusals. */
#include "runtime/kiln/kiln_internal.h"
#include "runtime/programs/template.h"
#include "support/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char folder[64];

static void make_folder(void)
{
    strcpy(folder, "/tmp/kiln_template_XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void remove_folder(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static void write_template(const char *file, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
}

static void becomes(const char *file, const char *want)
{
    char *source;
    ck_assert_msg(!kiln_template_source(folder, file, &source), "%s", kiln_last_error());
    ck_assert_str_eq(source, want);
    free(source);
}

static void is_refused(const char *file, const char *sentence)
{
    char *source;
    ck_assert_int_eq(kiln_template_source(folder, file, &source), KILN_FILE);
    ck_assert_ptr_null(source);
    ck_assert_str_eq(kiln_last_error(), sentence);
}

START_TEST(what_is_included_stands_in_its_place)
{
    write_template("a.cl", "/* a */\n#include \"b.cl\"\nint a;\n");
    write_template("b.cl", "int b;\n");
    becomes("a.cl", "#line 1 \"a.cl\"\n/* a */\n"
                    "#line 1 \"b.cl\"\nint b;\n#line 3 \"a.cl\"\nint a;\n");
}
END_TEST

START_TEST(a_file_is_there_once)
{
    write_template("a.cl", "#include \"b.cl\"\n#include \"c.cl\"\n#include \"b.cl\"\nint a;\n");
    write_template("b.cl", "#include \"c.cl\"\nint b;\n");
    write_template("c.cl", "int c;");
    becomes("a.cl", "#line 1 \"a.cl\"\n"
                    "#line 1 \"b.cl\"\n"
                    "#line 1 \"c.cl\"\nint c;\n#line 2 \"b.cl\"\nint b;\n#line 2 \"a.cl\"\n"
                    "#line 3 \"a.cl\"\n#line 4 \"a.cl\"\nint a;\n");
}
END_TEST

/* These lines go to the compiler, which reports errors in them. */
START_TEST(other_lines_are_left_alone)
{
    const char *const text = "//#include \"b.cl\"\n #include \"b.cl\"\n#include <b.cl>\n"
                             "#include \"b.cl\n";
    char want[256];
    write_template("a.cl", text);
    snprintf(want, sizeof want, "#line 1 \"a.cl\"\n%s", text);
    becomes("a.cl", want);
}
END_TEST

START_TEST(what_is_missing_is_named_with_its_includer)
{
    write_template("a.cl", "#include \"b.cl\"\n");
    write_template("b.cl", "#include \"c.cl\"\n");
    is_refused("d.cl", "template d.cl is missing");
    is_refused("a.cl", "template b.cl includes c.cl, which is missing");
}
END_TEST

START_TEST(a_circle_is_refused)
{
    write_template("a.cl", "#include \"b.cl\"\n");
    write_template("b.cl", "#include \"a.cl\"\n");
    is_refused("a.cl", "template b.cl includes a.cl, of which it is part");
    write_template("b.cl", "#include \"b.cl\"\n");
    is_refused("a.cl", "template b.cl includes b.cl, of which it is part");
}
END_TEST

/* Only files of the folder are read. */
START_TEST(a_name_is_one_of_a_file)
{
    static const char remedy[] = "give a file's name of at most 63 bytes, without a folder";
    static const char *const names[] = {"", ".", "..", "../a.cl", "/etc/passwd", "sub/a.cl"};
    char text[200], sentence[256], name[81];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(text, sizeof text, "#include \"%s\"\n", names[i]);
        write_template("a.cl", text);
        snprintf(sentence, sizeof sentence, "template a.cl includes \"%s\"; %s", names[i], remedy);
        is_refused("a.cl", sentence);
    }
    memset(name, 'b', sizeof name);
    name[80] = '\0';
    snprintf(text, sizeof text, "#include \"%s\"\n", name);
    write_template("a.cl", text);
    snprintf(sentence, sizeof sentence, "template a.cl includes \"%.64s\"; %s", name, remedy);
    is_refused("a.cl", sentence);
}
END_TEST

START_TEST(endless_files_end)
{
    for (int i = 0; i < 40; i++) {
        char file[16], text[32];
        snprintf(file, sizeof file, "%d.cl", i);
        snprintf(text, sizeof text, "#include \"%d.cl\"\n", i + 1);
        write_template(file, text);
    }
    is_refused("0.cl", "template 31.cl includes 32.cl, one more than the 32 files of a program");
}
END_TEST

/* A folder has some of the files; the others are embedded, and their #line lines name them. */
START_TEST(embedded_files_and_a_folders_mix)
{
    char *source;
    for (const kiln_template *t = kiln_embedded_templates; t->file; t++) {
        ck_assert_msg(!kiln_template_source(NULL, t->file, &source), "%s", kiln_last_error());
        ck_assert_ptr_null(strstr(source, "\n#include"));
        free(source);
    }
    write_template("types.cl", "int replaced;\n");
    ck_assert_int_eq(kiln_template_source(folder, "sum_parts.cl", &source), KILN_OK);
    ck_assert_ptr_nonnull(strstr(source, "#line 1 \"types.cl\"\nint replaced;\n#line "));
    ck_assert_ptr_nonnull(strstr(source, "kernel void sum_parts("));
    free(source);
}
END_TEST

static void hash_of(const char *file, char hash[40])
{
    const kiln_settings settings = {.template_dir = folder, .rows_file = "off", .cache_dir = "off"};
    static kiln_plan plan;
    kiln *k;
    ck_assert_int_eq(kiln_open(&k, NULL, NULL, &settings), KILN_OK);
    kiln_plan_start(&plan);
    kiln_plan_stage(&plan, file, "a");
    kiln_plan_template_hash(k->template_dir, &plan, hash);
    kiln_close(k);
}

START_TEST(the_hash_of_a_plan_covers_what_is_included)
{
    char before[40], after[40], again[40];
    write_template("a.cl", "#include \"b.cl\"\n");
    write_template("b.cl", "#include \"c.cl\"\n");
    write_template("c.cl", "int c;\n");
    hash_of("a.cl", before);
    write_template("c.cl", "int d;\n");
    hash_of("a.cl", after);
    write_template("c.cl", "int c;\n");
    hash_of("a.cl", again);
    ck_assert_str_ne(before, after);
    ck_assert_str_eq(before, again);
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("template");
    tcase_add_checked_fixture(c, make_folder, remove_folder);
    tcase_add_test(c, what_is_included_stands_in_its_place);
    tcase_add_test(c, a_file_is_there_once);
    tcase_add_test(c, other_lines_are_left_alone);
    tcase_add_test(c, what_is_missing_is_named_with_its_includer);
    tcase_add_test(c, a_circle_is_refused);
    tcase_add_test(c, a_name_is_one_of_a_file);
    tcase_add_test(c, endless_files_end);
    tcase_add_test(c, embedded_files_and_a_folders_mix);
    tcase_add_test(c, the_hash_of_a_plan_covers_what_is_included);
    Suite *s = suite_create("template");
    suite_add_tcase(s, c);
    return support_run_apart(s);
}
