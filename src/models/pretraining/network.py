"""The univariate network: a bidirectional masked-patch transformer that decodes a horizon in one pass.

It works on normalised values: a = asinh((x - mean) / std) over the observed points. A patch without any observation is
never attended to. Padding, long gaps and the horizon are such patches, so padding changes nothing, and the first steps
of a forecast do not depend on the length of the horizon.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from design import TSMODEL_1, Design
from seasonality import SeasonFinder, lagged

QUANTILES = [0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99]
PATCH = 16
ANCHORS = 8  # mean, last value, two drifts, and for each of two lags the last cycle and the average of three
SCALES = 4  # of the series, of its steps, of its two seasonal differences
CHANNELS, SCALARS = 9, 8  # embedded features of a point, and of a whole series
DRIFT_MEMORY = (0.8, 0.97)  # decay of the weight of a step, per step
CLAMP = 10.0  # largest |a| of a forecast: sinh(10) = 11,013 standard deviations


@dataclass
class Scaled:
    """A normalised batch: `a` and `observed` [B, T]; everything else [B, 1]."""

    a: Tensor
    observed: Tensor
    mean: Tensor
    std: Tensor
    peak: Tensor
    last: Tensor
    step: Tensor
    drifts: list[Tensor]

    def forward(self, values: Tensor) -> Tensor:
        """Normalises; values [B, ...]."""
        return torch.asinh((values / self.peak.clamp(min=1e-30) - self.mean) / self.std).clamp(-CLAMP, CLAMP)

    def backward(self, a: Tensor) -> Tensor:
        """Back to the units of the series; a [B, N, Q]."""
        return (torch.sinh(a) * self.std.unsqueeze(-1) + self.mean.unsqueeze(-1)) * self.peak.unsqueeze(-1)


def scale(values: Tensor, observed: Tensor) -> Scaled:
    """Normalises a batch. Finite for any finite input, because the largest magnitude is divided out first."""
    observed = (observed > 0).to(values.dtype)
    v = torch.where(observed > 0, values, torch.zeros_like(values))
    peak = v.abs().amax(1, keepdim=True)  # 0 without observations or for zeros: then the forecast is 0, too
    v = v / peak.clamp(min=1e-30)
    n = observed.sum(1, keepdim=True).clamp(min=1.0)
    mean = (v * observed).sum(1, keepdim=True) / n
    # The second pass removes rounding errors of the first.
    mean = mean + ((v - mean) * observed).sum(1, keepdim=True) / n
    d = (v - mean) * observed
    std = (d * d).sum(1, keepdim=True).div(n).sqrt().clamp(min=1e-6)
    a = torch.asinh(d / std)
    index = torch.arange(1, values.shape[1] + 1, device=values.device).to(values.dtype)
    position = (index * observed).amax(1, keepdim=True)
    last = (a * (index == position).to(values.dtype)).sum(1, keepdim=True)
    # Padded to the full length: sums over 511 points would round differently by the row's index in the batch.
    pairs = observed * F.pad(observed[:, :-1], (1, 0))
    steps = (a - F.pad(a[:, :-1], (1, 0))) * pairs
    step = steps.abs().sum(1, keepdim=True) / pairs.sum(1, keepdim=True).clamp(min=1.0)
    drifts = []
    for memory in DRIFT_MEMORY:
        weight = pairs * torch.exp((position - index).clamp(min=0.0) * math.log(memory))
        drifts.append((steps * weight).sum(1, keepdim=True) / weight.sum(1, keepdim=True).clamp(min=1e-6))
    return Scaled(a, observed, mean, std, peak, last, step.clamp(1e-3, 2.0), drifts)


class RMSNorm(nn.Module):
    """Root mean square normalisation, written out so that the exported graph has standard operators only."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * self.weight


class ResidualMLP(nn.Module):
    """A linear map plus one hidden layer: patch embedding and head."""

    def __init__(self, inputs: int, hidden: int, outputs: int) -> None:
        super().__init__()
        self.skip = nn.Linear(inputs, outputs)
        self.up = nn.Linear(inputs, hidden)
        self.down = nn.Linear(hidden, outputs, bias=False)
        nn.init.zeros_(self.down.weight)

    def forward(self, x: Tensor) -> Tensor:
        return self.skip(x) + self.down(F.relu(self.up(x)))


class Block(nn.Module):
    """Pre-norm attention (RoPE over patch positions) and a squared-ReLU feed-forward layer."""

    def __init__(self, width: int, heads: int, hidden: int) -> None:
        super().__init__()
        self.heads, self.dim = heads, width // heads
        self.norm_attention, self.norm_mlp = RMSNorm(width), RMSNorm(width)
        self.q = nn.Linear(width, width, bias=False)
        self.k = nn.Linear(width, width, bias=False)
        self.v = nn.Linear(width, width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.up = nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)
        nn.init.zeros_(self.out.weight)
        nn.init.zeros_(self.down.weight)

    def split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.heads, self.dim)).transpose(1, 2)

    def forward(self, x: Tensor, keys: int, queries: int, bias: Tensor, rotate: "Rotary") -> Tensor:
        """x [B, P, width]; only the first `keys` tokens are attended to, only those from `queries` on are returned."""
        y = self.norm_attention(x)
        x = x[:, queries:]
        q = rotate(self.split(self.q(y[:, queries:])), queries)
        k = rotate(self.split(self.k(y[:, :keys])), 0)
        v = self.split(self.v(y[:, :keys]))
        weights = torch.softmax(q @ k.transpose(-1, -2) * self.dim**-0.5 + bias, -1)
        x = x + self.out((weights @ v).transpose(1, 2).flatten(2))
        return x + self.down(F.relu(self.up(self.norm_mlp(x))).square())


class Rotary(nn.Module):
    """Rotary position embedding over patches, as t * cos + (t @ R) * sin: without slicing, for a simple graph."""

    def __init__(self, dim: int, positions: int) -> None:
        super().__init__()
        angle = torch.outer(torch.arange(positions).float(), 1000.0 ** (-torch.arange(dim // 2).float() / (dim // 2)))
        half = dim // 2
        rotation = torch.zeros(dim, dim)
        rotation[torch.arange(half) + half, torch.arange(half)] = -1.0
        rotation[torch.arange(half), torch.arange(half) + half] = 1.0
        self.register_buffer("cos", angle.cos().repeat(1, 2), persistent=False)
        self.register_buffer("sin", angle.sin().repeat(1, 2), persistent=False)
        self.register_buffer("rotation", rotation, persistent=False)

    def forward(self, t: Tensor, start: int) -> Tensor:
        length = t.shape[2]
        return t * self.cos[start : start + length] + (t @ self.rotation) * self.sin[start : start + length]


class Network(nn.Module):
    """Quantiles of the unobserved values of a series."""

    def __init__(
        self,
        design: Design = TSMODEL_1,
        width: int = 128,
        layers: int = 4,
        heads: int = 4,
        hidden: int = 384,
        channels: int = CHANNELS,
        embedding: int = 256,
    ) -> None:
        super().__init__()
        self.cycles = design.cycles
        self.seasons = SeasonFinder(design.context, design.lag_max)
        self.embed = ResidualMLP(PATCH * channels + SCALARS, embedding, width)
        self.blocks = nn.ModuleList(Block(width, heads, hidden) for _ in range(layers))
        self.rotate = Rotary(width // heads, (design.context + design.horizon_max) // PATCH)
        self.norm = RMSNorm(width)
        self.head = ResidualMLP(width, 256, PATCH * (len(QUANTILES) + ANCHORS + SCALES))
        # Row 0 of the raw head output is the median; the others are positive steps from one quantile to the next.
        middle = QUANTILES.index(0.5)
        spread = torch.zeros(len(QUANTILES), len(QUANTILES))
        spread[0] = 1.0
        for row in range(1, len(QUANTILES)):
            if row <= middle:
                spread[row, :row] = -1.0
            else:
                spread[row, row:] = 1.0
        self.register_buffer("spread", spread, persistent=False)

    def features(self, s: Scaled, future: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Patches [B, P, PATCH * CHANNELS + SCALARS], seasonal anchors [B, T+H, 4] and log scales [B, SCALES]."""
        pad = torch.zeros_like(future)
        season = self.seasons(s.a, s.observed)
        local = torch.asinh((s.a - s.last) / s.step) * s.observed * 0.5
        channels = [torch.cat([x, pad], 1) for x in (s.a, local, s.observed)]
        anchors = []
        for lag in season.lags:
            newest, average, known = lagged(s.a, s.observed, lag, future.shape[1], self.cycles)
            channels += [newest, average, known]
            anchors += [torch.where(known > 0, newest, s.last), torch.where(known > 0, average, s.last)]
        logs = torch.cat([torch.zeros_like(s.step), s.step.log(), *(e.log() for e in season.errors)], 1)
        scalars = torch.cat([logs[:, 1:] * 0.5, *((lag.log2() - 4.0) * 0.5 for lag in season.lags), s.last], 1)
        scalars = torch.cat([scalars, *(drift / s.step for drift in s.drifts)], 1)
        patches = torch.stack(channels, -1).unflatten(1, (-1, PATCH)).flatten(2)
        whole = scalars.unsqueeze(1).expand(-1, patches.shape[1], -1)
        return torch.cat([patches, whole], -1), torch.stack(anchors, -1), logs

    def encode(self, patches: Tensor, observed: Tensor, first: int) -> Tensor:
        """Runs the blocks; the tokens from `first` on are returned."""
        keys = observed.shape[1] // PATCH
        shown = observed.unflatten(1, (-1, PATCH)).amax(-1)
        bias = ((shown - 1.0) * 1e9).unsqueeze(1).unsqueeze(1)
        x = self.embed(patches)
        for index, block in enumerate(self.blocks):
            x = block(x, keys, first if index == len(self.blocks) - 1 else 0, bias, self.rotate)
        return x

    def decode(self, x: Tensor, seasonal: Tensor, last: Tensor, ahead: Tensor, s: Scaled, logs: Tensor) -> Tensor:
        """Normalised quantiles [B, N, Q]: a mixture of naive forecasts plus the network's own correction.

        last [B, N or 1] is the newest value before each position, ahead [N] the number of steps since then.
        """
        q, gate, size = self.outputs(x)
        return self.mixture(q, gate, self.anchors(seasonal, last, ahead, s), size, logs)

    def outputs(self, x: Tensor) -> list[Tensor]:
        """Outputs of the head at every position: raw quantiles [B, N, Q], gate logits of anchors and of scales."""
        out = self.head(self.norm(x)).unflatten(-1, (PATCH, -1)).flatten(1, 2)
        return list(out.split([len(QUANTILES), ANCHORS, SCALES], -1))

    def anchors(self, seasonal: Tensor, last: Tensor, ahead: Tensor, s: Scaled) -> Tensor:
        """Naive forecasts [B, N, ANCHORS]."""
        last = last.expand(-1, seasonal.shape[1])
        plain = [torch.zeros_like(last), last, *((last + drift * ahead).clamp(-CLAMP, CLAMP) for drift in s.drifts)]
        return torch.cat([torch.stack(plain, -1), seasonal], -1)

    def mixture(self, q: Tensor, gate: Tensor, anchors: Tensor, size: Tensor, logs: Tensor) -> Tensor:
        location = (torch.softmax(gate, -1) * anchors).sum(-1, keepdim=True)
        width = (torch.softmax(size, -1) * logs.unsqueeze(1)).sum(-1, keepdim=True).exp()
        steps = torch.cat([q[..., :1], F.softplus(q[..., 1:] - 1.0)], -1)
        return (location + width * (steps @ self.spread)).clamp(-CLAMP, CLAMP)

    def last_before(self, s: Scaled, horizon: int) -> Tensor:
        """The newest observation before every patch [B, T+H] (0, the mean, without any); training only."""
        index = torch.arange(1, s.a.shape[1] + 1, device=s.a.device) * s.observed.long()
        newest = index.cummax(1).values[:, PATCH - 1 :: PATCH]
        before = torch.cat([torch.zeros_like(newest[:, :1]), newest], 1)
        before = torch.cat([before, before[:, -1:].expand(-1, horizon // PATCH - 1)], 1)
        value = torch.gather(s.a, 1, (before - 1).clamp(min=0)) * (before > 0)
        return value.repeat_interleave(PATCH, 1)

    def training_outputs(self, s: Scaled, future: Tensor) -> tuple[Tensor, Tensor]:
        """Training: normalised quantiles at every position, observed or not [B, T+H, Q]; log scales."""
        with torch.no_grad():
            patches, seasonal, logs = self.features(s, future)
            last = self.last_before(s, future.shape[1])
            ahead = (torch.arange(last.shape[1], device=last.device) - s.a.shape[1] + 1.0).clamp(min=0.0)
        return self.decode(self.encode(patches, s.observed, 0), seasonal, last, ahead, s, logs), logs

    def horizon_outputs(self, values: Tensor, observed: Tensor, future: Tensor) -> tuple[Tensor, Scaled, Tensor]:
        """values, observed [B, T], future [B, H] -> normalised quantiles [B, H, Q]; the normalisation; log scales."""
        context = values.shape[1]
        s = scale(values, observed)
        patches, seasonal, logs = self.features(s, future)
        x = self.encode(patches, s.observed, context // PATCH)
        steps = torch.arange(1, future.shape[1] + 1, device=values.device).to(values.dtype)
        return self.decode(x, seasonal[:, -future.shape[1] :], s.last, steps, s, logs), s, logs

    def forward(self, values: Tensor, observed: Tensor, future: Tensor) -> Tensor:
        """values, observed [B, T], future [B, H] -> quantiles [B, H, Q] in the units of `values`, ascending in Q."""
        a, s, _ = self.horizon_outputs(values, observed, future)
        return s.backward(a)
