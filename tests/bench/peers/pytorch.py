"""The second peer of bench_cpu: times convolutions on the CPU through PyTorch, which has a oneDNN of
its own, mostly a newer one.

Prints one line that says what it is, then answers each line of its input with one line of output. A
line of input is the number of seconds to spend, the layout that tensors must have (NCHW or NHWC, or
"any"), that of filters (OIHW or OHWI, or "any": as the tensors), and the name of a problem: "0.05 any any
fwd-f32-n1-c256-k64-i56x56-f1x1". The answer is the time of
one run in milliseconds and the fastest form, or "none" and the reason. Forms of tensors are NCHW, NHWC
(channels_last), and blocked: as another convolution of the same type leaves them, which is what a
network's layers see. Weights are packed before the clock starts, where PyTorch can. A time is the
median of some turns of runs, in one thread of Python: what PyTorch itself does around oneDNN is part of
it. i8 is what PyTorch offers: bytes without a sign, times signed weights, to bytes, in NHWC.
OMP_NUM_THREADS has the number of threads.
"""
import re
import signal
import sys
import time

signal.signal(signal.SIGINT, signal.SIG_IGN)  # the bench ends it, by the end of its input

try:
    import torch

    if not torch.backends.mkldnn.is_available():
        raise RuntimeError("PyTorch was built without oneDNN")
except (ImportError, RuntimeError) as error:
    print("none", error, flush=True)
    sys.exit(0)

TURNS, WARM = 7, 3
KINDS = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "i8": torch.int8}
CALLS = {1: torch.nn.functional.conv1d, 2: torch.nn.functional.conv2d, 3: torch.nn.functional.conv3d}
FORMS = {"NCHW": {n: torch.contiguous_format for n in CALLS},
         "NHWC": {2: torch.channels_last, 3: torch.channels_last_3d}}
FILTERS = {"OIHW": "NCHW", "OHWI": "NHWC"}


class Problem:
    """The parts of a problem's name."""

    def __init__(self, name):
        self.direction, self.kind, rest = name.split("-", 2)
        self.text = "-" + rest
        self.image = self.axes("i", None)
        self.rank = len(self.image)
        self.n, self.c, self.k = (self.axes(letter, None)[0] for letter in "nck")
        self.groups = self.axes("g", (1,))[0]
        self.taps = self.axes("f", None)
        ones = (1,) * self.rank
        self.stride, self.dilation = self.axes("s", ones), self.axes("d", ones)
        self.padding = self.axes("p", (0,) * self.rank)
        if re.search(r"-e\d|-trans|-l[A-Z]", self.text) or self.kind not in KINDS:
            raise ValueError("not a plain convolution with equal padding")

    def axes(self, letter, default):
        """Returns the values of a part such as -s2x2, one for each axis."""
        found = re.search(r"-%s(\d+(?:x\d+)*)(?=-|$)" % letter, self.text)
        return tuple(int(v) for v in found.group(1).split("x")) if found else default

    def x(self):
        return torch.rand(self.n, self.c, *self.image) - 0.5

    def w(self):
        return torch.rand(self.k, self.c // self.groups, *self.taps) - 0.5

    def kind_of(self, tensor):
        return tensor.to(KINDS[self.kind])

    def geometry(self):
        return self.stride, self.padding, self.dilation, self.groups


def pack(p, w, *size):
    """Returns the weights in the format that oneDNN asks for."""
    reorder = {2: torch._C._nn.mkldnn_reorder_conv2d_weight,
               3: torch._C._nn.mkldnn_reorder_conv3d_weight}[p.rank]
    try:
        return reorder(w.to_mkldnn(), p.padding, p.stride, p.dilation, p.groups, *size)
    except TypeError:
        return reorder(w.to_mkldnn(), p.padding, p.stride, p.dilation, p.groups)


def blocked(p):
    """Tensors that stay in oneDNN's formats: x is the result of a 1x1 convolution."""
    before = p.kind_of(torch.rand(p.c, p.c, *(1,) * p.rank) - 0.5).to_mkldnn()
    ones, none = (1,) * p.rank, (0,) * p.rank
    x = torch.mkldnn_convolution(p.kind_of(p.x()).to_mkldnn(), before, None, none, ones, ones, 1)
    w = pack(p, p.kind_of(p.w()), (p.n, p.c, *p.image))
    return lambda: torch.mkldnn_convolution(x, w, None, p.padding, p.stride, p.dilation, p.groups)


def packed(p, form):
    """Dense tensors and packed weights, as PyTorch's compiler freezes them."""
    x = p.kind_of(p.x()).contiguous(memory_format=FORMS[form][p.rank])
    w = pack(p, p.kind_of(p.w()), tuple(x.shape))
    call = torch.ops.mkldnn._convolution_pointwise
    return lambda: call(x, w, None, p.padding, p.stride, p.dilation, p.groups, "none", [], "")


def dense(p, form, filters):
    """Dense tensors as in a program that is not compiled, in any direction."""
    x = p.kind_of(p.x()).contiguous(memory_format=FORMS[form][p.rank])
    w = p.kind_of(p.w()).contiguous(memory_format=FORMS[FILTERS.get(filters, form)][p.rank])
    call = CALLS[p.rank]
    if p.direction == "fwd":
        return lambda: call(x, w, None, *p.geometry())
    dy = torch.randn_like(call(x, w, None, *p.geometry()))
    wanted = [p.direction == "bwd", p.direction == "wrw", False]
    return lambda: torch.ops.aten.convolution_backward(
        dy, x, w, None, p.stride, p.padding, p.dilation, False, [0] * p.rank, p.groups, wanted)


def quantized(p):
    engines = torch.backends.quantized.supported_engines
    torch.backends.quantized.engine = "x86" if "x86" in engines else "onednn"
    x = torch.quantize_per_tensor(p.x() + 0.5, 1 / 128, 0, torch.quint8)
    w = torch.quantize_per_tensor(p.w(), 1 / 128, 0, torch.qint8)
    x = x.contiguous(memory_format=FORMS["NHWC"][p.rank])
    ops = torch.ops.quantized
    prepack, call = {2: (ops.conv2d_prepack, ops.conv2d),
                     3: (ops.conv3d_prepack, ops.conv3d)}[p.rank]
    held = prepack(w, None, list(p.stride), list(p.padding), list(p.dilation), p.groups)
    return lambda: call(x, held, 0.05, 0)


def ways(p, layout, filters):
    """Yields the names of forms, and functions that make a run of the problem in them."""
    if filters not in FILTERS and filters != "any":
        raise ValueError("PyTorch has no filters in " + filters)
    if p.kind == "i8":
        if p.direction == "fwd" and layout != "NCHW":
            yield "NHWC, u8 to u8", lambda: quantized(p)
        return
    if layout == "any" and p.direction == "fwd":
        yield "blocked", lambda: blocked(p)
    for form in FORMS:
        if layout in ("any", form):
            if p.direction == "fwd":
                yield form, lambda form=form: packed(p, form)
            yield form + ", not packed", lambda form=form: dense(p, form, filters)


def seconds_of(run, times):
    begin = time.perf_counter()
    for _ in range(times):
        run()
    return (time.perf_counter() - begin) / times


def median_ms(run, seconds, best_ms):
    """Returns the median of turns that last `seconds` together; of fewer where a run is slow, and the
    time of a single run where that is hopeless."""
    first = float("inf")
    for _ in range(WARM):
        first = min(first, seconds_of(run, 1))
        if first * 1e3 > 4 * best_ms:
            return first * 1e3
    turns = max(3, min(TURNS, int(1 / first)))
    times = max(1, int(seconds / turns / first))
    return sorted(seconds_of(run, times) for _ in range(turns))[turns // 2] * 1e3


def answer(line):
    seconds, layout, filters, name = line.split()
    best, best_form, why = float("inf"), None, "PyTorch has no such convolution"
    try:
        for form, make in ways(Problem(name), layout, filters):
            try:
                ms = median_ms(make(), float(seconds), best)
                if ms < best:
                    best, best_form = ms, form
            except (AttributeError, KeyError, RuntimeError, TypeError, ValueError) as error:
                why = "%s: %s" % (form, str(error).split("\n")[0])
    except (TypeError, ValueError) as error:
        why = str(error)
    return "%.6f %s" % (best, best_form) if best_form else "none " + why


def main():
    with torch.inference_mode():
        version = re.search(r"MKL-DNN v([\d.]+)|oneDNN v([\d.]+)", torch.__config__.show())
        print("PyTorch %s, oneDNN %s, %d threads" % (
            torch.__version__, next(filter(None, version.groups())) if version else "of the system",
            torch.get_num_threads()), flush=True)
        for line in sys.stdin:
            print(answer(line.strip()), flush=True)


main()
