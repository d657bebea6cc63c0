#!/bin/sh
# usage: tests/fuzz/coverage.sh
#
# Prints which share of each room's lines the fuzz targets reach with their corpora and with what
# run.sh has found. Needs Clang and LLVM's tools.
set -eu
cd "$(dirname "$0")/../.."
build=build/fuzz_coverage

[ -f $build/Makefile ] ||
    cmake -S . -B $build -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=RelWithDebInfo \
        -DCMAKE_C_FLAGS='-fprofile-instr-generate -fcoverage-mapping' >/dev/null
cmake --build $build --target fuzz_targets -j "${PROCESSES:-2}" >$build/build.log 2>&1 || {
    tail -20 $build/build.log >&2
    exit 2
}
objects=
rm -f $build/*.profraw
for source in tests/fuzz/fuzz_*.c; do
    target=$(basename "$source" .c)
    program=$build/tests/fuzz/$target
    objects="$objects -object $program"
    for inputs in tests/fuzz/corpus/"${target#fuzz_}" build/fuzz/found/"${target#fuzz_}"; do
        [ ! -d "$inputs" ] || LLVM_PROFILE_FILE="$build/%p.profraw" "$program" "$inputs" >/dev/null ||
            echo "$target: $inputs: exit status $?" >&2
    done
done
llvm-profdata merge -o $build/all.profdata $build/*.profraw
# shellcheck disable=SC2086
llvm-cov export -summary-only -format=text $objects -instr-profile=$build/all.profdata |
    tr '{' '\n' | sed 's/.*"filename":"\([^"]*\)".*/file \1/' |
    awk -v root="$PWD/" '
        /^file / { file = substr($2, length(root) + 1); room = file; sub("/[^/]*$", "", room) }
        /"count"/ && kind == "lines" {
            split($0, part, /[:,]/)
            all[room] += part[2]
            covered[room] += part[4]
        }
        { kind = /"lines":$/ ? "lines" : "" }
        END {
            for (room in all)
                if (covered[room] && room !~ /^tests/)
                    printf "%-32s %5d of %5d lines  %3d %%\n", room, covered[room], all[room],
                           100 * covered[room] / all[room]
        }' | sort
