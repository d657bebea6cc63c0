#!/bin/sh
# kiln prepare: whoever compiles, all problems are compiled in the end.
. "$(dirname "$0")/common"
one=fwd-f32-n1-c4-k3-i5x5-f1x1 two=fwd-f32-n1-c4-k3-i5x5-f2x2 three=fwd-f32-n1-c3-k4-i5x5-f1x3
own=$KILN_COMMAND

# ---- a single job compiles each problem as soon as its line is there ----
mkfifo pipe
"$own" prepare --jobs 1 - <pipe >out 2>err &
single=$!
exec 3>pipe
echo $one >&3
tries=0
until grep -q "$one" out || [ $((tries += 1)) -gt 600 ]; do sleep 0.1; done
says "^1 .* s  $one"
# Its threads share no core with those of another process of this kind while one is idle.
cores() { sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' "$@" | sort -u; }
[ "$(cores /proc/$single/task/*/status)" = "$(cores /proc/self/status)" ] ||
    fail "threads are bound to cores: $(cores /proc/$single/task/*/status)"
echo $two >&3
echo $one >&3 # once is enough
exec 3>&-
wait $single || fail 'prepare from a pipe'
says "^2 .* s  $two"
says '^2 problems prepared for '

# ---- a problem that makes no sense is no missing file ----
expect 2 prepare fwd-f32-n1-c8-k8-i8x8-f9x9
warns '^kiln: fwd-f32-n1-c8-k8-i8x8-f9x9: the filter is larger than the padded input'
expect 5 prepare nowhere
warns '^kiln: nowhere: No such file'

# ---- a problem too large for any memory: a sentence names it ----
expect 3 prepare --jobs 2 $one fwd-f32-n10000-c1000-k1000-i1000x1000-f1x1
warns '^kiln: problem 1: tensor x needs '
"$own" --list-devices | grep -q 'Portable Computing Language' || exit 0

# ---- other processes ----
compiled() { find "$POCL_CACHE_DIR" -name '*.so' | wc -l; }
fresh() { rm -rf pocl && mkdir pocl; }
export POCL_CACHE_DIR="$PWD/pocl" KILN_CACHE_DIR=off
# Opening compiles nothing, so that other processes start at once. Nothing to prepare is no success.
fresh
expect 2 prepare --jobs 1 /dev/null
warns '^kiln prepare: no convolution was found$'
lacks prepared
expect 2 prepare -o bundle /dev/null
[ ! -e bundle ] || fail 'a bundle of nothing'
[ "$(compiled)" -eq 0 ] || fail "$(compiled) kernels were compiled for no problem"
fresh
expect 0 prepare --jobs 1 $one $two $three
all=$(compiled)
[ "$all" -gt 3 ] || fail "only $all kernels were compiled"

# A process that works, one that fails at once, one that takes a problem and fails.
cat >works <<END
#!/bin/sh
echo >>started
exec "$own" "\$@"
END
printf '#!/bin/sh\necho >>started\nexit 1\n' >fails
printf '#!/bin/sh\necho >>started\ndd bs=4096 count=1 of=taken 2>/dev/null\nexit 1\n' >takes
chmod +x works fails takes
for command in works fails takes nowhere; do
    fresh
    rm -f started taken
    KILN_COMMAND=$PWD/$command "$own" prepare --jobs 3 $one $two $three >out 2>err ||
        fail "prepare with $command"
    says '^3 problems prepared for '
    [ "$(compiled)" -eq "$all" ] || fail "$command: $(compiled) kernels instead of $all"
    [ "$command" = nowhere ] || [ "$(wc -l <started)" -eq 2 ] || fail "$command: not two processes"
done

# A process of libkiln's ends with the program that started it: when nobody reads its output any more.
mkfifo problems printed
exec 8<>problems
"$KILN_COMMAND" prepare --jobs 1 --while-read - <problems >printed 2>err &
run=$!
exec 9<printed # where both wait for each other
kill -0 "$run" || fail 'the process did not wait for problems'
exec 9<&-
status=0
wait "$run" || status=$?
[ "$status" -eq 1 ] || fail "a process whose reader has ended gave $status"
exec 8>&-
