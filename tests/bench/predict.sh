#!/bin/sh
# What kiln chooses without any tuning row against the best of a short search, layer by layer.
. "$(dirname "$0")/common"
exec "$programs/bench_predict" "$@"
