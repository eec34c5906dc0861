"""Short runs from nothing, equal in steps, each without one part of tsmodel-1's recipe; prints a line for each.

A run of some hundred steps says which parts pay early. It does not say where a long run ends.
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

SHAPES = ((512, 128, 0.5), (512, 32, 0.5))
VALIDATION, VALIDATION_SEED = 192, 4_242


class Trained(Model):
    """A network in training, where evaluate.py expects a model folder."""

    def __init__(self, network: networks.Network) -> None:
        self.manifest = {"patch": networks.PATCH, "context": 512, "horizon_max": 128, "inputs": {}}
        self.quantiles = np.array(networks.QUANTILES)
        self.median = networks.QUANTILES.index(0.5)
        self.session = self
        self.network = network

    def run(self, _: None, feeds: dict[str, np.ndarray]) -> list[np.ndarray]:
        with torch.no_grad():
            return [self.network(*map(torch.from_numpy, feeds.values())).numpy()]


def one_optimiser(run: Run) -> None:
    """AdamW for everything."""
    torch.manual_seed(run.args.seed)
    adam = torch.optim.AdamW(run.network.parameters(), run.args.adam_lr, betas=(0.9, 0.98), weight_decay=0.01)
    run.optimisers.all, run.optimisers.base = [adam], [run.args.adam_lr]


def blind_to_seasons(run: Run) -> None:
    """No lagged copies and no seasonal anchors: what is read at the lags counts as unknown."""
    lagged = seasonality.lagged

    def unknown(*args: object) -> tuple[torch.Tensor, ...]:
        return tuple(x * 0 for x in lagged(*args))

    networks.lagged = unknown


def even_loss(run: Run) -> None:
    """Every series weighs the same."""
    pinball = train.pinball
    train.pinball = lambda quantiles, target, weight: pinball(quantiles, target, (weight > 0).float())


# Each variant: what it changes of the network, of the pool, of the run.
Variant = tuple[dict, dict, Callable[[Run], None] | None]
VARIANTS: dict[str, Variant] = {
    "the recipe": ({}, {}, None),
    "AdamW instead of Muon": ({}, {}, one_optimiser),
    "no seasonal lags": ({}, {}, blind_to_seasons),
    "even weights in the loss": ({}, {}, even_loss),
    "half the width": ({"width": 64, "hidden": 192}, {}, None),
    "two layers": ({"layers": 2}, {}, None),
    "six layers": ({"layers": 6}, {}, None),
    "Gaussian processes alone": ({}, {"gaussian": 1.0}, None),
    "no Gaussian processes": ({}, {"gaussian": 0.0}, None),
    "no metrics": ({}, {"families": (0.0, METRICS)}, None),
    "metrics alone": ({}, {"families": (METRICS, 1.0), "gaussian": 0.0}, None),
}


def measure(name: str, steps: int, batch: int, threads: int, data: Path) -> str:
    sys.argv = ["train.py", "--no-compile", "--batch", str(batch), "--threads", str(threads)]
    args = train.arguments()
    torch.set_num_threads(threads)
    shape, pool, change = VARIANTS[name]
    run = Run(args)
    torch.manual_seed(args.seed)
    run.design = dataclasses.replace(TSMODEL_1, shapes=SHAPES)
    run.network = networks.Network(TSMODEL_1, **shape)
    run.average = {k: v.clone() for k, v in run.network.state_dict().items()}
    run.optimisers = train.Optimisers(run.network, args.muon_lr, args.adam_lr)
    if change:
        change(run)
    drawn, began = Pool(512, TSMODEL_1.series, args.seed, **pool), time.process_time()
    for step in range(steps):
        run.advance(drawn, min(1.0, (step + 1) / 50) * min(1.0, (steps - step) / (steps * 0.4)))
    cost = (time.process_time() - began) / steps * 1000
    fixed = [torch.from_numpy(x) for x in Pool(VALIDATION, TSMODEL_1.series, VALIDATION_SEED).draw(VALIDATION, 512, 128)]
    figures = []
    for weights in (run.network.state_dict(), run.average):
        run.network.load_state_dict({k: v.clone() for k, v in weights.items()})
        with torch.no_grad():
            loss = train.loss_of(run.network, *fixed, 512).item()
        m4 = [evaluate_m4(Trained(run.network), data, kind)[f"m4_{kind}_mase"] for kind in ("hourly", "weekly")]
        figures.append(f"{loss:.4f} | {m4[0]:.3f} | {m4[1]:.3f}")
    return f"| {name} | {figures[0]} | {figures[1]} | {cost:.0f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--variant", choices=VARIANTS, required=True, help="one a process: they change what others would see")
    parser.add_argument("--data", type=Path, default=DATA)
    args = parser.parse_args()
    print(measure(args.variant, args.steps, args.batch, args.threads, args.data), flush=True)


if __name__ == "__main__":
    main()
