"""Metrics of systems: request rates, utilisation, counters, gauges, sparse counts, collectors, queues, latencies."""

from __future__ import annotations

import numpy as np
from numba import njit

from generator.shapes import DAYS, bernoulli, log_uniform, noise, seasonal, standard, uniform, weekly


@njit(cache=True)
def load(n: int) -> np.ndarray:
    """The logarithm of a load: day and week, wandering level, level shifts; deviation of about one."""
    day = DAYS[np.random.randint(len(DAYS))]
    base = weekly(n, day) if bernoulli(0.6) else seasonal(n, day)
    level, step, wander = 0.0, uniform(0.0, 4.0) / n, log_uniform(0.001, 0.08)
    rough, e = log_uniform(0.02, 0.8), noise(n)
    out = np.empty(n)
    for i in range(n):
        if bernoulli(step):
            level += np.random.normal()
        level += wander * np.random.normal()
        out[i] = base[i] + level + rough * e[i]
    return out


@njit(cache=True)
def bursts(n: int, rate: float) -> np.ndarray:
    """Bursts that begin at random and decay exponentially, in multiples of the series' level."""
    keep, out, now = 1 - 1 / log_uniform(1.0, 40.0), np.empty(n), 0.0
    for i in range(n):
        now *= keep
        if bernoulli(rate):
            now += log_uniform(0.3, 10.0)
        out[i] = now
    return out


@njit(cache=True)
def poisson(mean: float) -> float:
    if mean > 400.0:
        return np.round(mean + np.sqrt(mean) * np.random.normal())
    return float(np.random.poisson(max(mean, 0.0)))


@njit(cache=True)
def request_rate(n: int) -> np.ndarray:
    """Counts of requests: exp(load), bursts, scheduled jobs, then Poisson."""
    size, level = log_uniform(0.1, 1.2), log_uniform(1.0, 3e4)
    rate = np.exp(standard(load(n)) * size) * level
    if bernoulli(0.4):
        rate = rate * (1 + bursts(n, log_uniform(0.001, 0.02)))
    if bernoulli(0.3):
        every, phase, height = np.random.randint(5, 300), np.random.randint(300), log_uniform(0.3, 6.0)
        for i in range(n):
            if (i + phase) % every == 0:
                rate[i] += height * level
    for i in range(n):
        rate[i] = poisson(rate[i])
    return rate


@njit(cache=True)
def utilisation(n: int) -> np.ndarray:
    """A share of a capacity in percent: saturates, often rounded."""
    x = (
        standard(load(n)) * uniform(0.2, 2.0)
        + uniform(-3.0, 2.0)
        + (bursts(n, 0.005) if bernoulli(0.3) else np.zeros(n))
    )
    out = np.minimum(100.0 / (1 + np.exp(-x)), uniform(60.0, 100.0) if bernoulli(0.2) else 100.0)
    return np.round(out, np.random.randint(0, 3)) if bernoulli(0.4) else out


@njit(cache=True)
def counter(n: int) -> np.ndarray:
    """A cumulative counter that restarts reset to 0."""
    rate, reset = np.exp(standard(load(n)) * log_uniform(0.05, 1.0)), uniform(0.0, 4.0) / n if bernoulli(0.6) else 0.0
    total = log_uniform(1.0, 1000.0)
    for i in range(n):
        total = 0.0 if bernoulli(reset) else total + rate[i]
        rate[i] = total
    return rate


@njit(cache=True)
def gauge(n: int) -> np.ndarray:
    """Two states or a few quantised levels, with dwell times, noise and rounding."""
    up, down = log_uniform(0.003, 0.3), log_uniform(0.003, 0.3)
    state, levels, clocked = 0, np.random.randint(2, 5), bernoulli(0.3)
    every, hold = np.random.randint(6, 200), uniform(0.1, 0.9)
    size, e = (0.0 if bernoulli(0.4) else log_uniform(0.005, 0.4)), noise(n)
    out = np.empty(n)
    for i in range(n):
        if clocked:
            state = 1 if i % every < hold * every else 0
        elif bernoulli(up if state == 0 else down):
            state = 0 if state > 0 else np.random.randint(1, levels)
        out[i] = state + size * e[i]
    return out


@njit(cache=True)
def sparse(n: int) -> np.ndarray:
    """Mostly 0, with values at random times that depend on the load."""
    hour, share, spread = standard(load(n)), log_uniform(0.01, 0.5), uniform(0.0, 1.2)
    whole, lean = bernoulli(0.6), uniform(0.0, 1.5)
    out = np.zeros(n)
    for i in range(n):
        if bernoulli(min(share * np.exp(lean * hour[i]), 0.95)):
            value = np.exp(spread * np.random.normal())
            out[i] = np.ceil(value) if whole else value
    return out


@njit(cache=True)
def collector(n: int) -> np.ndarray:
    """Memory under a garbage collector: rises with the load, falls at a threshold; the floor may leak."""
    pace = np.exp(standard(load(n)) * uniform(0.0, 0.6)) / log_uniform(5.0, 200.0)
    leak, floor, now, jitter = (log_uniform(0.0002, 0.01) if bernoulli(0.4) else 0.0), 0.0, 0.0, uniform(0.0, 0.2)
    top, size, out = 1.0, log_uniform(0.001, 0.1), np.empty(n)
    for i in range(n):
        now += pace[i]
        floor += leak
        if now > top:
            now, top = uniform(0.0, 0.15), 1 + jitter * np.random.normal()
        if floor > 2.0:
            floor, now = 0.0, 0.0
        out[i] = floor + now + size * np.random.normal()
    return out


@njit(cache=True)
def queue(n: int) -> np.ndarray:
    """Length of a queue by Lindley's recursion: arrivals follow the load, service is constant."""
    arrivals, service = np.exp(standard(load(n)) * uniform(0.2, 1.0)), uniform(0.9, 2.5)
    scale, waiting = log_uniform(1.0, 100.0), 0.0
    for i in range(n):
        waiting = min(max(0.0, waiting + poisson(arrivals[i] * scale) - service * scale), 300.0 * scale)
        arrivals[i] = waiting
    return arrivals


@njit(cache=True)
def latency(n: int) -> np.ndarray:
    """Heavy-tailed durations that grow with the load."""
    busy = standard(load(n)) * uniform(0.0, 0.8)
    spread, shape, often = log_uniform(0.02, 0.6), uniform(1.5, 4.0), log_uniform(0.001, 0.05)
    for i in range(n):
        value = np.exp(busy[i] + spread * np.random.normal())
        if bernoulli(often):
            value *= (1 - np.random.random()) ** (-1 / shape) * uniform(1.0, 4.0)
        busy[i] = value
    return busy
