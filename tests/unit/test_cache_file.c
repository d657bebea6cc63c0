/* Files of the program cache: a stored program is found, everything else is a miss. */
#include "support/cache_box.h"
#include "support/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

static size_t read_file(unsigned char *data, size_t room)
{
    FILE *f = fopen(box_path, "rb");
    ck_assert_ptr_nonnull(f);
    size_t size = fread(data, 1, room, f);
    fclose(f);
    return size;
}

START_TEST(stored_and_found)
{
    ck_assert_str_eq(box_load(box_key), "not there");
    box_store();
    ck_assert_ptr_null(box_load(box_key));
    ck_assert_str_eq(box_load("kiln program 1\ndevice test\noptions -DA=2"), "not there");
    struct stat st;
    ck_assert_int_eq(stat(box_path, &st), 0);
    ck_assert_uint_eq(st.st_mode & 07777, 0600);
    ck_assert_int_eq(st.st_size, BOX_HEADER + (int)sizeof box_key + BOX_BINARY);
    ck_assert_int_eq(box_strangers(), 0);
}
END_TEST

START_TEST(truncated_is_a_miss)
{
    box_store();
    for (off_t length = BOX_HEADER + (off_t)sizeof box_key + BOX_BINARY; length-- > 0;) {
        ck_assert_int_eq(truncate(box_path, length), 0);
        ck_assert_msg(box_load(box_key) != NULL, "a file cut to %ld bytes was taken", (long)length);
    }
    box_store();
    ck_assert_ptr_null(box_load(box_key));
}
END_TEST

START_TEST(longer_is_a_miss)
{
    unsigned char data[1024] = {0};
    box_store();
    size_t size = read_file(data, sizeof data);
    box_write_file(box_path, data, size + 1);
    ck_assert_str_eq(box_load(box_key), "sizes that do not add up");
}
END_TEST

START_TEST(any_flipped_bit_is_a_miss)
{
    unsigned char data[1024];
    box_store();
    size_t size = read_file(data, sizeof data);
    kiln_cache_record got;
    for (size_t bit = 0; bit < size * 8; bit++) {
        data[bit / 8] ^= (unsigned char)(1u << bit % 8);
        ck_assert_msg(kiln_cache_decode(data, size, &got) != NULL, "bit %zu does not matter", bit);
        data[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    ck_assert_ptr_null(kiln_cache_decode(data, size, &got));
    data[BOX_HEADER + sizeof box_key + 17] ^= 4;
    box_write_file(box_path, data, size);
    ck_assert_str_eq(box_load(box_key), "wrong checksum");
    box_store();
    ck_assert_ptr_null(box_load(box_key));
}
END_TEST

/* With a right checksum, so that only the sizes show the damage. */
START_TEST(hostile_sizes)
{
    static const uint64_t
        keys[] = {0, 1, sizeof box_key - 1, sizeof box_key + 1, BOX_BINARY, UINT32_MAX},
        binaries[] = {0,       1,         BOX_BINARY - 1, BOX_BINARY + 1,         UINT32_MAX,
                      1 << 20, INT64_MAX, UINT64_MAX,     UINT64_MAX - BOX_BINARY};
    unsigned char data[1024];
    box_store();
    size_t size = read_file(data, sizeof data);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        for (size_t j = 0; j <= sizeof binaries / sizeof *binaries; j++) {
            uint32_t key_size = (uint32_t)keys[i];
            uint64_t fits = size - BOX_HEADER - key_size;
            memcpy(data + 28, &key_size, 4);
            memcpy(data + 32, j < sizeof binaries / sizeof *binaries ? &binaries[j] : &fits, 8);
            XXH128_canonical_t sum;
            XXH128_canonicalFromHash(&sum, XXH3_128bits(data + 24, size - 24));
            memcpy(data + 8, &sum, sizeof sum);
            kiln_cache_record got;
            ck_assert_ptr_nonnull(kiln_cache_decode(data, size, &got));
        }
}
END_TEST

START_TEST(foreign_format)
{
    unsigned char data[1024];
    box_store();
    size_t size = read_file(data, sizeof data);
    data[24]++;
    box_write_file(box_path, data, size);
    ck_assert_str_eq(box_load(box_key), "another format");
    data[0] = 'K';
    box_write_file(box_path, data, size);
    ck_assert_str_eq(box_load(box_key), "not a file of kiln");
}
END_TEST

START_TEST(foreign_key_of_the_same_name)
{
    kiln_cache_record other = {"kiln program 1\ndevice other\noptions -DA=1", box_record.binary,
                               BOX_BINARY};
    size_t size;
    unsigned char *data = kiln_cache_encode(&other, &size);
    box_write_file(box_path, data, size);
    free(data);
    ck_assert_str_eq(box_load(box_key), "the key of another program");
    box_store();
    ck_assert_ptr_null(box_load(box_key));
}
END_TEST

START_TEST(what_cannot_be_a_record)
{
    size_t size;
    ck_assert_ptr_null(
        kiln_cache_encode(&(kiln_cache_record){box_key, box_record.binary, 0}, &size));
    ck_assert_ptr_null(
        kiln_cache_encode(&(kiln_cache_record){box_key, box_record.binary, SIZE_MAX}, &size));
}
END_TEST

START_TEST(not_a_plain_file)
{
    ck_assert_int_eq(mkfifo(box_path, 0600), 0);
    ck_assert_str_eq(box_load(box_key), "not a plain file");
    unlink(box_path);
    ck_assert_int_eq(symlink("/etc/passwd", box_path), 0);
    ck_assert_str_eq(box_load(box_key), "cannot be opened");
    unlink(box_path);
    ck_assert_int_eq(mkdir(box_path, 0700), 0);
    ck_assert_str_eq(box_load(box_key), "not a plain file");
    ck_assert(!kiln_cache_store(box_dir, box_no_limit, &box_record, &box_silent));
    ck_assert_int_eq(box_strangers(), 0);
}
END_TEST

START_TEST(of_another_user)
{
    if (geteuid() != 0)
        return; /* only root can give a file away */
    box_store();
    ck_assert_int_eq(chown(box_path, 12345, (gid_t)-1), 0);
    ck_assert_str_eq(box_load(box_key), "it belongs to another user");
}
END_TEST

/* A huge file that is none of kiln's is not read. */
START_TEST(huge_and_foreign)
{
    unsigned char *data = NULL;
    kiln_cache_record record;
    box_store();
    ck_assert_int_eq(truncate(box_path, 0), 0);
    ck_assert_int_eq(truncate(box_path, (off_t)1 << 30), 0); /* no byte of it is on the disk */
    ck_assert_str_eq(kiln_cache_load(box_dir, box_key, false, &data, &record),
                     "not a file of kiln");
    ck_assert_ptr_null(data);
}
END_TEST

/* Whoever may write to the file or its folder may say what the driver runs. */
START_TEST(writable_by_others)
{
    static const mode_t loose[] = {0620, 0602, 0666};
    box_store();
    for (size_t i = 0; i < sizeof loose / sizeof *loose; i++) {
        ck_assert_int_eq(chmod(box_path, loose[i]), 0);
        const char *why = box_load(box_key);
        ck_assert_str_eq(why, "group or others may write to it");
        ck_assert(kiln_cache_is_distrust(why));
    }
    ck_assert_int_eq(chmod(box_path, 0644), 0);
    ck_assert_ptr_null(box_load(box_key));
    ck_assert_ptr_null(kiln_cache_distrust_dir(box_dir));
    static const mode_t open_to[] = {0720, 0702, 01777};
    for (size_t i = 0; i < sizeof open_to / sizeof *open_to; i++) {
        ck_assert_int_eq(chmod(box_dir, open_to[i]), 0);
        ck_assert_str_eq(box_load(box_key), "group or others may write to it");
        ck_assert_ptr_nonnull(kiln_cache_distrust_dir(box_dir));
    }
    ck_assert_int_eq(chmod(box_dir, 0700), 0);
    ck_assert_ptr_null(box_load(box_key));
    ck_assert(!kiln_cache_is_distrust(box_load("no such key")));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cache_file");
    TCase *tests = tcase_create("cache_file");
    tcase_add_checked_fixture(tests, box_make, box_remove);
    tcase_add_test(tests, stored_and_found);
    tcase_add_test(tests, truncated_is_a_miss);
    tcase_add_test(tests, longer_is_a_miss);
    tcase_add_test(tests, any_flipped_bit_is_a_miss);
    tcase_add_test(tests, hostile_sizes);
    tcase_add_test(tests, foreign_format);
    tcase_add_test(tests, foreign_key_of_the_same_name);
    tcase_add_test(tests, what_cannot_be_a_record);
    tcase_add_test(tests, not_a_plain_file);
    tcase_add_test(tests, of_another_user);
    tcase_add_test(tests, writable_by_others);
    tcase_add_test(tests, huge_and_foreign);
    suite_add_tcase(suite, tests);
    return support_run_apart(suite);
}
