#!/bin/sh
# How much sooner several devices of one kind tune a list than one of them.
#
#     ./dev bench devices DEVICES [LIST]      for example 0:0,0:1 resnet50
#
# Tunes LIST (resnet50) at a batch of BATCH (64) forward, first on the first device of DEVICES, then on
# all of them, with TRIALS (24) trials a problem, from no rows, with caches of compiled programs that
# are empty both times. Prints both times and the speed-up.
. "$(dirname "$0")/common"
[ $# -ge 1 ] || { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 2; }
devices=$1
list=${2:-resnet50}
[ -f "$list" ] || list=tests/bench/shapes/$list.txt
[ -f "$list" ] || { echo "bench: there is no list $2" >&2; exit 2; }
unset POCL_MAX_PTHREAD_COUNT OMP_NUM_THREADS OMP_PROC_BIND
box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT
awk -v n="${BATCH:-64}" '/^[^#]/ { $2 = n } 1' "$list" >"$box/list"

tune() { # name, devices
    mkdir -p "$box/$1"
    begin=$(date +%s.%N)
    KILN_DB=$box/$1/rows.yaml KILN_SHIPPED_DB=off POCL_CACHE_DIR=$box/$1/pocl \
        CUDA_CACHE_PATH=$box/$1/cuda build/release/kiln tune "$box/list" -F 1 --device "$2" \
        --trials "${TRIALS:-24}" --seconds 0 >"$box/$1/out" 2>"$box/$1/err" || cat "$box/$1/err" >&2
    tail -n 2 "$box/$1/out"
    awk -v b="$begin" -v e="$(date +%s.%N)" 'BEGIN { printf "%.1f\n", e - b }' >"$box/$1/seconds"
    echo "$2: $(cat "$box/$1/seconds") s"
}
tune one "${devices%%,*}"
tune all "$devices"
awk -v one="$(cat "$box/one/seconds")" -v all="$(cat "$box/all/seconds")" \
    'BEGIN { printf "speed-up: %.2f\n", one / all }'
