#!/bin/sh
# Reformats between NCHW, NHWC and NC/xHWx against a plain device copy of the same bytes.
#
# Median times in ms of ROUNDS turns each (31), taken alternately, and copy / reformat.
set -eu
cd "$(dirname "$0")/../.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/pocl"
export POCL_CACHE_DIR="$scratch/pocl" KILN_CACHE_DIR="$scratch/kiln" KILN_DB=off
build/release/tests/bench_reformat "${ROUNDS:-31}"
