/* Loading a file of 100,000 tuning rows, looking rows up, and planning with them.
 *
 * The problems of the rows differ in their sizes; each row has every field that a search writes.
 */
#include "kiln_tune.h"

#include "runtime/base/clock.h"
#include "runtime/rows/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ROWS = 100000, LOADS = 5, LOOKUPS = 100000, PLANS = 100 };

static double now_ms(void)
{
    return (double)kiln_clock_ns() * 1e-6;
}

static void name_key(char key[KILN_KEY_TEXT], int i)
{
    snprintf(key, KILN_KEY_TEXT, "fwd-f32-n%d-c%d-k%d-i%dx%d-f1x1", 1 + i % 10,
             16 * (1 + i / 10 % 10), 16 * (1 + i / 100 % 10), 1 + i / 1000 % 10,
             1 + i / 10000 % 10);
}

static bool write_rows(const char *file)
{
    char key[KILN_KEY_TEXT];
    FILE *to = fopen(file, "w");
    if (!to)
        return false;
    fputs("# kiln tuning rows; see tuning-db/README.md\nschema: 1\ndevice: \"card\"\nrows:\n", to);
    for (int i = 0; i < ROWS; i++) {
        name_key(key, i);
        fprintf(to,
                "- {key: \"%s\", solver: \"ConvOclDirectFwd1x1\", version: 1, config: "
                "\"1,64,1,1,1,1,16,2048,0\", ms: %d.25, spread: 0.0213, runs: 25, error: 0.207, "
                "second: \"16,1,1,16,1,0 of direct_blocked\", second_ms: 1.5, hash: "
                "\"9f86d081884c7d65\", driver: \"3.1\", date: \"2026-11-27\", core: \"AMD 1Ah\"}\n",
                key, 1 + i % 7);
    }
    return fclose(to) == 0;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print(const char *what, double *ms, int n, double scale, const char *unit)
{
    qsort(ms, (size_t)n, sizeof *ms, by_value);
    printf("%-34s  %10.4g  %10.4g  %10.4g  %s\n", what, ms[0] * scale, ms[n / 2] * scale,
           ms[n - 1] * scale, unit);
}

static bool load(const char *file, kiln_rows **last)
{
    double ms[LOADS], cpu[LOADS];
    for (int i = 0; i < LOADS; i++) {
        const double began = now_ms();
        const clock_t cpu_began = clock();
        kiln_rows *rows = kiln_rows_load(file, "AMD 1Ah", &(kiln_logger){0});
        ms[i] = now_ms() - began;
        cpu[i] = (double)(clock() - cpu_began) * 1e3 / CLOCKS_PER_SEC;
        if (!rows || kiln_rows_count(rows) != ROWS)
            return false;
        if (i + 1 == LOADS)
            *last = rows;
        else
            kiln_rows_free(rows);
    }
    print("load 100,000 rows", ms, LOADS, 1, "ms");
    print("the same, time of the CPU", cpu, LOADS, 1, "ms");
    return true;
}

/* Every other key is one that no row has. */
static bool look_up(const kiln_rows *rows)
{
    static double ms[LOOKUPS];
    char key[KILN_KEY_TEXT];
    for (int i = 0; i < LOOKUPS; i++) {
        const bool there = i % 2 == 0;
        name_key(key, (int)((int64_t)i * 7919 % ROWS));
        if (!there)
            key[0] = 'F';
        const double began = now_ms();
        const kiln_row *row = kiln_rows_find(rows, key, NULL, 0);
        ms[i] = now_ms() - began;
        if ((row != NULL) != there)
            return false;
    }
    print("find a row among them", ms, LOOKUPS, 1e3, "us");
    return true;
}

/* The whole choice, from the row to the plan. */
static bool plan(const char *file)
{
    double ms[PLANS];
    char key[KILN_KEY_TEXT], why[KILN_ERROR_TEXT];
    kiln *k;
    const kiln_settings settings = {.cache_dir = "off", .rows_file = file, .shipped_dir = "off"};
    if (kiln_open(&k, NULL, NULL, &settings))
        return false;
    bool ok = true;
    for (int i = 0; i < PLANS && ok; i++) {
        kiln_problem p;
        kiln_op_info info;
        name_key(key, i * (ROWS / PLANS));
        ok = !kiln_problem_parse(&p, key, why);
        const double began = now_ms();
        ok = ok && !kiln_conv_plan(k, &p, NULL, &info) && info.origin == KILN_ORIGIN_USER_ROW;
        ms[i] = now_ms() - began;
    }
    kiln_close(k);
    if (ok)
        print("kiln_conv_plan() with a row", ms, PLANS, 1e3, "us");
    return ok;
}

int main(void)
{
    char file[] = "/tmp/kiln-rows-XXXXXX";
    kiln_rows *rows = NULL;
    const int fd = mkstemp(file);
    if (fd < 0 || close(fd) != 0 || !write_rows(file)) {
        perror(file);
        return 1;
    }
    printf("%-34s  %10s  %10s  %10s\n", "", "least", "median", "most");
    const bool ok = load(file, &rows) && look_up(rows) && plan(file);
    unlink(file);
    kiln_rows_free(rows);
    if (!ok)
        fprintf(stderr, "bench_rows: rows are missing: %s\n", kiln_last_error());
    return !ok;
}
