/* Makes and removes a folder of a program cache for each test. */
#include "cache_box.h"

#include <check.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char box_dir[256], box_path[512];
static unsigned char binary[BOX_BINARY];
kiln_cache_record box_record;

void box_make(void)
{
    const char *base = getenv("TMPDIR");
    snprintf(box_dir, sizeof box_dir, "%s/kiln-cache-XXXXXX", base ? base : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(box_dir));
    for (int i = 0; i < BOX_BINARY; i++)
        binary[i] = (unsigned char)(i * 7 + 1);
    box_record = (kiln_cache_record){box_key, binary, BOX_BINARY};
    char name[KILN_CACHE_NAME];
    kiln_cache_name(box_key, name);
    snprintf(box_path, sizeof box_path, "%s/%s", box_dir, name);
}

static int remove_one(const char *name, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st, (void)flag, (void)ftw;
    return remove(name);
}

void box_remove(void)
{
    nftw(box_dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

void box_store(void)
{
    ck_assert(kiln_cache_store(box_dir, box_no_limit, &box_record, &box_silent));
}

const char *box_load(const char *key)
{
    unsigned char *data;
    kiln_cache_record got;
    const char *why = kiln_cache_load(box_dir, key, true, &data, &got);
    if (!why) {
        ck_assert_str_eq(got.key, key);
        ck_assert_uint_eq(got.binary_size, BOX_BINARY);
        ck_assert_mem_eq(got.binary, binary, BOX_BINARY);
    }
    free(data);
    return why;
}

void box_write_file(const char *name, const void *data, size_t size)
{
    FILE *f = fopen(name, "wb");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(data, 1, size, f), size);
    fclose(f);
}

int box_strangers(void)
{
    char command[512];
    snprintf(command, sizeof command, "ls -A '%s' | grep -vc '^[0-9a-f]*\\.kiln$'", box_dir);
    FILE *p = popen(command, "r");
    int count = -1;
    ck_assert_int_eq(fscanf(p, "%d", &count), 1);
    pclose(p);
    return count;
}
