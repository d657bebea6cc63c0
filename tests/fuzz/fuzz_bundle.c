/* Fuzzes bundles. The input is a file of the user's rows, one of shipped rows and one of a program,
 * divided by lines that say "%%".
 *
 * A kiln that reads the bundle opens, and plans the problem of each row: with the row, or with what
 * it would have taken without rows. A program is what the file says, or a miss. */
#include "kiln_tune.h"
#include "runtime/base/environment.h"
#include "runtime/programs/cache_file.h"

#include "folder.h"

#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

enum { MOST_ROWS = 4, CHECKSUM_AT = 8, CHECKED_FROM = 24 };

static const char divider[] = "\n%%\n";

/* Writes what stands before the next divider, unless that is nothing, and passes both. */
static void write_part(const char *name, const uint8_t **data, size_t *size)
{
    char path[128];
    const size_t width = sizeof divider - 1;
    const uint8_t *end = *size ? memmem(*data, *size, divider, width) : NULL;
    const size_t length = end ? (size_t)(end - *data) + 1 : *size;
    const size_t passed = end ? length - 1 + width : length;
    fuzz_path(name, path, sizeof path);
    unlink(path);
    if (length > 1)
        fuzz_write(path, *data, length);
    *data += passed;
    *size -= passed;
}

static void programs_folder(char *dir, size_t size)
{
    fuzz_path(KILN_BUNDLE_PROGRAMS "/", dir, size);
    *strrchr(dir, '/') = '\0';
}

/* ---- rows ---- */

typedef struct plans {
    kiln *with, *without;
    int rows;
} plans;

static void take_line(void *user, const char *line)
{
    (void)user;
    require(*line);
}

/* `rows` is NULL for those of the bundle, or "off". */
static kiln *open_kiln(const char *rows)
{
    const kiln_settings settings = {.bundle = fuzz_folder(),
                                    .rows_file = rows,
                                    .shipped_dir = rows,
                                    .cache_dir = "off",
                                    .log = take_line,
                                    .warn = take_line};
    kiln *k = NULL;
    unsetenv("KILN_DB"); /* which would be read in place of the bundle's */
    unsetenv("KILN_SHIPPED_DB");
    if (kiln_open(&k, NULL, NULL, &settings) == KILN_OK)
        return k;
    fprintf(stderr, "%s\n", kiln_last_error());
    require(!"a kiln opens, whatever the bundle holds");
    return NULL;
}

static void plan_row(void *user, const kiln_rows_piece *piece)
{
    plans *s = user;
    kiln_problem p;
    kiln_op_info with, without;
    if (piece->kind != KILN_ROWS_ROW || s->rows >= MOST_ROWS ||
        kiln_problem_parse(&p, piece->row->key, NULL))
        return;
    s->rows++;
    const kiln_status status = kiln_conv_plan(s->with, &p, NULL, &with);
    require(status == kiln_conv_plan(s->without, &p, NULL, &without));
    if (status) {
        fuzz_check_why(kiln_last_error(), KILN_ERROR_TEXT * 8);
        return;
    }
    require(*with.solver && memchr(with.config, '\0', sizeof with.config));
    if (with.origin == KILN_ORIGIN_GUESS)
        require(strcmp(with.solver, without.solver) == 0 &&
                strcmp(with.config, without.config) == 0);
}

static void plan_rows(const char *name, plans *s)
{
    char path[128];
    fuzz_path(name, path, sizeof path);
    kiln_rows_read(path, plan_row, s);
}

/* ---- programs ---- */

/* Stores the bytes as the program of `key`, and asks for it. */
static const char *load(const char *key, const uint8_t *data, size_t size, unsigned char **to,
                        kiln_cache_record *record)
{
    char dir[96], name[KILN_CACHE_NAME], path[96 + KILN_CACHE_NAME];
    programs_folder(dir, sizeof dir);
    kiln_cache_name(key, name);
    snprintf(path, sizeof path, "%s/%s", dir, name);
    fuzz_write(path, data, size);
    chmod(path, 0600);
    const char *why = kiln_cache_load(dir, key, false, to, record);
    unlink(path);
    return why;
}

static void check_program(const uint8_t *data, size_t size)
{
    kiln_cache_record inside, record;
    unsigned char *loaded = NULL;
    if (kiln_cache_decode(data, size, &inside)) {
        require(load("a key", data, size, &loaded, &record));
        free(loaded);
        return;
    }
    require(!load(inside.key, data, size, &loaded, &record));
    require(strcmp(record.key, inside.key) == 0 && record.binary_size == inside.binary_size);
    require(memcmp(record.binary, inside.binary, inside.binary_size) == 0);
    free(loaded);
    if (strcmp(inside.key, "a key") != 0)
        require(load("a key", data, size, &loaded, &record));
    free(loaded);
}

static void check_programs(const uint8_t *data, size_t size)
{
    check_program(data, size);
    uint8_t *copy = size < CHECKED_FROM ? NULL : malloc(size);
    if (!copy)
        return;
    memcpy(copy, data, size);
    XXH128_canonical_t sum;
    XXH128_canonicalFromHash(&sum, XXH3_128bits(data + CHECKED_FROM, size - CHECKED_FROM));
    memcpy(copy + CHECKSUM_AT, &sum, sizeof sum);
    check_program(copy, size);
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char shipped[] = KILN_BUNDLE_SHIPPED "/generic.yaml";
    if (size > 2 * FUZZ_MOST)
        return 0;
    char dir[96];
    programs_folder(dir, sizeof dir); /* a folder without any part is no bundle */
    write_part(KILN_BUNDLE_ROWS, &data, &size);
    write_part(shipped, &data, &size);
    plans s = {.with = open_kiln(NULL), .without = open_kiln("off")};
    plan_rows(KILN_BUNDLE_ROWS, &s);
    plan_rows(shipped, &s);
    kiln_close(s.with);
    kiln_close(s.without);
    check_programs(data, size);
    return 0;
}
