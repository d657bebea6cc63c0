#!/bin/sh
# Sizes of random models beside ONNX's own inference, where python3-onnx is installed.
. "$(dirname "$0")/common"
script=$(dirname "$0")/../portability/onnx_shapes.py

python=
for p in python3 /usr/bin/python3; do
    "$p" -c 'import onnx' 2>/dev/null && python=$p
done
[ -n "$python" ] || skip 'python3-onnx is not installed'
"$KILN_COMMAND" model --demo resnet_18 -o r.onnx 2>err >out || skip 'this kiln reads no models'
"$python" "$script" "$KILN_COMMAND" 60 >out 2>err || fail 'sizes differ'
says '^[0-9]{3,} parts of sizes in 60 models, 0 models differ$'

# ONNX takes the models that kiln makes.
for demo in resnet_18 mobilenet_v2; do
    expect 0 model --demo $demo -o d.onnx
    "$python" -c '
import onnx
m = onnx.load("d.onnx")
onnx.checker.check_model(m, full_check=True)
' >out 2>err || fail "ONNX refuses $demo"
done
