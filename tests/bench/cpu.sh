#!/bin/sh
# kiln against oneDNN, PyTorch and CLBlast on the CPU, layer by layer of published networks (--help).
. "$(dirname "$0")/common"
export BENCH_PEER="${BENCH_PEER:-$PWD/tests/bench/pytorch.py}"
exec "$programs/bench_cpu" "$@"
