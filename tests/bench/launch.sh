#!/bin/sh
# What OpenCL takes to start a kernel on all cores, beside OpenMP, with kernels of several lengths.
. "$(dirname "$0")/common"
exec "$programs/bench_launch" "$@"
