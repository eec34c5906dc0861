"""Shows what further training gains: a line for each checkpoint with the loss on held-out synthetic series and the
errors on M4 and NAB of its averaged weights, with float32 products. Checkpoints at the constant rate are worse than
after a cool-down, but comparable with each other.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch

import train
from ablate import VALIDATION_SEED, Trained
from design import DESIGNS, TSMODEL_1
from evaluate import DATA, evaluate_m4, evaluate_nab
from export import load
from generator.pool import Pool

SERIES = 1024


def line(checkpoint: Path, model: str, data: Path) -> str:
    design = DESIGNS[model]
    network, state = load(checkpoint, design)
    context, horizon, _ = design.shapes[0]
    pool = Pool(SERIES, design.series, VALIDATION_SEED)
    with torch.no_grad():
        losses = [
            train.loss_of(network, *map(torch.from_numpy, pool.draw(SERIES // 4, context, horizon)), context)
            for _ in range(4)
        ]
    trained = Trained(network, design.context)
    hourly, weekly = (evaluate_m4(trained, data, name) for name in ("hourly", "weekly"))
    nab = evaluate_nab(trained, data)
    figures = [torch.stack(losses).mean().item(), hourly["m4_hourly_mase"], weekly["m4_weekly_mase"]]
    figures += [nab[f"nab_{steps}_to_last_value"] for steps in ("h24", "one_step")]
    return f"| {state['step']} | {state['core_seconds'] / 3600:.1f} | " + " | ".join(f"{x:.4f}" for x in figures) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkpoints", type=Path, nargs="+")
    parser.add_argument(
        "--model", choices=[name for name, design in DESIGNS.items() if not design.members], default=TSMODEL_1.name
    )
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--data", type=Path, default=DATA)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    print("| steps | core hours | synthetic loss | M4 hourly MASE | weekly | NAB 24 steps to last value | one step |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for checkpoint in args.checkpoints:
        print(line(checkpoint, args.model, args.data), flush=True)


if __name__ == "__main__":
    main()
