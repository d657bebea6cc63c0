#!/bin/sh
# 200 SIGKILLs at random moments of a sweep, each resumed (tests/cli/tune_kills.sh): four minutes.
#
#     tests/portability/kills.sh [KILLS]
set -eu
cd "$(dirname "$0")/../.."
box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT
export KILN_COMMAND="${KILN_COMMAND:-$PWD/build/release/kiln}" KILN_SANDBOX="$box/kills"
export KILLS="${1:-200}" POCL_CACHE_DIR="$box/pocl"
sh tests/cli/tune_kills.sh
