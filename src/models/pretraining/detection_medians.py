"""The graph of medians of the network of detection, written by hand: equal to the bit to the exported one, and faster.

The exporter has an operator for every line of network.py and detection_network.py. Here

  pattern    what depends on `observed` alone is computed once if all rows of a run have the same
  masks      factors of 0 or 1 are left out where the other factor is 0, and where an index can read a 0 of the horizon
  anchors    the cycles of both lags are read together; logarithms are taken of eight numbers a row (median_graph.py)
  positions  rotary embeddings look their angles up

Sums keep their order. So tables are sliced as before: constant ones are packed and summed in other blocks, after which
eight-bit inputs round differently and forecasts differ by up to 0.006 of the largest.

Without gain, as a ratio of the time of 32 rows of context 512: a fixed context 1.00, patches left out where no row is
observed 1.02, MultiHeadAttention 1.11, SkipSimplifiedLayerNormalization 0.98 to 1.01, RotaryEmbedding of com.microsoft
0.98 to 1.06; options of the session: no memory pattern 1.02 (8 rows of 64: 1.15), no arena 1.00, no prepacking 1.10,
denormals as zero 0.99.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import onnx
from numpy.typing import ArrayLike
from onnx import TensorProto, helper, numpy_helper

PATCH, WIDTH, HEADS, BLOCKS, CLAMP = 16, 128, 4, ("blocks.0", "blocks.1"), 10.0
INPUTS = 7 * PATCH + 8  # of a patch: seven channels, eight scalars
LAG_MIN, LAG_PENALTY, CYCLES, DRIFT_MEMORY = 3, 0.03 / 352, 3, (0.8, 0.97)
END = 2**62  # of a slice to the end


class Nodes:
    """Nodes of a graph or branch. A call of an operator's name adds one, and returns the names of its outputs."""

    def __init__(self, tensors: dict[str, TensorProto], prefix: str = "") -> None:
        self.tensors, self.prefix, self.list = tensors, prefix, []

    def __getattr__(self, operator: str) -> Callable:
        def add(*inputs: str | ArrayLike, outputs: int = 1, domain: str = "", **attributes):
            name = f"{self.prefix}{operator}_{len(self.list)}"
            names = [name] if outputs == 1 else [f"{name}_{at}" for at in range(outputs)]
            given = [x if isinstance(x, str) else self.constant(x) for x in inputs]
            self.list.append(helper.make_node(operator, given, names, domain=domain, **attributes))
            return name if outputs == 1 else names

        return add

    def constant(self, value: ArrayLike) -> str:
        array = np.asarray(value)
        array = array.astype(np.int64 if array.dtype.kind == "i" else np.float32)
        name = "_".join(["constant", array.dtype.name, *map(str, array.shape), array.tobytes().hex()])
        self.tensors.setdefault(name, numpy_helper.from_array(array, name))
        return name

    def choose(self, condition: str, then: Callable[[Nodes], str], other: Callable[[Nodes], str]) -> str:
        branches = []
        for name, make in (("then", then), ("else", other)):
            nodes = Nodes(self.tensors, f"{name}_")
            output = helper.make_tensor_value_info(make(nodes), TensorProto.FLOAT, None)
            branches.append(helper.make_graph(nodes.list, name, [], [output]))
        return self.If(condition, then_branch=branches[0], else_branch=branches[1])

    def sum(self, x: str) -> str:
        return self.ReduceSum(x, [1], keepdims=1)

    def largest(self, x: str) -> str:
        return self.ReduceMax(x, [1], keepdims=1)

    def float(self, x: str) -> str:
        return self.Cast(x, to=TensorProto.FLOAT)

    def range(self, end: str) -> str:
        return self.Range(0, self.Squeeze(end), 1)


@dataclass
class Context:
    """A normalised batch; the numbers of a row are [batch, 1]. `pattern` is `observed`, or one row if all are equal."""

    pattern: str
    count: str
    position: str
    a: str
    peak: str
    mean: str
    std: str
    last: str
    step: str
    drifts: str


def detection_medians(model: onnx.ModelProto) -> None:
    """Rewrites what keep_median (median_graph.py) has made of the exported graph."""
    graph = model.graph
    tensors = {tensor.name: tensor for tensor in graph.initializer}
    tables = [node for node in graph.node if node.output[0].startswith("seasons.")]
    gemms = [node for node in graph.node if node.op_type == "Gemm"]
    (skip,) = (gemm.output[0] for gemm in gemms if gemm.input[1] == "embed.skip.weight")
    (down,) = (gemm.input[1] for gemm in gemms if gemm.input[2] == skip)
    for name in ("cos", "sin"):
        half = numpy_helper.to_array(tensors[f"rotate.{name}"])[:, : WIDTH // HEADS // 2]
        tensors[f"rotate.{name}"] = numpy_helper.from_array(np.ascontiguousarray(half), f"rotate.{name}")
    n = Nodes(tensors)
    sizes = [n.Shape("observed", start=at, end=at + 1) for at in (0, 1)] + [n.Shape("future", start=1, end=2)]
    s = scaled(n, sizes[1])
    lags, errors = seasons(n, s, *sizes[:2])
    patches, anchors, logs = features(n, s, lags, errors, *sizes)
    head = network(n, patches, down, s, *sizes)
    medians(n, head, anchors, logs, s, sizes[2])
    del graph.node[:], graph.initializer[:]
    graph.node.extend([*tables, *n.list])
    branches = [a.g.node for node in graph.node for a in node.attribute if a.type == onnx.AttributeProto.GRAPH]
    used = {name for nodes in (graph.node, *branches) for node in nodes for name in node.input}
    graph.initializer.extend(tensor for name, tensor in tensors.items() if name in used)


def scaled(n: Nodes, context: str) -> Context:
    """As `scale` of network.py, of `values` that are 0 where nothing was observed."""
    first = n.Slice("observed", [0], [1], [0])
    equal = n.ReduceMin(n.float(n.Equal("observed", first)), keepdims=0)
    pattern = n.choose(
        n.Cast(equal, to=TensorProto.BOOL),
        lambda branch: branch.Slice("observed", [0], [1], [0]),
        lambda branch: branch.Identity("observed"),
    )
    peak = n.largest(n.Abs("values"))
    v = n.Div("values", n.Clip(peak, 1e-30))
    count = n.sum(pattern)
    most = n.Clip(count, 1.0)
    mean = n.Div(n.sum(v), most)
    mean = n.Add(mean, n.Div(n.sum(n.Mul(n.Sub(v, mean), pattern)), most))
    d = n.Mul(n.Sub(v, mean), pattern)
    std = n.Clip(n.Sqrt(n.Div(n.sum(n.Mul(d, d)), most)), 1e-6)
    a = n.Asinh(n.Div(d, std))
    position = n.float(n.range(context))
    newest = n.largest(n.Mul(n.Add(position, 1.0), pattern))  # 0 without any
    at = n.Cast(n.Clip(n.Sub(newest, 1.0), 0.0), to=TensorProto.INT64)
    last = n.GatherElements(a, n.Expand(at, n.Concat(n.Shape("observed", start=0, end=1), [1], axis=0)), axis=1)
    earlier = [0, 1, 0, -1]
    pairs = n.Mul(pattern, n.Pad(pattern, earlier))
    steps = n.Mul(n.Sub(a, n.Pad(a, earlier)), pairs)
    step = n.Clip(n.Div(n.sum(n.Abs(steps)), n.Clip(n.sum(pairs), 1.0)), 1e-3, 2.0)
    ago = n.Clip(n.Sub(newest, n.Add(position, 1.0)), 0.0)
    drifts = []
    for memory in DRIFT_MEMORY:
        weight = n.Mul(pairs, n.Exp(n.Mul(ago, math.log(memory))))
        drifts.append(n.Div(n.sum(n.Mul(steps, weight)), n.Clip(n.sum(weight), 1e-6)))
    return Context(pattern, count, position, a, peak, mean, std, last, step, n.Concat(*drifts, axis=1))


def seasons(n: Nodes, s: Context, batch: str, context: str) -> tuple[str, str]:
    """As seasonality.py: both lags and their errors, [batch, 2]."""
    fitting = n.Sub(context, [LAG_MIN])
    inverse = n.Slice("seasons.inverse", [0], fitting, [1])
    near = n.Slice("seasons.near", [0, 0], n.Concat(fitting, fitting, axis=0), [0, 1])
    tried = n.Slice("seasons.lag", [0], fitting, [0])
    patterns = n.Shape(s.pattern, start=0, end=1)
    signals, parts = n.Concat(s.a, n.Mul(s.a, s.a), s.pattern, axis=0), n.Concat(batch, batch, patterns, axis=0)
    (re, re_squares, re_pattern), (im, im_squares, im_pattern) = (
        n.Split(n.MatMul(signals, n.Slice(table, [0], context, [0])), parts, axis=0, outputs=3)
        for table in ("seasons.cos", "seasons.sin")
    )
    spectra = [
        n.Add(n.Mul(re, re), n.Mul(im, im)),
        n.Add(n.Mul(re_squares, re_pattern), n.Mul(im_squares, im_pattern)),
        n.Add(n.Mul(re_pattern, re_pattern), n.Mul(im_pattern, im_pattern)),
    ]
    product, squares, pairs = n.Split(n.MatMul(n.Concat(*spectra, axis=0), inverse), parts, axis=0, outputs=3)
    valid = n.float(n.And(n.Greater(pairs, n.Div(s.count, 3.0)), n.Greater(pairs, 8.0)))
    error = n.Div(n.Mul(n.Sub(squares, product), 2.0), n.Clip(pairs, 1.0))
    error = n.Mul(n.Clip(error, 1e-6), valid)
    both, parts = n.Concat(error, valid, axis=0), n.Concat(batch, patterns, axis=0)
    around, known = n.Split(n.MatMul(both, near), parts, axis=0, outputs=2)
    around = n.Clip(n.Div(around, n.Clip(known, 1.0)), 1e-6)
    score = n.Add(n.Div(error, around), n.Mul(tried, LAG_PENALTY))
    score = n.Add(score, n.Mul(n.Sub(1.0, valid), 10.0))
    index = [n.ArgMin(score, axis=1, keepdims=1)]
    longest = n.Mul(n.Add(n.float(index[0]), float(LAG_MIN)), 0.6)
    score = n.Add(score, n.Mul(n.float(n.Greater(tried, longest)), 10.0))
    best = n.Concat(*index, n.ArgMin(score, axis=1, keepdims=1), axis=1)
    errors = n.Clip(n.Sqrt(n.GatherElements(error, best, axis=1)), 1e-3, 2.0)
    return n.Add(n.float(best), float(LAG_MIN)), errors


def features(
    n: Nodes, s: Context, lags: str, errors: str, batch: str, context: str, horizon: str
) -> tuple[str, str, str]:
    """Patches [batch * patches, INPUTS], anchors of the horizon [batch, horizon, 8] and log scales [batch, 4]."""
    a, observed = n.Concat(s.a, "future", axis=1), n.Concat("observed", "future", axis=1)
    u = n.Div(n.Sub(s.a, s.last), s.step)
    local = n.Mul(n.Div(u, n.Add(n.Mul(n.Abs(u), 0.3), 2.0)), s.pattern)
    channels = [a, n.Concat(local, "future", axis=1), observed]
    lag, ahead = n.Unsqueeze(lags, [2]), n.float(n.range(horizon))
    cycles = n.Add(n.Floor(n.Div(ahead, lag)), 1.0)
    newest = n.Sub(n.Add(ahead, n.float(context)), n.Mul(cycles, lag))  # [batch, 2, horizon]

    def read(index: str) -> list[str]:
        """Values and whether they are observed. Before the context the last element is read, a 0 of the horizon."""
        at = n.Cast(n.Clip(index, -1.0), to=TensorProto.INT32)
        return [n.GatherElements(x, at, axis=1) for x in (a, observed)]

    halves = (n.Split(x, axis=1, num_outputs=2, outputs=2) for x in (lags, newest))
    for one, ending in zip(*halves):
        channels += read(n.Concat(n.Sub(s.position, one), n.Squeeze(ending, [1]), axis=1))
    back = n.Mul(n.Unsqueeze(lag, [3]), np.arange(CYCLES, dtype=float)[:, None])
    index = n.Sub(n.Unsqueeze(newest, [2]), back)  # [batch, 2, CYCLES, horizon]
    cycles = [n.Reshape(x, n.Shape(index)) for x in read(n.Reshape(index, [0, -1]))]
    (value, *values), (known, *knowns) = (n.Split(x, axis=2, num_outputs=CYCLES, outputs=CYCLES) for x in cycles)
    total, count = value, known
    for more, seen in zip(values, knowns):
        total, count = n.Add(total, more), n.Add(count, seen)
    last, zero = n.Unsqueeze(s.last, [2]), n.Unsqueeze("future", [1])
    both = n.Concat(value, n.Div(total, n.Clip(count, 1.0)), axis=2)
    seasonal = n.Where(n.Greater(known, 0.0), both, n.Unsqueeze(last, [3]))
    seasonal = n.Reshape(seasonal, n.Concat([0, 4], horizon, axis=0))
    lines = n.Clip(n.Add(last, n.Mul(n.Unsqueeze(s.drifts, [2]), n.Add(ahead, 1.0))), -CLAMP, CLAMP)
    anchors = n.Transpose(n.Concat(zero, n.Add(zero, last), lines, seasonal, axis=1), perm=[0, 2, 1])

    one = n.Expand(np.ones((1, 1)), n.Concat(batch, [1], axis=0))
    numbers = n.Log(n.Concat(one, s.step, errors, lags, lags, axis=1))
    logs, log_lags, _ = n.Split(numbers, [4, 2, 2], axis=1, outputs=3)
    octaves = n.Sub(n.Div(log_lags, math.log(2)), 4.0)
    halved = [n.Mul(x, 0.5) for x in (n.Slice(logs, [1], [4], [1]), octaves)]
    scalars = n.Unsqueeze(n.Concat(*halved, s.last, n.Div(s.drifts, s.step), axis=1), [1])
    patches = [n.Reshape(x, [0, -1, PATCH]) for x in channels]
    whole = n.Expand(scalars, n.Concat([1], n.Shape(patches[0], start=1, end=2), [1], axis=0))
    return n.Reshape(n.Concat(*patches, whole, axis=2), [-1, INPUTS]), anchors, logs


def network(n: Nodes, patches: str, down: str, s: Context, batch: str, context: str, horizon: str) -> str:
    """Outputs of the head, [batch * patches of the horizon, PATCH * 13]."""
    keys, asked = n.Div(context, [PATCH]), n.Div(horizon, [PATCH])
    tokens = n.Add(keys, asked)
    up = n.Relu(n.Gemm(patches, "embed.up.weight", "embed.up.bias", transB=1))
    x = n.Gemm(up, down, n.Gemm(patches, "embed.skip.weight", "embed.skip.bias", transB=1))
    x = n.Reshape(x, n.Concat([-1], tokens, [WIDTH], axis=0))
    positions = n.Expand(n.range(tokens), n.Concat(batch, tokens, axis=0))
    shown = n.ReduceMax(n.Reshape(s.pattern, [0, -1, PATCH]), [2], keepdims=0)
    bias = n.Unsqueeze(n.Mul(n.Sub(shown, 1.0), 1e9), [1, 2])

    def norm(x: str, name: str) -> str:
        return n.RMSNormalization(x, f"{name}.weight", axis=-1, epsilon=1e-6)

    def steps(x: str, block: str, part: str) -> str:
        return n.QuantizeLinear(x, f"{block}.{part}.step", zero(part))

    def product(x: str, block: str, part: str, step: str) -> str:
        weights, scales = (f"{block}.{part}.{of}" for of in ("weights", "scales"))
        zeros = "blocks.0.up.zeros" if part == "up" else "blocks.0.q.zeros"
        factors = (x, weights, f"{block}.{step}.step", scales, zero(part), zeros)
        return n.MatMulIntegerToFloat(*factors, domain="com.microsoft")

    def linear(x: str, block: str, part: str) -> str:
        return product(steps(x, block, part), block, part, part)

    def rotate(x: str, at: str) -> str:
        return n.RotaryEmbedding(x, "rotate.cos", "rotate.sin", at, num_heads=HEADS)

    for block in BLOCKS:
        y = norm(x, f"{block}.norm_attention")
        queries, at, count = y, positions, tokens
        if block == BLOCKS[-1]:
            x, queries, at = (n.Slice(each, keys, [END], [1]) for each in (x, y, positions))
            count = asked
        q = rotate(linear(queries, block, "q"), at)
        shown = steps(n.Slice(y, [0], keys, [1]), block, "k")
        k = rotate(product(shown, block, "k", "k"), n.Slice(positions, [0], keys, [1]))
        v = product(shown, block, "v", "k")
        mask = n.Expand(bias, n.Concat(batch, [1], count, [1], axis=0))
        seen = n.Attention(q, k, v, mask, q_num_heads=HEADS, kv_num_heads=HEADS)
        x = n.Add(x, linear(seen, block, "out"))
        hidden = n.Relu(linear(norm(x, f"{block}.norm_mlp"), block, "up"))
        x = n.Add(x, linear(n.Mul(hidden, hidden), block, "down"))
    y = n.Reshape(norm(x, "norm"), [-1, WIDTH])
    up = n.Relu(n.Gemm(y, "head.up.weight", "head.up.bias", transB=1))
    return n.Gemm(up, "median.down.weight", n.Gemm(y, "median.skip.weight", "median.skip.bias", transB=1))


def zero(part: str) -> str:
    """The zero point of the inputs of a product; that of rectified ones is 0."""
    return "blocks.0.down.zero" if part == "down" else "blocks.0.q.zero"


def medians(n: Nodes, head: str, anchors: str, logs: str, s: Context, horizon: str) -> None:
    """As `mixture` and `backward` of network.py."""
    rows = n.Reshape(head, n.Concat([-1], horizon, "median.step", axis=0))
    q, gate, size = n.Split(rows, "median.sizes", axis=2, outputs=3)
    location = n.ReduceSum(n.Mul(n.Softmax(gate, axis=-1), anchors), [-1], keepdims=1)
    width = n.ReduceSum(n.Mul(n.Softmax(size, axis=-1), n.Unsqueeze(logs, [1])), [-1], keepdims=1)
    a = n.Clip(n.Add(location, n.Mul(n.Exp(width), q)), -CLAMP, CLAMP)
    std, mean, peak = (n.Unsqueeze(x, [2]) for x in (s.std, s.mean, s.peak))
    n.Mul(n.Add(n.Mul(n.Sinh(a), std), mean), peak)
    n.list[-1].output[0] = "quantiles"
