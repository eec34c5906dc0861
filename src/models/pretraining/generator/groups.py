"""Groups of series: unrelated ones, and members of a causal graph with lagged effects."""

from __future__ import annotations

import numpy as np
from numba import njit

from generator.shapes import bernoulli, log_uniform, standard, uniform

LEAD_MAX = 220


@njit(cache=True)
def effect(cause: np.ndarray, lag: int) -> np.ndarray:
    """The effect of a cause after `lag` steps: the cause itself, smoothed, saturated, exponentiated or rectified."""
    n = len(cause)
    out = np.empty(n)
    for i in range(n):
        out[i] = cause[max(i - lag, 0)]
    kind = np.random.random()
    if kind < 0.15:
        keep, now = 1 - 1 / log_uniform(1.5, 12.0), out[0]
        for i in range(n):
            now = keep * now + (1 - keep) * out[i]
            out[i] = now
    elif kind < 0.25:
        out = np.tanh(out * uniform(0.3, 1.2))
    elif kind < 0.32:
        out = np.exp(out * uniform(0.2, 0.7))
    elif kind < 0.37:
        for i in range(n):
            out[i] = max(out[i], 0.0)
    return standard(out)


@njit(cache=True)
def relate(bases: np.ndarray, out: np.ndarray) -> None:
    """Members from bases [members, n]: the first are causes, each further one an effect of one to three earlier ones,
    plus noise. Sometimes the first cause is not part of the group.
    """
    members, n = bases.shape
    for i in range(members):
        own = standard(bases[i].astype(np.float64))
        if i == 0 or bernoulli(0.2):
            out[i] = own
            continue
        total = np.zeros(n)
        for _ in range(1 if bernoulli(0.6) else np.random.randint(2, 4)):
            cause = 0 if bernoulli(0.4) else np.random.randint(i)
            lag = 0 if bernoulli(0.12) else int(log_uniform(1.0, LEAD_MAX))
            sign = -1.0 if bernoulli(0.25) else 1.0
            total += sign * log_uniform(0.3, 2.0) * effect(out[cause].astype(np.float64), lag)
        share = 0.0 if bernoulli(0.1) else log_uniform(0.02, 2.0)
        if bernoulli(0.5):
            own = np.random.normal(0.0, 1.0, n)
        out[i] = standard(standard(total) + share * own)
    if bernoulli(0.2):
        out[0] = standard(bases[0][::-1].astype(np.float64))
    for i in range(members):
        if bernoulli(0.05):
            grain = log_uniform(0.02, 0.5)
            out[i] = np.round(out[i] / grain) * grain


@njit(cache=True, nogil=True)
def groups(bases: np.ndarray, out: np.ndarray, members: int, seed: int) -> None:
    """Fills `out` [count, n] with groups of `members` consecutive rows; a third of the groups are unrelated series."""
    np.random.seed(seed)
    for start in range(0, bases.shape[0], members):
        if bernoulli(0.33):
            for i in range(start, start + members):
                out[i] = bases[i]
        else:
            order = start + np.random.permutation(members)
            made = np.empty((members, bases.shape[1]))
            relate(bases[start : start + members], made)
            for i in range(members):
                out[order[i]] = made[i]
