#!/bin/sh
# kiln model: models that kiln makes, their tables, and models as files of problems.
. "$(dirname "$0")/common"

"$KILN_COMMAND" model --demo resnet_18 -o r.onnx 2>err >out || {
    grep -q 'built without the reader' err && skip 'this kiln reads no models'
    grep -q "demo is 'resnet_18'" err && skip 'this kiln reads no models'
    fail 'no model was made'
}
silent out
expect 0 model --demo mobilenet_v2 --output=m.onnx

# He and others give 1.8 billion multiply-adds for the network, Sandler and others 300 million; both
# count the last layer, which is none of kiln's, of 0.5 and 1.3 million.
expect 0 model r.onnx --dry-run
says '^model   r.onnx, opset 13, by kiln$'
says '^device  none$'
says '^Conv_0  .* fwd-f32-n1-c3-k64-i224x224-f7x7-s2x2-p3x3-bias-act:relu \(bias, Relu\)$'
says '^Conv_5 .* fwd-f32-n1-c64-k64-i56x56-f3x3-p1x1-bias-r1-act:relu \(bias, Add residual, Relu\)$'
says '^total   20 convolutions, 20 with a size, 15 different; 20 runs, 3627\.1 MFLOP, .* ms predicted'
expect 0 model m.onnx --dry-run
says '^total   52 convolutions, 52 with a size, 30 different; 52 runs, 598\.99 MFLOP'
says '-act:clipped_relu:6 \(bias, Clip\)$'
expect 0 model m.onnx --dry-run --batch 4
says 'fwd-f32-n4-c3-k32-i224x224-f3x3-s2x2-p1x1-bias'
says '52 runs, 2396 MFLOP'
expect 0 model m.onnx --dry-run --input image=2x3x96x96
says 'fwd-f32-n2-c3-k32-i96x96-f3x3-s2x2-p1x1-bias'
expect 0 model m.onnx --dry-run -I NHWC -O NHWC
says 'fwd-f32-n1-c32-k16-i112x112-f1x1-l:NHWC.OIHW.NHWC-bias'
expect 0 conv --batch m.onnx --dry-run -I NHWC -O NHWC --match k16
says 'fwd-f32-n1-c32-k16-i112x112-f1x1-l:NHWC.OIHW.NHWC-bias'
expect 2 model m.onnx --dry-run -I NHCV
says 'in_layout \(-I\): .V. in layout .NHCV. is not one of the dims'
expect 0 model m.onnx --dry-run --json
[ "$(wc -l <out)" -eq 31 ] || fail 'not one object for each of 30 problems and the total'
says '^\{"schema":1,"model":"m.onnx","device":"none","layer":"Conv_0","operator":"Conv","times":1,"mflop":21'
says '"layer":"total","operator":null,"times":52,'
expect 0 model m.onnx --dry-run --csv
[ "$(wc -l <out)" -eq 32 ] || fail 'not a head, 30 problems and the total'

# A model is a file of problems.
expect 0 conv --batch m.onnx --dry-run
says '^52 problems: 52 ok, 0 failed, 0 unsupported, 0 errors$'
says '^kiln conv --problem fwd-f32-n1-c3-k32-i224x224.*# Conv_0$'
expect 0 conv --batch m.onnx --dry-run --match g96 -n 3
says '^kiln conv --problem fwd-f32-n3-c96-k96-i112x112-f3x3-s2x2-p1x1-g96'
says '^4 problems: 4 ok'
expect 0 tune m.onnx --dry-run
says 'fwd-f32-n1-c3-k32-i224x224-f3x3-s2x2-p1x1-bias'

# What is refused.
refused() { # status, sentence, words...
    wanted=$1 sentence=$2
    shift 2
    expect "$wanted" model "$@"
    silent out
    warns "$sentence"
    [ "$(wc -l <err)" -eq 1 ] || fail "more than one line of error for 'kiln model $*'"
}
refused 2 '^kiln model: name a model: kiln model FILE.onnx$'
refused 2 "'n.onnx' is a second file" m.onnx n.onnx
refused 5 '^kiln model: n.onnx: No such file' n.onnx
refused 2 "demo is 'vgg'" --demo vgg -o v.onnx
refused 2 'needs -o FILE' --demo resnet_18
refused 2 'belongs to --demo' m.onnx -o x
refused 2 '^kiln model: --demo needs a value' --demo
refused 2 'input names .y.; the model.s inputs are image$' m.onnx --input y=1
refused 2 'sizes must be whole numbers from 1 on' m.onnx --input image=1x3xa
refused 2 'of 3 dims; the model.s input has 4' m.onnx --input image=1x3x8
refused 2 'dim names .height., which no input has' m.onnx --dim height=8
refused 2 'said by the model' m.onnx -c 3
refused 2 'is no flag of kiln model' m.onnx -F 1
: >empty.onnx
refused 2 'empty.onnx: the file is empty$' empty.onnx
head -c 1000 m.onnx >cut.onnx
refused 2 'damaged: a length leads past the end at byte' cut.onnx
echo '# a list' >list.onnx
refused 2 'list.onnx: the file is no ONNX model, or damaged' list.onnx
mkdir folder.onnx
refused 5 'folder.onnx: it is no regular file$' folder.onnx
expect 2 conv --batch cut.onnx
warns '^kiln: --batch cut.onnx: the file is no ONNX model, or damaged'

# Measured: the smallest sizes that the network takes, one run each.
expect 0 model r.onnx --input image=1x3x32x32 -i 1
lacks 'predicted'
says '^Conv_0 .* [0-9.e-]+  +[0-9.]+%  '
expect 0 model r.onnx --input image=1x3x32x32 -i 1 --predict
says 'predicted'

# kiln report shows what kiln model measured, and of other files what a model has.
expect 0 model r.onnx --input image=1x3x32x32 -i 1 --json
cp out r.json
expect 0 report r.json --limits none -o -
says 'fwd-f32-n1-c3-k64-i32x32-f7x7-s2x2-p3x3-bias-act:relu'
expect 0 report r.json r.onnx --batch 1 --input image=1x3x32x32 --limits none -o own.html
warns '^own.html: 1 device, 15 layers'
expect 0 report r.json r.onnx --limits none -o other.html
warns '^other.html: .* 0 layers'
expect 2 report r.json cut.onnx --limits none
warns '^kiln report: cut.onnx: the file is no ONNX model, or damaged'
