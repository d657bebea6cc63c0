/* Finds the memory objects that the stages of an operation work on, and gives them to its kernels.
 */
#include "bind.h"

#include "runtime/base/mem_lifetime.h"

#include "given.h"
#include "images.h"

#include <string.h>

static kiln_status check_given(const kiln_op *op, const kiln_given *w, int role)
{
    if (!w->buffer.mem)
        return kiln_fail(KILN_INVALID, "the problem needs buffer %s of %lld bytes; it is NULL",
                         w->name, (long long)w->bytes);
    kiln_status status = kiln_given_memory(op->k, w);
    if (status)
        return status;
    if (role < KILN_ROLE_TEMP && op->plan.image[role].width)
        return kiln_image_check(w->name, &w->buffer, &op->plan.image[role]);
    return kiln_given_range(op->k, w);
}

/* NVIDIA's driver crashes when a sub-buffer is released after kernels ran on another one that
 * overlaps it in part and still lives. So one operation at a time has windows, but for those whose
 * arguments stay, which no such driver allows. Held from the first window of a call to the call's
 * end. */
static pthread_mutex_t windows_lock = PTHREAD_MUTEX_INITIALIZER;
static kiln_op *windows_owner; /* its windows are closed when another operation makes some */

static void close_window(kiln_window *window)
{
    if (window->sub) {
        clReleaseMemObject(window->sub);
        clReleaseMemObject(window->parent);
    }
    *window = (kiln_window){0};
}

static void close_windows(kiln_op *op)
{
    for (int i = 0; i < KILN_MAX_ROLES; i++)
        close_window(&op->window[i]);
}

static void own_windows(kiln_op *op)
{
    if (op->locks_windows)
        return;
    pthread_mutex_lock(&windows_lock);
    op->locks_windows = true;
    if (windows_owner && windows_owner != op)
        close_windows(windows_owner);
    windows_owner = op;
}

/* A sub-buffer has no sub-buffers of its own: cut from its parent instead. */
static kiln_status cut(kiln_window *window, cl_mem mem, size_t offset, size_t size)
{
    cl_mem parent = NULL;
    size_t base = 0;
    cl_int code =
        clGetMemObjectInfo(mem, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof parent, &parent, NULL);
    if (code == CL_SUCCESS && parent)
        code = clGetMemObjectInfo(mem, CL_MEM_OFFSET, sizeof base, &base, NULL);
    if (code != CL_SUCCESS)
        return kiln_fail_cl(code, "clGetMemObjectInfo");
    const cl_buffer_region region = {base + offset, size};
    cl_mem sub =
        clCreateSubBuffer(parent ? parent : mem, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
    if (code != CL_SUCCESS)
        return kiln_fail_cl(code, "clCreateSubBuffer");
    /* An equal handle is the same object only while the object lives, and `sub` keeps but its own
     * parent alive. */
    code = clRetainMemObject(mem);
    if (code != CL_SUCCESS) {
        clReleaseMemObject(sub);
        return kiln_fail_cl(code, "clRetainMemObject");
    }
    close_window(window);
    *window = (kiln_window){mem, offset, size, sub};
    return KILN_OK;
}

/* Finds the memory object that a kernel gets for `bytes` of `mem` from `offset` on. */
static kiln_status view(kiln_op *op, int role, cl_mem mem, size_t offset, int64_t bytes,
                        cl_mem *out)
{
    *out = mem;
    if (offset == 0)
        return KILN_OK;
    own_windows(op);
    kiln_window *window = &op->window[role];
    bool same = window->sub && window->parent == mem && window->offset == offset &&
                window->size == (size_t)bytes;
    kiln_status status = same ? KILN_OK : cut(window, mem, offset, (size_t)bytes);
    *out = window->sub;
    return status;
}

static bool packs_through_temps(const kiln_plan *plan)
{
    for (int i = 0; i < plan->nstages; i++)
        for (int j = 0; plan->stage[i].pack && j < plan->stage[i].nargs; j++)
            if (plan->stage[i].arg[j].role >= KILN_ROLE_TEMP &&
                !kiln_plan_image(plan, plan->stage[i].arg[j].role).width)
                return true;
    return false;
}

/* OpenCL 1.2 has no kernel that reads and writes one image. */
static kiln_status check_residual(const kiln_op *op, const kiln_buffers *b)
{
    if (b->residual.mem != b->y.mem || !op->plan.image[KILN_ROLE_Y].width)
        return KILN_OK;
    for (int i = 0; i < op->plan.nstages; i++) {
        const kiln_stage *stage = &op->plan.stage[i];
        bool reads = false, writes = false;
        for (int j = 0; j < stage->nargs; j++) {
            reads = reads || stage->arg[j].role == KILN_ROLE_RESIDUAL;
            writes = writes || stage->arg[j].role == KILN_ROLE_Y;
        }
        if (reads && writes)
            return kiln_fail(KILN_INVALID, "the residual must be an image of its own: no kernel "
                                           "reads and writes the image y");
    }
    return KILN_OK;
}

/* Finds the piece of the workspace, or the image, that holds a temp or the packed weights. */
static kiln_status bind_own(kiln_op *op, int role, const kiln_buffer *workspace, int64_t offset,
                            int64_t bytes, cl_mem *mem)
{
    *mem = op->image[role];
    return *mem ? KILN_OK
                : view(op, role, workspace->mem, workspace->offset + (size_t)offset, bytes, mem);
}

/* What a call is given, in the order of `roles`. */
enum { GIVEN = 11 };
static const int roles[GIVEN] = {KILN_ROLE_X,      KILN_ROLE_W,        KILN_ROLE_Y,
                                 KILN_ROLE_BIAS,   KILN_ROLE_RESIDUAL, KILN_ROLE_PACKED,
                                 KILN_ROLE_TEMP,   KILN_ROLE_W_SCALES, KILN_ROLE_X_ZERO,
                                 KILN_ROLE_W_ZERO, KILN_ROLE_Y_ZERO};

static bool is_prepacked(const kiln_op *op, const kiln_buffers *b)
{
    return op->plan.packed_bytes > 0 && b->packed.mem;
}

static bool needs_temps(const kiln_op *op, kiln_phase phase)
{
    return phase != KILN_PACK_ONLY || packs_through_temps(&op->plan);
}

static void list_given(const kiln_op *op, const kiln_buffers *b, kiln_phase phase,
                       kiln_given given[GIVEN])
{
    const kiln_plan *plan = &op->plan;
    const bool packing = phase == KILN_PACK_ONLY, prepacked = is_prepacked(op, b);
    int64_t workspace = needs_temps(op, phase) ? plan->workspace_bytes : 0;
    if (!packing)
        workspace = kiln_plan_workspace(plan, prepacked);
    const int64_t *bytes = op->bytes;
    const kiln_direction d = op->problem.direction;
    const kiln_given all[GIVEN] = {
        {"x", b->x, packing ? 0 : bytes[KILN_ROLE_X], d == KILN_BACKWARD_DATA},
        {"w", b->w, prepacked && !packing ? 0 : bytes[KILN_ROLE_W], d == KILN_BACKWARD_WEIGHTS},
        {"y", b->y, packing ? 0 : bytes[KILN_ROLE_Y], d == KILN_FORWARD},
        {"bias", b->bias, packing ? 0 : bytes[KILN_ROLE_BIAS], d == KILN_BACKWARD_WEIGHTS},
        {"residual", b->residual, packing ? 0 : bytes[KILN_ROLE_RESIDUAL], false},
        {"packed", b->packed, prepacked || packing ? plan->packed_bytes : 0, packing},
        {"workspace", b->workspace, workspace, true},
        {"w_scales", b->w_scales, packing ? 0 : bytes[KILN_ROLE_W_SCALES], false},
        {"x_zero", b->x_zero, packing ? 0 : bytes[KILN_ROLE_X_ZERO], false},
        {"w_zero", b->w_zero, packing ? 0 : bytes[KILN_ROLE_W_ZERO], false},
        {"y_zero", b->y_zero, packing ? 0 : bytes[KILN_ROLE_Y_ZERO], false},
    };
    memcpy(given, all, sizeof all);
}

static kiln_status check_all(const kiln_op *op, const kiln_buffers *b, kiln_phase phase,
                             const kiln_given given[GIVEN])
{
    const int64_t packed = op->plan.packed_bytes;
    if (op->comes_packed && packed > 0 && !b->packed.mem)
        return kiln_fail(KILN_INVALID,
                         "packed is NULL, but the operation was created for packed weights; give "
                         "the %lld bytes that kiln_op_pack() writes, or set choice.packed_weights "
                         "to 0",
                         (long long)packed);
    kiln_status status = KILN_OK;
    for (int i = 0; i < GIVEN && !status; i++)
        if (given[i].bytes > 0)
            status = check_given(op, &given[i], roles[i]);
    if (!status)
        status = kiln_given_apart(given, GIVEN);
    return status || phase == KILN_PACK_ONLY ? status : check_residual(op, b);
}

kiln_status kiln_op_check_buffers(const kiln_op *op, const kiln_buffers *b, kiln_phase phase)
{
    kiln_given given[GIVEN];
    list_given(op, b, phase, given);
    return check_all(op, b, phase, given);
}

/* Fills mem[role] for everything that the stages of `phase` may name. */
static kiln_status find(kiln_op *op, const kiln_buffers *b, kiln_phase phase,
                        cl_mem mem[KILN_MAX_ROLES])
{
    const kiln_plan *plan = &op->plan;
    const bool temps = needs_temps(op, phase);
    kiln_given given[GIVEN];
    memset(mem, 0, KILN_MAX_ROLES * sizeof *mem);
    list_given(op, b, phase, given);
    kiln_status status = check_all(op, b, phase, given);
    for (int i = 0; i < GIVEN && !status; i++) {
        const kiln_given *g = &given[i];
        if (g->bytes == 0 || roles[i] == KILN_ROLE_TEMP)
            continue;
        if (roles[i] == KILN_ROLE_RESIDUAL && b->residual.mem == b->y.mem &&
            b->residual.offset == b->y.offset)
            mem[KILN_ROLE_RESIDUAL] = mem[KILN_ROLE_Y];
        else
            status = view(op, roles[i], g->buffer.mem, g->buffer.offset, g->bytes, &mem[roles[i]]);
    }
    for (int i = 0; !status && i < plan->ntemps; i++)
        if (plan->temp[i].image.width || (temps && plan->temp[i].bytes))
            status = bind_own(op, KILN_ROLE_TEMP + i, &b->workspace, plan->temp[i].offset,
                              plan->temp[i].bytes, &mem[KILN_ROLE_TEMP + i]);
    if (!status && phase != KILN_PACK_ONLY && !is_prepacked(op, b) && plan->packed_bytes > 0)
        status = bind_own(op, KILN_ROLE_PACKED, &b->workspace, plan->workspace_bytes,
                          plan->packed_bytes, &mem[KILN_ROLE_PACKED]);
    return status;
}

static bool runs_kernel(const kiln_op *op, kiln_phase phase, int i)
{
    return op->launch[i].kernel && kiln_phase_runs(phase, &op->plan.stage[i]);
}

static kiln_status set_arguments(kiln_op *op, kiln_phase phase)
{
    for (int i = 0; i < op->plan.nstages; i++) {
        const kiln_stage *stage = &op->plan.stage[i];
        for (int j = 0; runs_kernel(op, phase, i) && j < stage->nargs; j++) {
            if (stage->arg[j].kind != KILN_ARG_BUFFER)
                continue;
            cl_int code = clSetKernelArg(op->launch[i].kernel, (cl_uint)j, sizeof(cl_mem),
                                         &op->bound.mem[stage->arg[j].role]);
            if (code != CL_SUCCESS)
                return kiln_fail_cl(code, "clSetKernelArg");
        }
    }
    return KILN_OK;
}

static bool watch_all(kiln_op *op)
{
    bool all = true;
    for (int i = 0; i < KILN_MAX_ROLES && all; i++)
        all = !op->bound.mem[i] || kiln_mem_lifetime_add(op->k->lifetime, op->bound.mem[i]);
    return all;
}

kiln_status kiln_op_bind(kiln_op *op, const kiln_buffers *b, kiln_phase phase)
{
    kiln_bound *bound = &op->bound;
    const unsigned ended = kiln_mem_lifetime_ended(op->k->lifetime);
    const bool again =
        bound->valid && bound->phase == phase && memcmp(&bound->buffers, b, sizeof *b) == 0;
    if (again && bound->set && bound->ended == ended)
        return KILN_OK;
    bound->valid = false;
    bound->changes++;
    kiln_status status = find(op, b, phase, bound->mem);
    /* A caller with new objects in every call does not pay for watching them. */
    const bool set = !status && again && watch_all(op);
    const bool pointers = kiln_pocl_bind(op->pocl, op->stages[phase], set ? bound->mem : NULL);
    if (!status && !pointers)
        status = set_arguments(op, phase);
    if (status)
        return status;
    bound->buffers = *b;
    bound->phase = phase;
    bound->valid = true;
    bound->ended = ended;
    bound->set = set;
    return KILN_OK;
}

void kiln_op_bind_end(kiln_op *op)
{
    if (!op->locks_windows)
        return;
    if (op->bound.valid && op->bound.set)
        windows_owner = NULL;
    op->locks_windows = false;
    pthread_mutex_unlock(&windows_lock);
}

void kiln_op_close_windows(kiln_op *op)
{
    pthread_mutex_lock(&windows_lock);
    if (windows_owner == op)
        windows_owner = NULL;
    close_windows(op);
    pthread_mutex_unlock(&windows_lock);
}
