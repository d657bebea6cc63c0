/* The flags: one row each, from which the parser, the help and the repro lines are made.
 *
 * Flags that MIOpenDriver has too take their names, letters and defaults from it (MIOpen 2.12,
 * driver/conv_driver.hpp). Most of the others are long flags without a letter.
 */
#include "flag_table.h"

enum { MOST = 2147483647 };

#define AT(field) offsetof(flags, field)
#define SIZE(name, letter, field, initial, help)                                                   \
    {                                                                                              \
        name, letter, GROUP_SHAPE, NUMBER, AT(field), initial, 1, MOST, "N", help                  \
    }
#define ROOM(name, letter, field, initial, least, help)                                            \
    {                                                                                              \
        name, letter, GROUP_SHAPE, NUMBER, AT(field), initial, least, MOST, "N", help              \
    }
#define ON_OFF(name, letter, group, field, initial, help)                                          \
    {                                                                                              \
        name, letter, group, NUMBER, AT(field), initial, 0, 1, "0|1", help                         \
    }
#define WORD(name, letter, group, field, what, help)                                               \
    {                                                                                              \
        name, letter, group, TEXT, AT(field), "", 0, 0, what, help                                 \
    }
#define WORDS(name, group, field, what, help)                                                      \
    {                                                                                              \
        name, 0, group, TEXTS, AT(field), "", 0, 0, what, help                                     \
    }
#define BARE(name, letter, group, field, help)                                                     \
    {                                                                                              \
        name, letter, group, SWITCH, AT(field), "0", 0, 1, "", help                                \
    }

const flag flag_table[] = {
    {"forw", 'F', GROUP_RUN, NUMBER, AT(forw), "0", 0, 7, "MASK",
     "directions: 1 forward, 2 backward data, 4 backward weights, sums of these; 0 all three"},
    {"spatial_dim", '_', GROUP_SHAPE, NUMBER, AT(spatial_dim), "2", 1, 3, "1|2|3",
     "spatial axes; with 1 only the width flags count"},
    SIZE("batchsize", 'n', batch, "100", "images N"),
    SIZE("in_channels", 'c', in_channels, "3", "input channels C"),
    SIZE("in_d", '!', size[0], "32", "input depth"),
    SIZE("in_h", 'H', size[1], "32", "input height"),
    SIZE("in_w", 'W', size[2], "32", "input width"),
    SIZE("out_channels", 'k', out_channels, "32", "output channels K"),
    SIZE("fil_d", '@', filter[0], "3", "filter depth"),
    SIZE("fil_h", 'y', filter[1], "3", "filter height"),
    SIZE("fil_w", 'x', filter[2], "3", "filter width"),
    SIZE("conv_stride_d", '#', stride[0], "1", "stride in depth"),
    SIZE("conv_stride_h", 'u', stride[1], "1", "stride in height"),
    SIZE("conv_stride_w", 'v', stride[2], "1", "stride in width"),
    ROOM("pad_d", '$', pad[0], "0", 0, "zero padding in depth"),
    ROOM("pad_h", 'p', pad[1], "0", 0, "zero padding in height"),
    ROOM("pad_w", 'q', pad[2], "0", 0, "zero padding in width"),
    ROOM("pad_d_end", 0, pad_end[0], "-1", -1, "zero padding after the depth, if unlike before it"),
    ROOM("pad_h_end", 0, pad_end[1], "-1", -1, "zero padding below, if unlike above"),
    ROOM("pad_w_end", 0, pad_end[2], "-1", -1, "zero padding on the right, if unlike on the left"),
    {"pad_mode", 'z', GROUP_SHAPE, CHOICE, AT(pad_mode), "default", 0, 0, "default|same|valid",
     "for -m conv. same: padding that makes the output input / stride, rounded up; valid: no "
     "padding; default: what the pad flags say"},
    SIZE("dilation_d", '^', dilation[0], "1", "dilation in depth"),
    SIZE("dilation_h", 'l', dilation[1], "1", "dilation in height"),
    SIZE("dilation_w", 'j', dilation[2], "1", "dilation in width"),
    SIZE("group_count", 'g', groups, "1", "groups"),
    {"mode", 'm', GROUP_SHAPE, CHOICE, AT(mode), "conv", 0, 0, "conv|trans",
     "trans: transposed convolution"},
    ROOM("trans_output_pad_d", '%', output_pad[0], "0", 0, "output padding of trans in depth"),
    ROOM("trans_output_pad_h", 'Y', output_pad[1], "0", 0, "output padding of trans in height"),
    ROOM("trans_output_pad_w", 'X', output_pad[2], "0", 0, "output padding of trans in width"),
    WORD("in_layout", 'I', GROUP_SHAPE, in_layout, "NAME",
         "layout of x, NCHW unless given; any lets kiln choose"),
    WORD("fil_layout", 'f', GROUP_SHAPE, fil_layout, "NAME",
         "layout of w, OIHW (also called NCHW) unless given; or any"),
    WORD("out_layout", 'O', GROUP_SHAPE, out_layout, "NAME",
         "layout of y, NCHW unless given; or any"),
    WORD(
        "out_type", 0, GROUP_SHAPE, out_type, "TYPE",
        "type of the result: f32, f16, bf16, i8, i32, f8e4m3, f8e5m2, u8; unless given that of the "
        "sources (i32 for i8 and u8)"),
    WORD("x_type", 0, GROUP_SHAPE, x_type, "TYPE",
         "forward: type of x where it is not the word's: u8 with convint8"),
    WORD("w_type", 0, GROUP_SHAPE, w_type, "TYPE",
         "forward: type of w where it is not the word's: i8 with conv, convfp16 and convbfp16"),
    WORD("problem", 0, GROUP_SHAPE, problem, "KEY",
         "the whole problem by its name: kiln's (fwd-f32-n16-...) or MIOpen's database key"),

    ON_OFF("bias", 'b', GROUP_EPILOGUE, bias, "0",
           "forward: add a bias; backward weights: compute its gradient too"),
    WORD("bias_layout", 0, GROUP_EPILOGUE, bias_layout, "NAME",
         "layout of the bias: W unless given, IMG_ARGUMENT or any"),
    WORD("bias_type", 0, GROUP_EPILOGUE, bias_type, "TYPE",
         "type of the bias: f32, f16, bf16, f8e4m3, f8e5m2, i32 (convint8); "
         "its gradient is always f32"),
    WORD("activation", 0, GROUP_EPILOGUE, activation, "NAME",
         "forward: identity, relu, clipped_relu, leaky_relu, elu, tanh, sigmoid, silu, gelu, "
         "hard_sigmoid, hard_swish, hard_tanh, mish, exp, abs, square, softplus"),
    {"act_alpha", 0, GROUP_EPILOGUE, REAL, AT(act_alpha), "0", 0, 0, "A",
     "the activation's parameter a; unless given 6 (clipped_relu), 0.01 (leaky_relu), 1 (elu, "
     "softplus), 1/6 (hard_sigmoid, hard_swish), -1 (hard_tanh)"},
    {"act_beta", 0, GROUP_EPILOGUE, REAL, AT(act_beta), "0", 0, 0, "B",
     "the activation's parameter b; unless given 1/2 (hard_sigmoid, hard_swish), 1 (hard_tanh)"},
    {"alpha", 0, GROUP_EPILOGUE, REAL, AT(alpha), "1", 0, 0, "A",
     "forward: multiply the sum of products by A"},
    {"beta", 0, GROUP_EPILOGUE, REAL, AT(beta), "0", 0, 0, "B",
     "forward: add B times a residual tensor of y's shape"},
    {"x_scale", 0, GROUP_EPILOGUE, REAL, AT(x_scale), "1", 0, 0, "S",
     "forward: x stands for S times what it holds"},
    {"w_scale", 0, GROUP_EPILOGUE, REAL, AT(w_scale), "1", 0, 0, "S",
     "forward: the same of all weights"},
    WORD("w_scales", 0, GROUP_EPILOGUE, w_scales, "FILE|uniform",
         "forward: a scale for each output channel, f32 of a raw file or random ones; with a "
         "fixed-point --rounding pairs of i32, multiplier and shift"),
    {"y_scale", 0, GROUP_EPILOGUE, REAL, AT(y_scale), "1", 0, 0, "S",
     "forward: the result is divided by S"},
    {"x_zero", 0, GROUP_EPILOGUE, NUMBER, AT(x_zero), "0", -128, 255, "N",
     "forward: zero point of x, which padding stands for"},
    {"w_zero", 0, GROUP_EPILOGUE, NUMBER, AT(w_zero), "0", -128, 255, "N",
     "forward: zero point of the weights"},
    {"y_zero", 0, GROUP_EPILOGUE, NUMBER, AT(y_zero), "0", -128, 255, "N",
     "forward: zero point of the result, added to what is rounded"},
    {"rounding", 0, GROUP_EPILOGUE, CHOICE, AT(rounding), "f32", 0, 0, "f32|twice|once",
     "forward: how sums become bytes: by factors in f32, or as TFLite's fixed-point forms"},
    {"math", 0, GROUP_EPILOGUE, CHOICE, AT(math), "fast", 0, 0, "fast|exact|reduced",
     "exact: plain sums of products only; fast: Winograd is allowed; reduced: products in a "
     "shorter type are allowed too"},
    {"deterministic", 0, GROUP_EPILOGUE, NUMBER, AT(deterministic), "-1", -1, 1, "0|1",
     "1: refuse solvers whose result may vary between runs; 0: allow them where they are faster"},
    {"workspace-limit", 0, GROUP_EPILOGUE, NUMBER, AT(workspace_limit), "0", 0, INT64_MAX, "BYTES",
     "largest workspace that a solver may ask for; 0: a quarter of the device's memory"},

    {"solution", 'S', GROUP_RUN, TEXT, AT(solution), "-1", 0, 0, "ID|NAME",
     "solver to use, by number or name; -1: the library's choice; 0: the same, after a list of "
     "all"},
    WORD("config", 0, GROUP_RUN, config, "LIST",
         "the solver's tuning parameters, such as 1,64,1,..."),
    BARE("native-layout", 0, GROUP_RUN, native_layout,
         "refuse a solver that would reformat tensors to layouts it can read"),
    ON_OFF("search", 's', GROUP_RUN, search, "0",
           "tune first: measure and verify configs, keep the best in the user's rows"),
    {"iter", 'i', GROUP_RUN, NUMBER, AT(iter), "10", 1, MOST, "N",
     "timed runs after an untimed one, made when -t 1 or -i is given, or with --json or --csv"},
    {"limit-ms", 0, GROUP_RUN, NUMBER, AT(limit_ms), "0", 0, MOST, "N",
     "stop timing a problem after N ms; 0: no limit. With -s 1, stop tuning it after N ms "
     "(30000 unless given; 0: try all configs) and the time to compile one config"},
    {"max-batchsize", 0, GROUP_RUN, NUMBER, AT(max_batch), "0", 0, MOST, "N",
     "run a problem of more than N images with N; 0: no limit"},
    BARE("dry-run", 0, GROUP_RUN, dry_run,
         "plan only: print with -P 1, launch nothing, need no device"),

    ON_OFF("verify", 'V', GROUP_DATA, verify, "1", "check the result against the CPU reference"),
    {"verify-ms", 0, GROUP_DATA, NUMBER, AT(verify_ms), "20000", 1, MOST, "N",
     "check a seeded sample of a result, for N ms, where checking all of it would take longer"},
    {"fill", 0, GROUP_DATA, CHOICE, AT(fill), "miopen", 0, 0, "miopen|int|uniform",
     "data: in MIOpen's ranges; small integers, which make results exact; uniform in -1 to 1"},
    {"seed", 0, GROUP_DATA, NUMBER, AT(seed), "12345678", 0, INT64_MAX, "N", "seed of the data"},
    WORD("in_data", 'd', GROUP_DATA, in_data, "FILE", "read x from a raw file"),
    WORD("weights", 'e', GROUP_DATA, weights, "FILE", "read w from a raw file"),
    WORD("dout_data", 'D', GROUP_DATA, dout_data, "FILE", "read dy from a raw file"),
    WORD("in_bias", 'a', GROUP_DATA, in_bias, "FILE", "read the bias from a raw file of f32"),
    ON_OFF("dump_output", 'o', GROUP_DATA, dump_output, "0",
           "write the tensors to dump_*.bin in this folder, all or none"),
    WORD("verification_cache", 'C', GROUP_DATA, verification_cache, "DIR",
         "keep the CPU reference's results in DIR and reuse them for the same data"),

    ON_OFF("time", 't', GROUP_REPORT, time, "0", "print kernel times and statistics"),
    {"wall", 'w', GROUP_REPORT, NUMBER, AT(wall), "0", 0, 2, "0|1|2",
     "with -t 1, print wall-clock times too; 2: warm the library up first"},
    ON_OFF(
        "printconv", 'P', GROUP_REPORT, printconv, "1",
        "given as 1: print problem, plan, compile options and launch sizes; 0: print fewer lines"),
    BARE("json", 0, GROUP_REPORT, json,
         "print one JSON object per result on standard output and nothing else"),
    BARE("csv", 0, GROUP_REPORT, csv,
         "print one CSV line per result on standard output and nothing else"),
    WORD("trace", 0, GROUP_REPORT, trace, "FILE",
         "write what took how long (choose, emit, build, launch, verify) to FILE, in the format of "
         "chrome://tracing and Perfetto; -: to standard output, and what else is printed to "
         "standard "
         "error"),
    BARE("help", 'h', GROUP_REPORT, help, "print this text"),

    WORD("device", 0, GROUP_DEVICE, device, "DEVICE",
         "device to use: P:D as listed, an index, cpu, gpu, or part of a device's or platform's "
         "name"),
    BARE("list-devices", 0, GROUP_DEVICE, list_devices, "list the devices"),

    WORD(
        "batch", 0, GROUP_BATCH, batch_file, "FILE",
        "run every line of FILE (-: standard input): driver command lines, benchdnn descriptors, "
        "columns of sizes, problem names; or every convolution of FILE.onnx, a model; flags beside "
        "--batch are defaults for each line"),
    WORDS("input", GROUP_BATCH, input, "NAME=SIZES",
          "sizes of an input of a model, as images=1x3x640x640; may be given several times"),
    WORDS("dim", GROUP_BATCH, dim, "NAME=N",
          "what a name stands for in the sizes of a model's inputs; may be given several times"),
    {"start", 0, GROUP_BATCH, NUMBER, AT(start), "1", 1, INT64_MAX, "N", "start at line N"},
    WORD("match", 0, GROUP_BATCH, match, "TEXT",
         "run only lines or problem names that contain TEXT"),

    {"pad_val", 'r', GROUP_MIOPEN, NUMBER, AT(pad_val), "0", -MOST, MOST, "N", "only 0 is taken"},
    ON_OFF("tensor_vect", 'Z', GROUP_MIOPEN, tensor_vect, "0",
           "1: x and w with channels in blocks of 4, unless -I or -f is given"),
    {"vector_length", 'L', GROUP_MIOPEN, NUMBER, AT(vector_length), "1", 1, 64, "N",
     "x, w and y with channels in blocks of N, unless -I, -f or -O is given"},
    ON_OFF("gpualloc", 'G', GROUP_MIOPEN, gpualloc, "0",
           "1 needs -V 0; the data are made on the host in any case"),
    {"gpubuffer_check", '~', GROUP_MIOPEN, NUMBER, AT(gpubuffer_check), "0", -MOST, MOST, "N",
     "has no effect; verification finds what is written beside a result"},
    {"in_cast_type", 'U', GROUP_MIOPEN, TEXT, AT(in_cast), "-1", 0, 0, "TYPE", "only -1 is taken"},
    {"out_cast_type", 'T', GROUP_MIOPEN, TEXT, AT(out_cast), "-1", 0, 0, "TYPE",
     "only -1 is taken"},
    {"wei_cast_type", 'R', GROUP_MIOPEN, TEXT, AT(wei_cast), "-1", 0, 0, "TYPE",
     "only -1 is taken"},
};

const int flag_rows = sizeof flag_table / sizeof *flag_table;
_Static_assert(sizeof flag_table / sizeof *flag_table <= FLAGS_MAX, "flags.given is too short");

int64_t *flag_number(const flags *f, const flag *row)
{
    return (int64_t *)((char *)f + row->offset);
}

double *flag_real(const flags *f, const flag *row)
{
    return (double *)((char *)f + row->offset);
}

flag_texts *flag_list(const flags *f, const flag *row)
{
    return (flag_texts *)((char *)f + row->offset);
}

const char **flag_text(const flags *f, const flag *row)
{
    return (const char **)((char *)f + row->offset);
}
