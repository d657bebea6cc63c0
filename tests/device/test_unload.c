/* A host may close libkiln while OpenCL still holds functions of it: as callbacks of buffers that
 * live on, or as commands. Each test opens the library as a plugin's host does, by dlopen(). */
#include "kiln.h"
#include "support/suite.h"
#include "support/support.h"

#include <check.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 24, BYTES = CELLS * 4 };

static struct library {
    void *handle;
    __typeof__(&kiln_open) open;
    __typeof__(&kiln_close) close;
    __typeof__(&kiln_reformat_create) create;
    __typeof__(&kiln_op_enqueue) enqueue;
    __typeof__(&kiln_op_release) release;
} library;

static cl_context context;
static cl_device_id device;
static cl_command_queue queue;
static kiln *k;
static kiln_op *op;
static cl_mem x, y;
static float numbers[CELLS];

static void find_function(const char *name, void *function)
{
    void *found = dlsym(library.handle, name);
    ck_assert_msg(found, "%s", dlerror());
    memcpy(function, &found, sizeof found);
}

static void load(void)
{
    const char *file = getenv("KILN_LIBRARY");
    ck_assert_msg(file, "KILN_LIBRARY names no library");
    library.handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(library.handle, "%s", dlerror());
    find_function("kiln_open", &library.open);
    find_function("kiln_close", &library.close);
    find_function("kiln_reformat_create", &library.create);
    find_function("kiln_op_enqueue", &library.enqueue);
    find_function("kiln_op_release", &library.release);
}

/* promised: with the settings by which most of the library is in OpenCL's hands. */
static void open_all(bool promised)
{
    const kiln_settings settings = {.rows_file = "off",
                                    .buffers_stay = promised,
                                    .queues_flushed = promised,
                                    .place_threads = promised};
    const kiln_reformat same = {.dims = "NCHW", .size = {1, 2, 3, 4}};
    cl_int code;
    load();
    device = support_find_device();
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    ck_assert_int_eq(code, CL_SUCCESS);
    queue = clCreateCommandQueue(context, device, 0, &code);
    ck_assert_int_eq(code, CL_SUCCESS);
    for (int i = 0; i < CELLS; i++)
        numbers[i] = (float)i + 1;
    x = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, BYTES, numbers, NULL);
    y = clCreateBuffer(context, CL_MEM_READ_WRITE, BYTES, NULL, NULL);
    ck_assert(x && y);
    ck_assert_int_eq(library.open(&k, context, device, &settings), KILN_OK);
    ck_assert_int_eq(library.create(k, &same, &op), KILN_OK);
}

static void enqueue(int times)
{
    const kiln_buffers b = {.x = {x, 0}, .y = {y, 0}};
    for (int i = 0; i < times; i++)
        ck_assert_int_eq(library.enqueue(op, queue, &b, 0, NULL, NULL), KILN_OK);
}

static void unload(void)
{
    library.release(op);
    library.close(k);
    ck_assert_int_eq(dlclose(library.handle), 0);
}

static void check_result(void)
{
    float got[CELLS];
    ck_assert_int_eq(clEnqueueReadBuffer(queue, y, CL_TRUE, 0, BYTES, got, 0, NULL, NULL),
                     CL_SUCCESS);
    ck_assert_mem_eq(numbers, got, BYTES);
}

static void release_all(void)
{
    clReleaseMemObject(x);
    clReleaseMemObject(y);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
}

/* Each buffer has a destructor callback of the library's. */
START_TEST(buffers_outlive_the_library)
{
    open_all(_i);
    enqueue(2);
    clFinish(queue);
    unload();
    check_result();
    release_all();
}
END_TEST

/* Nothing is waited for before the library is closed: commands, and what is called at their ends.
 */
START_TEST(operations_outlive_the_library)
{
    enum { ROUNDS = 20 };
    for (int round = 0; round < ROUNDS; round++) {
        open_all(_i);
        enqueue(round % 3 ? 100 : 3);
        unload();
        check_result();
        release_all();
    }
}
END_TEST

/* A gate keeps all of them waiting until the library is closed. */
START_TEST(waiting_operations_outlive_the_library)
{
    open_all(_i);
    cl_event gate = clCreateUserEvent(context, NULL);
    enqueue(3);
    clFinish(queue);
    ck_assert_int_eq(clEnqueueBarrierWithWaitList(queue, 1, &gate, NULL), CL_SUCCESS);
    enqueue(50);
    unload();
    ck_assert_int_eq(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
    check_result();
    clReleaseEvent(gate);
    release_all();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("unload");
    TCase *tests = tcase_create("unload");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, buffers_outlive_the_library, 0, 2);
    tcase_add_loop_test(tests, operations_outlive_the_library, 0, 2);
    tcase_add_loop_test(tests, waiting_operations_outlive_the_library, 0, 2);
    suite_add_tcase(suite, tests);
    return support_run_suite(suite);
}
