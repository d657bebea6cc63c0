#!/bin/sh
# kiln against oneDNN and CLBlast on the CPU, layer by layer of published networks (--help).
. "$(dirname "$0")/common"
exec "$programs/bench_cpu" "$@"
