/* The program cache on disk: what is written is read back, and everything else is a miss. */
#include "cache_file.h"
#include "program.h"

#include <check.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

enum { HEADER = 40, BINARY = 300 };
static const int64_t no_limit = INT64_MAX;
static const char key[] = "kiln program 1\ndevice test\noptions -DA=1";
static const kiln_logger silent;

static char dir[256], path[512];
static unsigned char binary[BINARY];
static kiln_cache_record record;

static void setup(void)
{
    const char *base = getenv("TMPDIR");
    snprintf(dir, sizeof dir, "%s/kiln-cache-XXXXXX", base ? base : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(dir));
    for (int i = 0; i < BINARY; i++)
        binary[i] = (unsigned char)(i * 7 + 1);
    record = (kiln_cache_record){key, binary, BINARY};
    char name[KILN_CACHE_NAME];
    kiln_cache_name(key, name);
    snprintf(path, sizeof path, "%s/%s", dir, name);
}

static int remove_one(const char *name, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st, (void)flag, (void)ftw;
    return remove(name);
}

static void teardown(void)
{
    nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static const char *load(const char *wanted)
{
    unsigned char *data;
    kiln_cache_record got;
    const char *why = kiln_cache_load(dir, wanted, &data, &got);
    if (!why) {
        ck_assert_str_eq(got.key, wanted);
        ck_assert_uint_eq(got.binary_size, BINARY);
        ck_assert_mem_eq(got.binary, binary, BINARY);
    }
    free(data);
    return why;
}

static size_t read_file(unsigned char *data, size_t room)
{
    FILE *f = fopen(path, "rb");
    ck_assert_ptr_nonnull(f);
    size_t size = fread(data, 1, room, f);
    fclose(f);
    return size;
}

static void write_file(const char *name, const void *data, size_t size)
{
    FILE *f = fopen(name, "wb");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(data, 1, size, f), size);
    fclose(f);
}

static void count_entry(void *user, const kiln_cache_entry *e)
{
    int *counts = user;
    counts[e->valid ? 0 : 1]++;
}

/* Files in `dir` that are not kiln's own finished ones. */
static int strangers(void)
{
    char command[512];
    snprintf(command, sizeof command, "ls -A '%s' | grep -vc '^[0-9a-f]*\\.kiln$'", dir);
    FILE *p = popen(command, "r");
    int count = -1;
    ck_assert_int_eq(fscanf(p, "%d", &count), 1);
    pclose(p);
    return count;
}

START_TEST(stored_and_found)
{
    ck_assert_str_eq(load(key), "not there");
    ck_assert(kiln_cache_store(dir, no_limit, &record, &silent));
    ck_assert_ptr_null(load(key));
    ck_assert_str_eq(load("kiln program 1\ndevice test\noptions -DA=2"), "not there");
    struct stat st;
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert_uint_eq(st.st_mode & 07777, 0600);
    ck_assert_int_eq(st.st_size, HEADER + (int)sizeof key + BINARY);
    ck_assert_int_eq(strangers(), 0);
}
END_TEST

START_TEST(truncated_is_a_miss)
{
    ck_assert(kiln_cache_store(dir, no_limit, &record, &silent));
    for (off_t length = HEADER + (off_t)sizeof key + BINARY; length-- > 0;) {
        ck_assert_int_eq(truncate(path, length), 0);
        ck_assert_msg(load(key) != NULL, "a file cut to %ld bytes was taken", (long)length);
    }
    ck_assert(kiln_cache_store(dir, no_limit, &record, &silent));
    ck_assert_ptr_null(load(key));
}
END_TEST

START_TEST(longer_is_a_miss)
{
    unsigned char data[1024] = {0};
    ck_assert(kiln_cache_store(dir, no_limit, &record, &silent));
    size_t size = read_file(data, sizeof data);
    write_file(path, data, size + 1);
    ck_assert_str_eq(load(key), "sizes that do not add up");
}
END_TEST

START_TEST(any_flipped_bit_is_a_miss)
{
    unsigned char data[1024];
    ck_assert(kiln_cache_store(dir, no_limit, &record, &silent));
    size_t size = read_file(data, sizeof data);
    kiln_cache_record got;
    for (size_t bit = 0; bit < size * 8; bit++) {
        data[bit / 8] ^= (unsigned char)(1u << bit % 8);
        ck_assert_msg(kiln_cache_decode(data, size, &got) != NULL, "bit %zu does not matter", bit);
        data[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    ck_assert_ptr_null(kiln_cache_decode(data, size, &got));
    data[HEADER + sizeof key + 17] ^= 4;
    write_file(path, data, size);
    ck_assert_str_eq(load(key), "wrong checksum");
    ck_assert(kiln_cache_store(dir, no_limit, &record, &silent));
    ck_assert_ptr_null(load(key));
}
END_TEST

/* Under a right checksum, so that only the sizes can give them away. */
START_TEST(hostile_sizes)
{
    static const uint64_t keys[] = {0, 1, sizeof key - 1, sizeof key + 1, BINARY, UINT32_MAX},
                          binaries[] = {0,          1,          BINARY - 1,
                                        BINARY + 1, UINT32_MAX, 1 << 20,
                                        INT64_MAX,  UINT64_MAX, UINT64_MAX - BINARY};
    unsigned char data[1024];
    ck_assert(kiln_cache_store(dir, no_limit, &record, &silent));
    size_t size = read_file(data, sizeof data);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        for (size_t j = 0; j <= sizeof binaries / sizeof *binaries; j++) {
            uint32_t key_size = (uint32_t)keys[i];
            uint64_t fits = size - HEADER - key_size;
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
    ck_assert(kiln_cache_store(dir, no_limit, &record, &silent));
    size_t size = read_file(data, sizeof data);
    data[24]++;
    write_file(path, data, size);
    ck_assert_str_eq(load(key), "another format");
    data[0] = 'K';
    write_file(path, data, size);
    ck_assert_str_eq(load(key), "not a file of kiln");
}
END_TEST

START_TEST(foreign_key_of_the_same_name)
{
    kiln_cache_record other = {"kiln program 1\ndevice other\noptions -DA=1", binary, BINARY};
    size_t size;
    unsigned char *data = kiln_cache_encode(&other, &size);
    write_file(path, data, size);
    free(data);
    ck_assert_str_eq(load(key), "the key of another program");
    ck_assert(kiln_cache_store(dir, no_limit, &record, &silent));
    ck_assert_ptr_null(load(key));
}
END_TEST

START_TEST(what_cannot_be_a_record)
{
    size_t size;
    ck_assert_ptr_null(kiln_cache_encode(&(kiln_cache_record){key, binary, 0}, &size));
    ck_assert_ptr_null(kiln_cache_encode(&(kiln_cache_record){key, binary, SIZE_MAX}, &size));
}
END_TEST

START_TEST(not_a_plain_file)
{
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_assert_str_eq(load(key), "not a plain file");
    unlink(path);
    ck_assert_int_eq(symlink("/etc/passwd", path), 0);
    ck_assert_str_eq(load(key), "cannot be opened");
    unlink(path);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    ck_assert_str_eq(load(key), "not a plain file");
    ck_assert(!kiln_cache_store(dir, no_limit, &record, &silent));
    ck_assert_int_eq(strangers(), 0);
}
END_TEST

START_TEST(of_another_user)
{
    if (geteuid() != 0)
        return; /* only root can give a file away */
    ck_assert(kiln_cache_store(dir, no_limit, &record, &silent));
    ck_assert_int_eq(chown(path, 12345, (gid_t)-1), 0);
    ck_assert_str_eq(load(key), "belongs to another user");
}
END_TEST

static void keep_line(void *user, const char *line)
{
    snprintf(user, 1024, "%s", line);
}

START_TEST(makes_its_directories)
{
    strcat(dir, "/a/b//c/");
    char line[1024] = "";
    const kiln_logger logger = {.log = keep_line, .user = line};
    ck_assert(kiln_cache_store(dir, no_limit, &record, &logger));
    ck_assert_ptr_nonnull(strstr(line, "cache: stored "));
    ck_assert_ptr_nonnull(strstr(line, "bytes)"));
    ck_assert_ptr_null(load(key));
    struct stat st;
    ck_assert_int_eq(stat(dir, &st), 0);
    ck_assert_uint_eq(st.st_mode & 07777, 0700);
    *strstr(dir, "/a/b") = '\0';
}
END_TEST

START_TEST(unwritable_directory)
{
    char line[1024] = "", blocked[512], base[256];
    const kiln_logger logger = {.log = keep_line, .user = line};
    snprintf(blocked, sizeof blocked, "%s/file", dir);
    write_file(blocked, "x", 1);
    snprintf(base, sizeof base, "%s", dir);
    strcat(dir, "/file/cache");
    ck_assert(!kiln_cache_store(dir, no_limit, &record, &logger));
    ck_assert_ptr_nonnull(strstr(line, "cache: not stored in "));
    ck_assert_ptr_nonnull(strstr(line, "Not a directory"));
    ck_assert_ptr_nonnull(load(key));
    snprintf(dir, sizeof dir, "%s", base);

    ck_assert_int_eq(chmod(dir, 0555), 0);
    uid_t user = geteuid();
    if (user == 0) { /* nothing is unwritable to root */
        ck_assert_int_eq(seteuid(65534), 0);
    }
    ck_assert(!kiln_cache_store(dir, no_limit, &record, &logger));
    ck_assert_ptr_nonnull(strstr(line, "Permission denied"));
    ck_assert_int_eq(seteuid(user), 0);
    ck_assert_int_eq(chmod(dir, 0700), 0);
    ck_assert_str_eq(load(key), "not there");
}
END_TEST

START_TEST(full_disk)
{
    char line[1024] = "";
    const kiln_logger logger = {.log = keep_line, .user = line};
    const struct rlimit small = {100, 100};
    ck_assert(kiln_cache_store(dir, no_limit, &record, &silent));
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
    ck_assert(!kiln_cache_store(dir, no_limit, &record, &logger));
    ck_assert_ptr_nonnull(strstr(line, "cache: not stored in "));
    ck_assert_int_eq(strangers(), 0);
    ck_assert_ptr_null(load(key)); /* the good file of before is still there */
}
END_TEST

/* Each store has another binary, so that a mix of two would be seen. */
static void store_and_load(int seed)
{
    for (int round = 0; round < 300; round++) {
        unsigned char own[BINARY], *data;
        memset(own, seed + round % 3, sizeof own);
        kiln_cache_record mine = {key, own, sizeof own}, got;
        if (!kiln_cache_store(dir, no_limit, &mine, &silent) ||
            kiln_cache_load(dir, key, &data, &got) != NULL || got.binary_size != sizeof own)
            _exit(1);
        for (size_t i = 1; i < sizeof own; i++)
            if (got.binary[i] != got.binary[0])
                _exit(2);
        free(data);
    }
    _exit(0);
}

START_TEST(two_processes_at_once)
{
    strcat(dir, "/new");
    for (int i = 0; i < 2; i++)
        if (fork() == 0)
            store_and_load(i * 100);
    for (int i = 0; i < 2; i++) {
        int status;
        ck_assert_int_gt(wait(&status), 0);
        ck_assert_int_eq(status, 0);
    }
    ck_assert_int_eq(strangers(), 0);
    *strstr(dir, "/new") = '\0';
}
END_TEST

/* Stores under the key that ends in `letter`, used `age` seconds ago. */
static void store_aged(char letter, int age, int64_t limit)
{
    char own[] = "key ?", name[KILN_CACHE_NAME];
    own[4] = letter;
    kiln_cache_record r = {own, binary, BINARY};
    ck_assert(kiln_cache_store(dir, limit, &r, &silent));
    kiln_cache_name(own, name);
    char file[512];
    snprintf(file, sizeof file, "%s/%s", dir, name);
    struct timespec times[2];
    clock_gettime(CLOCK_REALTIME, &times[0]);
    times[0].tv_sec -= age;
    times[1] = times[0];
    ck_assert_int_eq(utimensat(AT_FDCWD, file, times, 0), 0);
}

static bool is_there(char letter)
{
    char own[] = "key ?";
    own[4] = letter;
    return load(own) == NULL;
}

START_TEST(least_recently_used_goes_first)
{
    const int64_t each = HEADER + 6 + BINARY;
    char other[512];
    snprintf(other, sizeof other, "%s/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.txt", dir);
    write_file(other, binary, sizeof binary);
    store_aged('a', 400, no_limit);
    store_aged('b', 300, no_limit);
    store_aged('c', 200, no_limit);
    ck_assert(is_there('a')); /* and so it was used just now */
    store_aged('d', 100, 3 * each);
    ck_assert(!is_there('b'));
    ck_assert(is_there('a') && is_there('c') && is_there('d'));
    store_aged('e', 0, 1); /* the one just stored stays, whatever the limit */
    ck_assert(is_there('e'));
    ck_assert(!is_there('a') && !is_there('c') && !is_there('d'));
    ck_assert_int_eq(access(other, F_OK), 0);
}
END_TEST

START_TEST(leftovers_of_killed_writers)
{
    char old[600], young[600];
    snprintf(old, sizeof old, "%s.1-0000000000000001.tmp", path);
    snprintf(young, sizeof young, "%s.2-0000000000000002.tmp", path);
    write_file(old, "x", 1);
    write_file(young, "x", 1);
    const struct timespec times[2] = {{1000, 0}, {1000, 0}};
    ck_assert_int_eq(utimensat(AT_FDCWD, old, times, 0), 0);
    ck_assert(kiln_cache_store(dir, no_limit, &record, &silent));
    ck_assert_int_ne(access(old, F_OK), 0);
    ck_assert_int_eq(access(young, F_OK), 0);
}
END_TEST

START_TEST(listed_and_cleared)
{
    int counts[2] = {0};
    int64_t removed = -1;
    char other[512];
    store_aged('a', 0, no_limit);
    store_aged('b', 0, no_limit);
    write_file(path, "damaged", 7);
    snprintf(other, sizeof other, "%s/letter.txt", dir);
    write_file(other, "x", 1);
    ck_assert_int_eq(kiln_cache_list(dir, count_entry, counts), KILN_OK);
    ck_assert_int_eq(counts[0], 2);
    ck_assert_int_eq(counts[1], 1);
    ck_assert_int_eq(kiln_cache_clear(dir, &removed), KILN_OK);
    ck_assert_int_eq(removed, 3);
    ck_assert_int_eq(access(other, F_OK), 0);
    ck_assert_int_eq(kiln_cache_list(dir, count_entry, counts), KILN_OK);
    ck_assert_int_eq(counts[0] + counts[1], 3);
}
END_TEST

START_TEST(nothing_to_list)
{
    int counts[2] = {0};
    int64_t removed = -1;
    char missing[512];
    snprintf(missing, sizeof missing, "%s/missing", dir);
    ck_assert_int_eq(kiln_cache_list(missing, count_entry, counts), KILN_OK);
    ck_assert_int_eq(kiln_cache_list("", count_entry, counts), KILN_OK);
    ck_assert_int_eq(kiln_cache_clear(missing, &removed), KILN_OK);
    ck_assert_int_eq(removed, 0);
    ck_assert_int_eq(counts[0] + counts[1], 0);
    write_file(missing, "x", 1);
    ck_assert_int_eq(kiln_cache_list(missing, count_entry, counts), KILN_FILE);
    ck_assert_ptr_nonnull(strstr(kiln_last_error(), missing));
}
END_TEST

START_TEST(default_directory)
{
    static const struct {
        const char *cache, *own, *xdg, *home, *dir;
    } rows[] = {
        {NULL, "/own", "/xdg", "/home/me", "/own"},
        {NULL, "own", "/xdg", "/home/me", "own"},
        {"off", "/own", "/xdg", "/home/me", ""},
        {NULL, "off", "/xdg", "/home/me", ""},
        {"on", NULL, "/xdg", "/home/me", "/xdg/kiln"},
        {NULL, "", "/xdg", "/home/me", "/xdg/kiln"},
        {NULL, NULL, "xdg", "/home/me", "/home/me/.cache/kiln"},
        {NULL, NULL, "", "/home/me", "/home/me/.cache/kiln"},
        {NULL, NULL, NULL, "", ""},
        {NULL, NULL, NULL, NULL, ""},
        {"0", "/own", "/xdg", "/home/me", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *names[] = {"KILN_CACHE", "KILN_CACHE_DIR", "XDG_CACHE_HOME", "HOME"};
        const char *values[] = {rows[i].cache, rows[i].own, rows[i].xdg, rows[i].home};
        for (int j = 0; j < 4; j++)
            values[j] ? setenv(names[j], values[j], 1) : unsetenv(names[j]);
        char text[64] = "before";
        kiln_cache_default_dir(text, sizeof text);
        ck_assert_str_eq(text, rows[i].dir);
    }
    char tiny[4] = "xxx";
    setenv("KILN_CACHE_DIR", "/too/long", 1);
    kiln_cache_default_dir(tiny, sizeof tiny);
    ck_assert_str_eq(tiny, "");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cache_file");
    TCase *files = tcase_create("files");
    tcase_add_checked_fixture(files, setup, teardown);
    tcase_add_test(files, stored_and_found);
    tcase_add_test(files, truncated_is_a_miss);
    tcase_add_test(files, longer_is_a_miss);
    tcase_add_test(files, any_flipped_bit_is_a_miss);
    tcase_add_test(files, hostile_sizes);
    tcase_add_test(files, foreign_format);
    tcase_add_test(files, foreign_key_of_the_same_name);
    tcase_add_test(files, what_cannot_be_a_record);
    tcase_add_test(files, not_a_plain_file);
    tcase_add_test(files, of_another_user);
    tcase_add_test(files, makes_its_directories);
    tcase_add_test(files, unwritable_directory);
    tcase_add_test(files, full_disk);
    tcase_add_test(files, two_processes_at_once);
    tcase_add_test(files, least_recently_used_goes_first);
    tcase_add_test(files, leftovers_of_killed_writers);
    tcase_add_test(files, listed_and_cleared);
    tcase_add_test(files, nothing_to_list);
    tcase_add_test(files, default_directory);
    suite_add_tcase(suite, files);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
