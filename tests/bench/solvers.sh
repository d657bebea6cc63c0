#!/bin/sh
# One solver against another (direct against naive), layer by layer in all three directions.
. "$(dirname "$0")/common"
exec "$programs/bench_solvers" "$@"
