/* Makes and removes a folder for a file of tuning rows for each test. */
#include "rows_box.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char rows_folder[64], rows_file[128], rows_told[4096];

static void remember(void *user, const char *line)
{
    (void)user;
    strncat(rows_told, line, sizeof rows_told - strlen(rows_told) - 1);
    strncat(rows_told, "\n", sizeof rows_told - strlen(rows_told) - 1);
}

const kiln_logger rows_logger = {.log = remember};

void rows_make_folder(void)
{
    strcpy(rows_folder, "/tmp/kiln_rows_XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(rows_folder));
    snprintf(rows_file, sizeof rows_file, "%s/rows.yaml", rows_folder);
    rows_told[0] = '\0';
}

void rows_remove_folder(void)
{
    char command[256];
    snprintf(command, sizeof command, "chmod -R u+w %s && rm -r %s", rows_folder, rows_folder);
    ck_assert_int_eq(system(command), 0);
}

kiln_rows *rows_load_bytes(const char *text, size_t length)
{
    FILE *f = fopen(rows_file, "wb");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(text, 1, length, f), length);
    fclose(f);
    rows_told[0] = '\0';
    kiln_rows *rows = kiln_rows_load(rows_file, "", &rows_logger);
    ck_assert_ptr_nonnull(rows);
    return rows;
}

kiln_rows *rows_load_text(const char *text)
{
    return rows_load_bytes(text, strlen(text));
}

const kiln_row rows_sample = {
    .key = "fwd-f32-n16-c192-k64-i28x28-f1x1-lNH|CW|4c.OIHW.NCHW",
    .solver = "ConvOclDirectFwd1x1",
    .version = 3,
    .config = "1,64,1,1,1,1,16,2048,0",
    .ms = 1.2345,
    .iqr = 0.0213,
    .runs = 5,
    .error = 0.11,
    .guess = "1,16,1,1,1,4,16,1,0 of ConvOclDirectFwd1x1",
    .guess_ms = 1.5,
    .turns = 8,
    .turns_won = 7,
    .win_iqr = 0.0125,
    .hash = "0123456789abcdef",
    .driver = "PoCL 3.1 \"quoted\" back\\slash #no: comment, {}",
    .date = "2026-01-31",
    .without = "direct naive",
    .core = "AMD 19h",
};

void rows_append(const char *key, const char *config, double ms)
{
    kiln_row row = rows_sample;
    strcpy(row.key, key);
    strcpy(row.config, config);
    row.ms = ms;
    ck_assert_int_eq(kiln_rows_append(rows_file, "d", &row), KILN_OK);
}
