#!/bin/sh
# Compiles kernels for targets that are not here, for offline.sh: each FOLDER/NUMBER.plan, a line of
# offline_plans, becomes NUMBER.row with what the tools tell of the kernel, or NUMBER.log with what the
# compiler refuses.
#
#     offline_compile.sh FILE.plan...
set -eu
clang=${OFFLINE_CLANG:-clang-14} libclc=${OFFLINE_LIBCLC:-/usr/lib/clc}
tab=$(printf '\t')

# field NAME: what AMD's facts of the kernel say, a list for each of the program's kernels.
field() {
    awk -v want="$kernel" -v name=".$1:" '
        /^ *- \.args:/ { value = "" }
        $1 == ".name:" { here = $2 == want }
        /^  *- \.args:/ { here = 0 }
        $1 == name { value = $2 }
        $1 == ".wavefront_size:" && here { print value; exit }' "$out"
}

# The functions below leave in $registers, $spills, $scratch and $local what is known, "-" else.
amdgcn() {
    "$@" -target amdgcn--amdhsa -mcpu="$target" -nogpulib -O3 -Wno-linker-warnings \
        -Xclang -mlink-builtin-bitcode -Xclang "$libclc/amdgcn--amdhsa.bc" -S -o "$out" || return
    if ! called=$(grep -o '[A-Za-z0-9_]*@rel32@lo' "$out"); then
        registers=$(field vgpr_count) spills=$(field vgpr_spill_count)
        scratch=$(field private_segment_fixed_size) local=$(field group_segment_fixed_size)
    fi
}

# Clang 14 declares vload_half() only with the extension, which NVIDIA's compiler does not need for it.
# It takes inline PTX as it is; ptxas, for the target that the options ask for, knows what is right.
# With -c a kernel may have as much local memory as with NVIDIA's OpenCL.
nvptx() {
    arch=$(printf '%s\n' "$options" | sed -n 's/.*-DD_PTX_TARGET=\([^ ]*\).*/\1/p')
    "$@" -Xclang -cl-ext=+cl_khr_fp16 -target nvptx64--nvidiacl -Xclang -target-cpu -Xclang sm_80 \
        -O3 -Wno-linker-warnings -Xclang -mlink-builtin-bitcode \
        -Xclang "$libclc/nvptx64--nvidiacl.bc" -S -o "$out" || return
    called=$(sed -n 's/^\.extern \.func.* \([A-Za-z0-9_]*\)$/\1/p' "$out")
    [ -z "$called" ] && command -v ptxas >/dev/null 2>&1 || return 0
    sed -i "s/^\.version .*/.version 8.3/; s/^\.target .*/.target ${arch:-sm_90}/" "$out"
    ptxas -v -c -arch="${arch:-sm_90}" -o "$out.cubin" "$out" >"$out.all" 2>&1 ||
        { cat "$out.all" >&2; return 1; }
    sed -n "/Compiling entry function '$kernel'/,/Used /p" "$out.all" >"$out.facts"
    registers=$(sed -n 's/.*Used \([0-9]*\) registers.*/\1/p' "$out.facts")
    spills=$(sed -n 's/.* \([0-9]*\) bytes spill stores.*/\1/p' "$out.facts")
    scratch=$(sed -n 's/^ *\([0-9]*\) bytes stack frame.*/\1/p' "$out.facts")
    local=$(sed -n 's/.* \([0-9]*\) bytes smem.*/\1/p' "$out.facts")
    : "${local:=0}"
}

# A driver optimises SPIR-V itself; the translator knows no `freeze`, which clang's optimiser adds.
spirv() {
    "$@" -target spir64 -O0 -emit-llvm -c -o "$out" || return
    llvm-spirv-14 --spirv-max-version=1.2 "$out" -o "$out.spv"
}

compile() {
    IFS=$tab read -r target solver template kernel options <"$1"
    out=${1%.plan}.out registers=- spills=- scratch=- local=- called=
    case $target in gfx*) tool=amdgcn ;; nvptx*) tool=nvptx ;; *) tool=spirv ;; esac
    # shellcheck disable=SC2086
    if $tool "$clang" -x cl -cl-std=CL1.2 -Xclang -finclude-default-header -Werror -Wno-pass-failed $options \
        "$(dirname "$1")/$template" 2>"${1%.plan}.log"; then
        printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$target" "$solver" "$template" "$kernel" \
            "$registers" "$spills" "$scratch" "$local" >"${1%.plan}.row"
        rm "${1%.plan}.log"
    else
        printf 'with the options %s\n' "$options" >>"${1%.plan}.log"
    fi
    rm -f "$out" "$out".*
}

for plan in "$@"; do
    compile "$plan"
done
