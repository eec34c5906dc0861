"""Writes the graphs that fine-tuning runs without Python: a train step, and a forecast whose weights are an input.

Both take all weights as one vector, theta: the parameters one after the other as forecast.onnx holds them (matrices as
[inputs, outputs]). Neither graph holds weights of its own, so they are the same for every training run of a network, and
weights that were tuned fit as long as these graphs stay what they are. A network for groups is tuned to series alone, by the
train step of a network that knows no company; what its members tell each other stays as it is, inside of its forecast.
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

from company import GroupNetwork, alone
from design import Design
from graphs import exported, write_graph
from network import Network
from train_step import BATCH, BETA_1, BETA_2, LOSSES, Theta, TrainStep

STEP, FORECAST, WEIGHTS = "train-step.onnx", "forecast-tuned.onnx", "weights.bin"
TOLERANCE_FORECAST = 2e-4  # of the largest value
TOLERANCE = 1e-4  # of the largest of Adam's first moments: theta moves by the sign of gradients near 0, and cannot be compared
TOLERANCE_KINK = 1e-2  # for one weight of a thousand: a rectifier whose input is nearly 0 may fall to either side


class TunedForecast(nn.Module):
    """The forecast of theta; of a network for groups also given `group`."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network
        self.theta = Theta(alone(network))

    def forward(self, values: Tensor, observed: Tensor, future: Tensor, theta: Tensor, group: Tensor | None = None) -> Tensor:
        inputs = (values, observed, future) if group is None else (values, observed, future, group)
        return functional_call(self.network, self.theta.parameters(theta), inputs)


def pad_back(gradient: Tensor, sizes: list[int], dim: int, start: int, end: int, step: int) -> Tensor:
    """The gradient of a slice, as a padding: the usual one becomes ScatterND and megabytes of zeros."""
    assert step == 1
    around = [start, sizes[dim] - min(end, sizes[dim])]
    return nn.functional.pad(gradient, [0, 0] * (len(sizes) - 1 - dim) + around) if any(around) else gradient


def traced_step(step: TrainStep) -> onnx.ModelProto:
    """The train step as a graph of fixed shapes: a direct export stumbles over the gradient, a trace by make_fx does not."""
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
    """The file that holds theta, and for each part the byte at which it begins, its length, and the depth it is tuned from.

    That is forecast.onnx, so that weights lie in a folder once; where they are not in it as they are, a file of their own.
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
    """Writes and proves both graphs beside forecast.onnx; gives what the manifest says of them. exact: the forecasting graph
    without eight-bit products."""
    single = alone(network)
    theta, step = Theta(single).join(single), TrainStep(single, design)
    tuned = TunedForecast(network)
    write_graph(exported(tuned, theta, group=isinstance(network, GroupNetwork)), network, folder / FORECAST)
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
    """What PyTorch makes of a batch that a test can repeat: by loss, three row losses and the sum of Adam's |m|."""
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
    """The weights of a model, given from outside, must make its own forecasts, alone and in a group. Gives how far they are
    apart, as a share of the largest value."""
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
    """How far the graph is from PyTorch, loss by loss, as a share of the largest number; but for one weight of a thousand."""
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
