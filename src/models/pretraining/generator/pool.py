"""A pool of synthetic series that is refreshed during training, and the crops drawn from it."""

from __future__ import annotations

import numpy as np
from numba import njit

from generator.augment import augment, mask
from generator.groups import LEAD_MAX, groups
from generator.metrics import collector, counter, gauge, latency, queue, request_rate, sparse, utilisation
from generator.processes import autoregression, local_trend, mean_reversion, random_walk, steps, wave
from generator.seasonal import decomposition, schedule, seasonal_walk, tide, weekly_economy
from generator.shapes import standard
from generator.spectral import gaussian_processes

GAUSSIAN_SHARE = 0.15
METRICS = 0.73


@njit(cache=True)
def draw_series(n: int, first: float, last: float) -> np.ndarray:
    """One series of a random family between two shares, 0 and 1 for all. The weights are those of the table in
    README.md; metrics begin at METRICS.
    """
    pick = first + (last - first) * np.random.random()
    if pick < 0.215:
        return decomposition(n)
    if pick < 0.24:
        return schedule(n)
    if pick < 0.34:
        return weekly_economy(n)
    if pick < 0.39:
        return seasonal_walk(n)
    if pick < 0.45:
        return tide(n)
    if pick < 0.52:
        return random_walk(n)
    if pick < 0.59:
        return local_trend(n)
    if pick < 0.63:
        return autoregression(n)
    if pick < 0.67:
        return mean_reversion(n)
    if pick < 0.70:
        return steps(n)
    if pick < 0.73:
        return wave(n)
    if pick < 0.80:
        return request_rate(n)
    if pick < 0.86:
        return utilisation(n)
    if pick < 0.88:
        return counter(n)
    if pick < 0.90:
        return gauge(n)
    if pick < 0.92:
        return sparse(n)
    if pick < 0.94:
        return collector(n)
    if pick < 0.96:
        return queue(n)
    return latency(n)


@njit(cache=True, nogil=True)
def fill(out: np.ndarray, seed: int, first: float, last: float) -> None:
    """Writes a standardised series into every row of `out`."""
    np.random.seed(seed)
    for row in range(out.shape[0]):
        out[row] = standard(draw_series(out.shape[1], first, last))


class Pool:
    """Rows of standardised series. `refresh` replaces some; `draw` returns crops, mixed and augmented."""

    def __init__(
        self,
        rows: int,
        length: int,
        seed: int,
        gaussian: float = GAUSSIAN_SHARE,
        families: tuple[float, float] = (0.0, 1.0),
    ) -> None:
        self.gaussian, self.families = gaussian, families
        self.rng = np.random.default_rng(seed)
        self.length = length
        self.rows = np.empty((rows, length), np.float32)
        self.next = 0
        self.made = 0
        self.refresh(rows)

    def refresh(self, count: int) -> None:
        """Replaces the `count` oldest rows."""
        gaussian = round(count * self.gaussian)
        fresh = np.empty((count, self.length))
        fill(fresh[gaussian:], int(self.rng.integers(2**31)), *self.families)
        fresh[:gaussian] = gaussian_processes(self.rng, gaussian, self.length)
        fresh = np.nan_to_num(fresh, nan=0.0, posinf=0.0, neginf=0.0)
        index = (self.next + np.arange(count)) % len(self.rows)
        self.rows[index] = self.rng.permutation(np.clip(fresh, -1e4, 1e4).astype(np.float32))
        self.next = (self.next + count) % len(self.rows)
        self.made += count

    def draw(self, count: int, context: int, horizon: int) -> tuple[np.ndarray, np.ndarray]:
        """Values and the observed mask [count, context + horizon]; the horizon is marked as unobserved."""
        length = context + horizon
        rows = self.rng.integers(len(self.rows), size=(2, count))
        start = self.rng.integers(self.length - length + 1, size=(2, count, 1))
        crops = self.rows[rows[..., None], start + np.arange(length)]
        values = np.empty((count, length), np.float32)
        seed = int(self.rng.integers(2**31))
        augment(crops[0], crops[1], values, context, seed)
        observed = np.ones((count, length), np.float32)
        observed[:, context:] = 0
        mask(observed, context, seed + 1)
        return values, observed

    def draw_groups(self, count: int, members: int, context: int, horizon: int) -> tuple[np.ndarray, np.ndarray]:
        """As `draw`, in groups of `members` consecutive rows, aligned in time."""
        length = context + horizon
        rows = self.rows[self.rng.integers(len(self.rows), size=count)]
        made = np.empty(rows.shape, np.float32)
        seed = int(self.rng.integers(2**31))
        groups(rows, made, members, seed)
        # After the longest lead, as far as there is room: before it, effects have no cause.
        first = min(LEAD_MAX, self.length - length)
        start = self.rng.integers(first, self.length - length + 1, size=(count // members, 1, 1)).repeat(members, 1)
        values = made[np.arange(count)[:, None], start.reshape(count, 1) + np.arange(length)]
        observed = np.ones((count, length), np.float32)
        observed[:, context:] = 0
        mask(observed, context, seed + 1)
        return values, observed
