#!/bin/sh
# Completions: what kiln answers, then what bash, zsh and fish show for it, where they are installed.
. "$(dirname "$0")/common"
shells=$(cd "$(dirname "$0")/../../driver/completion/shells" && pwd)

# asks WORDS...: what kiln says that the last word may become, without the help behind it.
asks() {
    expect 0 __complete "$@"
    silent err
    cut -f 1 out >answers
    mv answers out
}
offers() { grep -Fxq -e "$1" out || fail "'$1' is not offered"; }
withholds() { ! grep -Fxq -e "$1" out || fail "'$1' is offered"; }

# The scripts are the installed ones.
for shell in bash zsh fish; do
    expect 0 completion $shell
    cmp -s out "$shells/kiln.$shell" || fail "the script of $shell is not the file"
done
expect 2 completion
warns 'the shell is missing; say bash, zsh or fish'
expect 2 completion tcsh
warns 'unknown shell tcsh; say bash, zsh or fish'
expect 2 completion bash zsh

# Every word that the help lists is offered, with its help.
expect 0 --help
sed -n '/^Words:/,/^$/s/^  \([a-z][a-z0-9]*\) .*/\1/p' out >words
[ "$(wc -l <words)" -gt 15 ] || fail 'the help lists too few words'
asks ''
cp out offered
while read -r word; do
    grep -Fxq "$word" offered || fail "the word $word is not offered"
done <words
withholds __complete
withholds --version
expect 0 __complete mod
says "^model$(printf '\t')print what "

# Every flag that a help names is offered.
expect 0 help
sed -n 's/^  \(-.,\)\{0,1\} *\(--[A-Za-z][^ ]*\).*/\2/p' out | grep -v -- --list-devices >flags
[ "$(wc -l <flags)" -gt 60 ] || fail 'the help names too few flags'
for word in conv convint8 explain tune emit model; do
    asks $word --
    while read -r flag; do
        offers "$flag"
    done <flags
done
for word in tune report emit model prepare layout cache db doctor completion; do
    expect 0 $word --help
    # Sizes of a model have three flags in a line; text behind a flag may name others.
    sed -n 's/^ \{2,6\}\(-., \)\{0,1\}\(--[a-z][a-z-]*\).*/\2/p' out >flags
    [ -s flags ] || fail "the help of $word names no flag"
    asks $word --
    while read -r flag; do
        offers "$flag"
    done <flags
done
asks prepare --
offers --dim
offers --batchsize

asks conv --pad_h
[ "$(tr '\n' ' ' <out)" = '--pad_h --pad_h_end ' ] || fail 'more than --pad_h and --pad_h_end'
asks layout ''
offers convert
asks db pro
[ "$(cat out)" = prove ] || fail 'db pro is not prove'
asks help tu
offers tune
asks emit conv
offers convbfp16

# Values of the tables. The lists that kiln prints elsewhere are what must be offered.
expect 0 layout list
sed 1d out | cut -d ' ' -f 1 >layouts
[ "$(wc -l <layouts)" -gt 40 ] || fail 'too few layouts'
for place in 'conv -I' 'conv --fil_layout' 'tune -O' 'layout show' 'layout convert --from'; do
    asks $place ''
    while read -r layout; do
        offers "$layout"
    done <layouts
done
asks conv --in_layout=NHWC
offers --in_layout=NHWC16
withholds --in_layout=NCHW
expect 0 explain --dry-run -F 1 --json
sed -n 's/.*"solver":"\([^"]*\)".*/\1/p' out | sort -u >solvers
[ "$(wc -l <solvers)" -gt 20 ] || fail 'too few solvers'
asks conv -S ''
while read -r solver; do
    offers "$solver"
done <solvers
asks tune --solvers naive,gemm
offers naive,gemm
offers naive,gemm_weights
asks conv --out_type ''
for type in f32 f16 bf16 i8 i32 u8 f8e4m3 f8e5m2; do
    offers $type
done
asks prepare --type convi
[ "$(cat out)" = convint8 ] || fail 'a type of prepare is a word'
asks conv --activation leaky
offers leaky_relu
asks conv -m t
[ "$(cat out)" = trans ] || fail 'the modes are not offered'
asks tune --shard-by ''
offers key
if "$KILN_COMMAND" --list-devices >devices 2>err; then
    asks conv --device ''
    sed 's/  .*//' devices >specs
    while read -r device; do
        offers "$device"
    done <specs
fi

# Files and numbers are the shell's; nonsense is nobody's.
for words in 'tune lay' 'conv -d x' 'conv -n 1' 'nonsense x' 'conv --nonsense=x'; do
    asks $words
    silent out
done

PATH="$(dirname "$KILN_COMMAND"):$PATH"
export PATH

# in_bash LINE: what bash would insert for the line's last word.
in_bash() {
    bash -c '
        eval "$(kiln completion bash)"
        complete -p kiln | grep -q -- "-F _kiln" || exit 1
        COMP_LINE=$1 COMP_POINT=${#1}
        _kiln kiln
        printf "%s\n" "${COMPREPLY[@]}"' bash "$1" >out 2>err || fail "bash fails at '$1'"
    silent err
}
if command -v bash >/dev/null; then
    in_bash 'kiln co'
    offers convfp16
    withholds tune
    in_bash 'kiln conv --pad_w'
    offers --pad_w_end
    in_bash 'kiln conv -n 16 -I '
    offers NC/4HW4
    in_bash 'kiln conv --in_layout=NHWC' # bash takes = for the end of a word
    offers NHWC16
    in_bash 'kiln conv --device 0:'
    ! grep -q : out || fail 'the part before the colon is inserted twice'
fi

if command -v fish >/dev/null; then
    in_fish() {
        fish --no-config -c 'kiln completion fish | source; complete -C $argv[1]' "$1" >out 2>err ||
            fail "fish fails at '$1'"
        silent err
    }
    in_fish 'kiln co'
    says "^convfp16$(printf '\t')"
    lacks '^tune'
    in_fish 'kiln conv --pad_w'
    says '^--pad_w_end'
    in_fish 'kiln conv -n 16 --in_layout '
    says '^NC/4HW4'
    in_fish 'kiln conv -S gemm_w'
    says '^gemm_weights'
    : >layers.txt
    in_fish 'kiln tune lay'
    says '^layers.txt'
fi

# zsh completes at a terminal only: what it would describe is printed instead.
if command -v zsh >/dev/null; then
    in_zsh() {
        zsh -f -c '
            compdef() { :; }
            _files() { print files; }
            _describe() { print -l -- "${(@)${(P)2}}"; }
            eval "$(kiln completion zsh)"
            words=("$@") CURRENT=$# PREFIX=${@[-1]}
            _kiln' zsh "$@" >out 2>err || fail "zsh fails at '$*'"
        silent err
    }
    in_zsh kiln co
    says '^convfp16:'
    lacks '^tune'
    in_zsh kiln conv -I ''
    says '^NC/4HW4:'
    in_zsh kiln tune lay
    says '^files$'
fi
