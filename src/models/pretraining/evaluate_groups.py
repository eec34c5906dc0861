"""Evaluates a model on groups: synthetic ones with leading and lagging members, unrelated ones, and NAB's traffic
sensors. Every result is the error of the group forecast relative to that of the same series forecast alone.

The synthetic groups are not those of the training: they have other processes and leads.
"""

from __future__ import annotations

import argparse
import csv
import json
from datetime import datetime
from pathlib import Path

import numpy as np

from design import TSMODEL_2_1
from evaluate import DATA, Model, read_m4
from export import PRETRAINED
from manifest_text import manifest_text

CONTEXT, HORIZON, MEMBERS, GROUPS = 512, 48, 4, 100


def noise(rng: np.random.Generator, n: int, memory: float) -> np.ndarray:
    """An autoregression of unit deviation."""
    out = rng.standard_normal(n)
    for i in range(1, n):
        out[i] = memory * out[i - 1] + np.sqrt(1 - memory * memory) * out[i]
    return out


def driver(rng: np.random.Generator, kind: str, n: int) -> np.ndarray:
    if kind == "walk":
        return rng.standard_normal(n).cumsum() / 10
    if kind == "memory":
        return noise(rng, n, 0.9)
    day = np.sin(2 * np.pi * (np.arange(n) / 24 + rng.random())) + 0.5 * np.sin(
        4 * np.pi * (np.arange(n) / 24 + rng.random())
    )
    return day + noise(rng, n, 0.95)


def lagged_group(rng: np.random.Generator, kind: str, n: int, spread: float) -> tuple[np.ndarray, np.ndarray]:
    """A group [MEMBERS, n], and which members lag: two copies at different leads, and one that follows two drivers."""
    early = 100
    first, second = driver(rng, kind, n + early), driver(rng, kind, n + early)
    near, far, other = (int(x) for x in (rng.integers(4, 24), rng.integers(24, 72), rng.integers(6, 60)))

    def lagged(x: np.ndarray, lead: int) -> np.ndarray:
        return x[early - lead : early - lead + n]

    rows = np.stack(
        [
            lagged(first, 0),
            rng.uniform(0.5, 20) * lagged(first, near) + rng.normal() * 10,
            -rng.uniform(0.5, 20) * lagged(first, far),
            0.7 * lagged(first, far) + 0.7 * lagged(second, other),
        ]
    )
    rows += spread * rows.std(1, keepdims=True) * rng.standard_normal(rows.shape)
    order = rng.permutation(MEMBERS)
    return rows[order], (order > 0)


def synthetic(kind: str, spread: float, related: bool) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    rng = np.random.default_rng([3, len(kind), int(spread * 100), related])
    rows, follows = [], []
    for _ in range(GROUPS):
        if related:
            group, lagged = lagged_group(rng, kind, CONTEXT + HORIZON, spread)
        else:
            group = np.stack(
                [
                    driver(rng, kind, CONTEXT + HORIZON) + spread * rng.standard_normal(CONTEXT + HORIZON)
                    for _ in range(MEMBERS)
                ]
            )
            lagged = np.ones(MEMBERS, bool)
        rows += list(group)
        follows.append(lagged)
    rows = np.stack(rows)
    return list(rows[:, :CONTEXT]), rows[:, CONTEXT:], np.concatenate(follows)


def sensors(data: Path, step: int, horizon: int) -> tuple[list[np.ndarray], np.ndarray, int]:
    """NAB's traffic sensors of September 2015 on a common grid of `step` seconds (means, gaps carried forward), at 40
    cutoffs.
    """
    grids = {}
    for path in sorted((data / "nab" / "data" / "realTraffic").glob("*.csv")):
        with path.open() as file:
            rows = [
                (datetime.fromisoformat(r["timestamp"]).timestamp(), float(r["value"])) for r in csv.DictReader(file)
            ]
        at = np.array([int(t // step) for t, _ in rows])
        means = {int(k): float(np.mean([v for (t, v), a in zip(rows, at) if a == k])) for k in np.unique(at)}
        grids[path.name] = means
    first = max(min(g) for g in grids.values())
    last = min(max(g) for g in grids.values())
    table = []
    for grid in grids.values():
        values, now = [], grid[min(grid)]
        for k in range(first, last + 1):
            now = grid.get(k, now)
            values.append(now)
        table.append(values)
    table = np.array(table)
    cutoffs = np.linspace(table.shape[1] // 3, table.shape[1] - horizon, 40).astype(int)
    histories = [row[max(0, c - CONTEXT) : c] for c in cutoffs for row in table]
    actual = np.stack([row[c : c + horizon] for c in cutoffs for row in table])
    return histories, actual, len(table)


def ratio(
    model: Model, histories: list[np.ndarray], actual: np.ndarray, members: int, which: np.ndarray | None = None
) -> float:
    """Error as a group relative to the error alone: MAE by each series' deviation, summed over series."""
    horizon = actual.shape[1]
    scale = np.array([max(h.std(), 1e-9) for h in histories])[:, None]

    def errors(size: int) -> np.ndarray:
        quantiles = model.forecast(histories, horizon, members * max(1, 32 // members), size)
        return (np.abs(actual - quantiles[..., model.median]) / scale).mean(1)

    grouped, single = errors(members), errors(1)
    which = np.ones(len(grouped), bool) if which is None else which
    return float(grouped[which].sum() / single[which].sum())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=PRETRAINED / TSMODEL_2_1.name)
    parser.add_argument("--data", type=Path, default=DATA, help="folder with m4/ and nab/")
    parser.add_argument("--write", action="store_true", help="write the results to manifest.json")
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    model = Model(args.model, args.threads)
    figures = {}

    def report(name: str, figure: float) -> None:
        figures[name] = round(figure, 4)
        print(f"{name:<44}{figure:>8.3f}", flush=True)

    for kind in ("walk", "memory", "day"):
        for spread in (0.05, 0.3):
            histories, actual, follows = synthetic(kind, spread, True)
            for name, which in (("followers", follows), ("leaders", ~follows)):
                report(f"together_{kind}_noise_{spread}_{name}", ratio(model, histories, actual, MEMBERS, which))
        histories, actual, _ = synthetic(kind, 0.3, False)
        report(f"together_{kind}_unrelated", ratio(model, histories, actual, MEMBERS))
    if (args.data / "m4").is_dir():
        for name, horizon in (("Hourly", 48), ("Weekly", 13)):
            train, test = (read_m4(args.data / "m4" / f"{name}-{part}.csv") for part in ("train", "test"))
            order = np.random.default_rng(2).permutation(len(train))[: len(train) // 8 * 8]
            actual = np.stack([test[i][:horizon] for i in order])
            report(f"together_m4_{name.lower()}_eight_at_random", ratio(model, [train[i] for i in order], actual, 8))
    if (args.data / "nab").is_dir():
        for step, horizon in ((600, 24), (3600, 12)):
            histories, actual, members = sensors(args.data, step, horizon)
            report(f"together_nab_traffic_{step}s_h{horizon}", ratio(model, histories, actual, members))
    if args.write:
        path = args.model / "manifest.json"
        manifest = json.loads(path.read_text())
        manifest["quality"] |= figures
        path.write_text(manifest_text(manifest))


if __name__ == "__main__":
    main()
