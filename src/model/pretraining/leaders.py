"""Finds, inside the graph, which members of a group tell early what a series will do, and reads them at their lead.

As with seasons: a small network cannot learn in little time to shift one series against another by 5 or 50 points. A
table of the correlations of all pairs at all leads costs a few matrix products and does it exactly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from seasonality import frequencies

LEAD_MAX = 192
LEADERS = 2  # the second is looked for in what the first one does not explain
STRENGTH_MIN = 6.0  # standard deviations of a chance correlation; weaker leaders are none
RECENT = 0.97  # weight of a point beside that of the next one, where a series' distance from its leaders is measured
LIMIT = 10.0  # of what leaders say, in the network's space
ANCHORS = 2 * LEADERS
FACTS = 4 * LEADERS


@dataclass
class Leaders:
    """What the leaders of each row say."""

    said: list[Tensor]  # the row as the first leaders tell it [R, T+H], 0 where they do not
    known: list[Tensor]  # 1 where they were observed [R, T+H]
    anchors: Tensor  # [R, T+H, ANCHORS]: from the distance of late, and from the last value; the last value without leaders
    facts: Tensor  # [R, FACTS]: strength, correlation, what is left unexplained, lead
    logs: Tensor  # [R, LEADERS]: log of the deviation from what they say
    found: Tensor  # [R, 1]: 1 where there is a leader


def mean_of(x: Tensor, weight: Tensor) -> Tensor:
    return (x * weight).sum(1, keepdim=True) / weight.sum(1, keepdim=True).clamp(min=1e-6)


def slope_of(y: Tensor, x: Tensor, weight: Tensor) -> Tensor:
    """Least squares, through the origin."""
    return (y * x * weight).sum(1, keepdim=True) / (x * x * weight).sum(1, keepdim=True).clamp(min=1e-6)


def before(x: Tensor) -> Tensor:
    return F.pad(x[:, :-1], (1, 0))


def news_of(a: Tensor, observed: Tensor, season: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
    """What neither the last cycle nor the last value foretold, and where that is known [R, T]."""
    cycle, seen = season[0], observed * season[1]
    news = (a - slope_of(a, cycle, seen).clamp(0.0, 1.0) * cycle) * seen
    both = seen * before(seen)
    news = (news - slope_of(news, before(news), both).clamp(0.0, 1.0) * before(news)) * both
    return (news - mean_of(news, both)) * both, both


class LeaderFinder(nn.Module):
    """Cross-correlations by way of the discrete Fourier transform, with the SeasonFinder's matrices."""

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
        self, a: Tensor, observed: Tensor, last: Tensor, season: tuple[Tensor, Tensor], company: Tensor,
        tables: nn.Module, horizon: int,
    ) -> Leaders:
        """a, observed [R, T]; last [R, 1]; season: the last cycle and where it is known [R, T]; company [R, R]: 1 for
        members of one group, 0 for others and for a row beside itself; tables: the SeasonFinder."""
        rows, length = a.shape
        cos, sin = tables.cos[:length], tables.sin[:length]
        news, seen = news_of(a, observed, season)
        count = seen.sum(1, keepdim=True)
        transforms, masks = (news @ cos, news @ sin), (seen @ cos, seen @ sin)
        pairs = self.correlate(masks, masks).round()
        usable = company.unsqueeze(-1) * ((pairs > count.unsqueeze(-1) / 3) & (pairs > 15)).to(a.dtype)
        power = mean_of(news * news, seen).clamp(min=1e-8)
        likely = (pairs.clamp(min=1.0) * power.T.unsqueeze(-1)).rsqrt() * usable

        index = torch.arange(1, length + 1, device=a.device).to(a.dtype)
        end = (index * observed).amax(1, keepdim=True)
        late = observed * torch.exp((index - end).clamp(max=0.0) * -math.log(RECENT)).clamp(max=1.0)
        position = torch.arange(length + horizon, device=a.device).unsqueeze(0)

        def read(x: Tensor, leader: Tensor, at: Tensor) -> Tensor:
            """x [R, N] of the leader's row, at places [R, M] of it."""
            every = x.flatten().unsqueeze(0).expand(rows, -1)
            return torch.gather(every, 1, leader * x.shape[1] + at.clamp(0, x.shape[1] - 1))

        said, known, anchors, facts, logs = [], [], [], [], []
        rest_news, rest = news, a
        level, drift, told, there = a[:, :1] * 0, a[:, :1] * 0, 1.0, 1.0
        for _ in range(LEADERS):
            sums = self.correlate((rest_news @ cos, rest_news @ sin), transforms).abs()
            left = mean_of(rest_news * rest_news, seen).clamp(min=1e-8)
            strength, best = (sums * likely * left.rsqrt().unsqueeze(-1)).flatten(1).max(1, keepdim=True)
            there = there * (strength > STRENGTH_MIN).to(a.dtype)
            leader, lead = best // LEAD_MAX, best % LEAD_MAX + 1
            at = position - lead
            shown = read(observed, leader, at) * ((at >= 0) & (at < length)).to(a.dtype)
            x = torch.where(at < length, read(a, leader, at) * shown, read(last, leader, at * 0))
            told = told * shown * there

            fresh = read(news, leader, at[:, :length]) * shown[:, :length]
            by_news = slope_of(rest_news, fresh, seen).clamp(-5.0, 5.0) * there
            rest_news = rest_news - by_news * fresh * seen
            both = observed * told[:, :length]
            centred = x[:, :length] - mean_of(x[:, :length], both)
            by_level = slope_of(rest, centred, both).clamp(-5.0, 5.0) * there
            rest = rest - by_level * centred * both

            level, drift = level + by_level * x, drift + by_news * x
            from_level = level + mean_of(a - level[:, :length], late * both)
            apart = mean_of((a - from_level[:, :length]).square(), both).sqrt().clamp(1e-3, 2.0)
            start = torch.gather(drift, 1, (end - 1.0).clamp(min=0.0).long())
            from_last = torch.cat([from_level[:, :length], (last + drift - start)[:, length:]], 1)
            for anchor in (from_level, from_last):
                anchors.append(torch.where(there > 0, anchor.clamp(-LIMIT, LIMIT), last))
            said.append(from_level.clamp(-LIMIT, LIMIT) * told)
            known.append(told)
            correlation = strength * count.clamp(min=16.0).rsqrt()
            unexplained = (1.0 - correlation.clamp(max=0.999).square()).log()
            size = (lead.to(a.dtype).log2() - 4.0) * 0.5
            facts += [(strength * 0.1).clamp(max=5.0) * there, correlation.clamp(max=1.0) * there, unexplained * there, size * there]
            logs.append(apart.log() * there)
        found = (facts[0] > 0).to(a.dtype)
        return Leaders(said, known, torch.stack(anchors, -1), torch.cat(facts, 1), torch.cat(logs, 1), found)
