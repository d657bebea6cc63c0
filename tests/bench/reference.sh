#!/bin/sh
# How long the CPU reference, a whole verification and the naive solver take on ResNet-50's layers.
. "$(dirname "$0")/common"
exec "$programs/bench_reference" "$@"
