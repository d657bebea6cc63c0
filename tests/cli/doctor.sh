#!/bin/sh
# `kiln doctor`: what it finds on a good machine, and on machines that lack something.
. "$(dirname "$0")/common"
unset KILN_DEVICE OCL_ICD_VENDORS 2>/dev/null || true
types='conv convfp16 convbfp16 convint8 convfp8 convbfp8'

expect 2 doctor nonsense
warns "^kiln doctor: takes no words, but got 'nonsense'"
expect 2 doctor --limit 0
warns "from 1 to 86400, not '0'"
expect 2 doctor --nonsense
silent out

"$KILN_COMMAND" --list-devices >devices 2>err || skip 'no device'
grep -q '"Portable Computing Language"' devices || skip 'PoCL is not here'

# A good machine: every device of the list, and each type on it.
expect 0 doctor
silent err
[ "$(grep -c '^ok  *device ' out)" -eq "$(wc -l <devices)" ] || fail 'a device is missing'
while read -r spec rest; do
    says "^(ok|warning) +device $spec: ${rest%% *} "
    for word in $types; do
        says "^ok +$word $spec: a 3x3 convolution is right$"
    done
done <devices
for name in system settings loader icd nvidia nodes cache pocl-cache "rows [0-9:]+"; do
    says "^(ok|warning) +$name: "
done
lacks '^bad '
says '^For a bug report:$'
sed '1,/^For a bug report:$/d' out | tr '\n' ' ' >paragraph
grep -q 'system: kiln [0-9.]*, Linux .* device [0-9:]*: cpu .* PoCL .* convbfp8 ' paragraph ||
    fail 'the paragraph lacks something'

# The home folder is nowhere, and a folder that only begins like it is not shortened.
mkdir -p home/cache home-not
HOME=$KILN_SANDBOX/home KILN_CACHE_DIR=$KILN_SANDBOX/home/cache \
    KILN_TEMPLATES=$KILN_SANDBOX/home-not expect 0 doctor
says '^ok +cache: ~/cache: 0 files, 0 B, yours$'
says "KILN_TEMPLATES=[^ ]*/home-not"
lacks "$KILN_SANDBOX/home/"
mkdir -p "of/$(id -un)"
KILN_TEMPLATES=$KILN_SANDBOX/of/$(id -un) expect 0 doctor
says 'KILN_TEMPLATES=[^ ]*/of/USER( |$)'

# Objects: one a line, each with the five names.
expect 0 doctor --json
if command -v python3 >/dev/null; then
    python3 - out <<'EOF' || fail 'the output is not JSON'
import json, sys
found = [json.loads(line) for line in open(sys.argv[1])]
for f in found:
    assert list(f) == ["check", "device", "verdict", "value", "remedy"], f
    assert f["verdict"] in ("ok", "warning"), f
    assert (f["remedy"] is None) == (f["verdict"] == "ok"), f
assert {"system", "icd", "device", "convint8"} <= {f["check"] for f in found}
EOF
fi

# A cache that cannot be written is a warning.
echo mine >letter.txt
KILN_CACHE_DIR=$KILN_SANDBOX/letter.txt/cache expect 0 doctor
says '^warning +cache: .*letter.txt/cache: Not a directory; remedy: set KILN_CACHE_DIR '

# A row of no use is a warning; a file that is none of rows keeps the device from opening.
printf 'schema: 1\nrows:\n- nonsense\n' >bad.yaml
KILN_DB=$KILN_SANDBOX/bad.yaml expect 0 doctor
says '^warning +rows [0-9:]+: .*bad.yaml: 0 rows, 1 of no use; remedy: kiln db lint '
printf 'nonsense\n' >bad.yaml
KILN_DB=$KILN_SANDBOX/bad.yaml expect 1 doctor
says '^bad +rows [0-9:]+: .*bad.yaml'

# A wrong convolution: exit status 1, and only its type is bad.
templates=$(dirname "$0")/../../templates
mkdir broken
sed 's/^#define FINISH_ROW(\(.*\)) \(kiln_finish_row(.*)\)$/#define FINISH_ROW(\1) (\2 + 1)/' \
    "$templates/rows.cl" >broken/rows.cl
if cmp -s broken/rows.cl "$templates/rows.cl"; then
    fail 'rows.cl has changed: mend the pattern of this test'
fi
KILN_TEMPLATES=$KILN_SANDBOX/broken expect 1 doctor
says '^bad +conv [0-9:]+: a 3x3 convolution is wrong; remedy: report what this says: kiln conv -n 1 .*--device [0-9:]+$'
says '(^| )BAD: '

# An .icd file beside a good one names a library that is not there.
mkdir vendors
cp /etc/OpenCL/vendors/pocl.icd vendors/ 2>/dev/null || skip 'the .icd file of PoCL is elsewhere'
echo libnvidia-opencl-that-is-not-here.so.1 >vendors/nvidia.icd
export OCL_ICD_VENDORS="$KILN_SANDBOX/vendors"
expect 0 doctor
says '^ok +icd: .*vendors/pocl.icd: '
says '^warning +icd: .*vendors/nvidia.icd names libnvidia-opencl-that-is-not-here.so.1, which does not load: .*cannot open shared object file.*; remedy: install the OpenCL library of the driver'
says '^ok +conv '

# No device at all: the missing library is the only driver, then there is none.
rm vendors/pocl.icd
expect 1 doctor
says '^warning +icd: .*vendors/nvidia.icd names '
says '^bad +devices: no OpenCL platform found.*; remedy: .*pocl-opencl-icd'
lacks '^[a-z]+ +(device|conv|convfp16) '
mkdir empty
OCL_ICD_VENDORS=$KILN_SANDBOX/empty expect 1 doctor
says '^warning +icd: .*/empty has no .icd file; remedy: install an OpenCL driver'

# A driver that hangs as it is loaded: its library is a pipe that nobody writes to.
mkfifo hang.so
echo "$KILN_SANDBOX/hang.so" >vendors/nvidia.icd
expect 1 doctor --limit 1
says '^bad +icd: no answer within 1 s; remedy: the driver hangs'
says '^bad +devices: no answer within 1 s'
