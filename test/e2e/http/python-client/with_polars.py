"""The same with polars frames: what comes back is polars, with the numbers that pandas frames get."""

import numpy as np
import polars as pl

from checks import VERSION, by_day, check, client, frame, loaded

# What the client makes of a whole history in polars is right only where it sent it in parts: elsewhere it stumbles over the list of sizes.
IN_PARTS = {"num_partitions": 1}


def polars(table):
    columns = {name: table[name].to_numpy() for name in table}
    return pl.DataFrame({name: list(column) if column.dtype.kind == "O" else column for name, column in columns.items()})


def assert_same(in_polars, in_pandas):
    assert isinstance(in_polars, pl.DataFrame), type(in_polars)
    assert in_polars.columns == list(in_pandas.columns), in_polars.columns
    for name in in_polars.columns:
        found, expected = in_polars[name].to_numpy(), in_pandas[name].to_numpy()
        if expected.dtype.kind == "M":
            found, expected = found.astype("M8[s]"), expected.astype("M8[s]")
        np.testing.assert_array_equal(found, expected, err_msg=name)


def same(call, *tables, **options):
    """Calls with pandas frames, then with polars ones, and gives the first answer; both come with what the client keeps beside it."""
    answers = []
    for kept, freq in ((tables, "h"), (map(polars, tables), "1h")):
        df, *future = kept
        answer = call(df, freq=freq, **({"X_df": future[0]} if future else {}), **options)
        answers.append((answer, *(getattr(client, name, None) for name in ("weights_x", "feature_contributions"))))
    in_pandas, in_polars = answers
    for expected, found in zip(in_pandas, in_polars):
        if expected is not None:
            assert_same(found, expected)
    return in_pandas[0]


@check
def polars_detect_anomalies():
    spiked = frame.copy()
    spiked.loc[150, "y"] = 100
    assert same(client.detect_anomalies, spiked, level=99.0, **IN_PARTS)["anomaly"].to_numpy()[150]


@check
def polars_detect_anomalies_online():
    spiked = frame.copy()
    spiked.loc[len(frame) - 3, "y"] = 100
    out = same(client.detect_anomalies_online, spiked, h=6, detection_size=12, level=99)
    assert list(out["anomaly"]) == [i == 21 for i in range(24)]


@check
def polars_detect_anomalies_online_multivariate():
    same(client.detect_anomalies_online, frame, h=6, detection_size=12, threshold_method="multivariate")


@check
def polars_forecast_with_levels_and_exogenous_variables():
    out = same(client.forecast, *loaded(), h=5, level=[80, 99.5], hist_exog_list=["past"])
    assert (out["TimeGPT-lo-99.5"] < out["TimeGPT-lo-80"]).all()


@check
def polars_forecast_with_categorical_variables():
    if VERSION >= (0, 9):
        same(client.forecast, *by_day(), h=6, categorical_exog_list=["day"])


@check
def polars_forecast_with_feature_contributions():
    same(client.forecast, *loaded(), h=5, hist_exog_list=["past"], feature_contributions=True)
    assert set(client.feature_contributions.columns) >= {"load", "past", "base_value"}


@check
def polars_forecast_with_history():
    out = same(client.forecast, frame, h=5, add_history=True, level=[90], **IN_PARTS)
    assert len(out) == len(frame) + 10


@check
def polars_cross_validation():
    out = same(client.cross_validation, frame, h=6, n_windows=3, step_size=4, level=[80])
    assert len(out) == 36


@check
def polars_asynchronous_job():
    if VERSION < (0, 9):
        return
    job = client.jobs.forecast(polars(frame), h=5, freq="1h", level=[80])
    assert_same(job.wait(poll_interval=0.05, poll_timeout=60), client.forecast(frame, h=5, freq="h", level=[80]))
