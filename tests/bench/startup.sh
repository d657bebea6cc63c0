#!/bin/sh
# Whole-process time of the seed problem with cold and with warm caches.
#
# Cold: kiln's and PoCL's caches are empty. Warm: both as the previous run left them. Medians of
# ROUNDS runs (5), printed with their extremes, in seconds.
set -eu
cd "$(dirname "$0")/../.."
rounds=${ROUNDS:-5}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export POCL_CACHE_DIR="$scratch/pocl" KILN_CACHE_DIR="$scratch/kiln" KILN_DB=off

once() {
    start=$(date +%s%N)
    build/release/kiln conv -i 1 -V 0 -F 1 -s 0 -n 16 -H 28 -W 28 -c 192 -k 64 -x 1 -y 1 -t 1 \
        >"$scratch/out"
    end=$(date +%s%N)
    echo $((end - start))
}

median() { # label, file of nanoseconds
    sort -n "$2" | awk -v label="$1" '{ t[NR] = $1 / 1e9 }
        END { printf "%-5s median %.3f s  (%.3f .. %.3f, %d runs)\n", label, t[int((NR + 1) / 2)], t[1], t[NR], NR }'
}

i=0
while [ $i -lt "$rounds" ]; do
    rm -rf "$scratch/pocl" "$scratch/kiln"
    mkdir "$scratch/pocl"
    once >>"$scratch/cold"
    once >>"$scratch/warm"
    i=$((i + 1))
done
median cold "$scratch/cold"
median warm "$scratch/warm"
