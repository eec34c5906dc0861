"""Short runs from scratch of equal length, each without one part of tsmodel-1's recipe; prints a line for each.

A run of some hundred steps shows which parts pay early, not how a long run ends.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
import time
from pathlib import Path
from typing import Callable

import numpy as np
import torch

import network as networks
import seasonality
import train
from design import TSMODEL_1
from evaluate import DATA, Model, evaluate_m4
from generator.pool import METRICS, Pool
from train import Run

VALIDATION, VALIDATION_SEED = 192, 4_242


class Trained(Model):
    """A network in training, with the interface of evaluate.Model."""

    def __init__(self, network: networks.Network, context: int) -> None:
        self.manifest = {"patch": networks.PATCH, "context": context, "horizon_max": 128, "inputs": {}}
        self.quantiles = np.array(networks.QUANTILES)
        self.median = networks.QUANTILES.index(0.5)
        self.session = self
        self.network = network

    def run(self, _: None, feeds: dict[str, np.ndarray]) -> list[np.ndarray]:
        with torch.no_grad():
            return [self.network(*map(torch.from_numpy, feeds.values())).numpy()]


def adamw_only(run: Run) -> None:
    """AdamW for all parameters."""
    torch.manual_seed(run.args.seed)
    adam = torch.optim.AdamW(run.network.parameters(), run.args.adam_lr, betas=(0.9, 0.98), weight_decay=0.01)
    run.optimisers.all, run.optimisers.base = [adam], [run.args.adam_lr]


def without_seasonal_lags(run: Run) -> None:
    """No lagged copies and no seasonal anchors: values at the lags count as unobserved."""
    lagged = seasonality.lagged

    def unknown(*args: object) -> tuple[torch.Tensor, ...]:
        return tuple(x * 0 for x in lagged(*args))

    networks.lagged = unknown


def unweighted_loss(run: Run) -> None:
    """Every series has the same weight."""
    pinball = train.pinball
    train.pinball = lambda quantiles, target, weight: pinball(quantiles, target, (weight > 0).float())


@dataclasses.dataclass(frozen=True)
class Variant:
    """Changes to the recipe."""

    network: dict = dataclasses.field(default_factory=dict)
    pool: dict = dataclasses.field(default_factory=dict)
    context: int = 512
    patch: int = networks.PATCH
    change: Callable[[Run], None] | None = None


VARIANTS = {
    "the recipe": Variant(),
    "AdamW instead of Muon": Variant(change=adamw_only),
    "no seasonal lags": Variant(change=without_seasonal_lags),
    "even weights in the loss": Variant(change=unweighted_loss),
    "half the width": Variant({"width": 64, "hidden": 192}),
    "two layers": Variant({"layers": 2}),
    "six layers": Variant({"layers": 6}),
    "half the context": Variant(context=256),
    "patches of 8": Variant(patch=8),
    "patches of 32": Variant(patch=32),
    "Gaussian processes alone": Variant(pool={"gaussian": 1.0}),
    "no Gaussian processes": Variant(pool={"gaussian": 0.0}),
    "no metrics": Variant(pool={"families": (0.0, METRICS)}),
    "metrics alone": Variant(pool={"families": (METRICS, 1.0), "gaussian": 0.0}),
}


def measure(name: str, seed: int, steps: int, batch: int, threads: int, data: Path) -> str:
    sys.argv = ["train.py", "--no-compile", "--batch", str(batch), "--threads", str(threads), "--seed", str(seed)]
    args = train.arguments()
    torch.set_num_threads(threads)
    variant = VARIANTS[name]
    networks.PATCH = train.PATCH = variant.patch
    run = Run(args)
    torch.manual_seed(args.seed)
    run.shapes = tuple((variant.context, horizon, 0.5) for horizon in (128, 32))
    run.network = networks.Network(TSMODEL_1, **variant.network)
    run.average = {k: v.clone() for k, v in run.network.state_dict().items()}
    run.optimisers = train.Optimisers(run.network, args.muon_lr, args.adam_lr)
    if variant.change:
        variant.change(run)
    pool, began = Pool(512, TSMODEL_1.series, args.seed, **variant.pool), time.process_time()
    for step in range(steps):
        run.advance(pool, min(1.0, (step + 1) / 50) * min(1.0, (steps - step) / (steps * 0.4)))
    cost = (time.process_time() - began) / steps * 1000
    fixed = [
        torch.from_numpy(x) for x in Pool(VALIDATION, TSMODEL_1.series, VALIDATION_SEED).draw(VALIDATION, 512, 128)
    ]
    shown = [x[:, 512 - variant.context :] for x in fixed]
    figures = []
    for weights in (run.network.state_dict(), run.average):
        run.network.load_state_dict({k: v.clone() for k, v in weights.items()})
        with torch.no_grad():
            loss = train.loss_of(run.network, *shown, variant.context).item()
        model = Trained(run.network, variant.context)
        m4 = [evaluate_m4(model, data, kind)[f"m4_{kind}_mase"] for kind in ("hourly", "weekly")]
        figures.append(f"{loss:.4f} | {m4[0]:.3f} | {m4[1]:.3f}")
    return f"| {name} | {figures[0]} | {figures[1]} | {cost:.0f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--variant", choices=VARIANTS, required=True, help="one per process: a variant changes global state"
    )
    parser.add_argument("--data", type=Path, default=DATA)
    args = parser.parse_args()
    print(measure(args.variant, args.seed, args.steps, args.batch, args.threads, args.data), flush=True)


if __name__ == "__main__":
    main()
