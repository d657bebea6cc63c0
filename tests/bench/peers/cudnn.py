"""The peer of bench_gpu: times convolutions through PyTorch and cuDNN.

Prints one line that says what it is, then answers each line of its input with one line of output.
A line of input is the name of a problem (fwd-f32-n64-c256-k64-i56x56-f1x1); the answer is the time of
one run in milliseconds and the faster of the formats NCHW and NHWC, or "none" and the reason. A time is
the median of seven replays of a CUDA graph of twenty runs, so that launches cost the host nothing,
with cuDNN in benchmark mode, and with TF32 where the name has "-reduced". Where the name gives layouts
(-l:NHWC.OHWI.NHWC), tensors have these.
"""
import re
import sys

try:
    import torch

    if not torch.cuda.is_available():
        raise RuntimeError("PyTorch finds no CUDA device")
except (ImportError, RuntimeError) as error:
    print("none", error, flush=True)
    sys.exit(0)

REPLAYS, RUNS = 7, 20
KINDS = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}


def axes(text, letter, default):
    """Returns the values of a part such as -s2x2, one for each axis."""
    found = re.search(r"-%s(\d+(?:x\d+)*)(?=-|$)" % letter, text)
    return tuple(int(v) for v in found.group(1).split("x")) if found else default


def graph_ms(run):
    for _ in range(5):
        run()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(RUNS):
            run()
    times = []
    for _ in range(REPLAYS):
        begin, end = torch.cuda.Event(True), torch.cuda.Event(True)
        begin.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) / RUNS)
    return sorted(times)[REPLAYS // 2]


def convolution(name, last):
    """Returns a function that runs the problem once, in NHWC where `last`."""
    direction, kind, name = name.split("-", 2)
    name = "-" + name
    image = axes(name, "i", None)
    rank = len(image)
    n, c, k = (axes(name, letter, None)[0] for letter in "nck")
    groups = axes(name, "g", (1,))[0]
    taps = axes(name, "f", None)
    stride, dilation = axes(name, "s", (1,) * rank), axes(name, "d", (1,) * rank)
    padding = axes(name, "p", (0,) * rank)
    given = re.search(r"-l:(\w+)\.(\w+)\.(\w+)", name)
    if re.search(r"-e\d|-trans", name) or kind not in KINDS:
        raise ValueError("not a plain convolution of floats with equal padding")
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = "-reduced" in name
    forms = {2: torch.channels_last, 3: torch.channels_last_3d}
    if last and rank not in forms:
        raise ValueError("PyTorch has no such format")
    form = filters = forms[rank] if last else torch.contiguous_format
    if given:
        data, weights, result = given.groups()
        if data != ("NHWC" if last else "NCHW") or result != data or weights not in ("OIHW", "OHWI"):
            raise ValueError("PyTorch has no layouts " + given.group(0))
        filters = forms[rank] if weights == "OHWI" else torch.contiguous_format
    call = {1: torch.nn.functional.conv1d, 2: torch.nn.functional.conv2d,
            3: torch.nn.functional.conv3d}[rank]
    place = {"device": "cuda", "dtype": KINDS[kind]}
    x = torch.randn(n, c, *image, **place).contiguous(memory_format=form)
    w = torch.randn(k, c // groups, *taps, **place).contiguous(memory_format=filters)
    if direction == "fwd":
        return lambda: call(x, w, None, stride, padding, dilation, groups)
    dy = torch.randn_like(call(x, w, None, stride, padding, dilation, groups))
    wanted = [direction == "bwd", direction == "wrw", False]
    return lambda: torch.ops.aten.convolution_backward(
        dy, x, w, None, stride, padding, dilation, False, [0] * rank, groups, wanted)


def answer(name):
    best = None
    why = ""
    for last in (False, True):
        try:
            ms = graph_ms(convolution(name, last))
            if best is None or ms < best[0]:
                best = (ms, "NHWC" if last else "NCHW")
        except (RuntimeError, ValueError) as error:
            why = str(error).split("\n")[0]
    torch.cuda.empty_cache()
    return "%.6f %s" % best if best else "none " + why


def main():
    torch.backends.cudnn.benchmark = True
    print("PyTorch %s, cuDNN %d, %s" % (torch.__version__, torch.backends.cudnn.version(),
                                        torch.cuda.get_device_name(0)), flush=True)
    for line in sys.stdin:
        print(answer(line.strip()), flush=True)


main()
