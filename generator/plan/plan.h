/* A plan: the launches that carry out one problem with one config, decided completely.
 *
 * A solver's emit() fills it; nothing later changes a define, an argument or a grid. The runtime
 * compiles and launches it, the driver prints it, tests compare it, all from here.
 *
 * Building one: kiln_plan_stage() adds a launch, kiln_define() appends " -DNAME=value" to its
 * compile options in order, kiln_arg_*() its arguments in order. Errors are sticky: when a
 * buffer is full the plan is marked broken and every later call does nothing, so emit() needs no
 * checks. A plan that the device has no room for is refused with a reason. No heap.
 */
#ifndef KILN_PLAN_H
#define KILN_PLAN_H

#include "device.h"
#include "generator/base/refuse.h"
#include "kiln_layout.h"
#include "shape.h"

enum {
    KILN_MAX_STAGES = 12,
    KILN_MAX_ARGS = 48,
    KILN_MAX_TEMPS = 10,
    KILN_MAX_FACTS = 16,
    KILN_MAX_PADDED = 10,
    KILN_MAX_MOVED = 8,
    KILN_OPTIONS_TEXT = 3072,
    KILN_NAME_TEXT = 48
};

/* What a buffer argument refers to. X, W, Y are the shape's tensors until kiln_plan_finish(). */
typedef enum kiln_role {
    KILN_ROLE_X = 0,
    KILN_ROLE_W,
    KILN_ROLE_Y,
    KILN_ROLE_BIAS,
    KILN_ROLE_RESIDUAL,
    KILN_ROLE_W_SCALES, /* kiln_buffers' */
    KILN_ROLE_X_ZERO,
    KILN_ROLE_W_ZERO,
    KILN_ROLE_Y_ZERO,
    KILN_ROLE_PACKED, /* weights rearranged by the pack stages */
    KILN_ROLE_TEMP    /* TEMP + i: temp[i] inside the workspace */
} kiln_role;

enum { KILN_MAX_ROLES = KILN_ROLE_TEMP + KILN_MAX_TEMPS };

typedef struct kiln_arg {
    enum { KILN_ARG_BUFFER, KILN_ARG_INT, KILN_ARG_LONG, KILN_ARG_SHARING } kind;
    int role;  /* BUFFER */
    int64_t i; /* INT, LONG */
} kiln_arg;

typedef struct kiln_stage {
    enum { KILN_STAGE_LAUNCH, KILN_STAGE_CLEAR } kind;
    bool pack;                 /* the stage packs the weights: it runs once, or before every run */
    const char *template_file; /* "direct.cl" */
    const char *kernel;
    char options[KILN_OPTIONS_TEXT]; /* "-DA=1 -DB=2": no leading or trailing blank */
    /* Work-items the solver asks for. The launch is rounded up to whole groups of `local`, so the
     * kernel must guard; kiln_stage_launch() gives the rounded size. */
    size_t local[3], global[3];
    bool shared; /* one work-group may run all groups: see shared_grid.h */
    int nargs;
    kiln_arg arg[KILN_MAX_ARGS];
    int clear_role;      /* CLEAR: fill this buffer with zero bytes; */
    int64_t clear_bytes; /* this many */
} kiln_stage;

/* An argument that is an image of CL_RGBA pixels in the channel type that stores `type`. */
typedef struct kiln_image {
    int64_t width, height; /* pixels; 0: the argument is a buffer */
    kiln_type type;
} kiln_image;

/* Scratch memory: a piece of the workspace, or an image, which the op owns because a portable image
 * cannot be a piece of a buffer. Of 0 bytes, and no image: no stage uses it. */
typedef struct kiln_temp {
    int64_t bytes, offset; /* offset into the workspace, set by kiln_plan_finish() */
    kiln_image image;      /* size 0: the scratch memory is in the workspace */
} kiln_temp;

/* A tensor whose layout has padding, which must hold zero from a stage on. */
typedef struct kiln_padded {
    int role;
    int stage; /* the stage that writes the tensor; -1: the caller gives it */
    kiln_type type;
    char layout[KILN_LAYOUT_NAME], dims[KILN_MAX_DIMS + 1];
    int64_t size[KILN_MAX_DIMS];
} kiln_padded;

/* A tensor that a stage moves from one layout to another, before or after the solver's work. */
typedef struct kiln_moved {
    int role;
    int stage;
    char from[KILN_LAYOUT_NAME], to[KILN_LAYOUT_NAME];
    double predicted_ms;
} kiln_moved;

typedef struct kiln_fact {
    char name[KILN_NAME_TEXT];
    int64_t value;
} kiln_fact;

typedef struct kiln_plan {
    int nstages;
    kiln_stage stage[KILN_MAX_STAGES];
    int ntemps;
    kiln_temp temp[KILN_MAX_TEMPS];
    kiln_image image[KILN_ROLE_TEMP]; /* by role: tensors, and packed weights, that are images */
    int64_t packed_bytes;             /* 0: the weights are used as they are */
    int64_t workspace_bytes;          /* temps that are no images; without the packed weights */
    int64_t image_bytes;              /* temps that are images */
    int npadded;
    kiln_padded padded[KILN_MAX_PADDED];
    int nmoved; /* the caller's tensors; a stage of packing may be among them */
    kiln_moved moved[KILN_MAX_MOVED];
    int nfacts; /* derived numbers worth printing: N_LCL_IN_MAPS, ... */
    kiln_fact fact[KILN_MAX_FACTS];
    bool deterministic;   /* two runs give the same bits */
    double amplification; /* of rounding errors by the algorithm: 1 for plain sums */
    bool broken;          /* an array of this struct was too small: a defect of the solver */
    kiln_why refusal;     /* what the device cannot hold; "": the plan can run */
} kiln_plan;

void kiln_plan_start(kiln_plan *plan);
/* Adds a stage and returns it; never NULL (a broken plan hands out its last stage). */
kiln_stage *kiln_plan_stage(kiln_plan *plan, const char *template_file, const char *kernel);
void kiln_plan_clear(kiln_plan *plan, int role, int64_t bytes);
/* Reserves scratch memory and returns its role. */
int kiln_plan_temp(kiln_plan *plan, int64_t bytes);
int kiln_plan_temp_image(kiln_plan *plan, kiln_image image);
/* Says that the packed weights are an image. */
void kiln_plan_pack_image(kiln_plan *plan, kiln_image image);
/* Says that the last stage wrote, or that the caller gives, a tensor stored like this. The plan
 * remembers storages with padding. */
void kiln_plan_wrote(kiln_plan *plan, int role, const kiln_storage *storage, kiln_type type);
void kiln_plan_given(kiln_plan *plan, int role, const kiln_storage *storage, kiln_type type);
/* Says that the last stage moves a tensor of the caller from one layout to another. */
void kiln_plan_moved(kiln_plan *plan, int role, const kiln_storage *from, const kiln_storage *to,
                     double predicted_ms);
void kiln_plan_fact(kiln_plan *plan, const char *name, int64_t value);
/* Says that the device cannot run the plan. The first reason stays. */
void kiln_plan_refuse(kiln_plan *plan, const kiln_why *why);

/* Adds a define to the last stage. */
void kiln_define(kiln_plan *plan, const char *name, int64_t value);
void kiln_define_text(kiln_plan *plan, const char *name, const char *value);
void kiln_define_float(kiln_plan *plan, const char *name, double value);
/* Adds -DNAME_D=v[0] -DNAME_H=v[1] -DNAME_W=v[2]. */
void kiln_define_axes(kiln_plan *plan, const char *name, const int64_t v[3]);
void kiln_arg_buffer(kiln_plan *plan, int role);
void kiln_arg_int(kiln_plan *plan, int64_t value);
void kiln_arg_long(kiln_plan *plan, int64_t value);
/* Adds an INDEX_T of types.cl: a long where the shape is wide, else an int. */
void kiln_arg_index(kiln_plan *plan, const kiln_shape *s, int64_t value);
/* Adds the address of the memory that threads share, a long: the stage may be launched as one
 * work-group. */
void kiln_arg_sharing(kiln_plan *plan);
void kiln_grid(kiln_plan *plan, int64_t l0, int64_t l1, int64_t l2, int64_t g0, int64_t g1,
               int64_t g2);

/* Adds -DNAME=TYPE_F16. */
void kiln_define_type(kiln_plan *plan, const char *name, kiln_type type);
/* Add the defines of types.cl and epilogue.cl: -DSRC_TYPE=TYPE_F16 -DDST_TYPE=..., -DP_WIDE=1 where
 * an index needs 64 bits; and, where the epilogue asks for something, -DP_BIAS=1 -DP_ACTIVATION=...
 */
void kiln_define_types(kiln_plan *plan, const kiln_shape *s);
void kiln_define_epilogue(kiln_plan *plan, const kiln_shape *s);
/* Adds its part for the activation. */
void kiln_define_activation(kiln_plan *plan, const kiln_epilogue *e);
/* Adds the buffers of the epilogue, in the order of EPILOGUE_PARAMS in epilogue.cl: the last
 * arguments of a kernel. */
void kiln_arg_epilogue(kiln_plan *plan, const kiln_shape *s);

/* Places temps in the workspace and exchanges x and y of a mirrored shape. */
void kiln_plan_finish(kiln_plan *plan, const kiln_shape *s, const kiln_device_facts *d);

/* Returns the image behind `role`; its size is 0 where `role` is a buffer. */
kiln_image kiln_plan_image(const kiln_plan *plan, int role);
int64_t kiln_image_bytes(const kiln_image *image);
/* Returns the bytes of the workspace that the caller brings, without or with packed weights of its
 * own. Images are not in the workspace. */
int64_t kiln_plan_workspace(const kiln_plan *plan, bool packed);

/* Computes the launch size of a stage in work-items: `global` rounded up to whole groups. */
void kiln_stage_launch(const kiln_stage *stage, size_t launch[3]);

#endif
