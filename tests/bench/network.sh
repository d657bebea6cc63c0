#!/bin/sh
# Networks, not layers: one run through all different layers of each, kiln's in one queue.
. "$(dirname "$0")/common"
exec "$programs/bench_network" "$@"
