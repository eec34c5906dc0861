"""Muon for the matrices of the blocks and of the attention among members, AdamW for all other parameters."""

from __future__ import annotations

from collections import defaultdict

import torch
from torch import Tensor, nn


def orthogonalise(stack: Tensor, steps: int = 5) -> Tensor:
    """Brings the singular values of a stack [N, rows <= columns] near one (quintic Newton-Schulz iteration)."""
    x = stack / (stack.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(steps):
        gram = x @ x.mT
        x = 3.4445 * x + torch.baddbmm(gram, gram, gram, beta=-4.7750, alpha=2.0315) @ x
    return x


class Muon(torch.optim.Optimizer):
    """Momentum with an orthogonalised update. `products` is the type of the matrix products (bfloat16 is sufficient:
    Jordan et al., 2024). Matrices of one shape are iterated as one batch.
    """

    def __init__(
        self,
        params: list[nn.Parameter],
        lr: float,
        products: torch.dtype = torch.float32,
        momentum: float = 0.95,
        decay: float = 0.02,
    ) -> None:
        super().__init__(params, {"lr": lr, "momentum": momentum, "decay": decay})
        self.products = products

    @torch.no_grad()
    def step(self) -> None:  # type: ignore[override]
        for group in self.param_groups:
            shapes: dict[tuple[int, int], list[tuple[nn.Parameter, Tensor, bool]]] = defaultdict(list)
            for p in group["params"]:
                velocity = self.state[p].setdefault("momentum", torch.zeros_like(p))
                velocity.lerp_(p.grad, 1 - group["momentum"])
                update = torch.lerp(p.grad, velocity, group["momentum"])
                tall = p.shape[0] > p.shape[1]
                update = update.mT if tall else update
                shapes[tuple(update.shape)].append((p, update, tall))
            for (rows, columns), entries in shapes.items():
                updates = orthogonalise(torch.stack([u for _, u, _ in entries]).to(self.products))
                for (p, _, tall), u in zip(entries, updates.float()):
                    size = (columns / rows) ** 0.5 if tall else 1.0
                    p.mul_(1 - group["lr"] * group["decay"])
                    p.add_(u.mT if tall else u, alpha=-group["lr"] * size)


class Optimisers:
    """Both optimisers as one; `rate` scales both learning rates."""

    def __init__(
        self, network: nn.Module, muon_lr: float, adam_lr: float, products: torch.dtype = torch.float32
    ) -> None:
        trained = {n: p for n, p in network.named_parameters() if p.requires_grad}
        matrices = [p for n, p in trained.items() if n.startswith(("blocks.", "variates.")) and p.ndim == 2]
        chosen = {id(p) for p in matrices}
        rest = [p for p in trained.values() if id(p) not in chosen]
        self.all = [
            Muon(matrices, muon_lr, products),
            torch.optim.AdamW(rest, adam_lr, betas=(0.9, 0.98), weight_decay=0.01, fused=True),
        ]
        self.base = [muon_lr, adam_lr]

    def step(self, rate: float) -> None:
        for optimiser, base in zip(self.all, self.base):
            for group in optimiser.param_groups:
                group["lr"] = base * rate
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)

    def state_dict(self) -> list[dict]:
        return [o.state_dict() for o in self.all]

    def load_state_dict(self, states: list[dict]) -> None:
        for optimiser, state in zip(self.all, states):
            optimiser.load_state_dict(state)
