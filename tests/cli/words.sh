#!/bin/sh
# Words, help and usage errors. No device is needed.
. "$(dirname "$0")/common"

# refuses MESSAGE WORDS...: a usage error with exactly one line, which has the message.
refuses() {
    message=$1
    shift
    expect 2 "$@"
    warns "$message"
    [ "$(wc -l <err)" -eq 1 ] || fail "more than one line of error for 'kiln $*'"
}

expect 2
silent out
warns '^usage: kiln WORD'
expect 2 convolve
warns "unknown word 'convolve'"

expect 0 --version
says '^kiln \(version: [0-9]+\.[0-9]+\.[0-9]+\)'
expect 0 --help
silent err
says '^Exit status:'
says '^Environment:'
says '^  KILN_CHECK_PADDING  1: '
says '^  -n, --batchsize N  .*\[100\]'
says '^  -!, --in_d N '
says '^      --pad_h_end N '
[ "$(awk 'length > 100' out | wc -l)" -eq 0 ] || fail 'a line of the help is too wide'
cp out help
for word in model emit tune report prepare layout cache db doctor completion; do
    expect 0 $word --help
    cp out own
    expect 0 help $word
    cmp -s out own || fail "help $word is not $word --help"
done
for word in conv env --list-devices; do
    expect 0 help $word
    cmp -s out help || fail "help $word is not the help"
done
expect 2 help nonsense
silent out
warns "^kiln: unknown word 'nonsense'$"
for word in env version --version --list-devices; do
    refuses "^kiln: $word takes no words or flags, but got '-n'$" $word -n
done
for way in --help -h '-?'; do
    expect 0 conv "$way"
    cmp -s out help || fail "conv $way is not the help"
done

refuses "^kiln: --batchsize \(-n\) is '0'; it must be a whole number from 1 to 2147483647$" conv -n 0
refuses "--batchsize \(-n\) is 'abc'" conv -n abc
refuses "--batchsize \(-n\) is '12x'" conv -n12x
refuses "--batchsize \(-n\) is ''" conv --batchsize=
refuses "--batchsize \(-n\) is '99999999999999999999'" conv -n 99999999999999999999
refuses "--conv_stride_h \(-u\) is '-1'" conv -u -1
refuses "--forw \(-F\) is '8'; it must be a whole number from 0 to 7" conv -F 8
refuses "^kiln: --in_layout \(-I\): 'V' in layout \"NCHV\" is not one of the dims NCHW; kiln layout list " conv -I NCHV
refuses "^kiln: --fil_layout \(-f\): 'N' in layout \"NCHV\" is not one of the dims OIHW" conv -f NCHV
refuses "^kiln: --out_layout \(-O\): 'O' in layout \"OIHW\" is not one of the dims NCHW" conv -I NHWC -O OIHW
refuses "^kiln: --bias_layout: 'Q' in layout \"Q\" is not one of the dims W" conv -b 1 --bias_layout Q
refuses "--iter \(-i\) is '0'" conv -i 0
refuses "--alpha is 'nan'; it must be a finite number" conv --alpha nan
refuses "--mode \(-m\) is 'cnov'; it must be one of conv\|trans" conv -m cnov
refuses "--in_w \(-W\) needs a value" conv -W
refuses "'5' is not a flag" conv 5
refuses "unknown flag --fil_ww; did you mean --fil_w\?" conv --fil_ww 3
refuses "unknown flag --pad-h-end; did you mean --pad_h_end\?" conv --pad-h-end 3
refuses "unknown flag --in_c; did you mean --in_channels\?" conv --in_c=3
refuses "unknown flag -Q; did you mean -q \(--pad_w\)\?" conv -Q 1
refuses '--json takes no value' conv --json=1
refuses "--problem is ''; give KEY, or leave the flag out$" conv --problem ''
refuses "--solution \(-S\) is ''; give ID.NAME" conv -S ''
refuses "--alpha is 0, which is 0 as a 32-bit float" conv -F 1 --alpha 0 --dry-run
refuses "--alpha is 1e-60, " conv -F 1 --alpha 1e-60 --dry-run

refuses '2 groups do not divide 5 input' conv -c 5 -g 2
refuses 'filter is larger than the padded input: height 40' conv -y 40
refuses 'overflow' conv -n 2147483647 -c 2147483647 -H 1073741824 -W 1073741824
refuses '--in_bias needs --bias 1' conv -a file
refuses '--in_bias needs --bias 1' conv --problem fwd-f32-n1-c8-k8-i7x7-f1x1 -a file
expect 5 conv --problem fwd-f32-n1-c8-k8-i7x7-f1x1-bias -a file
warns '--in_bias file: No such file or directory'
refuses '--in_bias needs --bias 1' conv --problem fwd-f32-n1-c8-k8-i7x7-f1x1-bias -b 0 -a file

# the line that repeats a direction, or a line of a file, is accepted and means the same
again() {
    said=$(sed -n "s/^$1\\(kiln conv [^\"]*\\).*/\\1/p" out)
    [ "$said" = "$2" ] || fail "the line is '$said', not '$2'"
    eval "expect 0 ${said#kiln }"
}
key=fwd-f32-n1-c8-k8-i7x7-f1x1
head -c 64 /dev/zero >bias
expect 0 conv -n 1 -F 2 -b 1 -a bias --dry-run --json
again '.*"repro":"' 'kiln conv -F 2 -n 1 -b 1 --dry-run -a bias'
expect 0 conv --problem "$key-bias" -F 2 -a bias --dry-run --json
again '.*"repro":"' "kiln conv --problem bwd${key#fwd} --dry-run -a bias"
expect 0 conv -n 1 --activation relu --alpha 2 --beta 1 --dry-run --json
sed -n 2p out >second
mv second out
again '.*"repro":"' 'kiln conv -F 2 -n 1 --dry-run'
echo "conv --problem $key-bias -F 6 --math exact" >lines
expect 0 conv --batch lines --dry-run
sed -i '/--batch/d' out
again '' "kiln conv --problem $key-bias -F 6 --math exact --dry-run"
refuses '--json and --csv exclude each other' conv --json --csv
refuses "--activation is 'swish'" conv --activation swish
refuses 'the parameter a of clipped_relu is -1;' conv --activation clipped_relu --act_alpha -1 -F 1 --dry-run
refuses '--act_alpha is 0, which stands for the usual 6 of clipped_relu;' conv --activation clipped_relu --act_alpha 0 -F 1 --dry-run
expect 0 conv --activation logistic -F 1 --dry-run # oneDNN's name
expect 0 conv --help
for name in relu clipped_relu leaky_relu elu tanh sigmoid silu gelu hard_sigmoid hard_swish hard_tanh mish exp abs \
    square softplus; do
    grep -q "[ ,]$name\(,\|\$\)" out || fail "conv --help does not name the activation $name"
done
for pair in clipped_relu:6 leaky_relu:0.01 elu:1 tanh:1:1 hard_swish:0.16666667:0.5 hard_tanh:-1:1 \
    softplus:1; do
    expect 0 conv --activation "${pair%%:*}" -F 1 --dry-run --json
    says "act:$pair[-\"]"
done
refuses '--activation, --alpha and --beta belong to the forward direction' conv --alpha 2 -F 2
refuses "--out_type is 'f64'" conv --out_type f64
refuses '--problem already says what --batchsize says' conv -n 2 --problem fwd-f32-n1-c1-k1-i1x1-f1x1
refuses 'nonsense' conv --problem nonsense
refuses 'there is no solver "nonsense"; kiln explain, or kiln_explain\(\), lists all$' conv -F 1 -S nonsense --dry-run
refuses '^kiln: T_VEC is 3; direct takes 1, 4, 8, 16$' conv -F 1 -S direct --config T_VEC=3 --dry-run
refuses '--gpualloc 1 leaves nothing to verify' conv -G 1

# Flags of an axis that the problem lacks have no meaning, so no value of theirs is wrong.
for flag in --in_d --fil_d --conv_stride_d --pad_d --pad_d_end --dilation_d --trans_output_pad_d \
    -! -@ '-#' -$ -^ -%; do
    for value in 0 -1 -7 99999999999999999999 x; do
        expect 0 conv -c 4 -k 4 -H 8 -W 8 -F 1 "$flag" $value --dry-run
    done
    refuses '; it must be a whole number' conv -_ 3 -c 4 -k 4 -H 8 -W 8 -F 1 "$flag" x --dry-run
done
for flag in -H -y -u -p -l -Y --pad_h_end; do
    expect 0 conv "$flag" -9 -_ 1 -c 4 -k 4 -W 8 -F 1 --dry-run
    refuses '; it must be a whole number' conv "$flag" -9 -_ 2 -c 4 -k 4 -W 8 -F 1 --dry-run
done
for flag in -~ --gpubuffer_check; do
    expect 0 conv -c 4 -k 4 -H 8 -W 8 -F 1 "$flag" 3 --dry-run
done

# a wrong value of a variable is an error, not the default
KILN_CACHE_LIMIT=64M refuses "KILN_CACHE_LIMIT is '64M'; it must be a whole number of bytes" env
KILN_CACHE_LIMIT=64M refuses "KILN_CACHE_LIMIT is '64M'" cache show
KILN_TEMPLATES=nowhere refuses "KILN_TEMPLATES is 'nowhere'; it must be a folder that exists" conv -n 1 --dry-run
KILN_DEVICE=nobody expect 0 env
says '^device none$'
warns "^kiln: KILN_DEVICE is 'nobody', but no device is called so|no OpenCL platform"

# output that cannot be written, and input that cannot be read, are errors
if [ -c /dev/full ]; then
    for words in help 'layout list' 'conv -F 1 --dry-run' 'conv -F 1 --dry-run --json'; do
        status=0
        # shellcheck disable=SC2086
        "$KILN_COMMAND" $words >/dev/full 2>err || status=$?
        [ "$status" -eq 5 ] || fail "'kiln $words' into a full disk ended with $status"
        warns '^kiln: standard output: '
    done
fi
status=0
"$KILN_COMMAND" conv -F 1 --dry-run >&- 2>err || status=$?
[ "$status" -eq 5 ] || fail "without standard output it ended with $status"
expect 5 conv --batch . --dry-run
warns '^kiln: --batch \.: Is a directory$'

# unsupported flags have an exit status of their own, and the message says why
for flag in '-r 1' '-U fp8'; do
    # shellcheck disable=SC2086
    expect 3 conv $flag
    warns '^unsupported: --'
done

# a machine without OpenCL: one sentence with the remedy. The loader must be able to find nothing.
export OCL_ICD_VENDORS="$KILN_SANDBOX/nothing"
if "$KILN_COMMAND" --list-devices >out 2>err; then
    echo 'this OpenCL loader does not read OCL_ICD_VENDORS: a machine without OpenCL is not tested'
    exit 0
fi
unset KILN_DEVICE 2>/dev/null || true
expect 4 conv -n 1
warns '^kiln: no OpenCL platform found.*apt install pocl-opencl-icd$'
expect 4 --list-devices
expect 0 env
says '^device none$'
says '^KILN_DB=.*rows.yaml  \(environment\)$'
says '^KILN_SHIPPED_DB=off  \(environment\)$'
says '^KILN_TEMPLATES=.*\(default\)$'
