#!/bin/sh
# First starts of a program that uses libkiln: a network of 22 convolutions like MobileNet-v2's
# beginning, and one 1x1 convolution, with empty and with filled caches.
#
#     ./dev bench startup [--device NAME] [--single]
#
# --single leaves the network out. KILN_DEVICE chooses the device as well; default: the CPU.
#
# Each row has the median of ROUNDS runs (3) and their extremes in seconds: by the clock, and of all
# CPUs, which depends less on what else the machine does. The column "at most" is the aim.
#
#     cold       no cache has anything; kiln_prepare_begin() has another process compile as well
#     alone      the same without it
#     warm       the caches are as a run before has left them
#     killed     the same, but that run ended 2 s after its first result without releasing anything
#     quick      settings.first_use is KILN_FIRST_QUICK; the caches have the general programs
#     release    kiln_op_release() of all operations of the cold run
#     prepare N  kiln prepare --jobs N of the network's problems, cold
#     bundle     from a bundle, the other caches empty
#     shape      of the 1x1 convolution: to create, pack and run it, on a device that is open
set -eu
network_too=1
while [ $# -gt 0 ]; do
    case $1 in
    --device) KILN_DEVICE=${2:?names the device}; shift 2 ;;
    --single) network_too=0; shift ;;
    *) echo "startup.sh: takes --device NAME and --single, not $1" >&2; exit 2 ;;
    esac
done
cd "$(dirname "$0")/../.."
rounds=${ROUNDS:-3}
program=$PWD/build/release/tests/bench_startup
kiln=$PWD/build/release/kiln
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export KILN_DEVICE="${KILN_DEVICE:-cpu}"
export POCL_CACHE_DIR="$scratch/pocl" CUDA_CACHE_PATH="$scratch/cuda" KILN_CACHE_DIR="$scratch/kiln"
export KILN_DB=off KILN_COMMAND="$kiln"
case $KILN_DEVICE in
cpu) network=9 warm=0.4 single=1 shape=- shape_warm=- ;;
*) network=6 warm=0.5 single=- shape=1 shape_warm=0.06 ;;
esac

empty() {
    rm -rf "$scratch/pocl" "$scratch/cuda" "$scratch/kiln"
    mkdir "$scratch/pocl" "$scratch/cuda"
}
# start FILE STEP ARGS...: runs the program, adds the step's times to the file.
start() {
    to=$1
    step=$2
    shift 2
    "$program" "$@" >"$scratch/out"
    awk -v step="$step" '$1 == step { print $2, $3 }' "$scratch/out" >>"$scratch/$to"
}
# prepare JOBS
prepare() {
    empty
    sh -c 'from=$(date +%s%N); "$@" >/dev/null; to=$(date +%s%N); times >"$0"
           echo "wall $((to - from))" >>"$0"' "$scratch/times" "$kiln" prepare --jobs "$1" \
        "$scratch/problems"
    # The second line of times: user and system time of all processes, "0m1.2s 0m0.1s".
    awk 'NR == 2 { for (i = 1; i <= 2; i++) { split($i, t, "[ms]"); cpu += 60 * t[1] + t[2] } }
         $1 == "wall" { print $2 / 1e9, cpu }' "$scratch/times" >>"$scratch/prepare$1"
}
row() { # label, file, aim
    sort -n "$scratch/$2" | awk -v label="$1" -v aim="$3" '
        { wall[NR] = $1; cpu[NR] = $2; sum[NR] = $2 }
        END {
            for (i = 1; i <= NR; i++)
                for (j = i; j > 1 && cpu[j] < cpu[j - 1]; j--) {
                    t = cpu[j]; cpu[j] = cpu[j - 1]; cpu[j - 1] = t
                }
            m = int((NR + 1) / 2)
            printf "%-24s %7.3f (%7.3f .. %7.3f)  %7.3f (%7.3f .. %7.3f)  %7s\n", label,
                wall[m], wall[1], wall[NR], cpu[m], cpu[1], cpu[NR], aim
        }'
}

# starts_network: each kind of start of the network once.
starts_network() {
    empty
    start network_cold first network
    awk '$1 == "release" { print $2, $3 }' "$scratch/out" >>"$scratch/network_release"
    start network_warm first network
    empty
    start network_alone first --alone network
    start network_alone_warm first --alone network
    empty
    "$program" --dies 2000 network >/dev/null
    start network_killed first network
    empty
    "$program" --quick --dies 0 network >/dev/null
    start network_quick first --quick network
    prepare 1
    prepare 2
    start prepared first network
    "$kiln" prepare -o "$scratch/made" "$scratch/problems" >/dev/null
    empty
    KILN_BUNDLE="$scratch/made" start bundle first network
}
# start_single STATE: of the 1x1 convolution.
start_single() {
    start "single_$1" first 1x1
    awk '$1 == "shape" { print $2, $3 }' "$scratch/out" >>"$scratch/shape_$1"
}

empty
"$program" --names network >"$scratch/problems"
i=0
while [ $i -lt "$rounds" ]; do
    [ $network_too = 0 ] || starts_network
    empty
    start_single cold
    start_single warm
    i=$((i + 1))
done
"$kiln" --list-devices | { grep -i -m1 "$KILN_DEVICE" || echo "$KILN_DEVICE"; }
printf '%-24s %7s %s  %7s %s  %7s\n' 'to the first result' clock '(fastest .. slowest)' CPUs \
    '(least   ..    most)' 'at most'
row '1x1, cold' single_cold "$single"
row '1x1, warm' single_warm -
row '1x1, its shape, cold' shape_cold "$shape"
row '1x1, its shape, warm' shape_warm "$shape_warm"
[ $network_too = 1 ] || exit 0
row 'network, cold' network_cold "$network"
row 'network, release' network_release 0.1
row 'network, warm' network_warm "$warm"
row 'network, alone, cold' network_alone -
row 'network, alone, warm' network_alone_warm -
row 'network, killed before' network_killed "$warm"
row 'network, quick' network_quick 1.0
row 'prepare, 1 job' prepare1 -
row 'prepare, 2 jobs' prepare2 -
row 'network, prepared' prepared "$warm"
row 'network, from a bundle' bundle "$warm"
