#!/usr/bin/env python3
"""Compares kiln's sizes of ONNX models with those of ONNX's own inference.

usage: onnx_shapes.py KILN COUNT [SEED]

Makes COUNT models of random nodes. A value's sizes reach kiln's output by probes: a convolution whose
input has up to three of its dims as spatial axes, made by Shape, Slice, Concat and ConstantOfShape.
Exit status: 0 equal, 1 different, 77 without python3-onnx.
"""
import random, re, subprocess, sys

try:
    import onnx
    from onnx import helper, shape_inference, TensorProto as T, numpy_helper
    import numpy as np
except ImportError:
    sys.exit(77)


class Model:
    def __init__(self, rng, opset):
        self.rng, self.opset = rng, opset
        self.nodes, self.consts, self.values, self.inputs = [], [], {}, []
        self.count = 0

    def name(self):
        self.count += 1
        return f"t{self.count}"

    def input(self, dims, type=T.FLOAT):
        name = self.name()
        self.inputs.append(helper.make_tensor_value_info(name, type, dims))
        self.values[name] = (list(dims), type)
        return name

    def const(self, array):
        name = self.name()
        self.consts.append(numpy_helper.from_array(np.array(array), name))
        return name

    def ints(self, numbers):
        return self.const(np.array(numbers, dtype=np.int64))

    def weights(self, dims):
        return self.const(np.zeros(dims, dtype=np.float32))

    def node(self, op, inputs, outputs=1, **attributes):
        names = [self.name() for _ in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, names, **attributes))
        return names

    def shapes(self):
        """Infers with ONNX; returns the sizes of all values."""
        graph = helper.make_graph(self.nodes, "g", self.inputs, [], self.consts)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)])
        model.graph.output.extend(helper.make_empty_tensor_value_info(n) for n in self.nodes[-1].output if n)
        known = shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
        found = {}
        for v in list(known.graph.value_info) + list(known.graph.input) + list(known.graph.output):
            t = v.type.tensor_type
            if not t.HasField("shape"):
                continue
            dims = [d.dim_value if d.HasField("dim_value") else None for d in t.shape.dim]
            found[v.name] = (dims, t.elem_type)
        return found


def axis_of(r, rank, also_end=False):
    return r.randint(-rank, rank - 1 + also_end)


def grow(m, x):
    """Adds a random node that reads x, whose sizes are known. Returns its results."""
    r, (dims, _) = m.rng, m.values[x]
    rank, opset = len(dims), m.opset
    spatial = rank - 2

    def unary():
        return m.node(r.choice(["Relu", "Sigmoid", "Exp", "LeakyRelu", "Softplus", "Identity", "Neg"]), [x])

    def broadcast():
        other = [r.choice([1, d]) for d in dims][r.randint(0, rank):]
        if r.random() < 0.3:
            other = [r.randint(1, 3)] * (other == dims and rank < 5) + other
        return m.node(r.choice(["Add", "Mul", "Sub", "Div", "Pow"]), [x, m.weights(other)])

    def where():
        return m.node("Where", [m.const(np.zeros([1] * r.randint(0, rank), dtype=bool)), x, m.weights([1])])

    def variadic():
        return m.node(r.choice(["Max", "Min", "Sum", "Mean"]), [x] + [m.weights([dims[-1]]) for _ in range(r.randint(0, 2))])

    def cast():
        return m.node("Cast", [x], to=T.FLOAT)

    def dropout():
        return m.node("Dropout", [x], 2)

    def window():
        k = [r.randint(1, min(3, d)) for d in dims[2:]]
        a = {"kernel_shape": k, "strides": [r.randint(1, 3) for _ in k]}
        how = r.choice(["pads", "SAME_UPPER", "SAME_LOWER", "VALID", "none"])
        if how == "pads":
            a["pads"] = [r.randint(0, q - 1) if q > 1 else 0 for q in k + k]
        elif how != "none":
            a["auto_pad"] = how
        op = r.choice(["MaxPool", "AveragePool", "LpPool"])
        if op == "MaxPool" and opset >= 10 and how in ("pads", "none") and r.random() < 0.5:
            a["dilations"] = [r.randint(1, 2) if (q - 1) * 2 + 1 <= d else 1 for q, d in zip(k, dims[2:])]
        return m.node(op, [x], **a)

    def global_pool():
        return m.node(r.choice(["GlobalAveragePool", "GlobalMaxPool"]), [x])

    def conv():
        k = [r.randint(1, min(3, d)) for d in dims[2:]]
        g = r.choice([g for g in range(1, dims[1] + 1) if dims[1] % g == 0])
        c = g * r.randint(1, 3)
        a = {"group": g, "strides": [r.randint(1, 3) for _ in k]}
        how = r.choice(["pads", "SAME_UPPER", "SAME_LOWER", "VALID"])
        if how == "pads":
            a["pads"] = [r.randint(0, 2) for _ in k + k]
            a["dilations"] = [r.randint(1, 2) if (q - 1) * 2 + 1 <= d else 1 for q, d in zip(k, dims[2:])]
        else:
            a["auto_pad"] = how
        if r.random() < 0.5:
            a["kernel_shape"] = k
        return m.node("Conv", [x, m.weights([c, dims[1] // g] + k)], **a)

    def transposed():
        k = [r.randint(2, 4) for _ in dims[2:]]
        s = [r.randint(1, 3) for _ in k]
        a = {"strides": s, "pads": [r.randint(0, (q - 1) // 2) for q in k] * 2}
        if r.random() < 0.5:
            a["output_padding"] = [r.randint(0, q - 1) for q in s]
        return m.node("ConvTranspose", [x, m.weights([dims[1], r.randint(1, 3)] + k)], **a)

    def resize():
        if opset < 10:
            scales = [1.0, 1.0] + [r.choice([1.0, 2.0, 1.5]) for _ in dims[2:]]
            if opset < 9:
                return m.node("Upsample", [x], scales=scales, mode="nearest")
            return m.node("Upsample", [x, m.const(np.array(scales, dtype=np.float32))], mode="nearest")
        scales = m.const(np.array([1.0, 1.0] + [r.choice([1.0, 2.0, 0.5, 1.7]) for _ in dims[2:]], dtype=np.float32))
        if opset < 11:
            return m.node("Resize", [x, scales])
        if r.random() < 0.5:
            return m.node("Resize", [x, m.const(np.zeros([0], dtype=np.float32)), scales])
        sizes = m.ints(dims[:2] + [r.randint(1, 2 * d) for d in dims[2:]])
        return m.node("Resize", [x, "", "", sizes])

    def concat():
        axis = axis_of(r, rank)
        other = [r.randint(1, 4) if i == axis % rank else d for i, d in enumerate(dims)]
        return m.node("Concat", [x, m.weights(other), x], axis=axis)

    def split():
        axis = axis_of(r, rank)
        d = dims[axis]
        parts = [1, d - 1] if d > 1 and r.random() < 0.7 else None
        if parts is None and d % 2:
            return m.node("Split", [x], 1, axis=axis)
        if parts is None:
            return m.node("Split", [x], 2, axis=axis)
        if opset < 13:
            return m.node("Split", [x], 2, axis=axis, split=parts)
        return m.node("Split", [x, m.ints(parts)], 2, axis=axis)

    def slice_():
        n = r.randint(1, rank)
        axes = r.sample(range(rank), n)
        starts, ends, steps = [], [], []
        for a in axes:
            d = dims[a]
            step = r.choice([1, 1, 2, -1]) if opset >= 10 else 1
            b = r.randint(0, d - 1)
            if step > 0:
                starts.append(r.choice([b, b - d]))
                ends.append(r.choice([d, 2**31 - 1, 2**63 - 1, b + 1]))
            else:
                starts.append(r.choice([b, b - d, 2**31]))
                ends.append(r.choice([-2**31, -d - 1]))
            steps.append(step)
        if opset < 10:
            return m.node("Slice", [x], starts=starts, ends=ends, axes=axes)
        axes = [r.choice([a, a - rank]) for a in axes]
        return m.node("Slice", [x] + [m.ints(l) for l in (starts, ends, axes, steps)])

    def pad():
        pads = [r.randint(0, 2) for _ in range(2 * rank)]
        if opset < 11:
            return m.node("Pad", [x], pads=pads)
        return m.node("Pad", [x, m.ints(pads)])

    def transpose():
        if r.random() < 0.3:
            return m.node("Transpose", [x])
        order = list(range(rank))
        r.shuffle(order)
        return m.node("Transpose", [x], perm=order)

    def reshape():
        total = int(np.prod(dims))
        a = r.choice([d for d in range(1, total + 1) if total % d == 0][:6])
        shape = r.choice([[-1], [a, -1], [-1, a], [0, -1] if rank > 1 else [-1], [a, total // a], [1, a, -1]])
        return m.node("Reshape", [x, m.ints(shape)])

    def flatten():
        return m.node("Flatten", [x], axis=axis_of(r, rank, True) if opset >= 11 else r.randint(0, rank))

    def squeeze():
        ones = [i for i, d in enumerate(dims) if d == 1]
        if not ones:
            return unary()
        # In order: ONNX 1.12 itself leaves axes out that come behind a larger one.
        axes = sorted(r.sample(ones, r.randint(1, len(ones))))
        if opset < 13:
            return m.node("Squeeze", [x], axes=axes)
        return m.node("Squeeze", [x, m.ints(axes)])

    def unsqueeze():
        if rank >= 5:
            return unary()
        axes = r.sample(range(rank + 1), 1)
        if opset < 13:
            return m.node("Unsqueeze", [x], axes=axes)
        return m.node("Unsqueeze", [x, m.ints([axes[0] - r.choice([0, rank + 1])])])

    def expand():
        return m.node("Expand", [x, m.ints([r.choice([1, d]) if d > 1 else r.randint(1, 3) for d in dims])])

    def tile():
        return m.node("Tile", [x, m.ints([r.randint(1, 2) for _ in dims])])

    def gather():
        axis = axis_of(r, rank)
        index = np.zeros([r.randint(1, 3) for _ in range(r.randint(0, 2))], dtype=np.int64)
        if rank - 1 + index.ndim > 5:
            return unary()
        return m.node("Gather", [x, m.const(index)], axis=axis)

    def gather_nd():
        if opset < 11:
            return unary()
        return m.node("GatherND", [x, m.const(np.zeros([2, r.randint(1, rank)], dtype=np.int64))])

    def matmul():
        if rank < 2:
            return unary()
        return m.node("MatMul", [x, m.weights([dims[-1], r.randint(1, 5)])])

    def gemm():
        if rank != 2:
            return flatten()
        t = r.randint(0, 1)
        n = r.randint(1, 5)
        return m.node("Gemm", [x, m.weights([n, dims[1 - 0]] if t else [dims[1], n])], transB=t)

    def reduce():
        axes = r.sample(range(rank), r.randint(1, rank))
        keep = r.randint(0, 1) if len(axes) < rank else 1
        op = r.choice(["ReduceMean", "ReduceMax", "ReduceSum", "ReduceL2"])
        if op == "ReduceSum" and opset >= 13:
            return m.node(op, [x, m.ints(axes)], keepdims=keep)
        return m.node(op, [x], axes=axes, keepdims=keep)

    def top_k():
        axis = axis_of(r, rank)
        k = r.randint(1, dims[axis])
        if opset < 10:
            return m.node("TopK", [x], 2, axis=axis % rank, k=k)[:1]
        return m.node("TopK", [x, m.ints([k])], 2, axis=axis if opset >= 11 else axis % rank)[:1]

    def arg():
        return m.node("Cast", m.node("ArgMax", [x], axis=axis_of(r, rank) if opset >= 11 else r.randint(0, rank - 1)), to=T.FLOAT)

    def norm():
        if opset >= 17 and r.random() < 0.5:
            return m.node("LayerNormalization", [x, m.weights([dims[-1]])], axis=-1)
        c = [m.weights([dims[1]]) for _ in range(4)]
        return m.node("BatchNormalization", [x] + c) if rank > 1 else unary()

    def softmax():
        return m.node("Softmax", [x], axis=r.randint(0, rank - 1))

    def space():
        if rank != 4:
            return unary()
        b = 2
        if dims[1] % 4 == 0:
            return m.node("DepthToSpace", [x], blocksize=b)
        if dims[2] % b == 0 and dims[3] % b == 0:
            return m.node("SpaceToDepth", [x], blocksize=b)
        return unary()

    def recurrent():
        if rank != 3:
            return unary()
        op, gates = r.choice([("LSTM", 4), ("GRU", 3), ("RNN", 1)])
        d, h = r.randint(1, 2), r.randint(1, 4)
        w, v = m.weights([d, gates * h, dims[2]]), m.weights([d, gates * h, h])
        a = {"hidden_size": h, "direction": "bidirectional" if d == 2 else "forward"}
        return m.node(op, [x, w, v], r.randint(1, 2), **a)

    def one_hot():
        i = m.node("ArgMax", [x], axis=0)[0]
        return m.node("OneHot", [i, m.ints([3]), m.const(np.zeros([2], dtype=np.float32))], axis=r.randint(-1, 0))

    def quantize():
        if opset < 13:
            return unary()
        s, z = m.const(np.float32(1)), m.const(np.uint8(0))
        return m.node("DequantizeLinear", [m.node("QuantizeLinear", [x, s, z])[0], s, z])

    def by_shape():
        """The size of an image, doubled by arithmetic on its shape, as exporters write it."""
        if rank != 4 or opset < 13:
            return unary()
        s = m.node("Shape", [x])[0]
        hw = m.node("Slice", [s, m.ints([2]), m.ints([4]), m.ints([0])])[0]
        two = m.node("Mul", [hw, m.ints([2])])[0]
        nc = m.node("Slice", [s, m.ints([0]), m.ints([2]), m.ints([0])])[0]
        return m.node("Resize", [x, "", "", m.node("Concat", [nc, two], axis=0)[0]])

    def range_reshape():
        if opset < 13:
            return unary()
        c = m.node("Gather", [m.node("Shape", [x])[0], m.const(np.int64(rank - 1))], axis=0)[0]
        u = m.node("Unsqueeze", [c, m.ints([0])])[0]
        return m.node("Reshape", [x, m.node("Concat", [m.ints([-1]), u], axis=0)[0]])

    everywhere = [unary, broadcast, where, variadic, cast, dropout, concat, split, slice_, pad, transpose, reshape,
                  flatten, squeeze, unsqueeze, expand, tile, gather, gather_nd, matmul, gemm, reduce, top_k, arg,
                  norm, softmax, recurrent, one_hot, quantize, range_reshape]
    images = [window, window, global_pool, conv, conv, transposed, resize, resize, space, by_shape]
    return r.choice(everywhere + images * 2 if spatial in (1, 2, 3) else everywhere)()


def build(rng):
    opset = rng.choice([7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17])
    m = Model(rng, opset)
    rank = rng.choice([2, 3, 4, 4, 4, 5])
    last = m.input([rng.randint(1, 3), rng.choice([1, 2, 3, 4, 8])][:rank] + [rng.randint(1, 9) for _ in range(rank - 2)])
    for _ in range(rng.randint(2, 9)):
        before = (list(m.nodes), list(m.consts))
        try:
            results = grow(m, last)
            found = m.shapes()
        except Exception as e:  # ONNX refuses it: not a case
            m.nodes, m.consts = before
            continue
        for name, v in found.items():
            m.values.setdefault(name, v)
        choices = [n for n in results if n in found and found[n][1] == T.FLOAT and None not in found[n][0]
                   and 0 not in found[n][0] and 1 <= len(found[n][0]) <= 5 and np.prod(found[n][0]) < 100000]
        if not choices:
            break
        last = rng.choice(choices)
    return m


def probes(m):
    """The model with its probes, and the sizes that each must show."""
    nodes, consts, wanted = list(m.nodes), list(m.consts), {}
    consts += [numpy_helper.from_array(np.array([1, 1], dtype=np.int64), "p_ones"),
               numpy_helper.from_array(np.array([0], dtype=np.int64), "p_zero")]
    produced = [o for n in m.nodes for o in n.output if o]
    for name in produced:
        dims = m.values.get(name, (None, 0))[0]
        if not dims or None in dims or 0 in dims:
            continue
        for at in range(0, len(dims), 3):
            part = dims[at:at + 3]
            p = f"probe_{name}_{at}"
            w = numpy_helper.from_array(np.zeros([1, 1] + [1] * len(part), dtype=np.float32), p + "w")
            consts.append(w)
            nodes.append(helper.make_node("Shape", [name], [p + "s"]))
            if m.opset >= 10:
                consts += [numpy_helper.from_array(np.array([v], dtype=np.int64), p + e)
                           for v, e in ((at, "b"), (at + len(part), "e"))]
                nodes.append(helper.make_node("Slice", [p + "s", p + "b", p + "e", "p_zero"], [p + "c"]))
            else:
                nodes.append(helper.make_node("Slice", [p + "s"], [p + "c"], starts=[at], ends=[at + len(part)], axes=[0]))
            nodes.append(helper.make_node("Concat", ["p_ones", p + "c"], [p + "d"], axis=0))
            if m.opset >= 9:
                nodes.append(helper.make_node("ConstantOfShape", [p + "d"], [p + "x"]))
            else:
                one = numpy_helper.from_array(np.zeros([1], dtype=np.float32), p + "o")
                consts.append(one)
                nodes.append(helper.make_node("Expand", [p + "o", p + "d"], [p + "x"]))
            nodes.append(helper.make_node("Conv", [p + "x", p + "w"], [p + "y"], name=p))
            wanted[p] = part
    graph = helper.make_graph(nodes, "g", m.inputs, [], consts)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", m.opset)])
    return model, wanted


def main():
    kiln, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1
    bad = values = 0
    for i in range(seed, seed + count):
        m = build(random.Random(i))
        model, wanted = probes(m)
        if not wanted:
            continue
        onnx.save(model, "shapes.onnx")
        run = subprocess.run([kiln, "conv", "--batch", "shapes.onnx", "--dry-run"], capture_output=True, text=True)
        out = dict((name, [int(d) for d in dims.split("x")]) for dims, name in
                   re.findall(r"--problem fwd-f32-n1-c1-k1-i([0-9x]+)-f\S* .*# (probe_\S+)", run.stdout))
        values += len(wanted)
        wrong = {p: (d, out.get(p)) for p, d in wanted.items() if out.get(p) != d}
        if wrong:
            bad += 1
            print(f"seed {i}, opset {m.opset}:")
            for p, (w, g) in list(wrong.items())[:2]:
                maker = [n for n in m.nodes if p.split("_")[1] in n.output][0]
                print(f"  {p}: ONNX says {w}, kiln {g}; made by {maker.op_type} of {[m.values.get(x, '?') for x in maker.input]}")
            print("  " + "\n  ".join(run.stderr.strip().splitlines()[:2]))
    print(f"{values} parts of sizes in {count} models, {bad} models differ")
    sys.exit(1 if bad else 0)


main()
