#!/bin/sh
# What kiln conv takes beyond its tensors and announced workspace: 64 MiB at most.
. "$(dirname "$0")/common"
exec "$programs/bench_memory" build/release/kiln "$@"
