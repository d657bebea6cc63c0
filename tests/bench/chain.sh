#!/bin/sh
# Whole networks: layouts decided together, link by link, or plain; beside oneDNN.
. "$(dirname "$0")/common"
exec "$programs/bench_chain" "$@"
