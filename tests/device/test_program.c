/* The program cache with a real driver: what is loaded computes what was compiled. */
#include "runtime/programs/cache_dir.h"
#include "runtime/programs/program.h"
#include "support/suite.h"
#include "support/support.h"

#include <check.h>
#include <ftw.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ITEMS = 64 };

static const char source[] = "#line 1 \"test.cl\"\n"
                             "#line 1 \"included.cl\"\n"
                             "\n"
                             "#line 2 \"test.cl\"\n"
                             "kernel void fill(global int *out)\n"
                             "{\n"
                             "    int i = get_global_id(0);\n"
                             "    out[i] = VALUE * i + 1;\n"
                             "}\n";

static char dir[256];

/* What a test uses of OpenCL, and how often the cache said what. */
static struct {
    cl_context context;
    cl_device_id device;
    cl_command_queue queue;
    kiln_device_facts facts;
    kiln_logger logger;
    pthread_mutex_t lock;
    int hits, misses, stored, refused;
    char last_miss[256];
} t = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void count_line(void *user, const char *line)
{
    (void)user;
    pthread_mutex_lock(&t.lock);
    t.hits += strncmp(line, "cache: hit ", 11) == 0;
    t.stored += strncmp(line, "cache: stored ", 14) == 0;
    t.refused += strncmp(line, "cache: not stored ", 18) == 0;
    if (strncmp(line, "cache: miss ", 12) == 0) {
        t.misses++;
        snprintf(t.last_miss, sizeof t.last_miss, "%s", line);
    }
    pthread_mutex_unlock(&t.lock);
}

/* Called inside a test, after Check's fork: an OpenCL context does not survive one. */
static void use_device(void)
{
    t.device = support_find_device();
    t.context = clCreateContext(NULL, 1, &t.device, NULL, NULL, NULL);
    t.queue = clCreateCommandQueue(t.context, t.device, 0, NULL);
    ck_assert_ptr_nonnull(t.queue);
    t.facts = kiln_device_generic();
    t.logger = (kiln_logger){.log = count_line};
}

static kiln_programs *open_cache(const char *where)
{
    const kiln_program_places places = {.dir = where};
    kiln_programs *cache = kiln_programs_open(&places, &t.logger, t.context, t.device, &t.facts);
    ck_assert_ptr_nonnull(cache);
    return cache;
}

static void drop_device(void)
{
    clReleaseCommandQueue(t.queue);
    clReleaseContext(t.context);
}

static kiln_program *get(kiln_programs *cache, const char *options)
{
    kiln_program *program;
    kiln_status status = kiln_program_get(cache, source, options, &program);
    ck_assert_msg(status == KILN_OK, "%s", kiln_last_error());
    return program;
}

/* Runs the program and checks that it was built with -DVALUE=value. */
static void run(kiln_program *program, int value)
{
    int out[ITEMS];
    size_t local = 16, global = ITEMS;
    memset(out, 0x55, sizeof out);
    cl_kernel kernel = clCreateKernel(kiln_program_cl(program), "fill", NULL);
    cl_mem memory = clCreateBuffer(t.context, CL_MEM_COPY_HOST_PTR, sizeof out, out, NULL);
    ck_assert_int_eq(clSetKernelArg(kernel, 0, sizeof memory, &memory), CL_SUCCESS);
    ck_assert_int_eq(
        clEnqueueNDRangeKernel(t.queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL),
        CL_SUCCESS);
    ck_assert_int_eq(
        clEnqueueReadBuffer(t.queue, memory, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL),
        CL_SUCCESS);
    for (int i = 0; i < ITEMS; i++)
        ck_assert_int_eq(out[i], value * i + 1);
    clReleaseMemObject(memory);
    clReleaseKernel(kernel);
}

/* One user's whole life with a cache: get, run, store. */
static void use_once(const char *options, int value)
{
    kiln_programs *cache = open_cache(dir);
    kiln_program *program = get(cache, options);
    run(program, value);
    kiln_program_keep(program);
    kiln_program_release(program);
    kiln_programs_close(cache);
}

static void setup(void)
{
    const char *base = getenv("TMPDIR");
    snprintf(dir, sizeof dir, "%s/kiln-program-XXXXXX", base ? base : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(dir));
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

START_TEST(miss_then_hit)
{
    use_device();
    use_once("-DVALUE=3", 3);
    ck_assert_int_eq(t.misses, 1);
    ck_assert_int_eq(t.stored, 1);
    use_once("-DVALUE=3", 3);
    ck_assert_int_eq(t.misses, 1);
    ck_assert_int_eq(t.hits, 1);
    ck_assert_int_eq(t.stored, 1); /* what came from disk is not written again */
    drop_device();
}
END_TEST

START_TEST(each_value_its_program)
{
    use_device();
    for (int pass = 0; pass < 2; pass++)
        for (int value = 1; value <= 3; value++) {
            char options[32];
            snprintf(options, sizeof options, "-DVALUE=%d", value);
            use_once(options, value);
        }
    ck_assert_int_eq(t.misses, 3);
    ck_assert_int_eq(t.hits, 3);
    drop_device();
}
END_TEST

START_TEST(source_device_and_driver_decide)
{
    use_device();
    use_once("-DVALUE=3", 3);
    strcpy(t.facts.driver, "another");
    use_once("-DVALUE=3", 3);
    strcpy(t.facts.name, "another\nname"); /* must not add a line to the key */
    use_once("-DVALUE=3", 3);
    strcpy(t.facts.platform, "another");
    use_once("-DVALUE=3", 3);
    ck_assert_int_eq(t.misses, 4);
    kiln_programs *cache = open_cache(dir);
    char longer[sizeof source + 8];
    kiln_program *program;
    snprintf(longer, sizeof longer, "%s\n", source);
    ck_assert_int_eq(kiln_program_get(cache, longer, "-DVALUE=3", &program), KILN_OK);
    ck_assert_int_eq(t.misses, 5);
    ck_assert_int_eq(t.hits, 0);
    kiln_program_release(program);
    kiln_programs_close(cache);
    drop_device();
}
END_TEST

START_TEST(stored_when_kept_and_once)
{
    use_device();
    kiln_programs *cache = open_cache(dir);
    kiln_program *program = get(cache, "-DVALUE=2");
    ck_assert_int_eq(t.stored, 0);
    run(program, 2);
    kiln_program_keep(program);
    kiln_program_keep(program);
    ck_assert_int_eq(t.stored, 1);
    kiln_program_release(program);
    kiln_programs_close(cache);
    drop_device();
}
END_TEST

START_TEST(shared_in_memory)
{
    use_device();
    kiln_programs *cache = open_cache("");
    kiln_program *a = get(cache, "-DVALUE=2"), *b = get(cache, "-DVALUE=2"),
                 *c = get(cache, "-DVALUE=5");
    ck_assert_ptr_eq(a, b);
    ck_assert_ptr_ne(a, c);
    run(a, 2);
    run(c, 5);
    kiln_program_keep(a); /* there is no disk to store it on */
    kiln_program_release(a);
    kiln_program_release(b);
    ck_assert_ptr_eq(get(cache, "-DVALUE=2"), a); /* it stayed */
    kiln_program_release(a);
    kiln_program_release(c);
    kiln_program_release(NULL);
    ck_assert_int_eq(t.hits + t.misses + t.stored, 0);
    kiln_programs_close(cache);
    kiln_programs_close(NULL);
    drop_device();
}
END_TEST

static char entry_file[512], entry_key[8192];

static void keep_entry(void *user, const kiln_cache_entry *e)
{
    int *entries = user;
    (*entries)++;
    snprintf(entry_file, sizeof entry_file, "%s", e->file);
    snprintf(entry_key, sizeof entry_key, "%s", e->key);
}

/* PoCL crashes on most of these when they get to it. */
START_TEST(damaged_files_never_reach_the_driver)
{
    int entries = 0;
    use_device();
    use_once("-DVALUE=3", 3);
    ck_assert_int_eq(kiln_cache_list(dir, keep_entry, &entries), KILN_OK);
    ck_assert_int_eq(entries, 1);
    ck_assert_ptr_nonnull(strstr(entry_key, "\ntemplate test.cl\n"));
    ck_assert_ptr_nonnull(strstr(entry_key, "\noptions -DVALUE=3"));
    static const off_t cuts[] = {0, 1, 39, 40, 100, 900, 10000};
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        ck_assert_int_eq(truncate(entry_file, cuts[i]), 0);
        use_once("-DVALUE=3", 3);
        ck_assert_int_eq(t.misses, 2 + (int)i);
        ck_assert_int_eq(t.stored, 2 + (int)i); /* the bad file was replaced by a good one */
    }
    struct stat st;
    ck_assert_int_eq(stat(entry_file, &st), 0);
    const long places[] = {0, 10, 24, 28, 33, 60, 400, st.st_size / 2, st.st_size - 1};
    int before = t.misses;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        FILE *f = fopen(entry_file, "r+b");
        fseek(f, places[i], SEEK_SET);
        int byte = fgetc(f);
        fseek(f, places[i], SEEK_SET);
        fputc(byte ^ 0x10, f);
        fclose(f);
        use_once("-DVALUE=3", 3);
        ck_assert_int_eq(t.misses, before + 1 + (int)i);
    }
    ck_assert_int_eq(t.hits, 0);
    use_once("-DVALUE=3", 3);
    ck_assert_int_eq(t.hits, 1);
    drop_device();
}
END_TEST

static const unsigned char no_binary[] = "this is no program, however long it may be";

/* Whether the driver itself, without kiln, answers a binary it does not know with an error. */
static bool driver_refuses_binaries(void)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        const unsigned char *binary = no_binary;
        const size_t size = sizeof no_binary;
        cl_device_id id = support_find_device();
        cl_context context = clCreateContext(NULL, 1, &id, NULL, NULL, NULL);
        cl_program program = clCreateProgramWithBinary(context, 1, &id, &size, &binary, NULL, NULL);
        if (program)
            clBuildProgram(program, 1, &id, "", NULL, NULL);
        _exit(0);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status);
}

/* A whole file whose binary no driver knows, as after an update that kept its version. */
START_TEST(refused_binary_is_a_miss)
{
    int entries = 0;
    if (!driver_refuses_binaries()) {
        printf("refused_binary_is_a_miss: skipped, the driver aborts on any binary not its own\n");
        return;
    }
    use_device();
    use_once("-DVALUE=3", 3);
    ck_assert_int_eq(kiln_cache_list(dir, keep_entry, &entries), KILN_OK);
    kiln_cache_record record = {entry_key, no_binary, sizeof no_binary};
    ck_assert(kiln_cache_store(dir, INT64_MAX, &record, &t.logger));
    use_once("-DVALUE=3", 3);
    ck_assert_str_eq(t.last_miss, "cache: miss (the driver refused the binary)");
    use_once("-DVALUE=3", 3);
    ck_assert_int_eq(t.hits, 1);
    drop_device();
}
END_TEST

START_TEST(unwritable_directory_is_no_error)
{
    use_device();
    strcat(dir, "/file");
    fclose(fopen(dir, "w"));
    strcat(dir, "/cache");
    kiln_programs *cache = open_cache(dir);
    for (int value = 1; value <= 3; value++) {
        char options[32];
        snprintf(options, sizeof options, "-DVALUE=%d", value);
        kiln_program *program = get(cache, options);
        run(program, value);
        kiln_program_keep(program);
        kiln_program_release(program);
    }
    ck_assert_int_eq(t.refused, 1); /* one line is enough */
    kiln_programs_close(cache);
    *strstr(dir, "/file") = '\0';
    drop_device();
}
END_TEST

START_TEST(two_processes_at_once)
{
    for (int i = 0; i < 2; i++)
        if (fork() == 0) {
            use_device();
            use_once("-DVALUE=7", 7);
            _exit(t.misses + t.hits == 1 ? 0 : 9);
        }
    for (int i = 0; i < 2; i++) {
        int status;
        ck_assert_int_gt(wait(&status), 0);
        ck_assert_int_eq(status, 0);
    }
    use_device();
    use_once("-DVALUE=7", 7);
    ck_assert_int_eq(t.hits, 1);
    drop_device();
}
END_TEST

static void *get_in_thread(void *user)
{
    kiln_program *program = NULL;
    kiln_program_get(user, source, "-DVALUE=6", &program);
    return program;
}

START_TEST(threads_share_one_build)
{
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    void *programs[THREADS];
    use_device();
    kiln_programs *cache = open_cache(dir);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, get_in_thread, cache), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], &programs[i]);
    ck_assert_int_eq(t.misses, 1);
    run(programs[0], 6);
    for (int i = 0; i < THREADS; i++) {
        ck_assert_ptr_eq(programs[i], programs[0]);
        kiln_program_release(programs[i]);
    }
    kiln_programs_close(cache);
    drop_device();
}
END_TEST

static void *fail_in_thread(void *user)
{
    kiln_program *program = NULL;
    kiln_status status =
        kiln_program_get(user, "kernel void fill(int x) { wrong_word; }", "-DX=7", &program);
    bool ok = status == KILN_OPENCL && !program && strstr(kiln_last_error(), "wrong_word") &&
              strstr(kiln_last_error(), "-DX=7") && strlen(kiln_last_error()) < 4096;
    return ok ? user : NULL;
}

START_TEST(failed_build_tells_every_thread)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    use_device();
    kiln_programs *cache = open_cache(dir);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, fail_in_thread, cache), 0);
    for (int i = 0; i < THREADS; i++) {
        void *ok;
        pthread_join(threads[i], &ok);
        ck_assert_ptr_nonnull(ok);
    }
    run(get(cache, "-DVALUE=4"), 4); /* and the cache goes on */
    kiln_programs_close(cache);
    drop_device();
}
END_TEST

START_TEST(long_texts_of_a_failed_build)
{
    char *text = malloc(60000), *options = malloc(6000);
    size_t used = 0;
    for (int i = 0; i < 300; i++)
        used += (size_t)sprintf(text + used, "int f%d(void) { return wrong_word_%d; }\n", i, i);
    used = 0;
    for (int i = 0; i < 300; i++)
        used += (size_t)sprintf(options + used, "-DNAME%d=%d ", i, i);
    use_device();
    kiln_programs *cache = open_cache("");
    kiln_program *program;
    ck_assert_int_eq(kiln_program_get(cache, text, options, &program), KILN_OPENCL);
    ck_assert_ptr_null(program);
    ck_assert_ptr_nonnull(strstr(kiln_last_error(), "-DNAME9=9 "));
    ck_assert_ptr_nonnull(strstr(kiln_last_error(), "wrong_word_0"));
    ck_assert_ptr_nonnull(strstr(kiln_last_error(), "clBuildProgram: "));
    kiln_programs_close(cache);
    drop_device();
    free(options);
    free(text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("program");
    TCase *all = tcase_create("all");
    tcase_add_checked_fixture(all, setup, teardown);
    tcase_add_test(all, miss_then_hit);
    tcase_add_test(all, each_value_its_program);
    tcase_add_test(all, source_device_and_driver_decide);
    tcase_add_test(all, stored_when_kept_and_once);
    tcase_add_test(all, shared_in_memory);
    tcase_add_test(all, damaged_files_never_reach_the_driver);
    tcase_add_test(all, refused_binary_is_a_miss);
    tcase_add_test(all, unwritable_directory_is_no_error);
    tcase_add_test(all, two_processes_at_once);
    tcase_add_test(all, threads_share_one_build);
    tcase_add_test(all, failed_build_tells_every_thread);
    tcase_add_test(all, long_texts_of_a_failed_build);
    tcase_set_timeout(all, 300);
    suite_add_tcase(suite, all);
    return support_run_apart(suite);
}
