"""Forecasts of a statistical model of statsforecast, for the quality bench.

Reads a task (JSON: model, season, h, levels, history_max, series, points [series, cutoff]) and writes the forecasts (JSON: mean, intervals by
level [lo, hi], all with a row for each point, and the number of points at which the model failed and the last value took its place).
"""

import json
import os
import sys
import warnings
from multiprocessing import Pool

import numpy as np
from statsforecast import models

warnings.filterwarnings("ignore")
TASK = json.load(open(sys.argv[1]))
SERIES = [np.array(values, dtype=float) for values in TASK["series"]]


def rounded(values):
    return [float(f"{value:.7g}") for value in values]


def forecast(point):
    series, cutoff = point
    history = SERIES[series][max(0, cutoff - TASK["history_max"]) : cutoff]
    h, levels = TASK["h"], TASK["levels"]
    try:
        made = getattr(models, TASK["model"])(season_length=TASK["season"]).forecast(y=history, h=h, level=levels)
        rows = [made["mean"], *(made[f"{side}-{level}"] for level in levels for side in ("lo", "hi"))]
        if not np.isfinite(rows).all():
            raise ValueError("not finite")
        return [rounded(row) for row in rows], False
    except Exception:
        return [rounded([history[-1]] * h)] * (1 + 2 * len(levels)), True


def main():
    with Pool(int(sys.argv[3]), initializer=os.nice, initargs=(10,)) as pool:
        answers = pool.map(forecast, TASK["points"], chunksize=8)
    rows = [row for row, _ in answers]
    intervals = {
        str(level): [[row[side + 1 + 2 * i] for row in rows] for side in (0, 1)] for i, level in enumerate(TASK["levels"])
    }
    answer = {"mean": [row[0] for row in rows], "intervals": intervals, "failed": sum(failed for _, failed in answers)}
    with open(sys.argv[2], "w") as file:
        json.dump(answer, file, allow_nan=False)


if __name__ == "__main__":
    main()
