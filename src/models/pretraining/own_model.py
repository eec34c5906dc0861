"""Packs a PyTorch network as a model folder for MODELS_DIR, and makes a small one as an example.

    python own_model.py --out models/seasonal-linear

`pack` takes any network with the inputs values and observed [batch, context] and future [batch, horizon], float32, and
the output quantiles [batch, horizon, levels] in the units of values, ascending. `observed` is 1 for an observation and
0 for a missing value (then the value is 0). `future` is zeros; its length is the horizon.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import warnings
from pathlib import Path

import numpy as np
import onnxruntime
import torch
from torch import Tensor, nn

QUANTILES = [0.05, 0.25, 0.5, 0.75, 0.95]


class SeasonalLinear(nn.Module):
    """A linear map from the normalised context to the horizon, with quantiles that widen by the step."""

    context, horizon, patch = 64, 32, 8

    def __init__(self) -> None:
        super().__init__()
        self.median = nn.Linear(self.context, self.horizon)
        self.widths = nn.Parameter(torch.zeros(self.horizon, len(QUANTILES)))

    def forward(self, values: Tensor, observed: Tensor, future: Tensor) -> Tensor:
        count = observed.sum(1, keepdim=True).clamp(min=1)
        mean = (values * observed).sum(1, keepdim=True) / count
        apart = (values - mean) * observed  # missing values are at the mean
        deviation = (apart.square().sum(1, keepdim=True) / count).sqrt()
        median = self.median(apart / (deviation + 1e-6))[:, : future.shape[1]]
        middle = QUANTILES.index(0.5)
        steps = nn.functional.softplus(self.widths[: future.shape[1]])
        below = -steps[:, :middle].flip(1).cumsum(1).flip(1)
        above = steps[:, middle + 1 :].cumsum(1)
        offsets = torch.cat([below, torch.zeros_like(steps[:, :1]), above], 1)
        return mean[..., None] + deviation[..., None] * (median[..., None] + offsets[None])


def waves(count: int, length: int, rng: np.random.Generator) -> Tensor:
    """Seasons of 4 to 32 steps with trend and noise, as an example of training data."""
    t = np.arange(length)
    period, phase = rng.uniform(4, 32, (count, 1)), rng.uniform(0, 2 * np.pi, (count, 1))
    series = np.sin(2 * np.pi * t / period + phase) + rng.normal(0, 0.01, (count, 1)) * t
    return torch.from_numpy((series + rng.normal(0, 0.15, (count, length))).astype(np.float32))


def fit(network: SeasonalLinear, steps: int) -> float:
    """Minimises the pinball loss, and returns that of the last step."""
    rng = np.random.default_rng(1)
    levels = torch.tensor(QUANTILES)
    optimiser = torch.optim.Adam(network.parameters(), 3e-3)
    loss = torch.tensor(torch.nan)
    for _ in range(steps):
        series = waves(256, network.context + network.horizon, rng)
        values, target = series[:, : network.context], series[:, network.context :]
        missed = target[..., None] - network(values, torch.ones_like(values), torch.zeros_like(target))
        loss = torch.maximum(levels * missed, (levels - 1) * missed).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return float(loss.detach())


def pack(
    network: nn.Module,
    folder: Path,
    *,
    patch: int,
    buckets: list[int],
    horizon: int,
    quantiles: list[float],
    **about: object,
) -> None:
    """Writes forecast.onnx and manifest.json. The folder's name is the model's.

    Contexts are padded on the left, as not observed, to the next of `buckets`, the context lengths of the graph; they
    and `horizon` are multiples of `patch`. `about` sets documentation keys of the manifest: version, license, trained,
    quality.
    """
    folder.mkdir(parents=True, exist_ok=True)
    graph = folder / "forecast.onnx"
    values, future = torch.randn(2, buckets[-1]), torch.zeros(2, max(patch, horizon // 2))
    batch, steps = torch.export.Dim.DYNAMIC, torch.export.Dim.DYNAMIC
    length = torch.export.Dim.DYNAMIC if len(buckets) > 1 else torch.export.Dim.STATIC
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.onnx.export(
            network.eval(),
            (values, torch.ones_like(values), future),
            input_names=["values", "observed", "future"],
            output_names=["quantiles"],
            dynamic_shapes=({0: batch, 1: length}, {0: batch, 1: length}, {0: batch, 1: steps}),
            opset_version=18,
            dynamo=True,
            verbose=False,
        )
    program.save(graph, external_data=False)
    check(network, graph, buckets, [patch, horizon], len(quantiles))
    manifest = {
        "format": 1,
        "name": folder.name,
        "version": "1.0.0",
        "graph": graph.name,
        "sha256": hashlib.sha256(graph.read_bytes()).hexdigest(),
        "patch": patch,
        "context": buckets[-1],
        "context_buckets": buckets,
        "horizon_max": horizon,
        "quantiles": quantiles,
        "inputs": {"values": "values", "observed": "observed", "future": "future"},
        "output": "quantiles",
        "parameters": sum(p.numel() for p in network.parameters()),
        "license": "Apache-2.0",
        "trained": {},
        "quality": {},
    } | about
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")


def check(network: nn.Module, graph: Path, buckets: list[int], horizons: list[int], levels: int) -> None:
    """Compares ONNX Runtime with PyTorch at every length; the service checks the rest when it loads a model."""
    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    rng = np.random.default_rng(2)
    for length in buckets:
        for horizon in horizons:
            observed = (rng.random((4, length)) > 0.2).astype(np.float32)
            values = rng.standard_normal((4, length)).cumsum(1).astype(np.float32) * observed
            feeds = [values, observed, np.zeros((4, horizon), np.float32)]
            got = session.run(None, dict(zip(["values", "observed", "future"], feeds)))[0]
            with torch.no_grad():
                want = network(*map(torch.from_numpy, feeds)).numpy()
            assert got.shape == (4, horizon, levels), f"shape {got.shape} at context {length} and horizon {horizon}"
            np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-4, err_msg=f"context {length}, horizon {horizon}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="the model folder; its name is the model's")
    parser.add_argument("--steps", type=int, default=400, help="of training; 0 leaves the network untrained")
    args = parser.parse_args()
    torch.manual_seed(1)
    torch.set_num_threads(1)  # it is small
    network = SeasonalLinear()
    loss = fit(network, args.steps)
    trained = {"data": "sine waves with noise", "steps": args.steps, "loss": None if np.isnan(loss) else round(loss, 4)}
    pack(
        network,
        args.out,
        patch=network.patch,
        buckets=[network.context],
        horizon=network.horizon,
        quantiles=QUANTILES,
        trained=trained,
    )
    print(f"{args.out}: pinball loss {loss:.4f}; list it with MODELS_DIR={args.out.parent} npm start -- models")


if __name__ == "__main__":
    main()
