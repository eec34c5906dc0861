"""Evaluates a model folder on M4 (hourly, weekly) and NAB, which are not used in training, and prints one table.

With --write the results also go into the folder's manifest.json.
"""

from __future__ import annotations

import argparse
import csv
import json
import time
from datetime import datetime
from pathlib import Path

import numpy as np
import onnxruntime

from design import TSMODEL_1
from export import PRETRAINED
from manifest_text import manifest_text

ROOT = Path(__file__).resolve().parents[3]
DATA = ROOT.parent / "shared" / "data"
M4 = {"hourly": (24, 48), "weekly": (1, 13)}  # season of the MASE and of the seasonal naive forecast, horizon
NAB_CUTOFFS, NAB_HORIZON = 300, 24
FAR, FAR_CONTEXT, FAR_CUTOFFS = 168, 1024, 30  # a week of hours; history given to every model; cutoffs of a NAB file
FLOOR = 1e-2  # NAB: least error, as a share of a series' deviation; some series repeat exactly


class Model:
    """A model folder in ONNX Runtime."""

    def __init__(self, folder: Path, threads: int) -> None:
        self.manifest = json.loads((folder / "manifest.json").read_text())
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        graph = folder / self.manifest["graph"]
        self.session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
        self.quantiles = np.array(self.manifest["quantiles"])
        self.median = self.manifest["quantiles"].index(0.5)

    def forecast(self, histories: list[np.ndarray], horizon: int, batch: int = 32, members: int = 1) -> np.ndarray:
        """Quantiles [N, horizon, Q] after each history; longer histories are cut to the context. Groups are `members`
        consecutive rows; a batch has whole groups. Beyond one pass medians are appended to the context, and only they
        are meaningful.
        """
        patch, context, most = self.manifest["patch"], self.manifest["context"], self.manifest["horizon_max"]
        if horizon > most:
            near = self.forecast(histories, most, batch, members)
            longer = [np.concatenate([h[-context:], q[:, self.median]]) for h, q in zip(histories, near)]
            return np.concatenate([near, self.forecast(longer, horizon - most, batch, members)], 1)
        padded = -(-horizon // patch) * patch
        out = []
        for at in range(0, len(histories), batch):
            part = [h[-context:] for h in histories[at : at + batch]]
            origin = np.array([[h[0]] for h in part])
            values, observed = np.zeros((2, len(part), context), np.float32)
            for row, h in enumerate(part):
                values[row, -len(h) :] = h - origin[row]
                observed[row, -len(h) :] = 1
            future = np.zeros((len(part), padded), np.float32)
            feeds = {"values": values, "observed": observed, "future": future}
            if "group" in self.manifest["inputs"]:
                feeds["group"] = np.arange(len(part), dtype=np.float32) // members
            out.append(self.session.run(None, feeds)[0][:, :horizon] + origin[:, :, None])
        return np.concatenate(out)


def read_m4(path: Path) -> list[np.ndarray]:
    with path.open() as file:
        return [np.array([float(x) for x in row[1:] if x]) for row in list(csv.reader(file))[1:]]


def seasonal_naive(history: np.ndarray, season: int, horizon: int) -> np.ndarray:
    season = min(season, len(history))
    return history[-season:][np.arange(horizon) % season]


def evaluate_m4(model: Model, data: Path, name: str) -> dict[str, float]:
    """MASE as in the M4 competition, weighted quantile loss over the deciles, coverage of the 80 % interval."""
    season, horizon = M4[name]
    histories, actuals = (read_m4(data / "m4" / f"{name.title()}-{part}.csv") for part in ("train", "test"))
    quantiles = model.forecast(histories, horizon)
    scale = np.array([np.abs(h[season:] - h[:-season]).mean() for h in histories])
    actual = np.stack([a[:horizon] for a in actuals])
    naive = np.stack([seasonal_naive(h, season, horizon) for h in histories])
    deciles = [int(np.abs(model.quantiles - level / 10).argmin()) for level in range(1, 10)]
    error, levels = actual[..., None] - quantiles[..., deciles], model.quantiles[deciles]
    loss = 2 * np.maximum(levels * error, (levels - 1) * error).mean(-1).sum()
    inside = (actual >= quantiles[..., deciles[0]]) & (actual <= quantiles[..., deciles[-1]])
    mase = float((np.abs(actual - quantiles[..., model.median]).mean(1) / scale).mean())
    base = float((np.abs(actual - naive).mean(1) / scale).mean())
    return {
        f"m4_{name}_mase": mase,
        f"m4_{name}_seasonal_naive_mase": base,
        f"m4_{name}_ratio": mase / base,
        f"m4_{name}_wql": float(loss / np.abs(actual).sum()),
        f"m4_{name}_seasonal_naive_wql": float(np.abs(actual - naive).sum() / np.abs(actual).sum()),
        f"m4_{name}_coverage_80": float(inside.mean()),
    }


def read_nab(path: Path) -> tuple[np.ndarray, int]:
    """Values in order, and the number of points in a day by the median sampling period."""
    with path.open() as file:
        rows = list(csv.DictReader(file))
    times = [datetime.fromisoformat(row["timestamp"]).timestamp() for row in rows]
    return np.array([float(row["value"]) for row in rows]), max(1, round(86400 / float(np.median(np.diff(times)))))


def evaluate_nab(model: Model, data: Path) -> dict[str, float]:
    """MAE over 24 steps and over one, relative to the last value and to the seasonal naive forecast of a day; geometric
    mean over files of each file's ratio, at evenly spaced cutoffs.
    """
    logs: dict[str, list[float]] = {}
    inside, files, skipped = [], sorted((data / "nab" / "data").glob("*/*.csv")), 0
    for path in files:
        values, day = read_nab(path)
        if values.std() == 0:
            skipped += 1
            continue
        first = min(max(model.manifest["context"], day), len(values) // 2)
        cutoffs = np.unique(np.linspace(first, len(values) - NAB_HORIZON, NAB_CUTOFFS).astype(int))
        quantiles = model.forecast([values[max(0, c - model.manifest["context"]) : c] for c in cutoffs], NAB_HORIZON)
        actual = np.stack([values[c : c + NAB_HORIZON] for c in cutoffs])
        baselines = {
            "last_value": np.stack([np.full(NAB_HORIZON, values[c - 1]) for c in cutoffs]),
            "seasonal_naive": np.stack([seasonal_naive(values[:c], day, NAB_HORIZON) for c in cutoffs]),
        }
        for steps, label in ((NAB_HORIZON, f"h{NAB_HORIZON}"), (1, "one_step")):

            def mae(forecast: np.ndarray) -> float:
                return max(float(np.abs(actual - forecast)[:, :steps].mean()), FLOOR * float(values.std()))

            ours = mae(quantiles[..., model.median])
            for baseline, forecast in baselines.items():
                logs.setdefault(f"nab_{label}_to_{baseline}", []).append(np.log(ours / mae(forecast)))
        low, high = (int(np.abs(model.quantiles - level).argmin()) for level in (0.1, 0.9))
        inside.append(((actual >= quantiles[..., low]) & (actual <= quantiles[..., high])).mean())
    figures = {key: float(np.exp(np.mean(ratios))) for key, ratios in logs.items()}
    return {
        "nab_files": len(files) - skipped,
        "nab_files_constant": skipped,
        **figures,
        "nab_coverage_80": float(np.mean(inside)),
    }


def evaluate_far(model: Model, data: Path) -> dict[str, float]:
    """A week ahead. M4 hourly: two cutoffs in every series, training and test part joined, MASE with a season of a day.
    NAB, as it is and by hours where there are six weeks of them: MAE relative to the seasonal naive forecasts of a day
    and, by hours, of a week; geometric means over files.
    """
    histories, actuals = [], []
    for train, test in zip(*(read_m4(data / "m4" / f"Hourly-{part}.csv") for part in ("train", "test"))):
        series = np.concatenate([train, test[:48]])
        for end in (len(series) - FAR // 2, len(series)):
            histories.append(series[: end - FAR][-FAR_CONTEXT:])
            actuals.append(series[end - FAR : end])
    actual, scale = np.stack(actuals), np.array([np.abs(h[24:] - h[:-24]).mean() for h in histories])
    forecasts = {"mase": model.forecast(histories, FAR)[..., model.median]}
    forecasts |= {
        f"seasonal_naive_{s}_mase": np.stack([seasonal_naive(h, s, FAR) for h in histories]) for s in (24, 168)
    }
    figures = {
        f"m4_hourly_h{FAR}_{k}": float((np.abs(actual - f).mean(1) / scale).mean()) for k, f in forecasts.items()
    }
    logs: dict[str, list[float]] = {}
    for path in sorted((data / "nab" / "data").glob("*/*.csv")):
        values, day = read_nab(path)
        if values.std() == 0:
            continue
        kinds = [("nab", values, {"day": day})]
        hours = values[: len(values) // max(1, day // 24) * max(1, day // 24)].reshape(-1, max(1, day // 24)).mean(1)
        if len(hours) >= 6 * FAR:
            kinds.append(("nab_by_hour", hours, {"day": 24, "week": FAR}))
        for label, x, seasons in kinds:
            cutoffs = np.unique(np.linspace(min(FAR_CONTEXT, len(x) // 2), len(x) - FAR, FAR_CUTOFFS).astype(int))
            truth = np.stack([x[c : c + FAR] for c in cutoffs])
            least = FLOOR * float(x.std())
            ours = model.forecast([x[max(0, c - FAR_CONTEXT) : c] for c in cutoffs], FAR)[..., model.median]
            for name, season in seasons.items():
                naive = np.stack([seasonal_naive(x[:c], season, FAR) for c in cutoffs])
                error = max(np.abs(truth - ours).mean(), least) / max(np.abs(truth - naive).mean(), least)
                logs.setdefault(f"{label}_h{FAR}_to_seasonal_naive_{name}", []).append(float(np.log(error)))
    return figures | {key: float(np.exp(np.mean(ratios))) for key, ratios in logs.items()}


def cost(folder: Path) -> dict[str, float]:
    """Milliseconds per forecast on one thread, context 512, horizon 32, batch 32; the fastest of 20 runs."""
    model = Model(folder, 1)
    histories = [np.random.default_rng(1).standard_normal(512) for _ in range(32)]
    times = []
    for _ in range(20):
        began = time.perf_counter()
        model.forecast(histories, 32)
        times.append(time.perf_counter() - began)
    return {"forecast_ms": min(times) / 32 * 1000}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=PRETRAINED / TSMODEL_1.name)
    parser.add_argument("--data", type=Path, default=DATA, help="folder with m4/ and nab/")
    parser.add_argument("--write", action="store_true", help="write the results to manifest.json")
    parser.add_argument("--far", action="store_true", help=f"also {FAR} steps ahead")
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    if not (args.data / "m4").is_dir() or not (args.data / "nab").is_dir():
        print(f"no data to evaluate on: {args.data} has no m4/ and nab/ (set --data); nothing was evaluated")
        return
    model = Model(args.model, args.threads)
    figures = {}
    for name in M4:
        figures.update(evaluate_m4(model, args.data, name))
    figures.update(evaluate_nab(model, args.data))
    if args.far:
        figures.update(evaluate_far(model, args.data))
    figures.update(cost(args.model))
    for key, value in figures.items():
        print(f"{key:<36}{value:>10.3f}" if isinstance(value, float) else f"{key:<36}{value:>10}")
    if args.write:
        path = args.model / "manifest.json"
        manifest = json.loads(path.read_text())
        manifest["quality"] = {k: round(v, 4) for k, v in figures.items()}
        path.write_text(manifest_text(manifest))


if __name__ == "__main__":
    main()
