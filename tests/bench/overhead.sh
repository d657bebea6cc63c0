#!/bin/sh
# What kiln_op_enqueue() costs on top of the bare OpenCL calls, in microseconds a launch: 1 at most.
. "$(dirname "$0")/common"
exec "$programs/bench_overhead" "$@"
