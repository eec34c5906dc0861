"""Export of networks as small ONNX graphs."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper

from group_network import GroupNetwork
from leaders import LEAD_MAX
from network import Network


def export_graph(
    network: torch.nn.Module, theta: torch.Tensor | None = None, group: bool = False, opset: int = 18
) -> onnx.ModelProto:
    """A forecast as a graph with dynamic batch, context and horizon (both multiples of the patch)."""
    values, future = torch.randn(2, 256), torch.zeros(2, 48)
    batch, context, horizon = (torch.export.Dim.DYNAMIC for _ in range(3))
    more = {} if theta is None else {"theta": (theta, {})}
    if group:
        more["group"] = (torch.zeros(2), {0: batch})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.onnx.export(
            network,
            (values, torch.ones_like(values), future, *(tensor for tensor, _ in more.values())),
            input_names=["values", "observed", "future", *more],
            output_names=["quantiles"],
            dynamic_shapes=(
                {0: batch, 1: context},
                {0: batch, 1: context},
                {0: batch, 1: horizon},
                *(dims for _, dims in more.values()),
            ),
            opset_version=opset,
            dynamo=True,
            verbose=False,
        )
    model = program.model_proto
    axes = {
        "values": ["batch", "context"],
        "observed": ["batch", "context"],
        "future": ["batch", "horizon"],
        "group": ["batch"],
    }
    for tensor in model.graph.input:
        for dim, name in zip(tensor.type.tensor_type.shape.dim, axes.get(tensor.name, [])):
            dim.Clear()
            dim.dim_param = name
    return model


# Matrices of the inverse transform: the table of waves, and the lags or leads.
INVERSES = {"inverse": ("cos_table", "lag_row"), "even": ("cos_table", "lead_row"), "odd": ("sin_table", "lead_row")}


def write_graph(model: onnx.ModelProto, network: Network, path: Path) -> None:
    """Writes a graph without its Fourier matrices and without metadata of the exporter."""
    compute_matrices(model.graph, network)
    for node in model.graph.node:
        del node.metadata_props[:]
        node.doc_string = ""
    for tensor in (*model.graph.input, *model.graph.output):
        del tensor.metadata_props[:]
    del model.metadata_props[:], model.graph.metadata_props[:]
    del model.graph.value_info[:]
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)


def compute_matrices(graph: onnx.GraphProto, network: Network) -> None:
    """Replaces the Fourier matrices of lags and leads, 2.5 MB a graph and more, by their computation; ONNX Runtime
    folds it when it loads a graph. Cosines are looked up by (time * frequency) modulo their period.
    """
    seasons = network.seasons
    (context, frequencies), lags = seasons.cos.shape, len(seasons.lag)
    size = 2 * (frequencies - 1)
    turn = np.arange(size) * (2 * np.pi / size)
    frequency, lag = np.arange(frequencies), seasons.lag.numpy().astype(int)
    weight = np.where((frequency == 0) | (frequency == frequencies - 1), 1.0, 2.0) / size
    constants = {
        "size": np.array(size),
        "time": np.arange(context)[:, None],
        "frequency": frequency[:, None],
        "frequency_row": frequency[None],
        "lag_row": lag[None],
        "lead_row": np.arange(1, LEAD_MAX + 1)[None],
        "cos_table": np.cos(turn),
        "sin_table": np.sin(turn),
        "weight": weight[:, None],
        "lag_column": lag[:, None].astype(float),
        "lag_half": lag[None] / 2.0,
        "lag_more": lag[None] * 1.5,
    }
    nodes: list[onnx.NodeProto] = []
    used: set[str] = set()

    def node(operator: str, inputs: list[str], output: str, **attributes: int) -> str:
        names = ["seasons_" + name if name in constants else name for name in inputs]
        used.update(name for name in inputs if name in constants)
        nodes.append(helper.make_node(operator, names, [output], **attributes))
        return output

    def looked_up(table: str, rows: str, columns: str, output: str) -> str:
        turns = node("Mod", [node("Mul", [rows, columns], output + "_product"), "size"], output + "_turns")
        return node("Gather", [table, turns], output)

    def computed(name: str, output: str) -> None:
        if name == "cos" or name == "sin":
            looked_up(name + "_table", "time", "frequency_row", output)
        elif name in INVERSES:
            table, row = INVERSES[name]
            node("Mul", [looked_up(table, "frequency", row, output + "_waves"), "weight"], output)
        else:
            above = node("GreaterOrEqual", ["lag_column", "lag_half"], output + "_above")
            below = node("LessOrEqual", ["lag_column", "lag_more"], output + "_below")
            node("Cast", [node("And", [above, below], output + "_both")], output, to=TensorProto.FLOAT)

    tensors = {name: getattr(seasons, name) for name in ("cos", "sin", "inverse", "near")}
    if isinstance(network, GroupNetwork):
        tensors |= {name: getattr(network.leaders, name) for name in ("even", "odd")}
    matrices = {name: tensor.contiguous().numpy().tobytes() for name, tensor in tensors.items()}
    for initializer in list(graph.initializer):
        for name, matrix in matrices.items():
            if numpy_helper.to_array(initializer).tobytes() == matrix:
                computed(name, initializer.name)
                graph.initializer.remove(initializer)
    for name in used:
        array = constants[name]
        whole = np.int64 if np.issubdtype(array.dtype, np.integer) else np.float32
        graph.initializer.append(numpy_helper.from_array(array.astype(whole), "seasons_" + name))
    kept = list(graph.node)
    del graph.node[:]
    graph.node.extend([*nodes, *kept])
