#!/bin/sh
# 32 processes append to one file of tuning rows under 3000 SIGKILLs (tests/unit/test_rows_crowd.c).
#
#     tests/portability/appends.sh [KILLS]
set -eu
cd "$(dirname "$0")/../.."
export KILN_CROWD_KILLS="${1:-3000}" CK_DEFAULT_TIMEOUT="${CK_DEFAULT_TIMEOUT:-600}"
exec "${KILN_TESTS:-build/release/tests}/test_rows_crowd"
