"""The network of detection: a smaller one that has learnt the quantiles of a released network (distil.py).

It has two blocks, and its inputs cost less. The average of earlier cycles is an anchor of the horizon alone, not an
input of every patch; the points of a channel lie side by side, so that they are copied in runs; and the newest
values are seen from the last one by a quotient, not by a second asinh.
"""

from __future__ import annotations

import torch
from torch import Tensor

from design import Design
from network import CHANNELS, PATCH, Network, ResidualMLP, Scaled

LAYERS, HIDDEN, EMBEDDING = 2, 256, 128
# Channels of the released network that are kept: all but the averages of the two lags.
KEPT = (0, 1, 2, 3, 5, 6, 8)


def squash(x: Tensor) -> Tensor:
    """Near half of asinh(x) up to 10, and at most 10 / 3: an input alone, which needs no way back."""
    return x / (x.abs() * 0.3 + 2.0)


class DetectionNetwork(Network):
    """Forecasts of a horizon; it imputes nothing."""

    def __init__(self, design: Design) -> None:
        super().__init__(design, layers=LAYERS, hidden=HIDDEN, channels=len(KEPT), embedding=EMBEDDING)

    def features(self, s: Scaled, future: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Patches [B, P, PATCH * len(KEPT) + SCALARS], seasonal anchors of the horizon [B, H, 4] and log scales [B, SCALES]."""
        length = s.a.shape[1]
        season = self.seasons(s.a, s.observed)
        pad = torch.zeros_like(future)
        a, observed = torch.cat([s.a, pad], 1), torch.cat([s.observed, pad], 1)
        channels = [a, squash((a - s.last) / s.step) * observed, observed]
        position = torch.arange(length + future.shape[1], device=a.device).to(a.dtype).unsqueeze(0)
        ahead = position[:, length:] - length
        anchors = []
        for lag in season.lags:
            cycles = torch.floor(ahead / lag) + 1.0
            back = torch.cat([lag.expand(-1, length), cycles * lag], 1)
            newest, known = earlier(s, position - back)
            channels += [newest, known]
            index, total, count = (position - back)[:, length:], newest[:, length:], known[:, length:]
            newest, known = total, count
            for cycle in range(1, self.cycles):
                value, seen = earlier(s, index - cycle * lag)
                total, count = total + value, count + seen
            anchors += [torch.where(known > 0, x, s.last) for x in (newest, total / count.clamp(min=1.0))]
        logs = torch.cat([torch.zeros_like(s.step), s.step.log(), *(e.log() for e in season.errors)], 1)
        scalars = torch.cat([logs[:, 1:] * 0.5, *((lag.log2() - 4.0) * 0.5 for lag in season.lags), s.last], 1)
        scalars = torch.cat([scalars, *(drift / s.step for drift in s.drifts)], 1)
        patches = [x.unflatten(1, (-1, PATCH)) for x in channels]
        whole = scalars.unsqueeze(1).expand(-1, patches[0].shape[1], -1)
        return torch.cat([*patches, whole], -1), torch.stack(anchors, -1), logs


def earlier(s: Scaled, index: Tensor) -> tuple[Tensor, Tensor]:
    """Values of the context at `index`, 0 where there is none, and whether they are observed."""
    inside = (index >= 0).to(s.a.dtype)
    at = index.clamp(min=0.0).long()
    return torch.gather(s.a, 1, at) * inside, torch.gather(s.observed, 1, at) * inside


def first_weights(network: DetectionNetwork, teacher: Network) -> dict[str, Tensor]:
    """Weights to begin with: head, first and last block, and embedding of the released network, as far as they fit."""
    state = {name: w for name, w in teacher.state_dict().items() if not name.startswith("blocks.")}
    embed, columns = teacher.embed, PATCH * CHANNELS
    for name in ("skip", "up"):
        weight = getattr(embed, name).weight.data
        points = weight[:, :columns].unflatten(1, (PATCH, CHANNELS))[..., list(KEPT)].transpose(1, 2).flatten(1)
        state[f"embed.{name}.weight"] = torch.cat([points, weight[:, columns:]], 1)
    kept = loudest(embed, EMBEDDING)
    state["embed.up.weight"] = state["embed.up.weight"][kept]
    state["embed.up.bias"] = embed.up.bias.data[kept]
    state["embed.down.weight"] = embed.down.weight.data[:, kept]
    for at, block in ((0, teacher.blocks[0]), (LAYERS - 1, teacher.blocks[-1])):
        kept = loudest(block, HIDDEN)
        own = block.state_dict()
        own |= {"up.weight": block.up.weight.data[kept], "down.weight": block.down.weight.data[:, kept]}
        state |= {f"blocks.{at}.{name}": weight for name, weight in own.items()}
    assert state.keys() == network.state_dict().keys()
    return state


def loudest(part: ResidualMLP, count: int) -> Tensor:
    """Hidden units with the largest weights, in and out."""
    return (part.down.weight.data.norm(dim=0) * part.up.weight.data.norm(dim=1)).topk(count).indices
