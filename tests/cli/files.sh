#!/bin/sh
# Places and files that are not what they should be: no hang, no silence, nothing made elsewhere.
. "$(dirname "$0")/common"
problem='-n 1 -c 4 -H 5 -W 5 -k 3 -F 1'
# Nothing here may take long: a pipe that hangs the command fails the test.
kiln=$KILN_COMMAND
KILN_COMMAND=./kiln
printf '#!/bin/sh\nexec timeout 120 "%s" "$@"\n' "$kiln" >kiln
chmod +x kiln
mkfifo pipe
mkdir folder

# ---- pipes, devices and folders as tensors and files of problems ----
for file in pipe folder /dev/zero nowhere; do
    for flag in -d -e; do
        expect 5 conv $problem $flag $file --dry-run
        warns "^kiln: --(in_data|weights) $file"
    done
    expect 5 conv $problem -b 1 -a $file --dry-run
    warns "^kiln: --in_bias $file"
    expect 5 conv $problem -F 2 -D $file --dry-run
    warns "^kiln: --dout_data $file"
done
expect 5 conv $problem -d pipe --dry-run
warns 'in_data pipe: it is not a plain file$'
for dir in pipe /dev/null kiln; do
    expect 5 conv $problem -C $dir -S naive
    warns "verification_cache \(-C\) $dir"
done
expect 5 conv --batch folder
warns 'batch folder: Is a directory'
expect 5 conv --batch /dev/zero
warns 'batch /dev/zero: line 1 has more than 1048576 bytes'
(echo "conv $problem" >pipe) &
expect 0 conv --batch pipe --dry-run
says '^1 problem: 1 ok, '
wait

# ---- layout convert ----
printf abcdef >plain
convert='layout convert --host --dims 1,2,1,3 --type i8 --from NCHW --to NHWC'
for file in pipe folder /dev/null /dev/zero nowhere; do
    expect 5 $convert $file out_of_nowhere
    warns "$file"
    [ ! -e out_of_nowhere ] || fail 'something was written'
done
expect 5 $convert plain folder
warns 'folder: Is a directory'
expect 5 $convert plain nowhere/target
warns '^kiln layout: cannot write nowhere/target: No such file'
expect 5 $convert plain pipe
warns 'pipe: No such device'
expect 0 $convert plain /dev/null
[ -c /dev/null ] || fail '/dev/null was replaced'
(cat plain >pipe) &
expect 0 $convert pipe turned
[ "$(cat turned)" = adbecf ] || fail 'a pipe was not read'
wait
ln -s turned link
printf x >turned
expect 0 $convert plain link
[ -L link ] || fail 'a link was replaced'
[ "$(cat turned)" = adbecf ] || fail 'the file behind a link was not written'

# ---- tuning rows, logs and reports ----
printf 'schema: 1\ndevice: any\nrows:\n' >any.yaml
for file in folder /dev/zero; do
    expect 5 db import $file
    warns "^kiln db: cannot read $file: "
done
expect 5 db import pipe
warns '^kiln db: pipe has no row for kiln'
for file in pipe folder /dev/zero; do
    expect 5 report $file
    warns "^kiln report: $file: it is not a plain file"
done
mkfifo pipe.jsonl
expect 5 db export pipe.jsonl
warns 'the log of trials pipe.jsonl: it is not a plain file'
expect 5 db merge any.yaml any.yaml -o pipe
warns '^kiln db: cannot write .*pipe: No such device'
expect 5 report any.yaml -o pipe
warns '^kiln report: cannot write .*pipe: No such device'
[ -p pipe ] || fail 'the pipe was replaced'
ln -s loop loop
expect 5 db merge any.yaml any.yaml -o loop
warns 'loop: Too many levels of symbolic links'
for file in pipe folder; do
    KILN_LOG_CMD=$file expect 0 conv $problem -S naive
    warns "^kiln: warning: KILN_LOG_CMD: cannot write $file: "
done
[ -p pipe ] || fail 'the pipe was replaced'
printf x >calls
ln -s calls called
KILN_LOG_CMD=called expect 0 conv $problem -S naive
[ -L called ] || fail 'a link was replaced'
grep -q 'kiln conv --problem' calls || fail 'the file behind a link was not written'
grep -Fxq x calls || fail 'what was in the file is gone'
# Processes with one file add up, at once and one after another.
runs() { sed -n 's/^kiln conv --problem .*  # \([0-9]*\) runs*$/\1/p' "$1" | awk '{ s += $1 } END { print s + 0 }'; }
KILN_LOG_CMD=one expect 0 conv $problem -S naive -i 3 -V 0
one=$(runs one)
[ "$one" -gt 2 ] || fail 'the runs were not counted'
for i in 1 2 3 4 5 6 7 8; do
    # shellcheck disable=SC2086
    KILN_LOG_CMD=many "$KILN_COMMAND" conv $problem -n $((i % 2 + 1)) -S naive -i 3 -V 0 >"out.$i" 2>"err.$i" &
done
wait
KILN_LOG_CMD=many expect 0 conv $problem -S naive -i 3 -V 0
[ "$(runs many)" -eq $((9 * one)) ] || fail "nine processes have $(runs many) runs, one has $one"
[ "$(grep -c '^kiln conv' many)" -le 3 ] || fail 'a convolution has two lines'
cat err.* >err
if grep -q LOG_CMD err; then fail 'a process could not write its runs'; fi

# ---- templates ----
own=$(dirname "$0")/../../templates
mkdir templates
export KILN_TEMPLATES="$PWD/templates"
mkfifo templates/naive.cl
expect 5 conv $problem -S naive
warns 'cannot read the template .*templates/naive.cl: it is not a plain file'
rm templates/naive.cl
mkdir templates/naive.cl
expect 5 conv $problem -S naive
warns 'cannot read the template .*templates/naive.cl: it is not a plain file'
rmdir templates/naive.cl
for name in ../secret.cl /etc/passwd folder/x.cl ..; do
    { echo "#include \"$name\"" && cat "$own/naive/naive.cl"; } >templates/naive.cl
    expect 5 conv $problem -S naive
    warns "template naive.cl includes \"$name\"; give a file's name of at most 63 bytes, without a folder"
done
rm templates/naive.cl
expect 0 conv $problem -S naive
unset KILN_TEMPLATES

# ---- PoCL's folder ----
if "$kiln" --list-devices | grep -q 'Portable Computing Language'; then
    touch file
    mkdir work
    for home in /proc "$PWD/file" relative ''; do
        status=0
        (cd work && unset POCL_CACHE_DIR XDG_CACHE_HOME && HOME=$home TMPDIR=$PWD/../folder \
            "$kiln" conv $problem -S naive >../out 2>../err) || status=$?
        [ "$status" -eq 0 ] || fail "HOME=$home gave $status"
        warns "^kiln: warning: PoCL cannot keep compiled kernels in .*\(HOME\): .*set POCL_CACHE_DIR"
        [ "$(grep -c 'PoCL' err)" -eq 1 ] || fail 'not one line of warning'
        [ -z "$(ls -A work)" ] || fail 'a folder was made in the current directory'
        [ -z "$(ls -A folder)" ] || fail 'the temporary folder was left behind'
    done
    echo conv $problem >list
    (unset POCL_CACHE_DIR XDG_CACHE_HOME && HOME=/proc TMPDIR=$PWD/folder \
        "$kiln" tune list --solvers naive --trials 1 >out 2>err) || fail 'tune in a home that is read only'
    [ "$(grep -c 'PoCL' err)" -eq 1 ] || fail 'not one line of warning'
    [ -z "$(ls -A folder)" ] || fail 'a temporary folder was left behind'
    (cd work && unset POCL_CACHE_DIR && HOME=rel XDG_CACHE_HOME=xdg XDG_DATA_HOME=data \
        XDG_CONFIG_HOME=config KILN_DB='' KILN_CACHE_DIR='' "$kiln" conv $problem -S naive -s 1 \
        --limit-ms 200 >../out 2>../err) || fail 'a relative HOME'
    [ -z "$(ls -A work)" ] || fail 'a folder was made in the current directory'
    (unset XDG_CACHE_HOME && HOME=/proc POCL_CACHE_DIR=/proc/nowhere TMPDIR=/proc \
        "$kiln" --list-devices >out 2>err) || fail 'POCL_CACHE_DIR=/proc/nowhere'
    warns '/proc/nowhere \(POCL_CACHE_DIR\)'

    # PoCL ends a process whose folder has a long name or none, and hides its device behind a longer one.
    part=$(printf '%0200d' 0)
    for long in "$PWD/$part/$part/$part/$part/${part%0000000000}" "$PWD/$part/$part/$part/$part/$part/$part" \
        "$PWD/$part/$part/$part/$part/$part/$part/$part/$part/$part/$part/$part/$part/$part/$part/$part/$part"; do
        for variable in POCL_CACHE_DIR XDG_CACHE_HOME HOME; do
            (unset POCL_CACHE_DIR XDG_CACHE_HOME && export "$variable=$long" && TMPDIR=$PWD/folder \
                "$kiln" conv $problem -S naive >out 2>err) || fail "$variable of ${#long} bytes"
            warns "^kiln: warning: PoCL cannot keep compiled kernels in .*\($variable\): File name too long"
            [ "$(wc -c <err)" -lt 1000 ] || fail 'a warning has the whole name'
        done
    done
    (unset XDG_CACHE_HOME && HOME=$PWD/home POCL_CACHE_DIR= "$kiln" conv $problem -S naive >out 2>err) ||
        fail 'an empty POCL_CACHE_DIR'
    silent err
    [ -d home/.cache/pocl ] || fail 'an empty POCL_CACHE_DIR is not a missing one'
fi

# ---- programs that others may write to ----
trusts() { if grep -q 'is not used' err; then fail 'what is safe is not used'; fi; }
key=fwd-f32-n1-c4-k3-i5x5-f1x1
expect 0 prepare -o bundle $key
export KILN_BUNDLE="$PWD/bundle" KILN_CACHE_DIR="$PWD/programs"
chmod 777 bundle/programs
expect 0 conv --problem $key
warns "^kiln: warning: the program cache $PWD/bundle/programs is not used: group or others may write to it; "
[ "$(grep -c 'is not used' err)" -eq 1 ] || fail 'not one line of warning'
chmod 755 bundle/programs
expect 0 conv --problem $key
trusts
chmod 666 bundle/programs/*
expect 0 conv --problem $key
warns '^kiln: warning: the compiled program .* is not used: group or others may write to it; '
expect 0 prepare -o none fwd-f32-n1-c1-k1-i1x1-f1x1
KILN_BUNDLE="$PWD/none" expect 0 conv --problem $key
mkdir other
KILN_BUNDLE="$PWD/other" expect 2 conv --problem $key
warns "^kiln: KILN_BUNDLE is '$PWD/other'; it must be a folder that kiln prepare -o made, or off$"
unset KILN_BUNDLE
expect 5 prepare -o plain $key
warns '^kiln: a program cannot be written to plain/programs: Not a directory; '
silent out

# ---- no umask ----
rm -rf programs
(umask 0 && XDG_DATA_HOME=$PWD/data KILN_DB='' "$kiln" conv $problem -S naive -s 1 --limit-ms 200 \
    -C stored >out 2>err) || fail 'umask 0'
mkdir -p programs
[ -d stored ] || fail 'there is no folder of stored results'
[ -z "$(find programs data stored \( -perm -020 -o -perm -002 \) ! -type l)" ] ||
    fail 'others may write to what was made'
export KILN_CACHE_DIR=off

# ---- a user who may read and write nowhere: root takes another one ----
nobody=
[ "$(id -u)" = 0 ] && nobody='setpriv --reuid 65534 --regid 65534 --clear-groups'
mkdir sums
touch secret
chmod 000 secret
chmod 555 folder sums
if $nobody "$kiln" --version >out 2>/dev/null && ! $nobody cat secret >out 2>/dev/null; then
    as_nobody() { # STATUS WORDS...: as expect
        wanted=$1
        shift
        status=0
        timeout 120 $nobody "$kiln" "$@" >out 2>err || status=$?
        [ "$status" -eq "$wanted" ] || fail "'kiln $*' as nobody ended with $status, not $wanted"
    }

    # Files are looked at before anything is planned, with --dry-run, too.
    for flag in -d -e '-F 2 -D' '-b 1 -a'; do
        as_nobody 5 conv $problem $flag secret --dry-run
        warns '^kiln: --[a-z_]+ secret: Permission denied$'
    done
    as_nobody 5 $convert plain sums/turned
    warns 'sums/turned.*: Permission denied'
    as_nobody 0 conv $problem -S naive -C "$PWD/sums"
    warns '^kiln: warning: --verification_cache \(-C\) .*/sums: Permission denied; no result is added$'
    (unset POCL_CACHE_DIR XDG_CACHE_HOME XDG_DATA_HOME XDG_CONFIG_HOME KILN_DB KILN_CACHE_DIR
        export HOME="$PWD/folder"
        as_nobody 0 conv $problem -S naive
        says 'Verifies OK'
        as_nobody 0 --list-devices
        if grep -q 'Portable Computing Language' out; then
            warns '^kiln: warning: PoCL cannot keep compiled kernels in .*/folder/\.cache/pocl/kcache \(HOME\): Permission denied'
        fi)
    unreadable=tried
fi

# ---- a locale with a decimal comma ----
comma=$(locale -a 2>/dev/null | grep -E '^(de|fr|nl|it|es|pl|sv)_..\.(utf8|UTF-8|iso88591)$' | head -n 1)
if [ -z "$comma" ] && command -v localedef >/dev/null && localedef -i de_DE -f UTF-8 "$PWD/de_DE.UTF-8" 2>/dev/null; then
    comma=de_DE.UTF-8
    export LOCPATH="$PWD"
fi
if [ -n "$comma" ]; then
    export LC_ALL="$comma"
    expect 0 conv $problem -S naive --alpha 1.5 --json -i 1
    says '"problem":"fwd-[^,]*-a1\.5"'
    expect 2 conv $problem --alpha 1,5
    expect 0 $convert --pad 1.5 plain turned
fi
echo "files: locale ${comma:-none}, files of others ${unreadable:-not tried}"
