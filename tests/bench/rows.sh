#!/bin/sh
# A file of 100,000 tuning rows: loading it (1 s at most), finding a row (1 ms at most).
. "$(dirname "$0")/common"
exec "$programs/bench_rows" "$@"
