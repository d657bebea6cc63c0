#!/bin/sh
# `kiln db` import of MIOpen's perf-db, export as T4 and CSV, and check of rows against the device.
. "$(dirname "$0")/common"
key=fwd-f32-n16-c192-k64-i28x28-f1x1

# Rows of gfx900, others of each kind that is skipped.
cat >gfx.pdb.txt <<'TEXT'
192-28-28-1x1-64-28-28-16-0x0-1x1-1x1-0-NCHW-FP32-F=ConvOclDirectFwd1x1:1,64,1,1,1,1,16,2048,0;ConvAsm1x1U:1,8,2,64,2,1,1,8
64-28-28-1x1-192-28-28-16-0x0-1x1-1x1-0-NCHW-FP32-B=ConvOclDirectFwd1x1:1,64,1,1,0,2,16,4,0
192-28-28-1x1-64-28-28-8-0x0-1x1-1x1-0-NCHW-FP32-F=ConvAsm1x1U:1,8,2,64,2,1,1,8
192-28-28-1x1-64-28-28-4-0x0-1x1-1x1-0-NCHW-FP32-F=ConvOclDirectFwd1x1:1,64,1,1,1,1,0,2048,0
192-28-28-3x3-64-28-28-4-1x1-1x1-1x1-0-NCHW-FP32-F=ConvOclDirectFwd1x1:1,64,1,1,1,1,16,2048,0
192x28x28x1x1x64x28x28x16xNCHWxFP32x1 1.64.1.1.1.1.16.2048.0
192-28-28=ConvOclDirectFwd1x1:1,64,1,1,1,1,16,2048,0
192-28-28-1x1-64-28-28-2-0x0-1x1-1x1-0-NCHW-FP32-F=ConvOclDirectFwd1x1

nonsense
TEXT
expect 0 db import gfx.pdb.txt -o imported.yaml
silent out
warns '^gfx.pdb.txt: 2 rows taken, 8 skipped$'
warns '^ +2  of MIOpen.s solver ConvAsm1x1U, which kiln does not have \(line 1\)$'
warns "^ +1  .*0.* \\(line 4\\)\$"
warns '^ +1  .*1x1.* \(line 5\)$'
warns '^ +1  of MIOpen 1.0 or 1.1, whose keys do not tell the stride \(line 6\)$'
warns '^ +1  the key is not one of a convolution: .* \(line 7\)$'
warns '^ +1  no "SOLVER:VALUES" \(line 8\)$'
warns '^ +1  no "KEY=SOLVER:VALUES" \(line 10\)$'
cp imported.yaml out
says '^device: "any"$'
says "^- \{key: \"$key\", solver: \"ConvOclDirectFwd1x1\", version: 1, config: \"1,64,1,1,1,1,16,2048,0\", without: \".*\"\}$"
says '^- \{key: "bwd-f32-n16-c192-k64-i28x28-f1x1", .*"1,64,1,1,0,2,16,4,0"'
expect 0 db lint imported.yaml
says '^2 rows, 0 errors, 0 notes$'
# The config is used, but it was not compared with other solvers: predictions choose between them.
export KILN_DB=imported.yaml
conv='-n 16 -c 192 -H 28 -W 28 -k 64 -y 1 -x 1 -F 1 --dry-run'
# shellcheck disable=SC2086
expect 0 explain $conv
says "ConvOclDirectFwd1x1 .* 1,64,1,1,1,1,16,2048,0 \(.*row.*\)"
says '^\* '
# shellcheck disable=SC2086
expect 0 conv $conv -S 13
says '^config 1,64,1,1,1,1,16,2048,0 of ConvOclDirectFwd1x1 from the user'
expect 0 db import gfx.pdb.txt --device card
says '^device: "card"$'
expect 0 db import gfx.pdb.txt --device 'a "b" \c' -o quoted.yaml
expect 0 db lint quoted.yaml
expect 5 db import missing.txt
warns 'missing.txt'
expect 5 db import .
warns '^kiln db: cannot read .: Is a directory$'

# A file without a row that kiln can take replaces nothing.
echo 'not a perf-db' >passwd.txt
echo kept >target.yaml
expect 5 db import passwd.txt -o target.yaml
warns '^kiln db: passwd.txt has no row for kiln; nothing is written$'
[ "$(cat target.yaml)" = kept ] || fail "target.yaml was replaced"
expect 2 db list imported.yaml --device card
warns 'a flag is not one of list'

# Rows and trials for other programs.
export KILN_DB="$KILN_SANDBOX/rows.yaml" KILN_CACHE_DIR=off
echo "conv -n 1 -c 16 -H 4 -W 4 -k 16 -y 1 -x 1 -F 1" >list
expect 0 tune list --solvers naive,13 --trials 3 --seconds 0 --jobs 0
expect 0 db export rows.yaml --format csv
# Imported rows, which nobody ran, are no correct results.
expect 0 db export imported.yaml
lacks 'correct'
says '^\{"schema_version":"1.0.0","results":\[$'
warns 'imported.yaml: [0-9]+ configs that nobody ran, as far as is known, left out$'
expect 0 db export imported.yaml --format csv
lacks ',"?ok"?,'
says 'ConvOclDirectFwd1x1'
expect 0 db export rows.yaml --format csv
says '^problem,solver,version,config,params,verdict,ms,'
[ "$(wc -l <out)" -eq 2 ] || fail 'there is not one row'
expect 0 db export rows.trials.jsonl --format csv
[ "$(wc -l <out)" -eq 4 ] || fail 'there are not three trials'
expect 2 db export rows.yaml --format xml
expect 5 db export missing.jsonl
expect 5 db export list
warns 'not a file of tuning rows'
crash='s/"verdict": "[^"]*"/"verdict": "crashed"/; s/"ms": [^,]*, //'
grep '"kind": "trial"' rows.trials.jsonl | tail -n 1 | sed "$crash" >crashed
cat crashed >>rows.trials.jsonl
# A config that no kiln wrote stays one text.
sed 's/"config": "[^"]*", "params": "[^"]*"/"config": "7,08,1]},{a\\"b", "params": "a\\"b,c,d,e"/' crashed >hostile
cat hostile >>rows.trials.jsonl
expect 0 db export
cp out rows.json
expect 0 db export rows.trials.jsonl
cp out trials.json
says '"problem":"fwd-f32-n1-c16-k16-i4x4-f1x1","solver":"ConvOclDirectFwd1x1","version":1,"grp_tile1":[0-9]+,'
says '"invalidity":"runtime","correctness":0'
says '"a\\"b":7,"c":8,"d":"1\]\}","e":"\{a\\"b"'
# The rules of the schema: required fields, their types, and the words of `invalidity`.
if command -v python3 >/dev/null 2>&1; then
    python3 - rows.json 1 trials.json 5 <<'TEXT' || fail 'the results are not T4'
import json, re, sys
number = (int, float)
for name, count in zip(sys.argv[1::2], sys.argv[2::2]):
    t4 = json.load(open(name))
    assert re.match(r"^[0-9]+\.[0-9]+\.[0-9]+$", t4["schema_version"])
    assert len(t4["results"]) == int(count), len(t4["results"])
    for r in t4["results"]:
        assert isinstance(r["timestamp"], str) and isinstance(r["configuration"], dict)
        assert isinstance(r["objectives"], list) and isinstance(r["correctness"], number)
        assert r["invalidity"] in ("timeout", "compile", "runtime", "correctness", "constraints",
                                   "correct")
        times = r["times"]
        assert isinstance(times["compilation_time"], number) and isinstance(times["runtimes"], list)
        names = [m["name"] for m in r["measurements"]]
        assert all(isinstance(m["value"], number) and isinstance(m["unit"], str)
                   for m in r["measurements"])
        assert r["invalidity"] != "correct" or "time" in names
TEXT
fi

# A fresh row is not stale by what it says; one with a driver, templates or version of another time is.
expect 0 db check rows.yaml --sample 0
says '^1 row, 0 stale; 0 timed, 0 of them slower than the guess$'
sed 's/hash: "[0-9a-f]*"/hash: "0"/' rows.yaml >hash.yaml
expect 1 db check hash.yaml
says ': stale: its templates have changed$'
sed 's/driver: "[^"]*"/driver: "another"/' rows.yaml >driver.yaml
expect 1 db check driver.yaml
says ': stale: measured with driver another, now '
sed 's/version: [0-9]*/version: 77/' rows.yaml >version.yaml
expect 1 db check version.yaml
says ': stale: of version 77 of '
says '^1 row, 1 stale; 0 timed'
# A sample is timed: the guess for 64 channels of 28x28 pixels is far faster than the naive kernel.
{
    sed -n '1,/^rows:/p' rows.yaml
    echo '- {key: "fwd-f32-n1-c64-k64-i28x28-f3x3-p1x1", solver: naive, version: 1, config: "", ms: 9}'
} | sed "s/version: 1/version: $(sed -n 's/.*"naive",* version: \([0-9]*\).*/\1/p' rows.yaml | head -1 | grep . || echo 1)/" >slow.yaml
expect 1 db check slow.yaml --sample 1
says '^fwd-f32-n1-c64-.*  row 9 ms, now .* ms, guess .* ms: stale: the guess .* is faster$'
says '^1 row, 1 stale; 1 timed, 1 of them slower than the guess$'
head -4 rows.yaml | sed 's/^device: .*/device: "card"/' >card.yaml
expect 5 db check card.yaml
warns 'card.yaml has rows of "card"'
expect 2 db check rows.yaml --sample few
