"""Writes a graph of medians beside that of all quantiles: the same network with one output, equal to the bit.

Most callers ask for medians alone. The head then has 13 of 25 outputs for each step, and the steps between quantiles,
their sum and its way back to the units of the series are left out. Weights are read from the other file, where they lie.

A run of forecast.onnx has a multiple of four rows, since the runtime takes logarithms of four numbers at once and
rounds the rest of one number a row in another way. Here each row has four numbers of its own, so that a run has a
multiple of two. (Products of one row have a kernel of their own, too.)
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from detection_medians import detection_medians
from manifest_text import manifest_text

PATCH = 16
DETECTION = "forecast-detection.onnx"
# Smaller tensors stay in the graph.
EXTERNAL_BYTES_MIN = 1_024
# Numbers that a logarithm is taken of at once; rows of a run are a multiple of ROWS_UNIT.
LOGS, ROWS_UNIT = 4, 2


class Weights:
    """The initializers of a graph, by their names."""

    def __init__(self, graph: onnx.GraphProto) -> None:
        self.tensors = {tensor.name: tensor for tensor in graph.initializer}

    def __getitem__(self, name: str) -> np.ndarray:
        return numpy_helper.to_array(self.tensors[name])

    def add(self, name: str, array: np.ndarray) -> str:
        self.tensors[name] = numpy_helper.from_array(np.ascontiguousarray(array), name)
        return name

    def holds(self, name: str, numbers: list[int]) -> bool:
        return name in self.tensors and self[name].tolist() == numbers


def keep_median(model: onnx.ModelProto) -> None:
    """Row 0 of the raw head output is the median; the other quantiles are steps from it (network.py)."""
    graph, weights = model.graph, Weights(model.graph)
    nodes = list(graph.node)
    spread = only(node for node in nodes if node.op_type == "MatMul" and node.input[1] == "spread")
    split = only(node for node in nodes if node.op_type == "Split" and len(node.output) == 3)
    sizes = weights[split.input[1]]
    outputs = int(sizes.sum())
    kept = np.concatenate([[0], np.arange(sizes[0], outputs)])
    columns = (np.arange(PATCH)[:, None] * outputs + kept).ravel()

    skip = only(node for node in nodes if node.op_type == "Gemm" and node.input[1] == "head.skip.weight")
    down = only(node for node in nodes if node.op_type == "Gemm" and node.input[2] == skip.output[0])
    skip.input[1] = weights.add("median.skip.weight", weights[skip.input[1]][columns])
    skip.input[2] = weights.add("median.skip.bias", weights[skip.input[2]][columns])
    down.input[1] = weights.add("median.down.weight", weights[down.input[1]][:, columns])
    split.input[1] = weights.add("median.sizes", np.array([1, *sizes[1:]], np.int64))
    for node in nodes:
        for at, name in enumerate(node.input):
            if node.op_type == "Concat" and weights.holds(name, [outputs * PATCH]):
                node.input[at] = weights.add("median.row", np.array([len(columns)], np.int64))
            elif node.op_type == "Concat" and weights.holds(name, [outputs]):
                node.input[at] = weights.add("median.step", np.array([len(kept)], np.int64))
            elif name == spread.output[0]:
                node.input[at] = split.output[0]
    graph.output[0].type.tensor_type.shape.dim[2].dim_value = 1
    nodes = with_four_logs(nodes, weights)

    needed = {output.name for output in graph.output}
    live = []
    for node in reversed(nodes):
        if needed.intersection(node.output):
            live.append(node)
            needed.update(node.input)
    del graph.node[:], graph.initializer[:]
    graph.node.extend(reversed(live))
    graph.initializer.extend(tensor for name, tensor in weights.tensors.items() if name in needed)


def with_four_logs(nodes: list[onnx.NodeProto], weights: Weights) -> list[onnx.NodeProto]:
    """Logarithms of [batch, 1] become those of [batch, 4]: three features and log(1), or one number four times."""
    logs = {node.output[0]: node for node in nodes if node.op_type == "Log"}
    features = only(node for node in nodes if node.op_type == "Concat" and len(logs.keys() & set(node.input)) == LOGS - 1)
    assert features.input[0] not in logs and features.attribute[0].i in (1, -1), "log(1) stands first, for the mean"
    arguments = [logs.pop(name).input[0] for name in features.input[1:]]
    one = weights.add("median.log.one", np.float32(1))
    bounds = [weights.add(f"median.log.{name}", np.array([at], np.int64)) for name, at in (("start", 0), ("end", 1), ("axis", 1))]
    changed = []
    for node in nodes:
        if node is features:
            changed += [
                helper.make_node("Add", [features.input[0], one], ["median.log.first"]),
                helper.make_node("Concat", ["median.log.first", *arguments], ["median.log.features"], axis=1),
                helper.make_node("Log", ["median.log.features"], features.output),
            ]
        elif node.op_type == "Log" and node.output[0] in logs:
            name = node.output[0]
            changed += [
                helper.make_node("Concat", [node.input[0]] * LOGS, [f"{name}.four"], axis=1),
                helper.make_node("Log", [f"{name}.four"], [f"{name}.logs"]),
                helper.make_node("Slice", [f"{name}.logs", *bounds], [name]),
            ]
        else:
            changed.append(node)
    return changed


def only(found):
    (one,) = found
    return one


def refer_to_weights(model: onnx.ModelProto, source: Path) -> None:
    """Tensors that are in the other file are read from there."""
    content = source.read_bytes()
    for tensor in model.graph.initializer:
        raw = tensor.raw_data
        at = content.find(raw) if len(raw) >= EXTERNAL_BYTES_MIN else -1
        if at < 0:
            continue
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in (("location", source.name), ("offset", at), ("length", len(raw))):
            tensor.external_data.add(key=key, value=str(value))


def check_equal(graphs: tuple[Path, Path], manifest: dict) -> None:
    """Medians of both graphs must be equal to the bit, at every context length."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # as in the service: threads would divide the rows
    whole, median = (
        onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"]) for path in graphs
    )
    rng, middle = np.random.default_rng(1), manifest["quantiles"].index(0.5)
    for context in manifest["context_buckets"]:
        for rows, horizon in ((4, PATCH), (32, 2 * PATCH), (8, manifest["horizon_max"])):
            gaps = rng.random((rows, context)) > 0.1 * (np.arange(rows)[:, None] % 3)
            late = np.arange(context) >= context // 3
            for observed in (gaps, np.broadcast_to(late, gaps.shape), np.ones_like(gaps)):
                values = rng.standard_normal((rows, context)).cumsum(1) * 10.0 ** (np.arange(rows)[:, None] % 9 - 4)
                feeds = {"values": values * observed, "observed": observed, "future": np.zeros((rows, horizon))}
                if "group" in manifest["inputs"]:
                    feeds["group"] = np.where(np.arange(rows) < rows // 2, 0, np.arange(rows))
                feeds = {name: array.astype(np.float32) for name, array in feeds.items()}
                made, want = median.run(None, feeds)[0], whole.run(None, feeds)[0][..., middle : middle + 1]
                assert np.array_equal(made, want), f"context {context}, horizon {horizon}: medians differ"
                for start in range(0, rows, ROWS_UNIT):
                    some = {name: array[start : start + ROWS_UNIT] for name, array in feeds.items()}
                    equal = np.array_equal(median.run(None, some)[0], want[start : start + ROWS_UNIT])
                    assert equal, f"context {context}, horizon {horizon}: medians of {ROWS_UNIT} rows differ"


def median_graph_of(source: Path, manifest: dict) -> dict[str, str | int]:
    """Writes the graph of medians beside `source`; returns its entry in the manifest."""
    path = source.with_name(f"{source.stem}-median.onnx")
    model = onnx.load(source)
    keep_median(model)
    if source.name == DETECTION:
        detection_medians(model)
    refer_to_weights(model, source)
    onnx.save(model, path)
    check_equal((source, path), manifest)
    return {"graph": path.name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest(), "rows_unit": ROWS_UNIT}


def write_median_graph(folder: Path) -> None:
    """Writes the graph and names it in the manifest."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["median"] = median_graph_of(folder / manifest["graph"], manifest)
    path.write_text(manifest_text(manifest))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="+", help="model folders")
    for each in parser.parse_args().folder:
        write_median_graph(each)
        print(f"{each}: written")
