"""The network as it is exported: the same forecasts in little more than half the time.

PyTorch's exporter decomposes modules: a norm becomes seven operators, an attention sixteen. Here modules are single
operators (opset 23), and a product, its bias and its activation are one kernel. Dead hidden units are removed, and the
products of the blocks use eight-bit integers. README.md has the measurements.
"""

from __future__ import annotations

import copy

import torch
from torch import Tensor, nn
from torch.onnx.ops import symbolic

from group_network import univariate
from design import Design
from generator.pool import Pool
from network import Block, Network, ResidualMLP, RMSNorm, Rotary

SEED, ROUNDS, CROPS = 9, 4, 192
# Context and horizon of the crops, besides the longest of a design.
SHAPES = ((512, 128), (256, 32), (128, 32), (64, 16))
# Seven bits with the sign: processors without VNNI add two products in sixteen bits, where eight would overflow.
WEIGHT_MAX = 63.0


def serving_network(network: Network, design: Design, quantised: bool = True) -> Network:
    """A copy for export. Without quantisation it gives the numbers of the network itself, up to rounding.

    A network for groups is calibrated as a univariate one: it shares weights with another model, so also scales and
    pruning. Its group context is not quantised.
    """
    network = copy.deepcopy(network)
    largest = largest_inputs(univariate(network), design)
    for name, module in network.named_modules():
        if isinstance(module, Block) or module is network.head:
            prune(module, largest[f"{name}.down"])
        module.__class__ = SERVED.get(type(module), type(module))
        if quantised and isinstance(module, ServedBlock):
            for part in ("q", "k", "v", "out", "up", "down"):
                quantise(getattr(module, part), largest[f"{name}.{part}"], rectified=part == "down")
    return network


def largest_inputs(network: Network, design: Design) -> dict[str, Tensor]:
    """The largest magnitude of every input of every linear map, on synthetic series."""
    largest: dict[str, Tensor] = {}

    def recorder(name: str):
        def record(_: nn.Module, inputs: tuple[Tensor]) -> None:
            largest[name] = torch.maximum(largest.get(name, torch.zeros(())), inputs[0].flatten(0, -2).abs().amax(0))

        return record

    linear = {name: module for name, module in network.named_modules() if isinstance(module, nn.Linear)}
    hooks = [module.register_forward_pre_hook(recorder(name)) for name, module in linear.items()]
    shapes = sorted({(design.context, design.horizon_max), *SHAPES}, reverse=True)
    pool = Pool(CROPS * ROUNDS, design.series, SEED)
    with torch.no_grad():
        for _ in range(ROUNDS):
            for context, horizon in shapes:
                values, observed = (torch.from_numpy(x[:, :context]) for x in pool.draw(CROPS, context, horizon))
                network(values, observed, torch.zeros(CROPS, horizon))
            pool.refresh(CROPS)
    for handle in hooks:
        handle.remove()
    return largest


def prune(module: Block | ResidualMLP, largest: Tensor) -> None:
    """Removes the hidden units that are 0 on all series. Not those of the embedding: unusual series activate them."""
    alive = largest > 0
    for parameter in (module.up.weight, module.up.bias):
        if parameter is not None:
            parameter.data = parameter.data[alive]
    module.down.weight.data = module.down.weight.data[:, alive]


def quantise(linear: nn.Linear, largest: Tensor, rectified: bool) -> None:
    """Fixed scales, one of the inputs and one of each output, so that a row does not depend on the other rows."""
    lowest = 0 if rectified else 128
    step = round_up_to_ten_bits(largest.max() / (255 - lowest))
    scales = linear.weight.data.abs().amax(1).clamp(min=1e-30) / WEIGHT_MAX
    buffers = {
        "step": step,
        "zero": torch.tensor(lowest, dtype=torch.uint8),
        "weights": torch.round(linear.weight.data / scales.unsqueeze(1)).to(torch.int8).T.contiguous(),
        "scales": scales,
        "zeros": torch.zeros(len(scales), dtype=torch.int8),
    }
    for name, buffer in buffers.items():
        linear.register_buffer(name, buffer, persistent=False)
    linear.__class__ = ServedLinear


def round_up_to_ten_bits(x: Tensor) -> Tensor:
    """The next number of ten bits. It makes scales reproducible: the last bits of a maximum depend on the memory
    layout.
    """
    mantissa, exponent = torch.frexp(x)
    return torch.ldexp(torch.ceil(mantissa * 1024) / 1024, exponent)


class ServedLinear(nn.Linear):
    """A product of eight-bit integers, with float32 inputs and outputs."""

    def forward(self, x: Tensor) -> Tensor:
        steps = symbolic("QuantizeLinear", (x, self.step, self.zero), dtype=torch.uint8, shape=x.shape)
        factors = (steps, self.weights, self.step, self.scales, self.zero, self.zeros)
        shape = (*x.shape[:-1], len(self.scales))
        return symbolic("com.microsoft::MatMulIntegerToFloat", factors, dtype=x.dtype, shape=shape, version=1)


class ServedNorm(RMSNorm):
    def forward(self, x: Tensor) -> Tensor:
        return symbolic(
            "RMSNormalization", (x, self.weight), {"axis": -1, "epsilon": 1e-6}, dtype=x.dtype, shape=x.shape
        )


class ServedMLP(ResidualMLP):
    def forward(self, x: Tensor) -> Tensor:
        rows = x.flatten(0, 1)
        hidden = torch.relu(self.up(rows))
        return torch.addmm(self.skip(rows), hidden, self.down.weight.T).unflatten(0, x.shape[:2])


class ServedBlock(Block):
    def forward(self, x: Tensor, keys: int, queries: int, bias: Tensor, rotate: Rotary) -> Tensor:
        y = self.norm_attention(x)
        x = x[:, queries:]
        q = rotate(self.q(y[:, queries:]), queries)
        shown = y[:, :keys]
        k, v = rotate(self.k(shown), 0), self.v(shown)
        mask = bias.expand(-1, -1, q.shape[1], -1)
        heads = {"q_num_heads": self.heads, "kv_num_heads": self.heads}
        x = x + self.out(symbolic("Attention", (q, k, v, mask), heads, dtype=q.dtype, shape=q.shape))
        if self.up.weight.shape[0] == 0:
            return x
        hidden = torch.relu(self.up(self.norm_mlp(x)))
        return x + self.down(hidden * hidden)


class ServedRotary(Rotary):
    def forward(self, t: Tensor, start: int) -> Tensor:
        """t [B, P, width], with the heads side by side."""
        length, dim = t.shape[1], self.cos.shape[1]
        tables = [x[start : start + length, : dim // 2].expand(t.shape[0], -1, -1) for x in (self.cos, self.sin)]
        return symbolic("RotaryEmbedding", (t, *tables), {"num_heads": t.shape[2] // dim}, dtype=t.dtype, shape=t.shape)


SERVED = {RMSNorm: ServedNorm, ResidualMLP: ServedMLP, Block: ServedBlock, Rotary: ServedRotary}
