"""The network of tsmodel-2.1: that of tsmodel-1, whose weights stay as they are, beside what the members of a group tell of
each other. A series alone, or one that nobody in its group leads, gets tsmodel-1's forecast.
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

CYCLE, CYCLE_KNOWN = 3, 5  # channels of Network.features: those of the first season's last cycle
RESERVE = 3.0  # how much less than nothing the gates of untrained leaders are opened


class VariateAttention(nn.Module):
    """Attention among the members of a group at one patch; to attend to nobody is one of the choices."""

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
        """x [R, P, width]; bias [P, 1, R, R] is hugely negative where a member is not to be attended to."""
        y = self.norm(x)
        scores = self.split(self.q(y)) @ self.split(self.k(y)).transpose(-1, -2) * self.dim**-0.5 + bias
        top = scores.amax(-1, keepdim=True).clamp(min=0.0)
        weights = (scores - top).exp()
        weights = weights / (weights.sum(-1, keepdim=True) + (-top).exp())
        return x + self.out((weights @ self.split(self.v(y))).permute(2, 0, 1, 3).flatten(2))


class GroupNetwork(Network):
    """Quantiles of what a series does not show, given the other members of its group."""

    def __init__(self, design: Design, width: int = 128, layers: int = 4, heads: int = 4) -> None:
        super().__init__(design, width, layers, heads)
        for parameter in self.parameters():
            parameter.requires_grad_(False)
        self.leaders = LeaderFinder(design.context, design.lag_max)
        self.leader_embed = ResidualMLP(PATCH * 2 * leaders.LEADERS + leaders.FACTS, 128, width)
        self.variates = nn.ModuleList(VariateAttention(width, heads) for _ in range(layers - 1))
        outputs = len(QUANTILES) + leaders.ANCHORS + leaders.LEADERS
        self.leader_norm = RMSNorm(width)
        self.leader_head = ResidualMLP(width, 128, PATCH * outputs)
        for layer in (self.leader_embed.skip, self.leader_head.skip):
            nn.init.zeros_(layer.weight)
            nn.init.zeros_(layer.bias)

    def listen(self, s: Scaled, patches: Tensor, group: Tensor) -> tuple[Leaders, Tensor]:
        """Leaders of each row; and who may attend to whom, as a bias [P, 1, R, R]."""
        length, row = s.a.shape[1], torch.arange(group.shape[0], device=group.device)
        company = ((group.unsqueeze(1) == group) & (row.unsqueeze(1) != row)).to(s.a.dtype)
        channels = patches[:, : length // PATCH, : PATCH * CHANNELS].unflatten(-1, (PATCH, CHANNELS))
        season = (channels[..., CYCLE].flatten(1), channels[..., CYCLE_KNOWN].flatten(1))
        horizon = patches.shape[1] * PATCH - length
        found = self.leaders(s.a, s.observed, s.last, season, company, self.seasons, horizon)
        shown = F.pad(s.observed.unflatten(1, (-1, PATCH)).amax(-1), (0, horizon // PATCH), value=1.0)
        allowed = company * shown.T.unsqueeze(1)
        return found, ((allowed - 1.0) * 1e9).unsqueeze(1)

    def hear(self, patches: Tensor, observed: Tensor, first: int, found: Leaders, bias: Tensor) -> Tensor:
        """As `encode`, with what leaders say and attention among members."""
        keys = observed.shape[1] // PATCH
        shown = observed.unflatten(1, (-1, PATCH)).amax(-1)
        hidden = ((shown - 1.0) * 1e9).unsqueeze(1).unsqueeze(1)
        told = torch.stack([*found.said, *found.known], -1).unflatten(1, (-1, PATCH)).flatten(2)
        facts = found.facts.unsqueeze(1).expand(-1, told.shape[1], -1)
        x = self.embed(patches) + self.leader_embed(torch.cat([told, facts], -1)) * found.found.unsqueeze(1)
        for index, block in enumerate(self.blocks):
            x = block(x, keys, first if index == len(self.blocks) - 1 else 0, hidden, self.rotate)
            if index < len(self.variates):
                x = self.variates[index](x, bias)
        return x

    def speak(self, x: Tensor, anchors: Tensor, led: Tensor, logs: Tensor, found: Leaders) -> Tensor:
        """As `decode`, and just that for a row that nobody leads; led [R, N, leaders.ANCHORS] are the leaders' anchors."""
        q, gate, size = self.outputs(x)
        more = self.leader_head(self.leader_norm(x)).unflatten(-1, (PATCH, -1)).flatten(1, 2)
        more_q, more_gate, more_size = more.split([len(QUANTILES), leaders.ANCHORS, leaders.LEADERS], -1)
        here = found.found.unsqueeze(-1)
        absent = (here - 1.0) * 1e9
        gates = torch.cat([gate, more_gate + absent - RESERVE], -1)
        sizes = torch.cat([size, more_size + absent - RESERVE], -1)
        every, widths = torch.cat([anchors, led], -1), torch.cat([logs, found.logs], -1)
        # Sums over more numbers round differently, even where what is more is 0.
        single = self.mixture(q, gate, anchors, size, logs)
        return torch.where(here > 0, self.mixture(q + more_q * here, gates, every, sizes, widths), single)

    def everywhere(self, s: Scaled, future: Tensor, group: Tensor) -> tuple[Tensor, Tensor]:
        with torch.no_grad():
            patches, seasonal, logs = self.features(s, future)
            last = self.last_before(s, future.shape[1])
            ahead = (torch.arange(last.shape[1], device=last.device) - s.a.shape[1] + 1.0).clamp(min=0.0)
            anchors = self.anchors(seasonal, last, ahead, s)
            found, bias = self.listen(s, patches, group)
        x = self.hear(patches, s.observed, 0, found, bias)
        return self.speak(x, anchors, found.anchors, logs, found), logs

    def ahead(self, values: Tensor, observed: Tensor, future: Tensor, group: Tensor) -> tuple[Tensor, Scaled, Tensor]:
        context = values.shape[1]
        s = scale(values, observed)
        patches, seasonal, logs = self.features(s, future)
        found, bias = self.listen(s, patches, group)
        x = self.hear(patches, s.observed, context // PATCH, found, bias)
        steps = torch.arange(1, future.shape[1] + 1, device=values.device).to(values.dtype)
        anchors = self.anchors(seasonal[:, context:], s.last, steps, s)
        return self.speak(x, anchors, found.anchors[:, context:], logs, found), s, logs

    def forward(self, values: Tensor, observed: Tensor, future: Tensor, group: Tensor) -> Tensor:
        """values, observed [R, T], future [R, H], group [R]: rows of equal numbers are aligned in time and know each other
        -> quantiles [R, H, Q] in the units of `values`, ascending in Q."""
        a, s, _ = self.ahead(values, observed, future, group)
        return s.backward(a)


def alone(network: Network) -> Network:
    """The network that forecasts a series without company; the network itself where it knows none."""
    if not isinstance(network, GroupNetwork):
        return network
    single = copy.deepcopy(network)
    for own in ("leaders", "leader_embed", "variates", "leader_norm", "leader_head"):
        delattr(single, own)
    single.__class__ = Network
    return single
