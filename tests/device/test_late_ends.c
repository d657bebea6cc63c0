/* An OpenCL that tells late of the end of memory objects, as NVIDIA's does: here never. An op that
 * took a handle it knows for the object it knows would write behind a smaller one. */
#include "support/suite.h"
#include "support/support.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 24, BYTES = CELLS * 4, TRIES = 64 };

static int asked;
static void *kept; /* what would be freed then */

cl_int clSetMemObjectDestructorCallback(cl_mem mem, void(CL_CALLBACK *end)(cl_mem, void *),
                                        void *argument)
{
    (void)mem;
    (void)end;
    kept = argument;
    asked++;
    return CL_SUCCESS;
}

static cl_mem create(size_t size)
{
    cl_mem mem = clCreateBuffer(support_open()->context, CL_MEM_READ_WRITE, size, NULL, NULL);
    ck_assert_ptr_nonnull(mem);
    return mem;
}

START_TEST(small_buffer_in_the_place_of_a_large_one_is_refused)
{
    const support_device *d = support_open();
    const kiln_reformat same = {.dims = "NCHW", .size = {1, 2, 3, 4}};
    kiln_op *op;
    ck_assert_msg(kiln_reformat_create(d->kiln, &same, &op) == KILN_OK, "%s", kiln_last_error());
    cl_mem source = create(BYTES), large = create(BYTES), small[TRIES], was = large;
    kiln_buffers b = {.x = {source, 0}, .y = {large, 0}};
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(kiln_op_enqueue(op, d->queue, &b, 0, NULL, NULL), KILN_OK);
    clFinish(d->queue);
    clReleaseMemObject(large);
    int n = 0;
    do
        small[n] = create(BYTES - 4);
    while (small[n++] != was && n < TRIES);
    b.y.mem = small[n - 1];
    ck_assert_int_eq(kiln_op_enqueue(op, d->queue, &b, 0, NULL, NULL), KILN_INVALID);
    ck_assert(kept && asked == 1); /* of an object of the kiln's own */
    while (n > 0)
        clReleaseMemObject(small[--n]);
    kiln_op_release(op);
    clReleaseMemObject(source);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("late_ends");
    TCase *c = tcase_create("late_ends");
    tcase_add_test(c, small_buffer_in_the_place_of_a_large_one_is_refused);
    suite_add_tcase(s, c);
    return support_run_suite(s);
}
