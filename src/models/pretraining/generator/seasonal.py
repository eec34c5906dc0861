"""Trend x season x noise: the classical decomposition, weekly economic series, and random-walk, drifting or exact
seasons.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from generator.processes import local_trend, random_walk
from generator.shapes import bernoulli, log_uniform, noise, period, profile, season, seasonal, standard, trend, uniform


@njit(cache=True)
def decomposition(n: int) -> np.ndarray:
    """Additive or multiplicative; the amplitude of the season is 0.5 to 50 times that of the noise."""
    s, e = season(n), noise(n)
    size = log_uniform(0.005, 1.5)
    base = s + size * e
    if bernoulli(0.6):
        base = base + trend(n) * log_uniform(0.3, 6.0)
    if bernoulli(0.2):
        base = base + standard(random_walk(n)) * log_uniform(0.1, 2.0)
    if bernoulli(0.35):
        return np.exp(standard(base) * log_uniform(0.05, 1.0))
    return base


@njit(cache=True)
def weekly_economy(n: int) -> np.ndarray:
    """Weekly data: a level with long memory, a smooth year of 52.18 weeks with holidays, mostly multiplicative."""
    level = random_walk(n)
    level = standard(level) * log_uniform(0.1, 2.0)
    if bernoulli(0.6):
        level = level + trend(n) * log_uniform(0.2, 3.0)
    year = seasonal(n, 52.18) * log_uniform(0.02, 1.5)
    if bernoulli(0.5):
        for _ in range(np.random.randint(1, 4)):
            week, size = np.random.randint(52), np.random.normal() * 0.7
            for k in range(n // 52 + 1):
                at = int(week + 52.18 * k)
                if at < n:
                    year[at] += size * (1 + 0.2 * np.random.normal())
    out = level + year + noise(n) * log_uniform(0.003, 0.4)
    return np.exp(out * uniform(0.1, 0.7)) if bernoulli(0.7) else out


@njit(cache=True)
def seasonal_walk(n: int) -> np.ndarray:
    """A season whose every phase is a random walk, so that the newest cycle is the best predictor."""
    p = np.array([7, 12, 24, 24, 52, 48, 96, 168])[np.random.randint(8)]
    state = standard(seasonal(p, float(p)))
    step, size, level = log_uniform(0.01, 0.4), log_uniform(0.02, 0.6), 0.0
    wander = log_uniform(0.002, 0.2)
    out = np.empty(n)
    for i in range(n):
        state[i % p] += step * np.random.normal()
        level += wander * np.random.normal()
        out[i] = state[i % p] + level + size * np.random.normal()
    return out


@njit(cache=True)
def tide(n: int) -> np.ndarray:
    """A clean season whose level and amplitude change smoothly: temperatures, tides, daylight."""
    p = [24.0, 24.0, 24.0, 12.42, 48.0, 96.0, 144.0, 288.0, 52.18, 365.25, 7.0, 12.0][np.random.randint(12)]
    base = seasonal(n, p)
    for _ in range(np.random.randint(0, 3)):
        base = base + log_uniform(0.03, 0.6) * seasonal(n, p)
    swing = standard(local_trend(n)) if bernoulli(0.5) else standard(seasonal(n, n * uniform(0.3, 3.0)))
    level = standard(local_trend(n)) if bernoulli(0.5) else standard(seasonal(n, n * uniform(0.3, 3.0)))
    out = base * np.exp(log_uniform(0.02, 0.4) * swing) + log_uniform(0.02, 1.5) * level
    return out + log_uniform(0.001, 0.1) * noise(n)


@njit(cache=True)
def schedule(n: int) -> np.ndarray:
    """A clock-driven series: the same plateau, spikes, ramp or free form in every cycle, half of the time exactly; some
    cycles may be empty, as on days off.
    """
    p = max(4, int(period()))
    shape, kind = np.zeros(p), np.random.randint(4)
    if kind == 0:
        shape[: max(1, int(p * uniform(0.05, 0.9)))] = 1.0
    elif kind == 1:
        for _ in range(np.random.randint(1, 4)):
            shape[np.random.randint(p)] += uniform(0.3, 1.0)
    elif kind == 2:
        for i in range(p):
            shape[i] = i / p
    else:
        shape = profile(p)
    phase, week = np.random.randint(p), np.random.randint(2, 8) if bernoulli(0.25) else n
    size = 0.0 if bernoulli(0.5) else log_uniform(1e-4, 0.03)
    e, out = noise(n), np.empty(n)
    for i in range(n):
        at = i + phase
        out[i] = (0.0 if at // p % week == week - 1 else shape[at % p]) + size * e[i]
    return out
