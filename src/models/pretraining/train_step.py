"""The update of fine-tuning: a step of Adam on all weights as one vector, theta, with one of seven losses.

The exporter drops additions of very small numbers, hence floors (clamp) in place of an added epsilon.
"""

from __future__ import annotations

import copy

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad_and_value

from design import Design
from network import QUANTILES, Network, Rotary

BATCH = 16
BETA_1, BETA_2, EPSILON = 0.9, 0.99, 1e-16  # of Adam; EPSILON is a floor under the root
LOSSES = ["default", "mae", "mse", "rmse", "mape", "smape", "poisson"]
GUIDE = 0.1  # weight of the pinball loss added to other losses, for the quantiles besides the median
FLOOR = 1e-2  # least denominator of relative losses, as a share of the series' mean magnitude
SHARPNESS = 10.0  # softplus(10 x) / 10 is near x for large x, and never 0


class Theta:
    """The layout of the parameters in theta."""

    def __init__(self, network: Network) -> None:
        self.names = [name for name, _ in network.named_parameters()]
        self.shapes = [tuple(p.shape) for p in network.parameters()]
        self.lengths = [p.numel() for p in network.parameters()]

    def join(self, network: Network) -> Tensor:
        return torch.cat([(p.t() if p.dim() == 2 else p).reshape(-1) for p in network.parameters()]).detach()

    def parameters(self, theta: Tensor, prefix: str = "") -> dict[str, Tensor]:
        pieces = theta.split(self.lengths)
        return {
            prefix + name: piece.view(shape[1], shape[0]).t() if len(shape) == 2 else piece
            for name, piece, shape in zip(self.names, pieces, self.shapes)
        }

    def depths(self, layers: int) -> list[int]:
        """The least depth that tunes each parameter: 1 the head's output, 2 norms and the whole head, 3 the last block,
        4 the last two, 5 everything.
        """

        def depth(name: str) -> int:
            if name.startswith(("head.skip", "head.down")):
                return 1
            if name.startswith("head") or "norm" in name:
                return 2
            return next((2 + back for back in (1, 2) if name.startswith(f"blocks.{layers - back}.")), 5)

        return [depth(name) for name in self.names]


class FlatRotary(nn.Module):
    """Rotary with a two-dimensional product: more dimensions would copy the matrix into the graph."""

    def __init__(self, rotary: Rotary) -> None:
        super().__init__()
        self.rotary = rotary

    def forward(self, t: Tensor, start: int) -> Tensor:
        cos, sin = (table[start : start + t.shape[2]] for table in (self.rotary.cos, self.rotary.sin))
        return t * cos + (t.flatten(0, 2) @ self.rotary.rotation).view_as(t) * sin


class HorizonOutputs(nn.Module):
    """`Network.horizon_outputs` as a module, for functional_call."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = copy.deepcopy(network)
        self.network.rotate = FlatRotary(network.rotate)

    def forward(self, values: Tensor, observed: Tensor, future: Tensor) -> tuple:
        a, s, logs = self.network.horizon_outputs(values, observed, future)
        return a, s.backward(a[..., QUANTILES.index(0.5), None]).squeeze(-1), s.forward, logs


def pinball(quantiles: Tensor, target: Tensor) -> Tensor:
    """Mean pinball loss over all quantiles [B, H, Q], at each step [B, H]."""
    levels = torch.tensor(QUANTILES)
    error = target.unsqueeze(-1) - quantiles
    return torch.maximum(levels * error, (levels - 1) * error).mean(-1)


def losses(median: Tensor, target: Tensor, origin: Tensor, deviation: Tensor, level: Tensor) -> list[Tensor]:
    """All but the first of LOSSES at each step [B, H]; the root of rmse is taken over the whole batch."""
    off = (median - target).abs()
    error, actual, guess, floor = off / deviation, target + origin, median + origin, FLOOR * level
    mape = off / torch.maximum(actual.abs(), floor)
    smape = 2 * off / (actual.abs() + guess.abs() + floor)
    rate = nn.functional.softplus(guess / level * SHARPNESS) / SHARPNESS
    poisson = rate - (actual / level).clamp(min=0.0) * rate.clamp(min=1e-6).log()
    return [error, error * error, error * error, mape, smape, poisson]


class TrainStep:
    """One step of Adam on a batch; a pure function of its inputs.

    values, observed [B, T]; target, weight [B, H]: the target in the units of `values`, and weight 0 where it is
    unobserved; series [B, 3]: the origin subtracted from values and targets, deviation and mean magnitude of the whole
    series; loss [7], one-hot over LOSSES; rates [3]: learning rate, 1 - BETA_1^n, 1 - BETA_2^n; mask [P], 1 where theta
    is tuned. Besides the next theta, m and v [P] it returns the loss of each row [B] before the step.
    """

    INPUTS = ["theta", "m", "v", "mask", "values", "observed", "target", "weight", "series", "loss", "rates"]
    OUTPUTS = ["theta_next", "m_next", "v_next", "row_losses"]

    def __init__(self, network: Network, design: Design) -> None:
        self.module, self.theta = HorizonOutputs(network).eval(), Theta(network)
        self.lengths = [design.context, design.horizon_max]

    def loss(self, theta: Tensor, rows: tuple[Tensor, ...], kind: Tensor) -> tuple[Tensor, Tensor]:
        """The loss of the batch, and that of each row [B]."""
        values, observed, target, weight, series = rows
        parameters = self.theta.parameters(theta, "network.")
        a, median, forward, logs = functional_call(self.module, parameters, (values, observed, target * 0))
        guide = pinball(a, forward(target)) * (logs.amin(1, keepdim=True) * -0.5).exp().clamp(0.7, 8.0)
        each = sum(loss * on for loss, on in zip(losses(median, target, *series.split(1, 1)), kind[1:].unbind()))
        whole = (each * weight).sum() / weight.sum().clamp(min=1.0)
        rooted = kind[LOSSES.index("rmse")]
        whole = rooted * whole.clamp(min=1e-8).sqrt() + (1 - rooted) * whole
        guided = (kind[0] + (1 - kind[0]) * GUIDE) * guide
        whole = whole + (guided * weight).sum() / weight.sum().clamp(min=1.0)
        return whole, ((each + guided) * weight).sum(1) / weight.sum(1).clamp(min=1.0)

    def __call__(self, theta, m, v, mask, values, observed, target, weight, series, loss, rates):
        rows = (values, observed, target, weight, series)
        gradient, (_, row_losses) = grad_and_value(self.loss, has_aux=True)(theta, rows, loss)
        gradient = gradient * mask
        m = BETA_1 * m + (1 - BETA_1) * gradient
        v = BETA_2 * v + (1 - BETA_2) * gradient * gradient
        rate, first, second = rates.unbind()
        theta = theta - mask * rate * (m / first) / (v / second).clamp(min=EPSILON).sqrt()
        return theta, m, v, row_losses

    def example(self, batch: int = BATCH) -> tuple[Tensor, ...]:
        """A batch of random walks, the first row with a gap."""
        torch.manual_seed(11)
        theta = self.theta.join(self.module.network)
        walks = torch.randn(batch, sum(self.lengths)).cumsum(1) + 20
        values, target = walks.split(self.lengths, 1)
        observed = torch.ones_like(values)
        observed[0, 100:140] = 0
        series = torch.tensor([[3.0, 8.0, 23.0]]).repeat(batch, 1)
        loss = torch.nn.functional.one_hot(torch.tensor(0), len(LOSSES)).float()
        rates = torch.tensor([1e-3, 1 - BETA_1, 1 - BETA_2])
        return (
            theta,
            theta * 0,
            theta * 0,
            theta * 0 + 1,
            values,
            observed,
            target,
            target * 0 + 1,
            series,
            loss,
            rates,
        )
