"""Finds the two best seasonal lags of a series inside the graph, and reads the series at those lags.

A small network needs long training to align a season of 24 or 168 steps with patches of 16. The mean squared seasonal
difference at all lags costs a few matrix products and is exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

LAG_MIN = 3
LAG_PENALTY = 0.03 / 352  # per step of lag: of two equal seasons the shorter one wins


@dataclass
class Season:
    """Two lags, and the root mean squared seasonal difference at each; all [B, 1]."""

    lags: list[Tensor]
    errors: list[Tensor]


def frequencies(size: int) -> tuple[Tensor, Tensor]:
    """Angles per point, and weights of the inverse, of the real Fourier transform of `size` (even) points [F]."""
    frequency = torch.arange(size // 2 + 1, dtype=torch.float64) * (2 * torch.pi / size)
    weight = torch.full_like(frequency, 2.0 / size)
    weight[0] = weight[-1] = 1.0 / size
    return frequency, weight


class SeasonFinder(nn.Module):
    """Correlations at all lags by the discrete Fourier transform, as products with constant matrices."""

    def __init__(self, context: int, lag_max: int) -> None:
        super().__init__()
        size = context + lag_max
        frequency, weight = frequencies(size)
        time, lag = torch.arange(context, dtype=torch.float64), torch.arange(LAG_MIN, lag_max + 1, dtype=torch.float64)
        inverse = torch.cos(torch.outer(frequency, lag)) * weight[:, None]
        near = (lag[None, :] >= lag[:, None] / 2) & (lag[None, :] <= lag[:, None] * 1.5)
        for name, matrix in {
            "cos": torch.cos(torch.outer(time, frequency)),
            "sin": torch.sin(torch.outer(time, frequency)),
            "inverse": inverse,
            "near": near.T,
            "lag": lag,
        }.items():
            self.register_buffer(name, matrix.float(), persistent=False)

    def forward(self, a: Tensor, observed: Tensor) -> Season:
        """a, observed [B, T]. The first lag has the least seasonal difference relative to that of the lags around it.
        The second is the best of the clearly shorter lags (the day within the week).
        """
        length = a.shape[1]
        fitting = length - LAG_MIN  # number of lags within the context
        inverse, near, tried = self.inverse[:, :fitting], self.near[:fitting, :fitting], self.lag[:fitting]
        signals = torch.stack([a * observed, a * a * observed, observed])
        re, im = signals @ self.cos[:length], signals @ self.sin[:length]
        spectra = torch.stack(
            [re[0] * re[0] + im[0] * im[0], re[1] * re[2] + im[1] * im[2], re[2] * re[2] + im[2] * im[2]]
        )
        product, squares, pairs = (spectra @ inverse).unbind(0)
        count = observed.sum(1, keepdim=True)
        valid = ((pairs > count / 3) & (pairs > 8)).to(a.dtype)
        error = ((squares - product) * 2 / pairs.clamp(min=1.0)).clamp(min=1e-6) * valid
        around = (error @ near) / (valid @ near).clamp(min=1.0)
        score = error / around.clamp(min=1e-6) + tried * LAG_PENALTY + (1.0 - valid) * 10.0
        lags, errors = [], []
        for _ in range(2):
            index = score.argmin(1, keepdim=True)
            lag = index.to(a.dtype) + LAG_MIN
            lags.append(lag)
            errors.append(torch.gather(error, 1, index).sqrt().clamp(1e-3, 2.0))
            score = score + (tried > lag * 0.6).to(a.dtype) * 10.0
        return Season(lags, errors)


def lagged(a: Tensor, observed: Tensor, lag: Tensor, horizon: int, cycles: int) -> tuple[Tensor, Tensor, Tensor]:
    """The series one lag earlier at every position of context and horizon [B, T+H]: the newest cycle, the average of
    the newest `cycles`, and whether the newest one is observed. In the horizon the newest cycle is the last one of the
    context (seasonal naive).
    """
    length = a.shape[1]
    position = torch.arange(length + horizon, device=a.device).to(a.dtype).unsqueeze(0)
    back = (torch.floor((position - length) / lag) + 1.0).clamp(min=1.0) * lag
    total = count = newest = known = None
    for cycle in range(cycles):
        index = position - back - cycle * lag
        inside = (index >= 0).to(a.dtype)
        index = index.clamp(min=0).long()
        seen = torch.gather(observed, 1, index) * inside
        value = torch.gather(a, 1, index) * seen
        if total is None:
            newest, known, total, count = value, seen, value, seen
        else:
            total, count = total + value, count + seen
    return newest, total / count.clamp(min=1.0), known
