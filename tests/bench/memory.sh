#!/bin/sh
# What kiln conv takes beyond its tensors and the announced workspace, problem by problem.
. "$(dirname "$0")/common"
exec "$programs/bench_memory" build/release/kiln "$@"
