"""Writes a checkpoint's averaged weights as a model folder: forecast.onnx, manifest.json, and proof of parity with PyTorch."""

from __future__ import annotations

import argparse
import hashlib
import json
import warnings
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch

from design import DESIGNS, TSMODEL_1, Design
from network import PATCH, QUANTILES, Network

VERSION = "0.1.0"
PRETRAINED = Path(__file__).resolve().parent.parent / "pretrained"
TOLERANCE = 2e-4  # of the largest magnitude in a series, ONNX Runtime against PyTorch


def load(checkpoint: Path) -> tuple[Network, dict]:
    """The network with the averaged weights, and the checkpoint itself."""
    state = torch.load(checkpoint, weights_only=True)
    network = Network()
    network.load_state_dict(state["average"])
    return network.eval(), state


def write_graph(network: Network, path: Path) -> None:
    """Exports with dynamic batch, context and horizon (both multiples of the patch), opset 18."""
    values, future = torch.randn(2, 256), torch.zeros(2, 48)
    batch, context, horizon = (torch.export.Dim.DYNAMIC for _ in range(3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.onnx.export(
            network,
            (values, torch.ones_like(values), future),
            input_names=["values", "observed", "future"],
            output_names=["quantiles"],
            dynamic_shapes=({0: batch, 1: context}, {0: batch, 1: context}, {0: batch, 1: horizon}),
            opset_version=18,
            dynamo=True,
            verbose=False,
        )
    model = program.model_proto
    for node in model.graph.node:
        del node.metadata_props[:]
        node.doc_string = ""
    for tensor in (*model.graph.input, *model.graph.output):
        del tensor.metadata_props[:]
    del model.metadata_props[:], model.graph.metadata_props[:]
    axes = {"values": ["batch", "context"], "observed": ["batch", "context"], "future": ["batch", "horizon"]}
    for tensor in model.graph.input:
        for dim, name in zip(tensor.type.tensor_type.shape.dim, axes[tensor.name]):
            dim.Clear()
            dim.dim_param = name
    del model.graph.value_info[:]
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)


def samples() -> list[tuple[str, np.ndarray, np.ndarray, int]]:
    """Inputs that a graph can stumble over: name, values, observed, horizon."""
    rng = np.random.default_rng(7)

    def walk(n: int) -> np.ndarray:
        return rng.standard_normal((3, n)).cumsum(1) + 5 * np.sin(np.arange(n) * 2 * np.pi / 24)

    def full(x: np.ndarray) -> np.ndarray:
        return np.ones_like(x)

    padded = np.concatenate([np.zeros((3, 256)), np.ones((3, 256))], 1)
    holes = (rng.random((3, 512)) > 0.3).astype(float)
    cases = [(f"context {n} horizon {h}", walk(n), None, h) for n, h in [(64, 16), (128, 48), (256, 128), (512, 32)]]
    cases += [
        ("padded", walk(512), padded, 32),
        ("holes", walk(512), holes, 64),
        ("constant", np.full((3, 128), 3.5), None, 32),
        ("zeros", np.zeros((3, 128)), None, 32),
        ("nothing observed", walk(128), np.zeros((3, 128)), 32),
        ("one observed", walk(128), np.eye(128)[[127, 64, 0]], 32),
        ("huge", walk(512) * 1e9, None, 32),
        ("tiny", walk(512) * 1e-9, None, 32),
        ("offset", walk(512) * 1e-2 + 1e4, None, 32),
        ("outlier", np.where(np.arange(512) == 200, 1e12, walk(512)), None, 32),
        ("step", np.where(np.arange(512) == 511, 1.0, np.zeros((3, 512))), None, 128),
    ]
    return [(name, x, full(x) if seen is None else seen, h) for name, x, seen, h in cases]


def check(network: Network, path: Path) -> dict[str, float]:
    """Compares ONNX Runtime with PyTorch case by case; raises where the graph is wrong."""
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    worst = 0.0
    for name, values, observed, horizon in samples():
        feeds = [values.astype(np.float32), observed.astype(np.float32), np.zeros((len(values), horizon), np.float32)]
        got = session.run(None, dict(zip(["values", "observed", "future"], feeds)))[0]
        with torch.no_grad():
            want = network(*map(torch.from_numpy, feeds)).numpy()
        assert got.shape == (len(values), horizon, len(QUANTILES)), (name, got.shape)
        assert np.isfinite(got).all(), f"{name}: not finite"
        assert (np.diff(got, axis=2) >= 0).all(), f"{name}: quantiles cross by {np.diff(got, axis=2).min()}"
        if name in ("zeros", "nothing observed"):
            assert not got.any(), f"{name}: the forecast must be 0"
        size = np.abs(np.where(observed > 0, values, 0)).max(1) + np.abs(want).max((1, 2)) + 1e-20
        apart = float((np.abs(got - want).max((1, 2)) / size).max())
        assert apart < TOLERANCE, f"{name}: differs from PyTorch by {apart}"
        worst = max(worst, apart)
    company(session)
    return {"parity": worst, "padding": padding(session)}


def company(session: onnxruntime.InferenceSession) -> None:
    """A forecast must not depend, by a single bit, on the other rows of its batch (batches of a multiple of four rows)."""
    rng = np.random.default_rng(5)
    values = rng.standard_normal((32, 512)).cumsum(1).astype(np.float32)
    observed = (rng.random((32, 512)) > 0.05).astype(np.float32)

    def forecast(rows: np.ndarray) -> np.ndarray:
        future = np.zeros((len(rows), 32), np.float32)
        return session.run(None, {"values": values[rows], "observed": observed[rows], "future": future})[0]

    whole = forecast(np.arange(32))
    for size in (4, 8, 12, 20):
        rows = rng.permutation(32)[:size]
        assert (forecast(rows) == whole[rows]).all(), f"a forecast depends on its company in a batch of {size}"


def padding(session: onnxruntime.InferenceSession) -> float:
    """How far a forecast from a left-padded context is from that of the shorter context."""
    short = np.random.default_rng(3).standard_normal((4, 128)).cumsum(1).astype(np.float32)
    future = np.zeros((4, 32), np.float32)

    def forecast(values: np.ndarray, observed: np.ndarray) -> np.ndarray:
        return session.run(None, {"values": values, "observed": observed, "future": future})[0]

    zeros = np.zeros((4, 384), np.float32)
    long = forecast(np.concatenate([zeros, short], 1), np.concatenate([zeros, short * 0 + 1], 1))
    apart = float(np.abs(long - forecast(short, short * 0 + 1)).max() / np.abs(short).max())
    assert apart < 1e-3, f"padding changes the forecast by {apart}"
    return apart


def write_manifest(folder: Path, network: Network, state: dict) -> None:
    """`quality` is filled in by evaluate.py."""
    manifest = {
        "format": 1,
        "name": NAME,
        "version": VERSION,
        "graph": "forecast.onnx",
        "sha256": hashlib.sha256((folder / "forecast.onnx").read_bytes()).hexdigest(),
        "patch": PATCH,
        "context": CONTEXT,
        "context_buckets": [64, 128, 256, 512],
        "horizon_max": HORIZON_MAX,
        "quantiles": QUANTILES,
        "inputs": {"values": "values", "observed": "observed", "future": "future"},
        "output": "quantiles",
        "parameters": sum(p.numel() for p in network.parameters()),
        "license": "Apache-2.0",
        "trained": {
            "data": "synthetic only; see src/model/pretraining/generator",
            "steps": state["step"],
            "series": state["series"],
            "compute": f"{state['core_seconds'] / 3600:.1f} core hours, CPU only",
            "seed": state["recipe"]["seed"],
            "recipe": {k: state["recipe"][k] for k in ("batch", "muon_lr", "adam_lr", "cooldown")},
        },
        "quality": {},
    }
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkpoint", type=Path, default=CACHE / "cooled.pt")
    parser.add_argument("--out", type=Path, default=FOLDER)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    network, state = load(args.checkpoint)
    write_graph(network, args.out / "forecast.onnx")
    print(f"step {state['step']}:", check(network, args.out / "forecast.onnx"))
    write_manifest(args.out, network, state)
    print(f"{args.out}: {sum(f.stat().st_size for f in args.out.iterdir()) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
