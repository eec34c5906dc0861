"""Designs of the pretrained models: context and horizon lengths, training data and schedule."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "tidewatch" / "pretraining"
CONTEXT, HORIZON_MAX = 512, 128  # of tsmodel-1


@dataclass(frozen=True)
class Design:
    """One model. Lengths are in observations; contexts and horizons are multiples of the patch."""

    name: str
    contexts: tuple[int, ...]  # lengths the graph runs at, ascending; a padded patch costs as much as an observed one
    horizon_max: int
    lag_max: int  # longest seasonal lag
    cycles: int  # averaged cycles of a season
    shapes: tuple[tuple[int, int, float], ...]  # context, horizon and share of the batches; each one is compiled
    series: int  # length of a synthetic series, before cropping
    steps: int  # at the constant learning rate
    cooldown: int  # steps of the cool-down to zero
    batch: int = 64  # series of a step, for series of 640 points
    muon_lr: float = 0.01
    adam_lr: float = 2e-3
    start: str | None = None  # model of the initial weights
    members: tuple[int, ...] = ()  # group sizes in training; empty: a univariate model
    members_max: int = 1  # most members of a group at inference

    @property
    def context(self) -> int:
        return self.contexts[-1]

    @property
    def cache(self) -> Path:
        """Folder of the checkpoints."""
        return CACHE if self.start is None else CACHE / self.name


TSMODEL_1 = Design(
    name="tsmodel-1",
    contexts=(64, 112, 192, 256, 384, CONTEXT),
    horizon_max=HORIZON_MAX,
    lag_max=352,
    cycles=3,
    shapes=((CONTEXT, HORIZON_MAX, 0.45), (CONTEXT, 32, 0.4), (128, 32, 0.15)),
    series=1024,
    steps=12_000,
    cooldown=60_000,
)
LONG_HORIZON = Design(
    name="tsmodel-1-long-horizon",
    contexts=(64, 112, 192, 256, 384, 512, 848, 1024),
    horizon_max=192,
    lag_max=704,
    cycles=5,
    shapes=((1024, 192, 0.45), (512, 128, 0.35), (256, 32, 0.2)),
    series=1536,
    steps=300,
    cooldown=110_000,
    batch=32,
    muon_lr=3e-3,
    adam_lr=6e-4,
    start="tsmodel-1",
)
TSMODEL_2_1 = Design(
    name="tsmodel-2.1",
    contexts=TSMODEL_1.contexts,
    horizon_max=TSMODEL_1.horizon_max,
    lag_max=TSMODEL_1.lag_max,
    cycles=TSMODEL_1.cycles,
    shapes=((512, 128, 0.5), (512, 32, 0.3), (256, 64, 0.2)),
    series=1024,
    steps=1000,
    cooldown=6000,
    batch=32,
    start=TSMODEL_1.name,
    members=(2, 4, 8, 16),
    members_max=128,
)
DESIGNS = {design.name: design for design in (TSMODEL_1, LONG_HORIZON, TSMODEL_2_1)}
