#!/bin/sh
# How much sooner several devices of one kind tune problems than one of them.
#
#     ./dev bench devices DEVICES [LIST...]      for example 0:0,0:1 resnet50 vgg mobilenet
#
# The first device of DEVICES tunes the layers of the LISTs (resnet50), in no particular order, at a
# batch of BATCH (64), forward, in TYPES (f32,f16), with TRIALS (24) trials a problem, until the problem
# ends that it has after TIME (90) seconds. Then the first 2, 4 and 8 of DEVICES, if there are so many,
# tune all problems that the first one has finished. Each run begins without rows and without
# compiled programs. OPTIONS (--verify-ms 50 --patience 100) are flags of kiln tune.
#
# A line for each run has the problems and trials that ended a minute, the share of the devices' time
# in which they waited for compilers, the cores of the host that were busy (all that runs there counts),
# the rows that were written, and how much sooner than the first device. At the end SAMPLE (20) winners are timed on
# the first device of DEVICES and on the last one. KEEP=DIR keeps rows, logs and traces there.
. "$(dirname "$0")/common"
[ $# -ge 1 ] || { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 2; }
devices=$1
shift
[ $# -ge 1 ] || set -- resnet50
unset POCL_MAX_PTHREAD_COUNT OMP_NUM_THREADS OMP_PROC_BIND KILN_CACHE
kiln=$PWD/build/release/kiln
box=${KEEP:-$(mktemp -d)}
mkdir -p "$box"
job=
leave() {
    [ -z "$job" ] || kill $job 2>/dev/null || true
    wait
    [ -n "${KEEP:-}" ] || rm -rf "$box"
}
trap leave EXIT
trap 'exit 130' INT TERM
export KILN_SHIPPED_DB=off

# One that is as good as another: a run that ends early has some of each kind.
for list in "$@"; do
    [ -f "$list" ] || list=tests/bench/shapes/$list.txt
    [ -f "$list" ] || { echo "bench: there is no list $list" >&2; exit 2; }
    awk -v n="${BATCH:-64}" '/^[^#]/ { $2 = n; print }' "$list"
done | awk 'BEGIN { srand(1) } { print rand() "\t" $0 }' | sort -n | cut -f 2- >"$box/layers"

now() { date +%s.%N; }
since() { awk -v a="$1" -v b="$(now)" 'BEGIN { printf "%.1f\n", b - a }'; }

searches() { # log
    cat "$1" 2>/dev/null | grep -c '"kind": "search".*"verdict": "done"' || true
}

# Prints the seconds in which the host's cores were busy. Shells count children that someone waited
# for, and nobody waits for kiln tune's.
cpu_seconds() {
    awk -v hz="$(getconf CLK_TCK)" '$1 == "cpu" { print ($2 + $3 + $4 + $7 + $8) / hz }' /proc/stat
}

tune() { # name, devices, seconds or nothing, problems...
    name=$1 on=$2 limit=$3
    shift 3
    mkdir -p "$box/$name"
    log=$box/$name/rows.trials.jsonl
    rm -f "$log" "$box/$name/rows.yaml"
    cpu_seconds >"$box/$name/cpu"
    begin=$(now)
    KILN_DB=$box/$name/rows.yaml KILN_CACHE_DIR=$box/$name/kiln POCL_CACHE_DIR=$box/$name/pocl \
        CUDA_CACHE_PATH=$box/$name/cuda "$kiln" tune "$@" -F 1 --device "$on" \
        --trials "${TRIALS:-24}" --seconds 0 --trace "$box/$name/trace" ${OPTIONS:---verify-ms 50 --patience 100} \
        >"$box/$name/out" 2>"$box/$name/err" &
    job=$!
    if [ -n "$limit" ]; then
        while kill -0 "$job" 2>/dev/null && awk -v t="$(since "$begin")" -v l="$limit" \
            'BEGIN { exit t >= l }'; do sleep 0.2; done
        before=$(searches "$log")
        while kill -0 "$job" 2>/dev/null && [ "$(searches "$log")" = "$before" ]; do sleep 0.1; done
        since "$begin" >"$box/$name/seconds"
        kill "$job" 2>/dev/null || true
        wait "$job" || true
    else
        wait "$job" || cat "$box/$name/err" >&2
        since "$begin" >"$box/$name/seconds"
    fi
    job=
    cpu_seconds >>"$box/$name/cpu"
    rm -rf "$box/$name/kiln" "$box/$name/pocl" "$box/$name/cuda"
}

show() { # name, number of devices
    log=$box/$1/rows.trials.jsonl
    awk -v n="$2" -v s="$(cat "$box/$1/seconds")" -v one="$(cat "$box/1/seconds")" \
        -v problems="$(searches "$log")" -v trials="$(grep -c '"kind": "trial"' "$log")" \
        -v rows="$(grep -c '^- {' "$box/$1/rows.yaml")" \
        -v waits="$(sed -n 's/.*compilers in \([0-9]*\) %.*/\1/p' "$box/$1/out")" \
        -v cpu="$(awk 'NR == 1 { a = $1 } END { print $1 - a }' "$box/$1/cpu")" 'BEGIN {
        printf "%7d %8.1f %12.1f %10.1f %7d %% %6.1f %5d %9.2f %11.2f\n", n, s, problems * 60 / s,
            trials * 60 / s, waits, cpu / s, rows, one / s, one / s / n }'
}

printf '%s %s, %s, %s cores\n' "$(date -u +%F)" "$("$kiln" --list-devices | grep -F "${devices%%,*} ")" \
    "$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | sort -u)" "$(nproc)"
tune 1 "${devices%%,*}" "${TIME:-90}" "$box/layers" --types "${TYPES:-f32,f16}"
sed -n '/"kind": "search".*"verdict": "done"/s/.*"problem": "\([^"]*\)".*/\1/p' \
    "$box/1/rows.trials.jsonl" >"$box/finished"
[ -s "$box/finished" ] || { tail -n 5 "$box/1/err" >&2; exit 1; }
printf '%7s %8s %12s %10s %9s %6s %5s %9s %11s\n' devices seconds problems/min trials/min waiting \
    cores rows speed-up efficiency
show 1 1
last=1
for n in 2 4 8; do
    [ "$(echo "$devices" | tr ',' '\n' | grep -c .)" -ge "$n" ] || break
    tune "$n" "$(echo "$devices" | cut -d , -f "1-$n")" "" "$box/finished"
    show "$n" "$n"
    last=$n
done
[ "$last" -gt 1 ] || exit 0

# The rows are those of the last run: all devices of it wrote to one file.
for device in "${devices%%,*}" "${devices##*,}"; do
    KILN_DEVICE=$device "$kiln" db check "$box/$last/rows.yaml" --sample "${SAMPLE:-20}" \
        >"$box/timed.$device" 2>&1 &
    job="$job $!"
done
wait
job=
awk -v a="${devices%%,*}" -v b="${devices##*,}" '
    { for (i = 1; i < NF; i++) if ($i == "now") ms = $(i + 1); }
    / row .* now / && NR == FNR { first[$1] = ms; next }
    / row .* now / && $1 in first {
        ratio = ms / first[$1]; off = ratio > 1 ? ratio : 1 / ratio; n++; good += off <= 1.05
        if (off > worst) { worst = off; name = $1 " " first[$1] " and " ms " ms" }
    }
    END { printf "%d winners on %s and %s: %d within 5 %%; farthest apart by %.1f %%: %s\n", n, a, b,
          good, 100 * (worst - 1), name }' "$box/timed.${devices%%,*}" "$box/timed.${devices##*,}"
