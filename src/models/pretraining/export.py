"""Writes the averaged weights of a checkpoint as a model folder: forecast.onnx, the graphs of fine-tuning,
manifest.json. Checks parity with PyTorch.

The exported network is that of `serving.py`, with eight-bit products unless --float is given.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import tempfile
from pathlib import Path

import numpy as np
import onnxruntime
import torch

from design import DESIGNS, TSMODEL_1, Design
from graphs import export_graph, write_graph
from detection_network import DetectionNetwork
from manifest_text import manifest_text
from median_graph import DETECTION, median_graph_of, write_median_graph
from network import PATCH, QUANTILES, Network
from serving import serving_network
from train import network_of
from tuning import write_tuning

VERSION = "0.1.0"
GRAPH = "forecast.onnx"
# The digest by which releases up to 0.2.0 keep the state of detectors.
STATE = "e2555c2c4c6422debadeaf5baf2864ee9867ed735ac03a081868ff49cda6dfd0"
PRETRAINED = Path(__file__).resolve().parent.parent / "pretrained"
TOLERANCE = 2e-4  # of the largest magnitude in a series, ONNX Runtime against PyTorch
TOLERANCE_QUANTISED = 6e-2  # the same with eight-bit products; evaluate.py measures their cost on real series
# Of the largest magnitude in a context. Larger with eight-bit products, where rounding may differ.
TOLERANCE_PADDING = 1e-3


def load(checkpoint: Path, design: Design) -> tuple[Network, dict]:
    """The network with the averaged weights, and the checkpoint itself."""
    state = torch.load(checkpoint, map_location="cpu", weights_only=True)
    network = network_of(design)
    network.load_state_dict(state["average"])
    return network.eval(), state


def samples(design: Design) -> list[tuple[str, np.ndarray, np.ndarray, int]]:
    """Edge cases of a graph: name, values, observed, horizon."""
    rng = np.random.default_rng(7)

    def walk(n: int) -> np.ndarray:
        return rng.standard_normal((3, n)).cumsum(1) + 5 * np.sin(np.arange(n) * 2 * np.pi / 24)

    def full(x: np.ndarray) -> np.ndarray:
        return np.ones_like(x)

    padded = np.concatenate([np.zeros((3, 256)), np.ones((3, 256))], 1)
    holes = (rng.random((3, 512)) > 0.3).astype(float)
    cases = [(f"context {n} horizon {h}", walk(n), None, h) for n, h in [(64, 16), (128, 48), (256, 128), (512, 32)]]
    cases.append(("longest", walk(design.context), None, design.horizon_max))
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


def feeds_of(
    design: Design, values: np.ndarray, observed: np.ndarray, horizon: int, group: np.ndarray | None = None
) -> dict:
    """Inputs of a graph; without `group` every row is a group of its own."""
    rows = np.arange(len(values)) if group is None else group
    feeds = {"values": values, "observed": observed, "future": np.zeros((len(values), horizon))}
    if design.members:
        feeds["group"] = rows
    return {name: array.astype(np.float32) for name, array in feeds.items()}


def check(network: Network, design: Design, path: Path, tolerance: float = TOLERANCE) -> dict[str, float]:
    """Compares ONNX Runtime with PyTorch case by case; raises on a difference."""
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    worst = 0.0
    groups = [None, np.zeros(3)] if design.members else [None]
    for group in groups:
        for name, values, observed, horizon in samples(design):
            feeds = feeds_of(design, values, observed, horizon, group)
            got = session.run(None, feeds)[0]
            with torch.no_grad():
                want = network(*map(torch.from_numpy, feeds.values())).numpy()
            assert got.shape == (len(values), horizon, len(QUANTILES)), (name, got.shape)
            assert np.isfinite(got).all(), f"{name}: not finite"
            assert (np.diff(got, axis=2) >= 0).all(), f"{name}: quantiles cross by {np.diff(got, axis=2).min()}"
            if name in ("zeros", "nothing observed"):
                assert not got.any(), f"{name}: the forecast must be 0"
            size = np.abs(np.where(observed > 0, values, 0)).max(1) + np.abs(want).max((1, 2)) + 1e-20
            apart = float((np.abs(got - want).max((1, 2)) / size).max())
            assert apart < tolerance, f"{name}: differs from PyTorch by {apart}"
            worst = max(worst, apart)
    check_batch_independence(session, design)
    return {"parity": worst, "padding": padding(session, design, max(tolerance, TOLERANCE_PADDING))}


def check_batch_independence(session: onnxruntime.InferenceSession, design: Design) -> None:
    """A forecast must not depend, to the bit, on the other rows of its batch (batches of a multiple of four rows),
    unless they are members of its group.
    """
    rng = np.random.default_rng(5)
    values = rng.standard_normal((32, 512)).cumsum(1)
    values[1::2] = np.roll(values[::2], 20, 1)  # every second row lags another
    observed = (rng.random((32, 512)) > 0.05).astype(float)

    def forecast(rows: np.ndarray, group: np.ndarray | None = None) -> np.ndarray:
        return session.run(None, feeds_of(design, values[rows], observed[rows], 32, group))[0]

    whole = forecast(np.arange(32))
    for size in (4, 8, 12, 20):
        rows = rng.permutation(32)[:size]
        assert (forecast(rows) == whole[rows]).all(), f"a forecast depends on the other rows in a batch of {size}"
    if not design.members:
        return
    group = np.array([0, 0, 0, 0, 0, 5, 6, 7])  # five members; three univariate rows
    together = forecast(np.arange(8), group)
    assert (together[5:] == whole[5:8]).all(), "a row that is alone depends on a group"
    others = np.array([0, 1, 2, 3, 4, 20, 21, 22])
    assert (forecast(others, group)[:5] == together[:5]).all(), "a group depends on other rows"
    assert not np.allclose(together[:5], whole[:5]), "members of a group have no effect on each other"


def check_univariate(folder: Path, design: Design) -> str:
    """The forecast of a series alone must equal, to the bit, that of the model of the initial weights, if that lies
    beside this one and was exported from the same weights. Returns the result as text.
    """
    start = folder.parent / design.start
    manifests = [
        json.loads((each / "manifest.json").read_text())
        for each in (folder, start)
        if (each / "manifest.json").is_file()
    ]
    if (
        len({manifest.get("tuning", {}).get("source", {}).get("sha256") for manifest in manifests}) > 1
        or len(manifests) < 2
    ):
        return f"not compared: {start} was not made from the same weights"
    ours, theirs = (
        onnxruntime.InferenceSession(each / "forecast.onnx", providers=["CPUExecutionProvider"])
        for each in (folder, start)
    )
    rng = np.random.default_rng(1)
    for rows, context, horizon in ((32, 512, 32), (8, 64, 16), (4, 512, 128), (128, 112, 16)):
        values, observed = (
            rng.standard_normal((rows, context)).cumsum(1),
            (rng.random((rows, context)) > 0.1).astype(float),
        )
        feeds = feeds_of(design, values, observed, horizon)
        got, group = ours.run(None, feeds)[0], feeds.pop("group")
        assert (got == theirs.run(None, feeds)[0]).all(), (
            f"{len(group)} series alone have other forecasts than with {design.start}"
        )
    return "bit for bit those of " + design.start


def padding(session: onnxruntime.InferenceSession, design: Design, tolerance: float) -> float:
    """The difference between forecasts from a left-padded context and from the shorter context."""
    short = np.random.default_rng(3).standard_normal((4, 128)).cumsum(1).astype(np.float32)

    def forecast(values: np.ndarray, observed: np.ndarray) -> np.ndarray:
        return session.run(None, feeds_of(design, values, observed, 32))[0]

    zeros = np.zeros((4, 384), np.float32)
    long = forecast(np.concatenate([zeros, short], 1), np.concatenate([zeros, short * 0 + 1], 1))
    apart = float(np.abs(long - forecast(short, short * 0 + 1)).max() / np.abs(short).max())
    assert apart < tolerance, f"padding changes the forecast by {apart}"
    return apart


def write_manifest(folder: Path, network: Network, design: Design, state: dict, tuning: dict | None) -> None:
    """evaluate.py fills in `quality`."""
    manifest = {
        "format": 1,
        "name": design.name,
        "version": VERSION,
        "graph": GRAPH,
        "sha256": hashlib.sha256((folder / GRAPH).read_bytes()).hexdigest(),
        "patch": PATCH,
        "context": design.context,
        "context_buckets": list(design.contexts),
        "horizon_max": design.horizon_max,
        "quantiles": QUANTILES,
        "inputs": {name: name for name in ("values", "observed", "future", *(["group"] if design.members else []))},
        **({"members_max": design.members_max} if design.members else {}),
        "output": "quantiles",
        **({"tuning": tuning} if tuning else {}),
        "parameters": sum(p.numel() for p in network.parameters()),
        "license": "Apache-2.0",
        "trained": {
            "data": "synthetic only; see src/models/pretraining/generator",
            **({"start": f"the weights of {design.start}"} if design.start else {}),
            "steps": state["step"],
            "series": state["series"],
            "compute": f"{state['core_seconds'] / 3600:.1f} core hours, CPU only",
            "seed": state["recipe"]["seed"],
            "recipe": {k: state["recipe"][k] for k in ("batch", "muon_lr", "adam_lr", "cooldown")},
        },
        "quality": {},
    }
    (folder / "manifest.json").write_text(manifest_text(manifest))


def write_detection(folder: Path, design: Design, checkpoint: Path) -> None:
    """Writes and checks the folder of the network of detection. evaluate.py fills in `quality`."""
    state = torch.load(checkpoint, map_location="cpu", weights_only=True)
    network = DetectionNetwork(design)
    network.load_state_dict(state["average"])
    network.eval()
    teacher, graph = PRETRAINED / design.name, folder / DETECTION
    with tempfile.TemporaryDirectory() as exact:
        plain = serving_network(network, design, quantised=False)
        write_graph(export_graph(plain, opset=23), network, Path(exact) / DETECTION)
        print("detection:", check(network, design, Path(exact) / DETECTION))
    write_graph(export_graph(serving_network(network, design), opset=23), network, graph)
    print("eight-bit products:", check(network, design, graph, TOLERANCE_QUANTISED))
    manifest = json.loads((teacher / "manifest.json").read_text())
    manifest |= {
        "name": folder.name,
        "graph": DETECTION,
        "sha256": hashlib.sha256(graph.read_bytes()).hexdigest(),
        "median": median_graph_of(graph, manifest),
        "state": STATE,
        "parameters": sum(p.numel() for p in network.parameters()),
        "trained": {
            "data": f"quantiles of {design.name} on synthetic series",
            "steps": state["step"],
            "series": state["series"],
            "compute": f"{state['core_seconds'] / 3600:.1f} core hours, CPU only",
        },
        "quality": {},
    }
    del manifest["tuning"]
    (folder / "manifest.json").write_text(manifest_text(manifest))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", choices=DESIGNS, default=TSMODEL_1.name)
    parser.add_argument("--checkpoint", type=Path, help="default: the model's cooled.pt")
    parser.add_argument("--out", type=Path, help="default: the model's folder")
    parser.add_argument("--float", action="store_true", help="no eight-bit products")
    parser.add_argument("--detection", action="store_true", help="the folder of the network of detection")
    args = parser.parse_args()
    design = DESIGNS[args.model]
    out = args.out or PRETRAINED / (f"{design.name}-detection" if args.detection else design.name)
    out.mkdir(parents=True, exist_ok=True)
    if args.detection:
        write_detection(out, design, args.checkpoint or design.cache / "detection.pt")
        return
    network, state = load(args.checkpoint or design.cache / "cooled.pt", design)
    graph = out / GRAPH
    group = bool(design.members)
    with tempfile.TemporaryDirectory() as folder:
        # Checked without eight-bit products first: with them an error could look like rounding.
        exact = graph if args.float else Path(folder) / graph.name
        write_graph(
            export_graph(serving_network(network, design, quantised=False), group=group, opset=23), network, exact
        )
        print(f"step {state['step']}:", check(network, design, exact))
        if not args.float:
            write_graph(export_graph(serving_network(network, design), group=group, opset=23), network, graph)
            print("eight-bit products:", check(network, design, graph, TOLERANCE_QUANTISED))
        write_manifest(out, network, design, state, write_tuning(network, design, out, exact))
    if not group:
        write_median_graph(out)
    if group:
        print("forecasts of series alone:", "not compared" if args.float else check_univariate(out, design))
    print(f"{out}: {sum(f.stat().st_size for f in out.iterdir()) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
