"""Building blocks of the families: periods, profiles, trends, noise. All compiled; all use numba's random generator."""

from __future__ import annotations

import numpy as np
from numba import njit

CALENDAR = np.array(
    [24, 24, 24, 24, 168, 168, 7, 7, 12, 12, 52, 52, 288, 288, 144, 96, 48, 60, 4, 30, 26, 13, 10, 20, 6, 5],
    dtype=np.float64,
)
DAYS = np.array([24, 24, 24, 24, 24, 48, 96, 144, 288, 12, 8, 7, 6], dtype=np.float64)


@njit(cache=True)
def bernoulli(p: float) -> bool:
    return np.random.random() < p


@njit(cache=True)
def uniform(low: float, high: float) -> float:
    return low + (high - low) * np.random.random()


@njit(cache=True)
def log_uniform(low: float, high: float) -> float:
    return np.exp(uniform(np.log(low), np.log(high)))


@njit(cache=True)
def period() -> float:
    """Mostly calendar periods, else anything from 4 to 320, integer or not."""
    if bernoulli(0.65):
        return CALENDAR[np.random.randint(len(CALENDAR))]
    p = log_uniform(4.0, 320.0)
    return np.round(p) if bernoulli(0.6) else p


@njit(cache=True)
def profile(knots: int) -> np.ndarray:
    """One cycle of a season as `knots` points of unit deviation: harmonics, bumps, working hours, or free form."""
    out = np.zeros(knots)
    kind = np.random.randint(5)
    if kind <= 1:
        decay = uniform(0.5, 2.0)
        for k in range(1, np.random.randint(2, 8)):
            size, phase = np.random.normal() / k**decay, uniform(0.0, 2 * np.pi)
            for i in range(knots):
                out[i] += size * np.sin(2 * np.pi * k * i / knots + phase)
    elif kind == 2:
        for _ in range(np.random.randint(1, 4)):
            centre, wide, size = uniform(0, knots), knots * log_uniform(0.015, 0.2), np.random.normal()
            for i in range(knots):
                away = abs(i - centre)
                away = min(away, knots - away)
                out[i] += size * np.exp(-0.5 * (away / wide) ** 2)
    elif kind == 3:
        start, length = np.random.randint(knots), int(knots * uniform(0.1, 0.6)) + 1
        for i in range(length):
            out[(start + i) % knots] = 1.0 + uniform(-0.2, 0.2)
        for _ in range(np.random.randint(0, 4)):
            smooth_cycle(out)
    else:
        for i in range(knots):
            out[i] = np.random.normal()
        for _ in range(np.random.randint(0, 12)):
            smooth_cycle(out)
    return standard(out)


@njit(cache=True)
def smooth_cycle(x: np.ndarray) -> None:
    first, before = x[0], x[-1]
    for i in range(len(x)):
        after = x[i + 1] if i + 1 < len(x) else first
        now = x[i]
        x[i] = 0.25 * before + 0.5 * now + 0.25 * after
        before = now


@njit(cache=True)
def standard(x: np.ndarray) -> np.ndarray:
    """Zero mean and unit deviation, or zeros."""
    sd = np.std(x)
    if sd < 1e-9:
        return np.zeros(len(x))
    return (x - np.mean(x)) / sd


@njit(cache=True)
def seasonal(n: int, p: float) -> np.ndarray:
    """A season of period p; its shape sometimes drifts slowly."""
    knots = max(4, int(np.round(p))) if p <= 64 else 64 if bernoulli(0.7) else int(np.round(p))
    shape = profile(knots)
    drift = bernoulli(0.25)
    other = profile(knots) if drift else shape
    speed, angle = uniform(0.5, 3.0), uniform(0, 6.28)
    phase = uniform(0, p)
    out = np.empty(n)
    for i in range(n):
        at = ((i + phase) / p % 1.0) * knots
        left = int(at) % knots
        right, part = (left + 1) % knots, at - np.floor(at)
        value = shape[left] * (1 - part) + shape[right] * part
        if drift:
            mix = 0.3 * (1 + np.sin(angle + speed * i / n))
            value = value * (1 - mix) + mix * (other[left] * (1 - part) + other[right] * part)
        out[i] = value
    return out


@njit(cache=True)
def weekly(n: int, day: float) -> np.ndarray:
    """Days within weeks: two weekend days that are lower, higher, shaped differently, or a level for each weekday."""
    knots = int(np.round(day))
    work, rest = profile(knots), profile(knots)
    distinct_weekend, free = bernoulli(0.5), bernoulli(0.3)
    level, size = np.zeros(7), np.ones(7)
    low, weekend_scale = np.random.normal() * 0.8, uniform(0.2, 1.1)
    for d in range(7):
        if d >= 5:
            level[d], size[d] = low, weekend_scale
        if free:
            level[d] += np.random.normal() * 0.4
            size[d] *= np.exp(np.random.normal() * 0.2)
    phase, vary_days = np.random.randint(7 * knots), bernoulli(0.4)
    keep, day_deviation, day_level, day_log_scale = uniform(0.0, 0.95), log_uniform(0.03, 0.8), 0.0, 0.0
    out = np.empty(n)
    for i in range(n):
        at = (i + phase) % (7 * knots)
        d, h = at // knots, at % knots
        if vary_days and h == 0:  # level and amplitude of a day, autocorrelated from day to day
            day_level = keep * day_level + day_deviation * np.random.normal()
            day_log_scale = keep * day_log_scale + 0.3 * day_deviation * np.random.normal()
        value = rest[h] if distinct_weekend and d >= 5 else work[h]
        out[i] = level[d] + day_level + size[d] * np.exp(day_log_scale) * value
    return standard(out)


@njit(cache=True)
def season(n: int) -> np.ndarray:
    """One season or several: weeks of days, two periods, or one."""
    kind = np.random.random()
    if kind < 0.35:
        return weekly(n, DAYS[np.random.randint(len(DAYS))])
    out = seasonal(n, period())
    if kind > 0.8:
        out = out + log_uniform(0.1, 1.5) * seasonal(n, period())
    return out


@njit(cache=True)
def trend(n: int) -> np.ndarray:
    """Linear, exponential, saturating or piecewise; range of about one."""
    out = np.zeros(n)
    kind = np.random.randint(5)
    if kind == 0:
        slope = np.random.normal()
        for i in range(n):
            out[i] = slope * i / n
    elif kind == 1:
        rate = uniform(-3, 3)
        for i in range(n):
            out[i] = np.exp(rate * i / n)
    elif kind == 2:
        centre, wide, sign = uniform(0, n), n * uniform(0.02, 0.3), np.random.normal()
        for i in range(n):
            out[i] = sign / (1 + np.exp(-(i - centre) / wide))
    elif kind == 3:
        slope, level, change = np.random.normal() / n, 0.0, uniform(1, 8) / n
        for i in range(n):
            if bernoulli(change):
                slope = np.random.normal() * 2 / n
            level += slope
            out[i] = level
    else:
        power = uniform(0.3, 3)
        for i in range(n):
            out[i] = (i / n) ** power
    return out


@njit(cache=True)
def noise(n: int) -> np.ndarray:
    """About unit deviation: Gaussian, Student, autoregressive, or heteroscedastic."""
    out = np.random.normal(0.0, 1.0, n)
    kind = np.random.random()
    if kind < 0.2:
        freedom = uniform(2.1, 6.0)
        for i in range(n):
            out[i] /= np.sqrt(max(np.random.gamma(freedom / 2, 2 / freedom), 1e-3))
    elif kind < 0.5:
        phi = 1 - log_uniform(0.02, 0.9)
        size = np.sqrt(1 - phi * phi)
        for i in range(1, n):
            out[i] = phi * out[i - 1] + size * out[i]
    elif kind < 0.65:
        level = 0.0
        for i in range(n):
            level = 0.98 * level + 0.15 * np.random.normal()
            out[i] *= np.exp(level)
    return out
