/* Lists of problems: every line of the samples in data/lists, and lines that are refused. */
#include "driver/problem_list/problem_list.h"
#include "support/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct expected {
    list_kind kind;
    const char *name;
    int repeat;
    const char *text; /* kiln_problem_text() of the problem as fp32 forward */
} expected;

static const expected benchdnn[] = {
    {LIST_NOTHING, "", 1, ""},
    {LIST_NOTHING, "", 1, ""},
    {LIST_SHAPE, "conv1", 1, "fwd-f32-n64-c3-k64-i224x224-f7x7-s2x2-p3x3"},
    {LIST_SHAPE, "stage1", 3, "fwd-f32-n2-c64-k64-i56x56-f3x3-p1x1"},
    {LIST_SHAPE, "wide", 1, "fwd-f32-n1-c64-k96-i28x30-f3x5-p1x2-g32"},
    {LIST_SHAPE, "pad found", 1, "fwd-f32-n4-c16-k8-i10x10-f3x3-p1x1"},
    {LIST_SHAPE, "odd_pad", 1, "fwd-f32-n4-c16-k8-i10x10-f4x4-p1x1-e2x2"},
    {LIST_SHAPE, "", 1, "fwd-f32-n4-c16-k8-i10x10-f3x3"},
    {LIST_SHAPE, "dilated", 1, "fwd-f32-n1-c8-k8-i12x12-f3x3-p2x2-d2x2"},
    {LIST_SHAPE, "dilated_unequal", 1, "fwd-f32-n1-c8-k8-i12x12-f3x3-p1x1-e3x3-d2x2"},
    {LIST_SHAPE, "rank1", 1, "fwd-f32-n1-c4-k4-i50-f3-s2"},
    {LIST_SHAPE, "cube", 1, "fwd-f32-n2-c2-k4-i8x8x8-f3x3x3-p1x1x1"},
    {LIST_SHAPE, "volume", 1, "fwd-f32-n2-c2-k4-i8x6x5-f3x3x1-p1x0x0"},
    {LIST_SHAPE, "rows unread", 1, "fwd-f32-n16-c32-k139-i111x4-f1x1-s3x1"},
    {LIST_SHAPE, "large", 1, "fwd-f32-n1-c1-k1-i4294967311-f3"},
};

static const expected columns[] = {
    {LIST_NOTHING, "", 1, ""},
    {LIST_NOTHING, "", 1, ""},
    {LIST_SHAPE, "net/conv1", 3, "fwd-f32-n32-c3-k64-i224x220-f7x5-s2x1-p3x2"},
    {LIST_SHAPE, "net/conv2", 1, "fwd-f32-n1-c8-k16-i9x10-f3x3-p1x1-d2x2-g4"},
    {LIST_SHAPE, "net/conv3", 1, "fwd-f32-n2-c4-k6-i8x8-f3x3-p1x2-e0x3"},
    {LIST_SHAPE, "net/unread", 1, "fwd-f32-n16-c32-k139-i111x4-f1x1-s3x1-p0x1-e0x0"},
    {LIST_SHAPE, "*2", 2, "fwd-f32-n1-c8-k16-i9x10-f1x1"},
    {LIST_SHAPE, "*2:19", 2, "fwd-f32-n1-c8-k16-i9x10-f1x1"},
    {LIST_SHAPE, "conv", 1, "fwd-f32-n1-c8-k16-i9x10-f1x1"},
    {LIST_SHAPE, "1d_conv-block-8", 1, "fwd-f32-n1-c8-k16-i1x10-f1x3-p0x1"},
    {LIST_NOTHING, "", 1, ""},
    {LIST_SHAPE, "vol/1", 1, "fwd-f32-n1-c3-k32-i16x14x12-f3x5x1-s1x2x3-p1x2x0"},
    {LIST_SHAPE, "vol/2", 1, "fwd-f32-n1-c3-k32-i16x14x12-f2x2x1-p1x0x0-e0x1x0"},
    {LIST_NOTHING, "", 1, ""},
    {LIST_SHAPE, "short", 1, "fwd-f32-n2-c8-k16-i100-f3"},
};

static const expected mixed[] = {
    {LIST_COMMAND, "", 1, ""},
    {LIST_COMMAND, "", 1, ""},
    {LIST_COMMAND, "", 1, ""},
    {LIST_COMMAND, "", 1, ""},
    {LIST_COMMAND, "", 1, ""},
    {LIST_COMMAND, "", 1, ""},
    {LIST_COMMAND, "", 1, ""},
    {LIST_PROBLEM, "", 1, "fwd-f16-n1-c8-k8-i7x7-f3x3-p1x1-bias"},
    {LIST_PROBLEM, "", 1, "bwd-f32-n16-c64-k192-i28x28-f1x1"},
    {LIST_SHAPE, "nohead", 1, "fwd-f32-n1-c8-k16-i9x10-f3x3-p1x1"},
    {LIST_SHAPE, "nohead3d", 1, "fwd-f32-n1-c8-k16-i4x9x10-f1x3x3-p0x1x1"},
    {LIST_SHAPE, "", 1, "fwd-f32-n1-c1-k1-i1x1-f1x1"},
};

/* tests/data/lists/raw_log.txt: a raw log. */
#define RUNS                                                                                       \
    {                                                                                              \
        LIST_COMMAND, "", 1, ""                                                                    \
    }
#define TEXT                                                                                       \
    {                                                                                              \
        LIST_LOG, "", 1, ""                                                                        \
    }
#define OTHER(word)                                                                                \
    {                                                                                              \
        LIST_FOREIGN, word, 1, ""                                                                  \
    }
static const expected raw_log[] = {
    TEXT, /* PRNG seed */
    RUNS,
    RUNS,
    RUNS,
    TEXT,
    RUNS,
    OTHER("bnormfp16"),
    OTHER("CBAInfer"),
    OTHER("pool"),
    TEXT,
    RUNS,
    RUNS,
    RUNS,
    RUNS,
    TEXT,
    TEXT,
    OTHER("reorder"),
    {LIST_SHAPE, "", 1, "fwd-f32-n1-c3-k64-i224x224-f7x7-s2x2-p3x3"},
    {LIST_SHAPE, "", 1, "fwd-f32-n10-c3-k64-i224x224-f7x7-s2x2-p3x3"},
    TEXT, /* creation */
    {LIST_SHAPE, "name", 1, "fwd-f32-n1-c16-k16-i8x8-f3x3-p1x1"},
    {LIST_SHAPE, "", 1, "fwd-f32-n2-c16-k16-i8x8-f3x3-p1x1"},
    {LIST_SHAPE, "", 1, "fwd-f32-n2-c16-k16-i8x8-f3x3-p1x1"}, /* u8 */
    {LIST_NOTHING, "", 1, ""},
    {LIST_SHAPE, "", 1, "fwd-f32-n2-c16-k16-i8x8-f3x3-p1x1"},
    OTHER("--matmul"),
    RUNS,
    RUNS,
};

#define SAMPLE(array)                                                                              \
    {                                                                                              \
#array ".txt", array, (int)(sizeof array / sizeof *array)                                  \
    }
static const struct {
    const char *file;
    const expected *lines;
    int count;
} samples[] = {SAMPLE(benchdnn), SAMPLE(columns), SAMPLE(mixed), SAMPLE(raw_log)};

static void check_line(const char *line, const expected *want, list_kind kind, const list_entry *e)
{
    ck_assert_msg(kind == want->kind, "%s: kind %d, %s", line, (int)kind, e->why);
    ck_assert_str_eq(e->name, want->name);
    ck_assert_int_eq(e->repeat, want->repeat);
    if (kind != LIST_SHAPE && kind != LIST_PROBLEM)
        return;
    char text[KILN_KEY_TEXT], why[KILN_ERROR_TEXT];
    kiln_problem p = e->problem;
    if (kind == LIST_SHAPE)
        ck_assert_int_eq(p.x_type, KILN_TYPE_DEFAULT);
    ck_assert_int_eq(kiln_problem_check(&p, why), KILN_OK);
    kiln_problem_text(&p, text, sizeof text);
    ck_assert_str_eq(text, want->text);
}

START_TEST(sample_lists)
{
    const char *folder = getenv("KILN_TEST_DATA");
    char path[4096], line[512];
    snprintf(path, sizeof path, "%s/lists/%s", folder ? folder : "tests/data", samples[_i].file);
    FILE *f = fopen(path, "r");
    ck_assert_msg(f != NULL, "%s", path);
    list_reader reader = {0};
    int n = 0;
    for (; fgets(line, sizeof line, f); n++) {
        ck_assert_int_lt(n, samples[_i].count);
        list_entry entry;
        list_kind kind = list_read(&reader, line, &entry);
        check_line(line, &samples[_i].lines[n], kind, &entry);
    }
    fclose(f);
    ck_assert_int_eq(n, samples[_i].count);
}
END_TEST

/* Lines of a list without a header, and a part of the sentence that refuses each. */
static const struct {
    const char *line, *says;
} refused[] = {
    {"--conv --dir=FWD_B --batch=shapes_all", "--batch=shapes_all"},
    {"--dir=FWD_B --batch=shapes_all mb1ic16ih8oc16oh8kh3ph1", "--batch=shapes_all"},
    /* descriptors */
    {"hello", "hello"},
    {"mb1ic8ih5oc8", "kh is missing"},
    {"mb1ih5oc8kh3", "ic is missing"},
    {"mb1ic8ih5kh3", "oc is missing"},
    {"mb1ic8oc8kh3", "input size is missing"},
    {"mb1ic8ih5ih5oc8kh3", "ih is given twice"},
    {"mb1ic8ih5oc8kh3zz4", "\"zz4\""},
    {"mb1ic8ihoc8kh3", "\"ih\""},
    {"mb1ic8ih-5oc8kh3", "\"ih\""},
    {"mb1ic8ih99999999999999999999oc8kh3", "2^63"},
    {"mb1ic8ih5oc8kh3n\"open", "closing quote"},
    {"mb1ic8ih5oc8kh3n\"a\" --dir=FWD_B", "--dir=FWD_B"},
    {"mb1ic8ih5oc8kh3sw2", "sw is given, but iw is not"},
    {"mb1ic8ih5oc8kh3kd2", "kd is given, but id is not"},
    {"mb1ic8id5ih5oc8kd3kh3", "both ih and iw"},
    {"mb1ic8ih5oc8kh0", "at least 1"},
    {"mb1ic8ih5oc8kh3sh0", "at least 1"},
    {"mb0ic8ih5oc8kh3", "batch is 0"},
    {"g0mb1ic8ih5oc8kh3", "groups"},
    {"g3mb1ic8ih5oc8kh3", "do not divide"},
    {"mb1ic8ih5oc8kh7", "larger than the padded input"},
    {"mb1ic8ih9oc8oh2kh3ph0", "oh is 2"},
    {"mb1ic8ih9223372036854775807oc8oh2kh3ph0", "too large"},
    {"mb1ic8ih9oc8oh9223372036854775807kh3sh9223372036854775807ph0", "too large"},
    {"mb1ic8ih9oc8oh4kh9223372036854775807dh9223372036854775807", "too large"},
    /* columns */
    {"conv1 1 8 9 10 16 3 3 1 1 1 1 1 1", "14 words where the header names 15"},
    {"conv1 1 8 9 10 16 3 3 1 1 1 1 1 1 1 1", "16 words"},
    {"conv1 1 8 9 1o 16 3 3 1 1 1 1 1 1 1", "column W is \"1o\""},
    {"conv1 1 8 9 -4 16 3 3 1 1 1 1 1 1 1", "column W is \"-4\""},
    {"conv1 1 8 9 99999999999999999999 16 3 3 1 1 1 1 1 1 1", "column W"},
    {"conv1 1 8 0 10 16 3 3 1 1 1 1 1 1 1", "column H is 0"},
    {"conv1 1 8 9 10 16 3 3 1 1 0 1 1 1 1", "stride_h is 0"},
    {"conv1 1 8 9 10 16 3 3 1 1 1 1 1 1 0", "groups is 0"},
    {"conv1 1 8 9 10 16 3 30 1 1 1 1 1 1 1", "larger than the padded input"},
    /* unequal padding */
    {"# ASYM-PAD (top,bottom,left,right)=1,0,1 : c 1 8 9 10 16 3 3 1 1 1 1 1 1 1", "expected"},
    {"# ASYM-PAD (top,under)=1,0 : c 1 8 9 10 16 3 3 1 1 1 1 1 1 1", "expected"},
    {"# ASYM-PAD (top", "expected"},
    {"# ASYM-PAD (front)=1 : c 1 8 9 10 16 3 3 1 1 1 1 1 1 1", "no axis for the side \"front\""},
    {"# ASYM-PAD (top)=-1 : c 1 8 9 10 16 3 3 1 1 1 1 1 1 1", "at least 0"},
    {"# ASYM-PAD (bottom)=-1 : c 1 8 9 10 16 3 3 1 1 1 1 1 1 1", "cuts off"},
    {"# ASYM-PAD (bottom)=-2 : c 1 8 9 10 16 3 3 0 0 2 1 1 1 1", "cuts off"},
    {"# ASYM-PAD (bottom)=-9223372036854775807 : c 1 8 9 10 16 3 3 0 0 2 1 1 1 1", "cuts off"},
    /* headers */
    {"# name N C H W K R S pad_hh", "unknown column \"pad_hh\""},
    {"# name N N C H W K R S", "twice"},
    {"# name N C H W K R", "lacks the column S"},
    {"# name N C W K R S", "lacks the column H"},
    {"# name N C D H W K R S", "lacks the column T"},
    /* problems */
    {"fwd-f32-n1-c1-k1-i1x1", "-f is missing"},
    {"192-28-28-1x1-64-28-27-16-0x0-1x1-1x1-0-NCHW-FP32-F", "27"},
};

START_TEST(refused_lines)
{
    list_reader reader = {0};
    list_entry entry;
    static const char header[] =
        "# name N C H W K R S pad_h pad_w stride_h stride_w dil_h dil_w groups";
    ck_assert_int_eq(list_read(&reader, header, &entry), LIST_NOTHING);
    list_kind kind = list_read(&reader, refused[_i].line, &entry);
    ck_assert_msg(kind == LIST_BAD, "%s: kind %d", refused[_i].line, (int)kind);
    ck_assert_msg(strstr(entry.why, refused[_i].says), "%s: %s", refused[_i].line, entry.why);
}
END_TEST

/* Where the command stands in a line, and what follows behind it. */
static const struct {
    const char *line, *command, *rest; /* "": nothing to run follows */
} commands[] = {
    {"MIOpenDriver.exe conv -n 1", "conv -n 1", ""},
    {"C:\\rocm\\bin\\MIOpenDriver.exe conv -n 1", "conv -n 1", ""},
    {"\"C:\\Program Files\\MIOpenDriver.exe\" conv -n 1", "conv -n 1", ""},
    {"MIOpenDriver: conv -n 1", "conv -n 1", ""},
    {"run '/bin/MIOpenDriver conv -n 1' took 3 ms", "conv -n 1", ""},
    {"12:00:01 [4711] MIOpen(HIP): Info2 [x] bin/MIOpenDriver conv -n 1", "conv -n 1", ""},
    {"MIOpenDriver conv -n 1 2>&1 | tee log", "conv -n 1 ", ""},
    {"MIOpenDriver conv -n 1 >log", "conv -n 1 ", ""},
    {"MIOpenDriver conv -n 1 $MIO", "conv -n 1 ", ""},
    {"MIOpenDriver conv -n 1 \"$@\" ${MORE:-} | tee log", "conv -n 1 ", ""},
    {"MIOpenDriver conv $MIO -n 1", "conv $MIO -n 1", ""},
    {"MIOpenDriver conv -n 1 > log && MIOpenDriver conv -n 2", "conv -n 1 ",
     "> log && MIOpenDriver conv -n 2"},
    {"MIOpenDriver conv -n 1; bin/MIOpenDriver pool -n 2", "conv -n 1",
     "; bin/MIOpenDriver pool -n 2"},
    {"MIOpenDriver conv -# 2 -n 1 # MIOpenDriver conv", "conv -# 2 -n 1 ", ""},
    {"conv --match 'a|b' -n 1 &", "conv --match 'a|b' -n 1 ", ""},
    {"-n 1 < in", "-n 1 ", ""},
    {"/opt/kiln conv -n 1 &> log", "conv -n 1 ", ""},
    {"(cd /opt && bin/MIOpenDriver conv -n 1) | tee log", "conv -n 1", ""},
    {"out=$(MIOpenDriver conv -n 1)", "conv -n 1", ""},
};

START_TEST(command_places)
{
    list_reader reader = {0};
    list_entry e;
    const char *line = commands[_i].line;
    char text[128];
    ck_assert_int_eq(list_read(&reader, line, &e), LIST_COMMAND);
    snprintf(text, sizeof text, "%.*s", (int)(e.end - e.begin), line + e.begin);
    ck_assert_str_eq(text, commands[_i].command);
    ck_assert_str_eq(e.rest ? line + e.rest : "", commands[_i].rest);
}
END_TEST

/* What options of oneDNN become. */
static const struct {
    const char *line, *flags, *note;
} options[] = {
    {"--conv mb1ic16ih8oc16oh8kh3ph1", "", ""},
    {"--conv --dir=FWD_D --dt=f32 mb1ic16ih8oc16oh8kh3ph1", "conv -F 1", ""},
    {"--dir=FWD_B,BWD_D,BWD_WB --dt=f16 mb1ic16ih8oc16oh8kh3ph1", "convfp16 -F 7 -b 1", ""},
    {"./benchdnn --conv --dir=BWD_D --dt=f32:bf16:bf16 mb1ic16ih8oc16oh8kh3ph1",
     "convbfp16 --out_type f32 -F 2", ""},
    {"--dir=BWD_W --dt=bf16:f32:bf16 mb1ic16ih8oc16oh8kh3ph1", "convbfp16 --out_type f32 -F 4", ""},
    {"--dir=FWD_I --cfg=s8s8s32 mb1ic16ih8oc16oh8kh3ph1", "convint8 --out_type i32 -F 1", ""},
    {"--stag=axb --wtag=any --dtag=nChw16c mb1ic16ih8oc16oh8kh3ph1", " -I NHWC -f any -O NCHW16c",
     ""},
    {"--stag=abx --dtag=acdeb mb1ic16id8oc16kd3", " -O NDHWC", ""},
    {"--wtag=hwio mb1ic16ih8oc16oh8kh3ph1", " -f HWIO", ""},
    {"--wtag=Abcde16a g32mb1ic32ih8oc32oh8kh3ph1", " -f OIHW16o", ""},
    {"--wtag=Goihw8g g32mb1ic32ih8oc32oh8kh3ph1", " -f OIHW8o", ""},
    {"--wtag=Abcd4a g32mb1ic32iw8oc32ow8kw3pw1", " -f OIW4o", ""},
    {"--wtag=decab g32mb1ic32ih8oc32oh8kh3ph1", " -f HWIO", ""},
    {"--wtag=hwigo g2mb1ic16ih8oc16oh8kh3ph1", " -f HWIO", ""},
    {"--wtag=gOIhw4i4o g2mb1ic16ih8oc16oh8kh3ph1", " -f OIHW4i4o", ""},
    {"--wtag=abcde g2mb1ic16ih8oc16oh8kh3ph1", "", ""},
    {"--alg=WINO --skip-impl=ref --dir=FWD_D mb1ic16ih8oc16oh8kh3ph1", " -F 1",
     "--alg=WINO, --skip-impl=ref"},
    {"--alg=direct --attr-post-ops=sum+relu:0.1 mb1ic16ih8oc16oh8kh3ph1",
     " --activation leaky_relu --act_alpha 0.1 --beta 1 --math exact", ""},
    {"--attr-post-ops=swish:1 mb1ic16ih8oc16oh8kh3ph1", " --activation silu", ""},
    {"--attr-post-ops=hardswish:0.25:0.5 mb1ic16ih8oc16oh8kh3ph1",
     " --activation hard_swish --act_alpha 0.25 --act_beta 0.5", ""},
    {"--attr-post-ops=hardsigmoid:1:0 mb1ic16ih8oc16oh8kh3ph1",
     " --activation hard_sigmoid --act_alpha 1", ""},
    {"--attr-post-ops=clip_v2:-1:6 mb1ic16ih8oc16oh8kh3ph1",
     " --activation hard_tanh --act_alpha -1 --act_beta 6", ""},
    {"--attr-post-ops=mish mb1ic16ih8oc16oh8kh3ph1", " --activation mish", ""},
    {"--attr-post-ops=exp_dst mb1ic16ih8oc16oh8kh3ph1", " --activation exp", ""},
    {"--attr-post-ops=abs mb1ic16ih8oc16oh8kh3ph1", " --activation abs", ""},
    {"--attr-post-ops=sum+square mb1ic16ih8oc16oh8kh3ph1", " --activation square --beta 1", ""},
    {"--attr-post-ops=soft_relu:2 mb1ic16ih8oc16oh8kh3ph1", " --activation softplus --act_alpha 2",
     ""},
    {"--attr-post-ops=clip:0:6 mb1ic16ih8oc16oh8kh3ph1", " --activation clipped_relu --act_alpha 6",
     ""},
    {"--attr-post-ops=clip_v2:0:1.5:1 mb1ic16ih8oc16oh8kh3ph1",
     " --activation clipped_relu --act_alpha 1.5", ""},
    {"--attr-post-ops=sum:0.25 mb1ic16ih8oc16oh8kh3ph1", " --beta 0.25", ""},
    {"--attr-post-ops=sum:0.25:0:f32+swish:1 mb1ic16ih8oc16oh8kh3ph1",
     " --activation silu --beta 0.25", ""},
    {"--attr-post-ops=sum:2+clip_v2_dst:0:6+linear:1 mb1ic16ih8oc16oh8kh3ph1",
     " --activation clipped_relu --act_alpha 6 --beta 2", ""},
    {"--attr-post-ops=sum:0+relu_dst mb1ic16ih8oc16oh8kh3ph1", " --activation relu", ""},
    {"--attr-post-ops=linear:1:0 mb1ic16ih8oc16oh8kh3ph1", "", ""},
    {"--attr-post-ops=linear:2:0+sum:3+relu mb1ic16ih8oc16oh8kh3ph1",
     " --activation relu --alpha 2 --beta 3", ""},
    {"--attr-post-ops=sum:3+linear:2 mb1ic16ih8oc16oh8kh3ph1", " --alpha 2 --beta 6", ""},
    {"--dir=FWD_B --attr-post-ops=sum+tanh mb1ic16ih8oc16oh8kh3ph1",
     " -F 1 -b 1 --activation tanh --beta 1", ""},
    {"--attr-fpmath=bf16 --attr-deterministic=true mb1ic16ih8oc16oh8kh3ph1",
     " --math reduced --deterministic 1", ""},
    {"--attr-post-ops='relu:0.1' mb1ic16ih8oc16oh8kh3ph1",
     " --activation leaky_relu --act_alpha 0.1", ""},
    {"--attr-post-ops=elu:0:0:1 mb1ic16ih8oc16oh8kh3ph1", " --activation relu", ""},
    {"--attr-post-ops=elu:0.5 mb1ic16ih8oc16oh8kh3ph1", " --activation elu --act_alpha 0.5", ""},
    {"--attr-post-ops=sum+logistic mb1ic16ih8oc16oh8kh3ph1", " --activation sigmoid --beta 1", ""},
    {"--attr-post-ops=eltwise_gelu_erf mb1ic16ih8oc16oh8kh3ph1", " --activation gelu", ""},
    {"--attr-post-ops=relu:0.1+ mb1ic16ih8oc16oh8kh3ph1",
     " --activation leaky_relu --act_alpha 0.1", ""},
    {"--attr-scales=src:common:0.5+wei:per_oc+dst:common:2* mb1ic16ih8oc16oh8kh3ph1",
     " --x_scale=0.5 --w_scales=uniform --y_scale=2", ""},
    {"--attr-zero-points=src:common:1+dst:common:-3 mb1ic16ih8oc16oh8kh3ph1",
     " --x_zero=1 --y_zero=-3", ""},
    {"--attr-scales= --attr-zero-points= mb1ic16ih8oc16oh8kh3ph1", "", ""},
    {"--conv -v5 --verbose=1 --repeats-per-prb=3 mb1ic16ih8oc16oh8kh3ph1", "",
     "--verbose=1, --repeats-per-prb=3"},
    {"$ ./benchdnn --conv --dir=FWD_D mb1ic16ih8oc16oh8kh3ph1", " -F 1", ""},
    {"> benchdnn --conv --dir=FWD_D mb1ic16ih8oc16oh8kh3ph1 | tee log", " -F 1", ""},
    {"run: OMP_NUM_THREADS=4 numactl -N 0 -m 0 build/benchdnn --conv --dir=FWD_D "
     "mb1ic16ih8oc16oh8kh3ph1",
     " -F 1", ""},
    {"C:\\oneDNN\\benchdnn.exe --conv --dir=FWD_D mb1ic16ih8oc16oh8kh3ph1", " -F 1", ""},
    {"sh -c 'benchdnn --conv --dir=FWD_D mb1ic16ih8oc16oh8kh3ph1' > out", " -F 1", ""},
    {"benchdnn --conv --dir=FWD_D mb1ic16ih8oc16oh8kh3ph1 $MORE \"$@\"", " -F 1", ""},
    {"onednn_verbose,v1,primitive,exec,cpu,convolution,jit:avx2,forward_inference,"
     "src_f32:a:blocked:acdb::f0 wei_f32:a:blocked:Acdb16a::f0 bia_undef::undef::: "
     "dst_f32:a:blocked:acdb::f0,attr-fpmath:bf16 attr-deterministic:true "
     "attr-post-ops:eltwise_relu "
     "attr-scratchpad:user,alg:convolution_direct,mb1_ic16oc16_ih8oh8kh3sh1dh0ph1,0.1",
     "conv -F 1 -I NHWC -f OHWI16o -O NHWC --activation relu --math reduced --deterministic 1", ""},
    {"onednn_verbose,v1,primitive,exec,cpu,deconvolution,jit:avx2,forward_inference,"
     "src_f32:a:blocked:acdb::f0 wei_f32:a:blocked:abcd::f0 bia_undef::undef::: "
     "dst_f32:a:blocked:acdb::f0,,alg:deconvolution_direct,mb1_ic16oc8_ih8oh16kh4sh2dh0ph1,0.1",
     "conv -F 1 -I NHWC -f IOHW -O NHWC --math exact", ""},
    {"onednn_verbose,exec,cpu,convolution,jit,backward_data,src_bf16::blocked:acdb:f0 "
     "wei_bf16::blocked:ABcd16b16a:f0 bia_undef::undef::f0 dst_bf16::blocked:aBcd16b:f0,"
     "attr-scratchpad:user,alg:convolution_auto,mb1_ic16oc16_ih8oh8kh3sh1dh0ph1,0.1",
     "convbfp16 -F 2 -I NHWC -f OIHW16i16o -O NCHW16c", ""},
    {"mkldnn_verbose,exec,convolution,jit:avx2,forward_training,fsrc:nchw fbia:undef,"
     "alg:convolution_direct,mb1_ic16oc16_ih8oh8kh3sh1dh0ph1,0.1",
     " -F 1 --math exact", ""},
    {"mkldnn_verbose,exec,convolution,jit:avx2,forward_training,fsrc:nChw8c fwei:OIhw8i8o fbia:x "
     "fdst:nChw8c,alg:convolution_direct,mb1_ic16oc16_ih8oh8kh3sh1dh0ph1,0.1",
     " -F 1 -I NCHW8c -f OIHW8i8o -O NCHW8c -b 1 --math exact", ""},
    {"0:PASSED (12 ms) __REPRO: --mode=C --conv --dir=FWD_D mb1ic16ih8oc16oh8kh3ph1", " -F 1",
     "--mode=C"},
};

START_TEST(onednn_options)
{
    list_reader reader = {0};
    list_entry e;
    list_kind kind = list_read(&reader, options[_i].line, &e);
    ck_assert_msg(kind == LIST_SHAPE, "%s: kind %d, %s", options[_i].line, (int)kind, e.why);
    ck_assert_str_eq(e.flags, options[_i].flags);
    ck_assert_str_eq(e.note, options[_i].note);
}
END_TEST

/* An option holds for the lines below until it is given again, and so does what kiln says of it. */
START_TEST(the_latest_option_holds)
{
    static const struct {
        const char *first, *then, *flags, *note;
    } cases[] = {{"--alg=direct", "--alg=auto", "", ""},
                 {"--alg=wino", "--alg=direct", " --math exact", ""},
                 {"--mode=P", "--mode=P", "", "--mode=P"},
                 {"--attr-scales=src:common:2", "--attr-scales=", "", ""},
                 {"--mode=P --alg=wino --impl=ref", "--alg=auto", "", "--mode=P, --impl=ref"},
                 {"--attr-post-ops=sum", "--attr-post-ops=", "", ""},
                 {"--alg=direct --mode=P", "--reset", "", ""}};
    list_reader files = {0};
    list_entry under;
    ck_assert_int_eq(list_read(&files, "--conv --dir=FWD_B --batch=shapes_all", &under), LIST_BAD);
    ck_assert_int_eq(list_read(&files, "mb1ic16ih8oc16oh8kh3ph1", &under), LIST_SHAPE);
    ck_assert_str_eq(under.flags, " -F 1 -b 1");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        list_reader reader = {0};
        list_entry e;
        ck_assert_int_eq(list_read(&reader, cases[i].first, &e), LIST_NOTHING);
        ck_assert_int_eq(list_read(&reader, cases[i].then, &e), LIST_NOTHING);
        const list_kind kind = list_read(&reader, "mb1ic16ih8oc16oh8kh3ph1", &e);
        ck_assert_msg(kind == LIST_SHAPE, "%s: %s", cases[i].then, e.why);
        ck_assert_str_eq(e.flags, cases[i].flags);
        ck_assert_str_eq(e.note, cases[i].note);
    }
}
END_TEST

/* What an option says is refused as a descriptor would be, in words that can be printed. */
START_TEST(options_are_not_trusted)
{
    static const char *const lines[] = {"--mb=9223372036854775807 mb1ic16ih8oc16oh8kh3ph1",
                                        "--dt=\x1b[31m mb1ic16ih8oc16oh8kh3ph1"};
    list_reader reader = {0};
    list_entry e;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        ck_assert_int_eq(list_read(&reader, lines[i], &e), LIST_BAD);
        ck_assert_msg(*e.why && !strchr(e.why, '\x1b'), "%s", e.why);
    }
    ck_assert_int_eq(list_read(&reader, "--wtag=\x1b[31m mb1ic16ih8oc16oh8kh3ph1", &e), LIST_BAD);
    ck_assert_msg(strstr(e.why, "the layout ?[31m"), "%s", e.why);
}
END_TEST

/* What makes another problem of a line makes it unsupported, and no run counts for it. */
START_TEST(what_kiln_lacks_is_unsupported)
{
    static const char *const lines[] = {
        "--attr-post-ops=relu+sum",
        "--attr-post-ops=relu+relu",
        "--attr-post-ops=sum+sum",
        "--attr-post-ops=sum:1:3",
        "--attr-post-ops=sum:1:0:s8",
        "--attr-post-ops=sum:x",
        "--attr-post-ops=swish",
        "--attr-post-ops=swish:2",
        "--attr-post-ops=clip",
        "--attr-post-ops=clip:1:-1",
        "--attr-post-ops=clip:0:0",
        "--attr-post-ops=linear",
        "--attr-post-ops=linear:1:2",
        "--attr-post-ops=linear:0:0",
        "--dir=FWD_B --attr-post-ops=linear:2:0",
        "--attr-post-ops=relu+linear:2",
        "--attr-post-ops=relu:some",
        "--attr-post-ops=relu:0:0:2",
        "--attr-post-ops=hardswish",
        "--attr-post-ops=hardsigmoid:0:0",
        "--attr-post-ops=soft_relu",
        "--attr-post-ops=gelu_tanh",
        "--attr-post-ops=tanhshrink",
        "--attr-post-ops=add:f32:per_oc",
        "--attr-post-ops=prelu:per_oc",
        "--attr-post-ops=dw:k3s1p1",
        "--dir=BWD_D --attr-post-ops=relu",
        "--attr-scales=src:per_oc:2",
        "--attr-oscale=common:2",
        "--attr-zero-points=wei:per_ocic:s8:2x1",
        "--attr-dropout=0.5",
        "--attr-acc-mode=any",
        "--cfg=f32_wino",
        "--mb=8x",
        "--dir=FWD_X",
        "--stag=a'b",
        "--stag=abcdef",
        "--wtag=ABcd4b4g",
        "--wtag=Abcde8a g2",
        "--wtag=gOIhw16i16o g2",
        "--wtag=gihwo g2",
        "--wtag=aBcde16b g16",
        "--unheard-of=1",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char line[160];
        list_reader reader = {0};
        list_entry e;
        snprintf(line, sizeof line, "--conv %s%smb1ic16ih8oc16oh8kh3ph1", lines[i],
                 strstr(lines[i], " g") ? "" : " ");
        const list_kind kind = list_read(&reader, line, &e);
        ck_assert_msg(kind == LIST_BAD && e.unsupported, "%s: kind %d, %s", line, (int)kind,
                      e.flags);
        ck_assert_msg(strstr(e.why, "kiln does not follow "), "%s", e.why);
    }
}
END_TEST

/* Deconvolutions of benchdnn are transposed convolutions of kiln. */
START_TEST(deconvolutions)
{
    static const struct {
        const char *line, *problem;
    } cases[] = {
        {"--deconv mb2ic16ih8oc8oh15kh3sh2ph1", "fwd-f32-n2-c16-k8-i8x8-f3x3-s2x2-p1x1-trans"},
        {"--deconv mb2ic16ih8oc8kh3sh2ph1", "fwd-f32-n2-c16-k8-i8x8-f3x3-s2x2-p1x1-trans"},
        {"--deconv mb2ic16ih8oc8oh16kh4sh2", "fwd-f32-n2-c16-k8-i8x8-f4x4-s2x2-p1x1-trans"},
        {"--deconv mb2ic16ih8oc8oh16kh3sh2ph1", "fwd-f32-n2-c16-k8-i8x8-f3x3-s2x2-p1x1-e0x0-trans"},
        {"--deconv mb2ic16ih8oc8oh17kh3sh2ph1",
         "fwd-f32-n2-c16-k8-i8x8-f3x3-s2x2-p1x1-e0x0-trans-o1x1"},
        {"--deconv g4mb1ic16iw9oc8ow11kw3", "fwd-f32-n1-c16-k8-i9-f3-g4-trans"},
        {"./benchdnn --deconv --dir=FWD_D mb1ic3id4oc5od4kd3pd1",
         "fwd-f32-n1-c3-k5-i4x4x4-f3x3x3-p1x1x1-trans"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[KILN_KEY_TEXT], why[KILN_ERROR_TEXT];
        list_reader reader = {0};
        list_entry e;
        const list_kind kind = list_read(&reader, cases[i].line, &e);
        ck_assert_msg(kind == LIST_SHAPE, "%s: %s", cases[i].line, e.why);
        ck_assert_int_eq(kiln_problem_check(&e.problem, why), KILN_OK);
        kiln_problem_text(&e.problem, text, sizeof text);
        ck_assert_str_eq(text, cases[i].problem);
    }
    list_reader reader = {0};
    list_entry e;
    ck_assert_int_eq(list_read(&reader, "--deconv", &e), LIST_NOTHING);
    ck_assert_int_eq(list_read(&reader, "--reset --dir=FWD_D", &e), LIST_NOTHING);
    ck_assert_int_eq(list_read(&reader, "mb1ic3ih4oc5oh4kh3ph1", &e), LIST_SHAPE);
    ck_assert_int_eq(e.problem.transposed, 1);
    ck_assert_int_eq(list_read(&reader, "--conv mb1ic3ih4oc5oh4kh3ph1", &e), LIST_SHAPE);
    ck_assert_int_eq(e.problem.transposed, 0);
    ck_assert_int_eq(list_read(&reader, "--deconv mb1ic3ih9223372036854775807oc5kh3", &e),
                     LIST_BAD);
    ck_assert_int_eq(list_read(&reader, "we ran benchdnn on all of them", &e), LIST_BAD);
}
END_TEST

/* benchdnn runs every combination of the values of its options; kiln runs none of them silently. */
START_TEST(lists_of_options_are_refused)
{
    static const char *const lines[][2] = {
        {"dt", "--dt=f32,f16"},
        {"dt", "--dt=f32:f32:f32,bf16:bf16:f32"},
        {"cfg", "--cfg=f32,s8s8s32"},
        {"stag", "--stag=axb,abx"},
        {"wtag", "--wtag=any,hwio"},
        {"dtag", "--dtag=axb,abx"},
        {"alg", "--alg=direct,wino"},
        {"mb", "--mb=1,2"},
        {"attr-post-ops", "--attr-post-ops=sum,relu"},
        {"attr-fpmath", "--attr-fpmath=strict,bf16"},
        {"attr-deterministic", "--attr-deterministic=true,false"},
        {"dir", "--dir=FWD_B,BWD_W"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        static const char descriptor[] = "mb1ic16ih8oc16oh8kh3ph1";
        char line[128], why[128];
        list_reader reader = {0};
        list_entry e;
        snprintf(line, sizeof line, "%s %s", lines[i][1], descriptor);
        snprintf(why, sizeof why, "--%s has several values", lines[i][0]);
        ck_assert_int_eq(list_read(&reader, line, &e), LIST_BAD);
        ck_assert_msg(strstr(e.why, why) && !e.unsupported, "%s: %s", line, e.why);
        /* In a line of its own the option holds for the lines below, until it is given again. */
        ck_assert_int_eq(list_read(&reader, lines[i][1], &e), LIST_NOTHING);
        ck_assert_int_eq(list_read(&reader, descriptor, &e), LIST_BAD);
        snprintf(line, sizeof line, "%.*s %s", (int)(strchr(lines[i][1], ',') - lines[i][1]),
                 lines[i][1], descriptor);
        ck_assert_msg(list_read(&reader, line, &e) == LIST_SHAPE, "%s: %s", line, e.why);
    }
}
END_TEST

/* Rows below a bad header are refused, not read in some other order. */
START_TEST(rows_below_a_bad_header)
{
    list_reader reader = {0};
    list_entry entry;
    static const char row[] = "c 1 8 9 10 16 3 3 1 1 1 1 1 1 1";
    ck_assert_int_eq(list_read(&reader, row, &entry), LIST_SHAPE);
    ck_assert_int_eq(list_read(&reader, "# name N C oops", &entry), LIST_BAD);
    ck_assert_int_eq(list_read(&reader, row, &entry), LIST_BAD);
    ck_assert_int_eq(list_read(&reader, "# name of the file", &entry), LIST_NOTHING);
    ck_assert_int_eq(list_read(&reader, "mb1ic8ih5oc8kh3", &entry), LIST_SHAPE);
}
END_TEST

START_TEST(names_are_cut_and_printable)
{
    list_reader reader = {0};
    list_entry entry;
    char line[256] = "mb1ic8ih5oc8kh3n\"\x1b[31m";
    memset(line + strlen(line), 'x', 100);
    strcat(line, "\"");
    ck_assert_int_eq(list_read(&reader, line, &entry), LIST_SHAPE);
    ck_assert_uint_eq(strlen(entry.name), LIST_NAME - 1);
    ck_assert_int_eq(strncmp(entry.name, "?[31mxxx", 8), 0);
    ck_assert_int_eq(list_read(&reader, "mb1ic8ih5oc8kh3na*0", &entry), LIST_SHAPE);
    ck_assert_str_eq(entry.name, "a*0");
    ck_assert_int_eq(entry.repeat, 1);
    ck_assert_int_eq(list_read(&reader, "mb1ic8ih5oc8kh3na*99999999999999999999\r\n", &entry),
                     LIST_SHAPE);
    ck_assert_int_eq(entry.repeat, 1);
}
END_TEST

/* A descriptor with an output size gives a problem of that size or is refused, for all small ones.
 */
START_TEST(descriptor_outputs)
{
    list_reader reader = {0};
    int accepted = 0;
    for (int i = 1; i <= 9; i++)
        for (int k = 1; k <= 4; k++)
            for (int s = 1; s <= 3; s++)
                for (int d = 0; d <= 2; d++)
                    for (int o = 1; o <= 9; o++)
                        for (int p = -1; p <= 3; p++) {
                            char line[128], pad[16] = "";
                            list_entry e;
                            if (p >= 0)
                                snprintf(pad, sizeof pad, "pw%d", p);
                            snprintf(line, sizeof line, "mb1ic1iw%doc1ow%dkw%dsw%ddw%d%s", i, o, k,
                                     s, d, pad);
                            bool fits = (i + (p > 0 ? p : 0) - (k - 1) * (d + 1) - 1) / s + 1 <= o;
                            list_kind kind = list_read(&reader, line, &e);
                            if (kind == LIST_BAD && fits)
                                ck_abort_msg("%s: %s", line, e.why);
                            if (kind == LIST_BAD)
                                continue;
                            char why[KILN_ERROR_TEXT];
                            if (kiln_problem_check(&e.problem, why))
                                ck_abort_msg("%s: %s", line, why);
                            if (kiln_problem_output(&e.problem, 0) != o)
                                ck_abort_msg("%s: %d", line,
                                             (int)kiln_problem_output(&e.problem, 0));
                            if (p >= 0 && e.problem.pad_begin[0] != p)
                                ck_abort_msg("%s: padding", line);
                            accepted++;
                        }
    ck_assert_int_gt(accepted, 1000);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("problem_list");
    TCase *tests = tcase_create("problem_list");
    tcase_add_loop_test(tests, sample_lists, 0, (int)(sizeof samples / sizeof *samples));
    tcase_add_loop_test(tests, refused_lines, 0, (int)(sizeof refused / sizeof *refused));
    tcase_add_loop_test(tests, command_places, 0, (int)(sizeof commands / sizeof *commands));
    tcase_add_test(tests, what_kiln_lacks_is_unsupported);
    tcase_add_test(tests, deconvolutions);
    tcase_add_loop_test(tests, onednn_options, 0, (int)(sizeof options / sizeof *options));
    tcase_add_test(tests, the_latest_option_holds);
    tcase_add_test(tests, options_are_not_trusted);
    tcase_add_test(tests, rows_below_a_bad_header);
    tcase_add_test(tests, lists_of_options_are_refused);
    tcase_add_test(tests, names_are_cut_and_printable);
    tcase_add_test(tests, descriptor_outputs);
    suite_add_tcase(suite, tests);
    return support_run_apart(suite);
}
