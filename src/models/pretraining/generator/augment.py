"""Augmentation of crops (mixing, flipping, scaling, clipping, rounding, spikes), and the mask of unobserved points."""

from __future__ import annotations

import numpy as np
from numba import njit

from generator.shapes import bernoulli, log_uniform, standard, uniform

PATCH = 16


@njit(cache=True, nogil=True)
def augment(first: np.ndarray, second: np.ndarray, out: np.ndarray, context: int, seed: int) -> None:
    """Writes into `out` the crops of `first`, some mixed or spliced with `second`; all [count, length]."""
    np.random.seed(seed)
    count, n = first.shape
    for row in range(count):
        x = first[row].astype(np.float64)
        if bernoulli(0.2):
            share = uniform(0.1, 0.9)
            x = share * standard(x) + (1 - share) * standard(second[row].astype(np.float64))
        elif bernoulli(0.04):
            cut = np.random.randint(n // 8, context)
            x[:cut] = second[row][:cut]
        if bernoulli(0.3):
            x = -x
        if bernoulli(0.06):
            x = x[::-1].copy()
        if bernoulli(0.08):
            slope = np.random.normal()
            for i in range(n):
                x[i] *= np.exp(slope * i / n)
        if bernoulli(0.06):
            low, high = np.quantile(x, uniform(0.0, 0.3)), np.quantile(x, uniform(0.7, 1.0))
            x = np.minimum(np.maximum(x, low), high)
        if bernoulli(0.08):
            grain = np.std(x) * log_uniform(0.02, 1.0) + 1e-9
            x = np.round(x / grain) * grain
        if bernoulli(0.05):
            hold = np.random.randint(2, 6)
            for i in range(n):
                x[i] = x[i - i % hold]
        if bernoulli(0.08):
            size = (np.std(x) + 1e-9) * log_uniform(2.0, 12.0)
            for _ in range(np.random.randint(1, 6)):
                at, length = np.random.randint(n), 1 if bernoulli(0.7) else np.random.randint(1, 30)
                x[at : at + length] += size * (1 if bernoulli(0.6) else -1)
        if bernoulli(0.03):
            at, length = np.random.randint(n), np.random.randint(2, 60)
            x[at : at + length] = np.min(x)
        out[row] = x


@njit(cache=True, nogil=True)
def mask(observed: np.ndarray, context: int, seed: int) -> None:
    """Masks parts of the context: the beginning (short contexts), gaps, points, and whole patches to be imputed."""
    np.random.seed(seed)
    patches = context // PATCH
    for row in range(observed.shape[0]):
        if bernoulli(0.2):
            observed[row, : np.random.randint(0, max(context - 16, 1))] = 0
        if bernoulli(0.06):
            at, length = np.random.randint(context), int(log_uniform(1, context / 3))
            observed[row, at : min(at + length, context - 1)] = 0
        if bernoulli(0.05):
            share = log_uniform(0.01, 0.5)
            for i in range(context - 1):
                if bernoulli(share):
                    observed[row, i] = 0
        if patches >= 8 and bernoulli(0.3):
            for _ in range(np.random.randint(1, 4)):
                at, length = np.random.randint(patches - 1), np.random.randint(1, 7)
                observed[row, at * PATCH : min(at + length, patches - 1) * PATCH] = 0
