"""Finds, inside the graph, the leading members of a group (leading indicators), and reads them at their lead.

A small network needs long training to shift one series against another by 5 or 50 steps. The cross-correlations of all
pairs at all leads cost a few matrix products and are exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from seasonality import frequencies

LEAD_MAX = 192
LEADERS = 2  # the second one is found in the residuals of the first
STRENGTH_MIN = 6.0  # least cross-correlation of a leader, in standard errors
RECENT = 0.97  # decay of the weight of a point, per step, in the mean distance from the leaders
LIMIT = 10.0  # largest magnitude of a leader's signal, normalised
ANCHORS = 2 * LEADERS
DESCRIPTORS = 4 * LEADERS


@dataclass
class Leaders:
    """The leaders of each row."""

    signals: list[Tensor]  # prediction of the row by the first leaders [R, T+H], 0 where they are unobserved
    available: list[Tensor]  # 1 where these leaders are observed [R, T+H]
    # [R, T+H, ANCHORS]: signals shifted to the recent level, and to the last value; the last value without leaders
    anchors: Tensor
    descriptors: Tensor  # [R, DESCRIPTORS]: strength, correlation, unexplained variance, lead
    log_scales: Tensor  # [R, LEADERS]: log of the residual deviation
    found: Tensor  # [R, 1]: 1 where there is a leader


def mean_of(x: Tensor, weight: Tensor) -> Tensor:
    return (x * weight).sum(1, keepdim=True) / weight.sum(1, keepdim=True).clamp(min=1e-6)


def slope_of(y: Tensor, x: Tensor, weight: Tensor) -> Tensor:
    """Least squares through the origin."""
    return (y * x * weight).sum(1, keepdim=True) / (x * x * weight).sum(1, keepdim=True).clamp(min=1e-6)


def before(x: Tensor) -> Tensor:
    return F.pad(x[:, :-1], (1, 0))


def innovations_of(a: Tensor, observed: Tensor, season: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
    """The part that neither the last cycle nor the last value predicts, and where it is known [R, T]."""
    cycle, known = season[0], observed * season[1]
    innovations = (a - slope_of(a, cycle, known).clamp(0.0, 1.0) * cycle) * known
    both = known * before(known)
    innovations = (
        innovations - slope_of(innovations, before(innovations), both).clamp(0.0, 1.0) * before(innovations)
    ) * both
    return (innovations - mean_of(innovations, both)) * both, both


class LeaderFinder(nn.Module):
    """Cross-correlations by the discrete Fourier transform, with the SeasonFinder's matrices."""

    def __init__(self, context: int, lag_max: int) -> None:
        super().__init__()
        size = context + lag_max
        frequency, weight = frequencies(size)
        angle = torch.outer(frequency, torch.arange(1, LEAD_MAX + 1, dtype=torch.float64))
        self.register_buffer("even", (torch.cos(angle) * weight[:, None]).float(), persistent=False)
        self.register_buffer("odd", (torch.sin(angle) * weight[:, None]).float(), persistent=False)

    def correlate(self, y: tuple[Tensor, Tensor], x: tuple[Tensor, Tensor]) -> Tensor:
        """Sums over t of y[t] * x[t - lead], from both transforms (cosines, sines) [R, F] -> [R, R, LEAD_MAX]."""
        (yc, ys), (xc, xs) = y, x
        together = yc.unsqueeze(1) * xc + ys.unsqueeze(1) * xs
        crossed = ys.unsqueeze(1) * xc - yc.unsqueeze(1) * xs
        return together @ self.even + crossed @ self.odd

    def forward(
        self,
        a: Tensor,
        observed: Tensor,
        last: Tensor,
        season: tuple[Tensor, Tensor],
        members: Tensor,
        tables: nn.Module,
        horizon: int,
    ) -> Leaders:
        """a, observed [R, T]; last [R, 1]; season: the last cycle and where it is observed [R, T]; members [R, R]: 1
        for other members of the row's group, else 0; tables: the SeasonFinder.
        """
        rows, length = a.shape
        cos, sin = tables.cos[:length], tables.sin[:length]
        innovations, known = innovations_of(a, observed, season)
        count = known.sum(1, keepdim=True)
        transforms, masks = (innovations @ cos, innovations @ sin), (known @ cos, known @ sin)
        pairs = self.correlate(masks, masks).round()
        usable = members.unsqueeze(-1) * ((pairs > count.unsqueeze(-1) / 3) & (pairs > 15)).to(a.dtype)
        power = mean_of(innovations * innovations, known).clamp(min=1e-8)
        likely = (pairs.clamp(min=1.0) * power.T.unsqueeze(-1)).rsqrt() * usable

        index = torch.arange(1, length + 1, device=a.device).to(a.dtype)
        end = (index * observed).amax(1, keepdim=True)
        recency = observed * torch.exp((index - end).clamp(max=0.0) * -math.log(RECENT)).clamp(max=1.0)
        position = torch.arange(length + horizon, device=a.device).unsqueeze(0)

        def read(x: Tensor, leader: Tensor, at: Tensor) -> Tensor:
            """x [R, N] of the leader's row, at positions [R, M]."""
            every = x.flatten().unsqueeze(0).expand(rows, -1)
            return torch.gather(every, 1, leader * x.shape[1] + at.clamp(0, x.shape[1] - 1))

        signals, available, anchors, descriptors, log_scales = [], [], [], [], []
        rest_innovations, rest = innovations, a
        level, drift, reach, exists = a[:, :1] * 0, a[:, :1] * 0, 1.0, 1.0
        for _ in range(LEADERS):
            sums = self.correlate((rest_innovations @ cos, rest_innovations @ sin), transforms).abs()
            left = mean_of(rest_innovations * rest_innovations, known).clamp(min=1e-8)
            strength, best = (sums * likely * left.rsqrt().unsqueeze(-1)).flatten(1).max(1, keepdim=True)
            exists = exists * (strength > STRENGTH_MIN).to(a.dtype)
            leader, lead = best // LEAD_MAX, best % LEAD_MAX + 1
            at = position - lead
            shown = read(observed, leader, at) * ((at >= 0) & (at < length)).to(a.dtype)
            x = torch.where(at < length, read(a, leader, at) * shown, read(last, leader, at * 0))
            reach = reach * shown * exists

            leader_innovations = read(innovations, leader, at[:, :length]) * shown[:, :length]
            by_innovations = slope_of(rest_innovations, leader_innovations, known).clamp(-5.0, 5.0) * exists
            rest_innovations = rest_innovations - by_innovations * leader_innovations * known
            both = observed * reach[:, :length]
            centred = x[:, :length] - mean_of(x[:, :length], both)
            by_level = slope_of(rest, centred, both).clamp(-5.0, 5.0) * exists
            rest = rest - by_level * centred * both

            level, drift = level + by_level * x, drift + by_innovations * x
            from_level = level + mean_of(a - level[:, :length], recency * both)
            apart = mean_of((a - from_level[:, :length]).square(), both).sqrt().clamp(1e-3, 2.0)
            start = torch.gather(drift, 1, (end - 1.0).clamp(min=0.0).long())
            from_last = torch.cat([from_level[:, :length], (last + drift - start)[:, length:]], 1)
            for anchor in (from_level, from_last):
                anchors.append(torch.where(exists > 0, anchor.clamp(-LIMIT, LIMIT), last))
            signals.append(from_level.clamp(-LIMIT, LIMIT) * reach)
            available.append(reach)
            correlation = strength * count.clamp(min=16.0).rsqrt()
            unexplained = (1.0 - correlation.clamp(max=0.999).square()).log()
            size = (lead.to(a.dtype).log2() - 4.0) * 0.5
            descriptors += [
                (strength * 0.1).clamp(max=5.0) * exists,
                correlation.clamp(max=1.0) * exists,
                unexplained * exists,
                size * exists,
            ]
            log_scales.append(apart.log() * exists)
        found = (descriptors[0] > 0).to(a.dtype)
        return Leaders(
            signals, available, torch.stack(anchors, -1), torch.cat(descriptors, 1), torch.cat(log_scales, 1), found
        )
