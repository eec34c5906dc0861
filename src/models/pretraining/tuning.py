"""Writes the graphs of fine-tuning without Python: a train step, and a forecast with the weights as an input.

Both take all weights as one vector, theta: the parameters in order, as in forecast.onnx (matrices as [inputs,
outputs]). Neither graph contains weights, so they are the same for every training run of a network, and tuned weights
stay valid as long as these graphs do not change. A network for groups is tuned as a univariate one, by the train step
of tsmodel-1; the weights of its group context are constants of the forecast graph.
"""

from __future__ import annotations

import hashlib
import warnings
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from torch import Tensor, nn
from torch._decomp import core_aten_decompositions
from torch.func import functional_call
from torch.fx.experimental.proxy_tensor import make_fx

from group_network import GroupNetwork, univariate
from design import Design
from graphs import export_graph, write_graph
from network import Network
from train_step import BATCH, BETA_1, BETA_2, LOSSES, Theta, TrainStep

STEP, FORECAST, WEIGHTS = "train-step.onnx", "forecast-tuned.onnx", "weights.bin"
TOLERANCE_FORECAST = 2e-4  # of the largest value
TOLERANCE = 1e-4  # of the largest first moment; theta is not compared, since gradients near 0 change it by their sign
TOLERANCE_KINK = 1e-2  # for the largest 0.1 %: a ReLU with an input near 0 may be on or off


class TunedForecast(nn.Module):
    """The forecast of theta; for a network for groups with the input `group`."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network
        self.theta = Theta(univariate(network))

    def forward(
        self, values: Tensor, observed: Tensor, future: Tensor, theta: Tensor, group: Tensor | None = None
    ) -> Tensor:
        inputs = (values, observed, future) if group is None else (values, observed, future, group)
        return functional_call(self.network, self.theta.parameters(theta), inputs)


def pad_back(gradient: Tensor, sizes: list[int], dim: int, start: int, end: int, step: int) -> Tensor:
    """The gradient of a slice, as padding: the default becomes ScatterND and megabytes of zeros."""
    assert step == 1
    around = [start, sizes[dim] - min(end, sizes[dim])]
    return nn.functional.pad(gradient, [0, 0] * (len(sizes) - 1 - dim) + around) if any(around) else gradient


def traced_step(step: TrainStep) -> onnx.ModelProto:
    """The train step as a graph of fixed shapes. A direct export fails at the gradient; a trace by make_fx works."""
    example = step.example()
    decompositions = core_aten_decompositions() | {torch.ops.aten.slice_backward.default: pad_back}
    traced = make_fx(step, decomposition_table=decompositions)(*example)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.onnx.export(
            traced,
            example,
            input_names=TrainStep.INPUTS,
            output_names=TrainStep.OUTPUTS,
            opset_version=18,
            dynamo=True,
            verbose=False,
        )
    return program.model_proto


def find_weights(network: Network, folder: Path) -> tuple[str, list[list[int]]]:
    """The file with theta, and for each part its byte offset, its length, and the least depth that tunes it.

    That is forecast.onnx where it contains the weights as they are, else a separate file.
    """
    theta, content = Theta(network), (folder / "forecast.onnx").read_bytes()
    pieces = theta.join(network).split(theta.lengths)
    raws = [piece.numpy().tobytes() for piece in pieces]
    name, places = "forecast.onnx", [content.find(raw) for raw in raws]
    if any(content.count(raw) != 1 for raw in raws):
        name, places = WEIGHTS, [sum(map(len, raws[:at])) for at in range(len(raws))]
        (folder / WEIGHTS).write_bytes(b"".join(raws))
    return name, [list(part) for part in zip(places, theta.lengths, theta.depths(len(network.blocks)))]


def write_tuning(network: Network, design: Design, folder: Path, exact: Path) -> dict:
    """Writes and checks both graphs beside forecast.onnx; returns their part of the manifest. exact: the forecast graph
    without eight-bit products.
    """
    single = univariate(network)
    theta, step = Theta(single).join(single), TrainStep(single, design)
    tuned = TunedForecast(network)
    write_graph(export_graph(tuned, theta, group=isinstance(network, GroupNetwork)), network, folder / FORECAST)
    write_graph(traced_step(step), network, folder / STEP)
    print("forecast of theta:", check_forecast(theta, design, folder / FORECAST, exact))
    print("train step against PyTorch:", check_step(step, folder / STEP))

    def file(name: str) -> dict[str, str]:
        return {"graph": name, "sha256": hashlib.sha256((folder / name).read_bytes()).hexdigest()}

    source, places = find_weights(single, folder)
    return {
        "step": file(STEP),
        "forecast": file(FORECAST),
        "batch": BATCH,
        "context": design.context,
        "horizon": design.horizon_max,
        "betas": [BETA_1, BETA_2],
        "source": file(source),
        "weights": places,
        "golden": golden(step),
    }


def golden(step: TrainStep) -> dict[str, list[float]]:
    """Reference values by PyTorch on a batch that a test repeats: by loss, three row losses and the sum of |m|."""
    time, row = np.arange(sum(step.lengths)), np.arange(BATCH)[:, None]
    waves = torch.from_numpy((3 * np.sin(time / (3 + row)) + np.cos(time / 7) + time / 100).astype(np.float32))
    values, target = waves.split(step.lengths, 1)
    observed, weight = torch.ones_like(values), torch.ones_like(target)
    observed[1, 100:140] = 0
    weight[2, 48:] = 0
    feeds = dict(zip(TrainStep.INPUTS, step.example()))
    feeds |= {"values": values, "observed": observed, "target": target, "weight": weight}
    feeds["series"] = torch.tensor([[5, 2.5, 7.5]]).repeat(BATCH, 1)
    numbers = {}
    for at, name in enumerate(LOSSES):
        feeds["loss"] = nn.functional.one_hot(torch.tensor(at), len(LOSSES)).float()
        _, m, _, rows = step(**feeds)
        numbers[name] = [round(float(x), 6) for x in (*rows[:3].detach(), m.detach().abs().sum())]
    return numbers


def session_of(path: Path) -> onnxruntime.InferenceSession:
    return onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])


def check_forecast(theta: Tensor, design: Design, path: Path, exact: Path) -> float:
    """The model's own weights as theta must give its own forecasts, univariate and for groups. Returns the largest
    difference as a share of the largest value.
    """
    values = np.random.default_rng(5).standard_normal((8, 256)).cumsum(1).astype(np.float32)
    values[1] = np.roll(values[0], 20)
    feeds = {"values": values, "observed": np.ones_like(values), "future": np.zeros((8, 48), np.float32)}
    if design.members:
        feeds["group"] = np.array([0, 0, 0, 0, 4, 5, 6, 7], np.float32)
    want = session_of(exact).run(None, feeds)[0]
    got = session_of(path).run(None, {**feeds, "theta": theta.numpy()})[0]
    apart = float(np.abs(got - want).max() / np.abs(values).max())
    assert apart < TOLERANCE_FORECAST, f"{FORECAST} is {apart} away from the forecasts of its weights"
    return apart


def check_step(step: TrainStep, path: Path) -> dict[str, float]:
    """The difference between graph and PyTorch by loss, as a share of the largest number; the 99.9 % quantile."""
    session, apart = session_of(path), {}
    for at, name in enumerate(LOSSES):
        feeds = dict(zip(TrainStep.INPUTS, step.example()))
        feeds["loss"] = nn.functional.one_hot(torch.tensor(at), len(LOSSES)).float()
        got = session.run(["m_next", "row_losses"], {key: value.numpy() for key, value in feeds.items()})
        _, m, _, rows = step(**feeds)
        for ours, theirs in zip(got, (m.detach().numpy(), rows.detach().numpy())):
            off = np.abs(ours - theirs) / np.abs(theirs).max()
            assert off.max() < TOLERANCE_KINK, f"{name}: {off.max()}"
            apart[name] = max(apart.get(name, 0.0), float(np.quantile(off, 0.999)))
        assert apart[name] < TOLERANCE, f"{name}: {apart[name]}"
    return apart
