#!/bin/sh
# What it brings that kiln's threads share a launch, on PoCL.
#
#     ./dev bench sharing
#
# THREADS ("2 4 8 16", those for which there are cores) chooses the numbers of threads. The times are
# explained in tests/bench/programs/bench_sharing.c.
. "$(dirname "$0")/common"
case ${1:-} in
'') ;;
--help | -h) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;;
*) echo "bench: sharing takes no $1; --help tells more" >&2; exit 2 ;;
esac
cores=$(env -u OMP_NUM_THREADS nproc) # which would tell that variable's value
for n in ${THREADS:-2 4 8 16}; do
    [ "$n" -le "$cores" ] || continue
    export OMP_NUM_THREADS="$n" POCL_MAX_PTHREAD_COUNT="$n"
    "$programs/bench_sharing" compile >"$scratch/sharing.log"
    "$programs/bench_sharing"
done
