"""Trains the network of detection: a smaller one that learns the quantiles of a released network on synthetic series.

Detection forecasts every series at every step size, and few steps ahead. The targets are quantiles, not values: they
have no noise, so that few steps are enough. Stops at SIGTERM (exit status 1); the same command resumes.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from design import DESIGNS, Design
from detection_network import DetectionNetwork, first_weights
from network import PATCH, QUANTILES, Network
from train import DEVICE, Run, arguments, run_until, use_bfloat16
from train_step import Theta

PRETRAINED = Path(__file__).resolve().parent.parent / "pretrained"
STEPS = 16_000
# Context, horizon and share of the batches. Most detectors forecast a day or less.
SHAPES = ((512, 32, 0.45), (512, 128, 0.1), (256, 32, 0.15), (112, 32, 0.2), (64, 16, 0.1))
WARM_UP = 200
# Errors count relative to the spread of the forecast, as they do in a score, but not below this spread.
SPREAD_MIN, RELATIVE = 0.005, 0.75
WEIGHT_MAX = 30.0


def released(design: Design) -> Network:
    """The network of a model folder, from the weights that fine-tuning starts with."""
    folder = PRETRAINED / design.name
    tuning = json.loads((folder / "manifest.json").read_text())["tuning"]
    content = (folder / tuning["source"]["graph"]).read_bytes()
    pieces = [np.frombuffer(content, np.float32, length, start) for start, length, _ in tuning["weights"]]
    network = Network(design)
    weights = Theta(network).parameters(torch.from_numpy(np.concatenate(pieces)))
    network.load_state_dict({name: tensor.contiguous() for name, tensor in weights.items()})
    return network.eval()


def distance(quantiles: Tensor, target: Tensor, usable: Tensor) -> Tensor:
    """Mean absolute difference of quantiles [B, H, Q], relative to the spread of the target; the median counts half."""
    spread = (target[..., QUANTILES.index(0.9)] - target[..., QUANTILES.index(0.1)]).clamp(min=SPREAD_MIN)
    weight = spread.pow(-RELATIVE).clamp(max=WEIGHT_MAX) * usable
    apart = (quantiles - target).abs()
    middle = QUANTILES.index(0.5)
    return ((0.5 * apart.mean(-1) + 0.5 * apart[..., middle]) * weight).mean()


class Distillation(Run):
    """A run whose targets are what `teacher` forecasts. The learning rate falls to zero in a straight line."""

    resets_units = False

    def __init__(self, args: argparse.Namespace) -> None:
        design = DESIGNS[args.model]
        teacher = released(design).to(DEVICE)
        network = DetectionNetwork(design)
        network.load_state_dict(first_weights(network, teacher))
        if args.bfloat16:
            use_bfloat16(teacher)

        def loss_of(network: DetectionNetwork, values: Tensor, observed: Tensor, context: int) -> Tensor:
            future = torch.zeros_like(values[:, context:])
            values, observed = values[:, :context], observed[:, :context]
            with torch.no_grad():
                target, s, _ = teacher.horizon_outputs(values, observed, future)
                usable = ((s.std > 1e-4) & (observed.sum(1, keepdim=True) >= 8)).float()
                patches, seasonal, logs = network.features(s, future)
                ahead = torch.arange(1, future.shape[1] + 1, device=values.device).to(values.dtype)
            x = network.encode(patches, s.observed, context // PATCH)
            return distance(network.decode(x, seasonal, s.last, ahead, s, logs), target, usable)

        super().__init__(args, network, loss_of)
        self.shapes = SHAPES

    def rate(self) -> float:
        return min(1.0, (self.step + 1) / WARM_UP, 1.2 * (1 - self.step / self.args.steps))


def main() -> None:
    args = arguments(__doc__, steps=STEPS, batch=54, pool=2048, reuse=4, adam_lr=1e-3)
    torch.set_num_threads(args.threads)
    run, path = Distillation(args), DESIGNS[args.model].cache / "detection.pt"
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists():
        run.load(path)
    run_until(run, args.steps, path)


if __name__ == "__main__":
    main()
