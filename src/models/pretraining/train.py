"""Trains the network on synthetic series: warm-up, constant learning rate, and a cool-down from any checkpoint.

The schedule has no end: a run may be stopped, resumed and extended. `--cooldown N` takes the newest checkpoint, lowers
the learning rate to zero in N steps and writes `cooled.pt`; the run itself is not changed. Both stop at SIGTERM (exit
status 1) and are resumed by the same command.
"""

from __future__ import annotations

import argparse
import math
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from group_network import GroupNetwork
from design import DESIGNS, TSMODEL_1, Design
from generator.pool import Pool
from network import PATCH, QUANTILES, Block, Network, ResidualMLP, scale
from optimiser import Optimisers

WARM_UP = 300
POINTS = 640  # per series, for a batch of `--batch` series
EMA_DECAY = 0.9985
CHECKPOINT_SECONDS = 300
RESET_STEPS, RESET_CROPS = 2000, 256  # steps between resets of dead hidden units; crops in which a dead unit is 0
RESET_RATE_MIN = 0.3  # at a lower rate reset units would not learn
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def pinball(quantiles: Tensor, target: Tensor, weight: Tensor) -> Tensor:
    """Weighted mean pinball loss: quantiles [B, N, Q], target and weight [B, N]."""
    levels = torch.tensor(QUANTILES, device=quantiles.device)
    error = target.unsqueeze(-1) - quantiles
    loss = torch.maximum(levels * error, (levels - 1) * error).mean(-1)
    return (loss * weight).sum() / (weight > 0).sum().clamp(min=1)


def use_bfloat16(network: Network) -> None:
    """Computes the products of embedding, blocks and head in bfloat16; weights, sums and seasonal lags stay float32."""

    def rounded(forward):
        def product(*inputs):
            with torch.autocast(DEVICE.type, torch.bfloat16):
                return forward(*inputs).float()

        return product

    for part in network.modules():
        if isinstance(part, (Block, ResidualMLP)):
            part.forward = rounded(part.forward)


def has_bfloat16_hardware() -> bool:
    """Whether this machine multiplies bfloat16 in hardware."""
    if DEVICE.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    return torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported()


def network_of(design: Design) -> Network:
    return GroupNetwork(design) if design.members else Network(design)


def first_network(design: Design) -> Network:
    """A new network, with the weights of another model where the design says so."""
    network = network_of(design)
    if design.start is not None:
        begun = torch.load(DESIGNS[design.start].cache / "cooled.pt", map_location="cpu", weights_only=True)
        network.load_state_dict(begun["average"], strict=False)
    return network


def loss_of(network: Network, values: Tensor, observed: Tensor, context: int, *group: Tensor) -> Tensor:
    """Loss at every hidden point after the first observed one. Series whose steps or seasonal differences are small
    relative to their range have more weight: there a small normalised error is large relative to that of a naive
    forecast.
    """
    with torch.no_grad():
        s = scale(values[:, :context], observed[:, :context])
        target = s.forward(values)
        begun = observed.cummax(1).values
        usable = ((s.std > 1e-4) & (observed.sum(1, keepdim=True) >= 8)).float()
        weight = (1 - observed) * begun * usable
        shown = observed[:, :context].unflatten(1, (-1, PATCH)).amax(-1).repeat_interleave(PATCH, 1)
        weight[:, :context] *= (1 - shown) * 0.5
    quantiles, logs = network.training_outputs(s, values[:, context:] * 0, *group)
    return pinball(quantiles, target, weight * (logs.amin(1, keepdim=True) * -0.5).exp().clamp(0.7, 8.0))


@torch.no_grad()
def reset_dead_units(
    network: Network, average: dict[str, Tensor], values: Tensor, observed: Tensor, horizon: int, *group: Tensor
) -> int:
    """Re-initialises hidden units that are always 0, with outgoing weights of 0, so that the forecasts do not change.
    Early in a run whole layers die, and a dead unit has no gradient. Returns their number. After ReDo (Sokar et al.,
    2023). Units of the embedding are left: unusual series activate them.
    """
    parts = {name: m for name, m in network.named_modules() if isinstance(m, Block) or m is network.head}
    parts = {name: m for name, m in parts.items() if m.up.weight.requires_grad}
    largest: dict[str, Tensor] = {}

    def recorder(name: str):
        def record(_: nn.Module, inputs: tuple[Tensor]) -> None:
            largest[name] = inputs[0].flatten(0, -2).amax(0)

        return record

    hooks = [part.down.register_forward_pre_hook(recorder(name)) for name, part in parts.items()]
    network(values, observed, torch.zeros(len(values), horizon, device=values.device), *group)
    for handle in hooks:
        handle.remove()
    for name, part in parts.items():
        dead = largest[name] <= 0
        fresh = nn.Linear(part.up.in_features, part.up.out_features, part.up.bias is not None, device=values.device)
        for key, new in fresh.named_parameters():
            for weights in (dict(part.up.named_parameters())[key], average[f"{name}.up.{key}"]):
                weights[dead] = new[dead]
        for weights in (part.down.weight, average[f"{name}.down.weight"]):
            weights[:, dead] = 0.0
    return int(sum((x <= 0).sum() for x in largest.values()))


class Run:
    """A training run: network, averaged network, optimisers, and the state to resume it."""

    resets_units = True  # early in a run from scratch whole layers die

    def __init__(self, args: argparse.Namespace, network: Network | None = None, loss: Callable = loss_of) -> None:
        torch.manual_seed(args.seed)
        self.args = args
        self.design = DESIGNS[args.model]
        self.shapes = self.design.shapes
        self.network = (network or first_network(self.design)).to(DEVICE)
        products = torch.bfloat16 if args.bfloat16 else torch.float32
        if args.bfloat16:
            use_bfloat16(self.network)
        self.loss_of = torch.compile(loss, dynamic=False) if args.compile else loss
        self.average = {k: v.clone() for k, v in self.network.state_dict().items()}
        self.optimisers = Optimisers(self.network, args.muon_lr, args.adam_lr, products)
        self.step, self.series, self.core_seconds = 0, 0, 0.0
        self.cooling: list[int] | None = None  # first and last step of the current cool-down

    def save(self, path: Path) -> None:
        state = {
            "network": self.network.state_dict(),
            "average": self.average,
            "optimisers": self.optimisers.state_dict(),
            "step": self.step,
            "series": self.series,
            "core_seconds": self.core_seconds,
            "cooling": self.cooling,
            "recipe": {k: str(v) if isinstance(v, Path) else v for k, v in vars(self.args).items()},
        }
        part = path.with_suffix(".part")
        torch.save(state, part)
        part.rename(path)

    def load(self, path: Path) -> None:
        state = torch.load(path, map_location=DEVICE, weights_only=True)
        self.network.load_state_dict(state["network"])
        self.average = state["average"]
        self.optimisers.load_state_dict(state["optimisers"])
        self.step, self.series, self.core_seconds = state["step"], state["series"], state["core_seconds"]
        self.cooling = state.get("cooling")

    def cool(self, steps: int, path: Path) -> None:
        """Prepares a cool-down from the current step, or resumes the one that `path` holds for this step."""
        plan = [self.step, self.step + steps]
        if path.exists() and torch.load(path, map_location=DEVICE, weights_only=True).get("cooling") == plan:
            self.load(path)
        self.cooling = plan

    def rate(self) -> float:
        """Share of the full learning rate at the current step."""
        if self.cooling:
            start, end = self.cooling
            return (end - self.step) / (end - start)
        return min(1.0, (self.step + 1) / WARM_UP)

    def draw_batch(self, pool: Pool, context: int, horizon: int, batch: int) -> list[Tensor]:
        """Values, the observed mask, and group numbers for a design with groups."""
        if not self.design.members:
            drawn = pool.draw(batch, context, horizon)
        else:
            members = int(pool.rng.choice(self.design.members))
            batch = batch // members * members
            drawn = *pool.draw_groups(batch, members, context, horizon), np.arange(batch, dtype=np.float32) // members
        return [torch.from_numpy(x).to(DEVICE) for x in drawn]

    def reset_dead_units(self, pool: Pool) -> int:
        """See `reset_dead_units`; returns the number of units."""
        context, horizon, _ = self.design.shapes[0]
        values, observed, *group = self.draw_batch(pool, context, horizon, RESET_CROPS)
        return reset_dead_units(self.network, self.average, values[:, :context], observed[:, :context], horizon, *group)

    def advance(self, pool: Pool, rate: float) -> float:
        """One step; returns the loss."""
        place = int(pool.rng.choice(len(self.shapes), p=[share for *_, share in self.shapes]))
        context, horizon, _ = self.shapes[place]
        batch = min(self.args.batch * POINTS // (context + horizon), self.args.batch * 3)
        if self.design.members:
            batch = min(batch, self.args.batch)
        pool.refresh(batch // self.args.reuse)
        values, observed, *group = self.draw_batch(pool, context, horizon, batch)
        loss = self.loss_of(self.network, values, observed, context, *group)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        self.optimisers.step(rate)
        self.step += 1
        self.series += len(values)
        decay = min(EMA_DECAY, self.step / (self.step + 10))
        with torch.no_grad():
            names = list(self.average)
            state = self.network.state_dict()
            torch._foreach_lerp_([self.average[k] for k in names], [state[k] for k in names], 1 - decay)
        return loss.item()


def train(args: argparse.Namespace) -> None:
    torch.set_num_threads(args.threads)
    cache = DESIGNS[args.model].cache
    cache.mkdir(parents=True, exist_ok=True)
    run, newest = Run(args), cache / "newest.pt"
    if newest.exists():
        run.load(newest)
    elif args.cooldown:
        raise SystemExit(f"there is no checkpoint to cool down: {newest}")
    target, end = newest, args.steps
    if args.cooldown:
        target = cache / "cooled.pt"
        run.cool(args.cooldown, target)
        end = run.cooling[1]
    run_until(run, end, target)


def run_until(run: Run, end: int, target: Path) -> None:
    """Trains to a step, with checkpoints in `target`."""
    stop: list[int] = []
    pool = Pool(run.args.pool, run.design.series, run.args.seed * 1_000_003 + run.step)
    signal.signal(signal.SIGTERM, lambda *_: stop.append(1))
    losses, began, saved, reported = [], time.monotonic(), time.monotonic(), run.step
    while run.step < end and not stop:
        tick = time.process_time()
        losses.append(run.advance(pool, run.rate()))
        if not math.isfinite(losses[-1]):
            raise SystemExit(f"the loss is no longer finite at step {run.step}")
        run.core_seconds += time.process_time() - tick
        if run.resets_units and run.step % RESET_STEPS == 0 and run.rate() > RESET_RATE_MIN:
            print(f"step {run.step} {run.reset_dead_units(pool)} dead units reset", flush=True)
        if run.step % 200 == 0:
            pace = (time.monotonic() - began) / (run.step - reported) * 1000
            print(f"step {run.step} loss {np.mean(losses):.5f} {pace:.0f} ms/step {run.series} series", flush=True)
            losses, began, reported = [], time.monotonic(), run.step
        if time.monotonic() - saved > CHECKPOINT_SECONDS:
            run.save(target)
            saved = time.monotonic()
    run.save(target)
    if run.step < end:
        raise SystemExit(f"stopped at step {run.step} of {end}; the same command resumes from there")


def arguments(description: str | None = __doc__, **defaults: float) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--model", choices=DESIGNS, default=TSMODEL_1.name)
    parser.add_argument("--steps", type=int, help="last step; the learning rate stays constant")
    parser.add_argument(
        "--cooldown",
        type=int,
        nargs="?",
        const=-1,
        default=0,
        help="lower the learning rate of the newest checkpoint to zero in this many steps",
    )
    parser.add_argument("--batch", type=int, help=f"series of a step, for series of {POINTS} points")
    parser.add_argument("--pool", type=int, default=1024, help="series in the pool")
    parser.add_argument("--reuse", type=int, default=2, help="times a series is drawn on average")
    parser.add_argument("--muon-lr", type=float)
    parser.add_argument("--adam-lr", type=float)
    compiler = shutil.which("g++") is not None
    parser.add_argument(
        "--compile", action=argparse.BooleanOptionalAction, default=compiler, help="saves a fifth of the time"
    )
    parser.add_argument(
        "--bfloat16", action=argparse.BooleanOptionalAction, default=has_bfloat16_hardware(), help="halves the time"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.set_defaults(**defaults)
    args = parser.parse_args()
    design = DESIGNS[args.model]
    if args.cooldown < 0:
        args.cooldown = design.cooldown
    for name in ("steps", "batch", "muon_lr", "adam_lr"):
        if getattr(args, name) is None:
            setattr(args, name, getattr(design, name))
    return args


if __name__ == "__main__":
    train(arguments())
