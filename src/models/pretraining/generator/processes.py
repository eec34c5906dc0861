"""Stochastic processes without a calendar: random walks, autoregressions, mean reversion, steps and waves."""

from __future__ import annotations

import numpy as np
from numba import njit

from generator.shapes import bernoulli, log_uniform, noise, uniform


@njit(cache=True)
def random_walk(n: int) -> np.ndarray:
    """A walk with drift, volatility clustering, momentum (smooth walks) or heavy tails; arithmetic or geometric."""
    momentum = uniform(0.0, 0.95) if bernoulli(0.4) else (uniform(-0.4, 0.2) if bernoulli(0.4) else 0.0)
    drift = np.random.normal() * log_uniform(0.005, 0.3)
    cluster, heavy = bernoulli(0.4), bernoulli(0.3)
    change = 3.0 / n if bernoulli(0.3) else 0.0
    out, level, speed, vol = np.empty(n), 0.0, 0.0, 0.0
    for i in range(n):
        shock = np.random.normal()
        if heavy:
            shock /= np.sqrt(max(np.random.gamma(1.5, 1 / 1.5), 1e-2))
        if cluster:
            vol = 0.97 * vol + 0.2 * np.random.normal()
            shock *= np.exp(vol)
        if change > 0.0 and bernoulli(change):
            drift = np.random.normal() * log_uniform(0.005, 0.5)
        speed = momentum * speed + shock
        level += speed + drift
        out[i] = level
    if bernoulli(0.3):
        top = np.max(np.abs(out)) + 1e-9
        return np.exp(out / top * log_uniform(0.1, 1.5))
    return out


@njit(cache=True)
def local_trend(n: int) -> np.ndarray:
    """Level and slope both wander: smooth, trending, little noise."""
    damp, size = 1 - log_uniform(0.001, 0.2), log_uniform(0.01, 1.0)
    slope, level, rough = np.random.normal() * size, 0.0, log_uniform(0.005, 3.0)
    jitter = 0.0 if bernoulli(0.3) else log_uniform(0.01, 2.0)
    drift = np.random.normal() * size if bernoulli(0.4) else 0.0
    out = np.empty(n)
    for i in range(n):
        slope = drift + damp * (slope - drift) + size * 0.2 * np.random.normal()
        level += slope + rough * size * 0.2 * np.random.normal()
        out[i] = level + jitter * size * np.random.normal()
    if bernoulli(0.3):
        return np.exp(out / (np.max(np.abs(out)) + 1e-9) * log_uniform(0.3, 3.0))
    return out


@njit(cache=True)
def autoregression(n: int) -> np.ndarray:
    """AR(2) with random poles and occasional regime switches."""
    out = np.zeros(n)
    c1, c2, level = 0.0, 0.0, 0.0
    switch = 2.0 / n if bernoulli(0.4) else 0.0
    drawn = False
    for i in range(n):
        if not drawn or (switch > 0.0 and bernoulli(switch)):
            radius = 1 - log_uniform(0.005, 0.8)
            if bernoulli(0.5):
                angle = 2 * np.pi / log_uniform(3.0, 200.0)
                c1, c2 = 2 * radius * np.cos(angle), -radius * radius
            else:
                other = uniform(-0.6, 0.9)
                c1, c2 = radius + other, -radius * other
            if drawn and bernoulli(0.5):
                level += 5.0 * np.random.normal()
            drawn = True
        before = out[i - 1] - level if i > 0 else 0.0
        before2 = out[i - 2] - level if i > 1 else 0.0
        out[i] = level + c1 * before + c2 * before2 + np.random.normal()
    return out


@njit(cache=True)
def mean_reversion(n: int) -> np.ndarray:
    """Ornstein-Uhlenbeck with occasional changes of mean, and sometimes of volatility."""
    out, x, mean = np.empty(n), 0.0, 0.0
    speed, size = log_uniform(0.003, 0.5), log_uniform(0.05, 1.0)
    change = uniform(0.5, 5.0) / n if bernoulli(0.6) else 0.0
    jitter = log_uniform(0.01, 0.5) if bernoulli(0.5) else 0.0
    for i in range(n):
        if change > 0.0 and bernoulli(change):
            mean += 3.0 * np.random.normal()
            if bernoulli(0.4):
                size = log_uniform(0.05, 1.0)
        x += speed * (mean - x) + size * np.random.normal()
        out[i] = x + jitter * np.random.normal()
    return out


@njit(cache=True)
def steps(n: int) -> np.ndarray:
    """Piecewise constant levels, new or from a small set, with noise from none to strong."""
    levels = np.random.normal(0.0, 1.0, np.random.randint(2, 7))
    change = log_uniform(0.002, 0.1)
    known, size = bernoulli(0.5), (0.0 if bernoulli(0.2) else log_uniform(0.005, 0.7))
    value, e = levels[0], noise(n)
    out = np.empty(n)
    for i in range(n):
        if bernoulli(change):
            value = levels[np.random.randint(len(levels))] if known else value + np.random.normal()
        out[i] = value + size * e[i]
    return out


@njit(cache=True)
def wave(n: int) -> np.ndarray:
    """Sawtooth, triangle, square or pulse train; period and height may jitter from cycle to cycle."""
    p, duty, kind = log_uniform(4.0, 250.0), uniform(0.05, 0.95), np.random.randint(4)
    jitter = uniform(0.0, 0.3) if bernoulli(0.4) else 0.0
    size = 0.0 if bernoulli(0.1) else log_uniform(0.005, 0.5)
    if bernoulli(0.5):
        p = max(4.0, np.round(p))
    out, at, length, height = np.empty(n), uniform(0, p), p, 1.0
    for i in range(n):
        at += 1.0
        if at >= length:
            at -= length
            length = max(3.0, p * (1 + jitter * np.random.normal()))
            height = 1 + jitter * np.random.normal()
        part = at / length
        if kind == 0:
            value = part
        elif kind == 1:
            value = part / duty if part < duty else (1 - part) / (1 - duty)
        elif kind == 2:
            value = 1.0 if part < duty else 0.0
        else:
            value = 1.0 if at < 1.0 + duty * 3 else 0.0
        out[i] = height * value + size * np.random.normal()
    return out
