"""The network of tsmodel-2.1: tsmodel-1 with frozen weights, plus the group context. A series alone, or one without a
leader in its group, gets tsmodel-1's forecast.
"""

from __future__ import annotations

import copy

import torch
import torch.nn.functional as F
from torch import Tensor, nn

import leaders
from design import Design
from leaders import LeaderFinder, Leaders
from network import CHANNELS, PATCH, QUANTILES, Network, ResidualMLP, RMSNorm, Scaled, scale

CYCLE, CYCLE_KNOWN = 3, 5  # channels of Network.features: the last cycle of the first season
GATE_OFFSET = 3.0  # subtracted from the gate logits of leaders, so that untrained ones are closed


class VariateAttention(nn.Module):
    """Attention among the members of a group at one patch. Attending to no member is one of the choices."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads, self.dim = heads, width // heads
        self.norm = RMSNorm(width)
        self.q = nn.Linear(width, width, bias=False)
        self.k = nn.Linear(width, width, bias=False)
        self.v = nn.Linear(width, width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        nn.init.zeros_(self.out.weight)

    def split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.heads, self.dim)).permute(1, 2, 0, 3)

    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        """x [R, P, width]; bias [P, 1, R, R] is hugely negative for members that are not attended to."""
        y = self.norm(x)
        scores = self.split(self.q(y)) @ self.split(self.k(y)).transpose(-1, -2) * self.dim**-0.5 + bias
        top = scores.amax(-1, keepdim=True).clamp(min=0.0)
        weights = (scores - top).exp()
        weights = weights / (weights.sum(-1, keepdim=True) + (-top).exp())
        return x + self.out((weights @ self.split(self.v(y))).permute(2, 0, 1, 3).flatten(2))


class GroupNetwork(Network):
    """Quantiles of the unobserved values of a series, given the other members of its group."""

    def __init__(self, design: Design, width: int = 128, layers: int = 4, heads: int = 4) -> None:
        super().__init__(design, width, layers, heads)
        for parameter in self.parameters():
            parameter.requires_grad_(False)
        self.leaders = LeaderFinder(design.context, design.lag_max)
        self.leader_embed = ResidualMLP(PATCH * 2 * leaders.LEADERS + leaders.DESCRIPTORS, 128, width)
        self.variates = nn.ModuleList(VariateAttention(width, heads) for _ in range(layers - 1))
        outputs = len(QUANTILES) + leaders.ANCHORS + leaders.LEADERS
        self.leader_norm = RMSNorm(width)
        self.leader_head = ResidualMLP(width, 128, PATCH * outputs)
        for layer in (self.leader_embed.skip, self.leader_head.skip):
            nn.init.zeros_(layer.weight)
            nn.init.zeros_(layer.bias)

    def find_leaders(self, s: Scaled, patches: Tensor, group: Tensor) -> tuple[Leaders, Tensor]:
        """Leaders of each row; and the attention mask among members, as a bias [P, 1, R, R]."""
        length, row = s.a.shape[1], torch.arange(group.shape[0], device=group.device)
        same_group = ((group.unsqueeze(1) == group) & (row.unsqueeze(1) != row)).to(s.a.dtype)
        channels = patches[:, : length // PATCH, : PATCH * CHANNELS].unflatten(-1, (PATCH, CHANNELS))
        season = (channels[..., CYCLE].flatten(1), channels[..., CYCLE_KNOWN].flatten(1))
        horizon = patches.shape[1] * PATCH - length
        found = self.leaders(s.a, s.observed, s.last, season, same_group, self.seasons, horizon)
        observed_patches = F.pad(s.observed.unflatten(1, (-1, PATCH)).amax(-1), (0, horizon // PATCH), value=1.0)
        allowed = same_group * observed_patches.T.unsqueeze(1)
        return found, ((allowed - 1.0) * 1e9).unsqueeze(1)

    def encode_group(self, patches: Tensor, observed: Tensor, first: int, found: Leaders, bias: Tensor) -> Tensor:
        """As `encode`, with the leaders' signals and attention among members."""
        keys = observed.shape[1] // PATCH
        observed_patches = observed.unflatten(1, (-1, PATCH)).amax(-1)
        hidden = ((observed_patches - 1.0) * 1e9).unsqueeze(1).unsqueeze(1)
        lagged = torch.stack([*found.signals, *found.available], -1).unflatten(1, (-1, PATCH)).flatten(2)
        descriptors = found.descriptors.unsqueeze(1).expand(-1, lagged.shape[1], -1)
        x = self.embed(patches) + self.leader_embed(torch.cat([lagged, descriptors], -1)) * found.found.unsqueeze(1)
        for index, block in enumerate(self.blocks):
            x = block(x, keys, first if index == len(self.blocks) - 1 else 0, hidden, self.rotate)
            if index < len(self.variates):
                x = self.variates[index](x, bias)
        return x

    def decode_group(self, x: Tensor, anchors: Tensor, leader_anchors: Tensor, logs: Tensor, found: Leaders) -> Tensor:
        """As `decode`, and equal to it for a row without a leader; leader_anchors [R, N, leaders.ANCHORS]."""
        q, gate, size = self.outputs(x)
        more = self.leader_head(self.leader_norm(x)).unflatten(-1, (PATCH, -1)).flatten(1, 2)
        more_q, more_gate, more_size = more.split([len(QUANTILES), leaders.ANCHORS, leaders.LEADERS], -1)
        here = found.found.unsqueeze(-1)
        absent = (here - 1.0) * 1e9
        gates = torch.cat([gate, more_gate + absent - GATE_OFFSET], -1)
        sizes = torch.cat([size, more_size + absent - GATE_OFFSET], -1)
        every, widths = torch.cat([anchors, leader_anchors], -1), torch.cat([logs, found.log_scales], -1)
        # Sums over more terms round differently, even if the additional terms are 0.
        single = self.mixture(q, gate, anchors, size, logs)
        return torch.where(here > 0, self.mixture(q + more_q * here, gates, every, sizes, widths), single)

    def training_outputs(self, s: Scaled, future: Tensor, group: Tensor) -> tuple[Tensor, Tensor]:
        with torch.no_grad():
            patches, seasonal, logs = self.features(s, future)
            last = self.last_before(s, future.shape[1])
            ahead = (torch.arange(last.shape[1], device=last.device) - s.a.shape[1] + 1.0).clamp(min=0.0)
            anchors = self.anchors(seasonal, last, ahead, s)
            found, bias = self.find_leaders(s, patches, group)
        x = self.encode_group(patches, s.observed, 0, found, bias)
        return self.decode_group(x, anchors, found.anchors, logs, found), logs

    def horizon_outputs(
        self, values: Tensor, observed: Tensor, future: Tensor, group: Tensor
    ) -> tuple[Tensor, Scaled, Tensor]:
        context = values.shape[1]
        s = scale(values, observed)
        patches, seasonal, logs = self.features(s, future)
        found, bias = self.find_leaders(s, patches, group)
        x = self.encode_group(patches, s.observed, context // PATCH, found, bias)
        steps = torch.arange(1, future.shape[1] + 1, device=values.device).to(values.dtype)
        anchors = self.anchors(seasonal[:, context:], s.last, steps, s)
        return self.decode_group(x, anchors, found.anchors[:, context:], logs, found), s, logs

    def forward(self, values: Tensor, observed: Tensor, future: Tensor, group: Tensor) -> Tensor:
        """values, observed [R, T], future [R, H], group [R]: rows of equal numbers are a group, aligned in time
        -> quantiles [R, H, Q] in the units of `values`, ascending in Q.
        """
        a, s, _ = self.horizon_outputs(values, observed, future, group)
        return s.backward(a)


def univariate(network: Network) -> Network:
    """The univariate network inside a network for groups; a univariate network itself."""
    if not isinstance(network, GroupNetwork):
        return network
    single = copy.deepcopy(network)
    for own in ("leaders", "leader_embed", "variates", "leader_norm", "leader_head"):
        delattr(single, own)
    single.__class__ = Network
    return single
