#!/bin/sh
# Compiles kernels for targets that are not here, for offline.sh: each FOLDER/NUMBER.plan, a line of
# offline_plans, becomes NUMBER.row with what the tools tell of the kernel, or NUMBER.log with what the
# compiler refuses.
#
#     offline_compile.sh FILE.plan...
set -eu
clang=${OFFLINE_CLANG:-clang-14} libclc=${OFFLINE_LIBCLC:-/usr/lib/clc}
tab=$(printf '\t')

# field NAME FILE: the number behind "NAME:" in a list of AMD's facts of a kernel.
field() { sed -n "s/^ *\.$1: *\([0-9]*\).*/\1/p" "$2" | head -n 1; }

# The functions below leave in $registers, $spills, $scratch and $local what is known, "-" else.
amdgcn() {
    "$@" -target amdgcn--amdhsa -mcpu="$target" -nogpulib -O3 -Wno-linker-warnings \
        -Xclang -mlink-builtin-bitcode -Xclang "$libclc/amdgcn--amdhsa.bc" -S -o "$out" || return
    if ! called=$(grep -o '[A-Za-z0-9_]*@rel32@lo' "$out"); then
        registers=$(field vgpr_count "$out") spills=$(field vgpr_spill_count "$out")
        scratch=$(field private_segment_fixed_size "$out") local=$(field group_segment_fixed_size "$out")
    fi
}

nvptx() {
    "$@" -target nvptx64--nvidiacl -Xclang -target-cpu -Xclang sm_75 -O3 -Wno-linker-warnings \
        -Xclang -mlink-builtin-bitcode -Xclang "$libclc/nvptx64--nvidiacl.bc" -S -o "$out" || return
    called=$(sed -n 's/^\.extern \.func.* \([A-Za-z0-9_]*\)$/\1/p' "$out")
    [ -z "$called" ] && command -v ptxas >/dev/null 2>&1 || return 0
    ptxas -v -arch=sm_75 -o "$out.cubin" "$out" >"$out.facts" 2>&1 || { cat "$out.facts" >&2; return 1; }
    registers=$(sed -n 's/.*Used \([0-9]*\) registers.*/\1/p' "$out.facts")
    spills=$(sed -n 's/.* \([0-9]*\) bytes spill stores.*/\1/p' "$out.facts")
    scratch=$(sed -n 's/^ *\([0-9]*\) bytes stack frame.*/\1/p' "$out.facts")
    local=$(sed -n 's/.* \([0-9]*\) bytes smem.*/\1/p' "$out.facts")
    : "${local:=0}"
}

# A driver optimises SPIR-V itself; the translator knows no `freeze`, which clang's optimiser adds.
spirv() {
    "$@" -target spir64 -O0 -emit-llvm -c -o "$out" || return
    llvm-spirv-14 "$out" -o "$out.spv" || return
    ! command -v spirv-val >/dev/null 2>&1 || spirv-val "$out.spv"
}

compile() {
    IFS=$tab read -r target solver template kernel options <"$1"
    out=${1%.plan}.out registers=- spills=- scratch=- local=- called=
    case $target in gfx*) tool=amdgcn ;; nvptx*) tool=nvptx ;; *) tool=spirv ;; esac
    # shellcheck disable=SC2086
    if $tool "$clang" -x cl -cl-std=CL1.2 -Xclang -finclude-default-header -Werror $options \
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
