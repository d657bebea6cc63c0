#!/bin/sh
# kiln against cuDNN on an NVIDIA GPU, layer by layer of published networks (--help).
. "$(dirname "$0")/common"
export BENCH_PEER="$PWD/tests/bench/cudnn.py" KILN_DEVICE="${KILN_DEVICE:-NVIDIA}"
exec "$programs/bench_gpu" "$@"
