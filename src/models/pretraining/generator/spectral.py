"""Gaussian processes by spectral filtering: white noise times the root of a spectral density, a batch at a time."""

from __future__ import annotations

import numpy as np


def gaussian_processes(rng: np.random.Generator, count: int, n: int) -> np.ndarray:
    """[count, n]: sums of a smooth part (power law or squared exponential) and up to three quasi-periodic parts."""
    size = 2 * n  # twice the length, so that the two ends are not correlated
    frequency = np.arange(size // 2 + 1) / size
    density = np.zeros((count, len(frequency)))
    power = rng.uniform(0.0, 3.5, (count, 1))
    corner = 10 ** rng.uniform(-3, -1, (count, 1))
    smooth = (frequency**2 + corner**2) ** (-power / 2)
    bell = np.exp(-0.5 * (frequency / corner) ** 2)
    part = np.where(rng.random((count, 1)) < 0.7, smooth, bell)
    density += part / part.sum(1, keepdims=True)
    periods = np.array([24, 24, 168, 7, 12, 52, 288, 48, 96, 144, 60, 30])
    for _ in range(3):
        known = rng.choice(periods, (count, 1)).astype(float)
        period = np.where(rng.random((count, 1)) < 0.6, known, np.exp(rng.uniform(np.log(4), np.log(300), (count, 1))))
        weight = np.where(rng.random((count, 1)) < 0.5, 0.0, 10 ** rng.uniform(-1, 1, (count, 1)))
        width = 10 ** rng.uniform(-4.5, -2.5, (count, 1))
        decay = rng.uniform(0.5, 3.0, (count, 1))
        comb = np.zeros_like(density)
        for harmonic in range(1, 5):
            comb += harmonic**-decay * np.exp(-0.5 * ((frequency - harmonic / period) / width) ** 2)
        density += weight * comb / (comb.sum(1, keepdims=True) + 1e-9)
    density += 10 ** rng.uniform(-6, -2.5, (count, 1)) * (rng.random((count, 1)) < 0.7)
    wave = rng.standard_normal((count, len(frequency))) + 1j * rng.standard_normal((count, len(frequency)))
    wave[:, 0] = 0.0
    out = np.fft.irfft(wave * np.sqrt(density), size, axis=1)[:, :n]
    sharp = rng.random(count)
    out /= out.std(1, keepdims=True) + 1e-9
    out[sharp < 0.15] = np.exp(out[sharp < 0.15] * rng.uniform(0.2, 1.2, ((sharp < 0.15).sum(), 1)))
    return out
