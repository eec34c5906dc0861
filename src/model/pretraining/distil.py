"""Trains the network of detection: a smaller one that learns the quantiles of a released network on synthetic series.

Detection forecasts every series at every step size, mostly a day ahead. The targets are quantiles, not values: they have
no noise, so that few steps are enough. Stops at SIGTERM (exit status 1); the same command resumes.
"""

from __future__ import annotations

import argparse
import copy
import json
import signal
import time
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from design import DESIGNS, TSMODEL_1, Design
from detection_network import DetectionNetwork, first_weights
from generator.pool import Pool
from network import PATCH, QUANTILES, Network
from optimiser import Optimisers
from train import has_bfloat16_hardware, use_bfloat16
from train_step import Theta

PRETRAINED = Path(__file__).resolve().parent.parent / "pretrained"
# Context, horizon and share of the batches. Detection rarely looks farther ahead than a day.
SHAPES = ((512, 32, 0.45), (512, 128, 0.1), (256, 32, 0.15), (112, 32, 0.2), (64, 16, 0.1))
POINTS = 544  # per series, for a batch of `--batch` series
EMA_DECAY = 0.999
WARM_UP = 200
CHECKPOINT_SECONDS = 120
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


def loss_of(student: DetectionNetwork, teacher: Network, values: Tensor, observed: Tensor, future: Tensor) -> Tensor:
    with torch.no_grad():
        target, s, _ = teacher.horizon_outputs(values, observed, future)
        usable = ((s.std > 1e-4) & (observed.sum(1, keepdim=True) >= 8)).float()
        patches, seasonal, logs = student.features(s, future)
        ahead = torch.arange(1, future.shape[1] + 1).to(values.dtype)
    x = student.encode(patches, s.observed, values.shape[1] // PATCH)
    return distance(student.decode(x, seasonal, s.last, ahead, s, logs), target, usable)


class Run:
    def __init__(self, args: argparse.Namespace) -> None:
        torch.manual_seed(args.seed)
        self.args, self.design = args, DESIGNS[args.model]
        self.teacher = released(self.design)
        self.student = DetectionNetwork(self.design)
        self.student.load_state_dict(first_weights(self.student, self.teacher))
        if args.bfloat16:
            use_bfloat16(self.teacher)
            use_bfloat16(self.student)
        self.average = copy.deepcopy(self.student.state_dict())
        products = torch.bfloat16 if args.bfloat16 else torch.float32
        self.optimisers = Optimisers(self.student, args.muon_lr, args.adam_lr, products)
        self.loss_of = torch.compile(loss_of, dynamic=False) if args.compile else loss_of
        self.step, self.series, self.core_seconds = 0, 0, 0.0

    def state(self) -> dict:
        return {
            "student": self.student.state_dict(),
            "average": self.average,
            "optimisers": self.optimisers.state_dict(),
            "step": self.step,
            "series": self.series,
            "core_seconds": self.core_seconds,
        }

    def load(self, path: Path) -> None:
        state = torch.load(path, weights_only=True)
        self.student.load_state_dict(state["student"])
        self.average = state["average"]
        self.optimisers.load_state_dict(state["optimisers"])
        self.step, self.series, self.core_seconds = state["step"], state["series"], state["core_seconds"]

    def rate(self) -> float:
        """Share of the full learning rate: a warm-up, and a straight line to zero."""
        return min(1.0, (self.step + 1) / WARM_UP, 1.2 * (1 - self.step / self.args.steps))

    def advance(self, pool: Pool) -> float:
        context, horizon, _ = SHAPES[int(pool.rng.choice(len(SHAPES), p=[share for *_, share in SHAPES]))]
        batch = min(self.args.batch * POINTS // (context + horizon), self.args.batch * 3)
        pool.refresh(batch // self.args.reuse)
        values, observed = (torch.from_numpy(x[:, :context].copy()) for x in pool.draw(batch, context, horizon))
        loss = self.loss_of(self.student, self.teacher, values, observed, torch.zeros(batch, horizon))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.student.parameters(), 1.0)
        self.optimisers.step(self.rate())
        self.step += 1
        self.series += batch
        decay = min(EMA_DECAY, self.step / (self.step + 10))
        with torch.no_grad():
            state = self.student.state_dict()
            torch._foreach_lerp_([self.average[k] for k in state], list(state.values()), 1 - decay)
        return loss.item()


def save(run: Run, path: Path) -> None:
    part = path.with_suffix(".part")
    torch.save(run.state(), part)
    part.rename(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", choices=DESIGNS, default=TSMODEL_1.name)
    parser.add_argument("--steps", type=int, help="default: those of the design")
    parser.add_argument("--batch", type=int, default=64, help=f"series of a step, for series of {POINTS} points")
    parser.add_argument("--pool", type=int, default=2048, help="series in the pool")
    parser.add_argument("--reuse", type=int, default=4, help="times a series is drawn on average")
    parser.add_argument("--muon-lr", type=float, default=0.01)
    parser.add_argument("--adam-lr", type=float, default=1e-3)
    parser.add_argument("--compile", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--bfloat16", action=argparse.BooleanOptionalAction, default=has_bfloat16_hardware())
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path, help="checkpoint; default: detection.pt of the model's cache")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    args.steps = args.steps or DESIGNS[args.model].detection_steps
    path = args.out or DESIGNS[args.model].cache / "detection.pt"
    path.parent.mkdir(parents=True, exist_ok=True)
    run, stop = Run(args), []
    if path.exists():
        run.load(path)
    pool = Pool(args.pool, run.design.series, args.seed * 1_000_003 + run.step)
    signal.signal(signal.SIGTERM, lambda *_: stop.append(1))
    losses, began, saved, reported = [], time.monotonic(), time.monotonic(), run.step
    while run.step < args.steps and not stop:
        tick = time.process_time()
        losses.append(run.advance(pool))
        run.core_seconds += time.process_time() - tick
        if run.step % 200 == 0:
            pace = (time.monotonic() - began) / (run.step - reported) * 1000
            print(f"step {run.step} distance {np.mean(losses):.5f} {pace:.0f} ms/step", flush=True)
            losses, began, reported = [], time.monotonic(), run.step
        if time.monotonic() - saved > CHECKPOINT_SECONDS:
            save(run, path)
            saved = time.monotonic()
    save(run, path)
    if run.step < args.steps:
        raise SystemExit(f"stopped at step {run.step} of {args.steps}; the same command resumes from there")


if __name__ == "__main__":
    main()
