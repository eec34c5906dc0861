"""statsforecast's SeasonalNaive with conformal intervals of 99 %, each season forecast from the values before it.

Two files of little-endian doubles. Read: for each series its rows, its channels (one) and the values. Written:
observations for each second of processor time, bytes a series (its last three seasons), and for each row a score
(distance from the forecast in half widths of the interval, 0 without one) and 1 where it is outside.
"""

import sys
import time
import warnings
from array import array

import numpy as np
import pandas as pd
from statsforecast import StatsForecast
from statsforecast.models import SeasonalNaive
from statsforecast.utils import ConformalIntervals

CALIBRATION_SEASONS = 2
LEVEL = 99


def judge(values, season):
    rows = len(values)
    scores = np.zeros((rows, 2))
    first = (CALIBRATION_SEASONS + 1) * season + 1
    windows = (rows - first) // season
    if windows < 1:
        return scores
    model = StatsForecast(models=[SeasonalNaive(season_length=season)], freq=1)
    # statsforecast takes no missing values.
    filled = pd.Series(values).ffill().bfill().to_numpy()
    frame = pd.DataFrame({"unique_id": "s", "ds": np.arange(rows), "y": filled})
    found = model.cross_validation(
        df=frame,
        h=season,
        step_size=season,
        n_windows=windows,
        level=[LEVEL],
        prediction_intervals=ConformalIntervals(h=season, n_windows=CALIBRATION_SEASONS),
    )
    place = found["ds"].to_numpy()
    low, high = (found[f"SeasonalNaive-{side}-{LEVEL}"].to_numpy() for side in ("lo", "hi"))
    half = np.maximum((high - low) / 2, 1e-9)
    actual = values[place]
    distance = np.abs(actual - found["SeasonalNaive"].to_numpy()) / half
    scores[place, 0] = np.nan_to_num(distance)
    scores[place, 1] = (actual < low) | (actual > high)
    return scores


def main():
    warnings.filterwarnings("ignore")
    seasons = [int(season) for season in sys.argv[3].split(",")]
    data = array("d")
    with open(sys.argv[1], "rb") as file:
        data.frombytes(file.read())
    data = np.frombuffer(data)
    at, observations, out = 0, 0, []
    begun = time.process_time()
    for season in seasons:
        rows = int(data[at])
        values = data[at + 2 : at + 2 + rows]
        at += 2 + rows
        observations += rows
        out.append(judge(values, season).ravel())
    spent = max(time.process_time() - begun, 1e-9)
    head = [observations / spent, 8 * (CALIBRATION_SEASONS + 1) * max(seasons)]
    np.concatenate([head, *out]).tofile(sys.argv[2])


if __name__ == "__main__":
    main()
