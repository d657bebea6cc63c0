/* Profiles: what other libraries accept of a layout beyond its geometry. */
#include "generator/base/refuse.h"

#include "kiln_layout.h"

#include <stdio.h>
#include <string.h>

enum {
#define TYPE(id, ...) id = 1 << KILN_##id,
#include "generator/base/types.def"
#undef TYPE
    ANY = F32 | F16 | BF16 | I8 | I32
};

/* One layout in one profile. Sources: the public headers of TensorRT (versions 6 to 11), its notes
 * on DLA, and cuDNN's on NCHW_VECT_C. */
typedef struct rule {
    const char *profile, *spec;
    unsigned types;
    const char *says; /* the profile's name for it */
    int64_t most;     /* C, H and W at most; 0: no limit */
    int64_t multiple; /* C is a multiple of this; 0: no matter */
} rule;

static const rule rules[] = {
    {"tensorrt", "NCHW", ANY, "kLINEAR", 0, 0},
    {"tensorrt", "NCHW2c", F16 | BF16, "kCHW2", 0, 0},
    {"tensorrt", "NHWC;C%8", F16 | BF16, "kHWC8", 0, 0},
    {"tensorrt", "NCHW4c", I8 | F16, "kCHW4", 0, 0},
    {"tensorrt", "NCHW16c", F16 | I8, "kCHW16", 0, 0},
    {"tensorrt", "NCHW32c", F32 | F16 | I8, "kCHW32", 0, 0},
    {"tensorrt", "NDHWC;C%8", F16 | BF16, "kDHWC8", 0, 0},
    {"tensorrt", "NCDHW32c", F16 | I8, "kCDHW32", 0, 0},
    {"tensorrt", "NHWC", F32, "kHWC", 0, 0},
    {"tensorrt", "NDHWC", F32, "kDHWC", 0, 0},
    {"tensorrt", "NHWC;C%16", F16 | I8, "kHWC16", 0, 0},
    {"tensorrt", "NCHW;W%64B", F16 | I8, "kDLA_LINEAR", 8192, 0},
    {"tensorrt", "NHWC;C=1/4;W%64B", F16 | I8, "kDLA_HWC4", 8192, 0},
    {"dla", "NCHW", ANY, "kLINEAR", 8192, 0},
    {"dla", "NCHW;W%64B", F16 | I8, "kDLA_LINEAR", 8192, 0},
    {"dla", "NHWC;C=1/4;W%64B", F16 | I8, "kDLA_HWC4", 8192, 0},
    {"dla", "NCHW4c", I8, "kCHW4", 8192, 0},
    {"dla", "NCHW16c", F16 | I8, "kCHW16", 8192, 0},
    {"dla", "NCHW32c", I8, "kCHW32", 8192, 0},
    {"cudnn", "NCHW", ANY, "NCHW", 0, 0},
    {"cudnn", "NHWC", ANY, "NHWC", 0, 0},
    {"cudnn", "NCHW4c", I8, "NCHW_VECT_C (INT8x4)", 0, 4},
    {"cudnn", "NCHW32c", I8, "NCHW_VECT_C (INT8x32)", 0, 32},
};

static bool within(const rule *r, const kiln_storage *s, kiln_type type, char *why)
{
    if (!(r->types >> type & 1))
        return kiln_deny(why, "%s (%s) does not take %s", r->says, r->profile,
                         kiln_type_name(type));
    for (int d = 0; d < s->layout.ndims; d++) {
        char letter = s->layout.dims[d];
        if (r->most && strchr("CHW", letter) && s->dim[d] > r->most)
            return kiln_deny(why, "%s (%s) takes %c in [1, %lld], not %lld", r->says, r->profile,
                             letter, (long long)r->most, (long long)s->dim[d]);
        if (r->multiple && letter == 'C' && s->dim[d] % r->multiple)
            return kiln_deny(why,
                             "%s (%s) carries no padding: C must be a multiple of %lld, not %lld",
                             r->says, r->profile, (long long)r->multiple, (long long)s->dim[d]);
    }
    return true;
}

const char *kiln_profile_name(int index)
{
    static const char *const names[] = {"tensorrt", "dla", "cudnn"};
    return index >= 0 && index < (int)(sizeof names / sizeof *names) ? names[index] : NULL;
}

bool kiln_profile_accepts(const char *profile, const kiln_storage *s, kiln_type type, char *why)
{
    bool known = false;
    if (!profile || !s)
        return kiln_deny(why, "kiln_profile_accepts: profile and storage must not be NULL");
    if (!kiln_type_size(type))
        return kiln_deny(why, "type is %d; it must be one of kiln_type, 0 to %d", (int)type,
                         KILN_TYPES - 1);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        bool mine = strcmp(rules[i].profile, profile) == 0;
        known = known || mine;
        if (mine && strcmp(rules[i].spec, s->layout.spec) == 0)
            return within(&rules[i], s, type, why);
    }
    if (!known)
        return kiln_deny(why, "there is no profile \"%.40s\"; there are tensorrt, dla and cudnn",
                         profile);
    return kiln_deny(why, "profile %s has no layout %s", profile, s->layout.name);
}
