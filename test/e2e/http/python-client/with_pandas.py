"""What users do with the public client and pandas frames."""

import numpy as np
import pandas as pd
from nixtla import NixtlaClient

from checks import STEPS, URL, VERSION, by_day, check, client, frame, loaded, series


@check
def validate_api_key():
    assert client.validate_api_key()
    assert not NixtlaClient(api_key="wrong", base_url=URL).validate_api_key()


@check
def usage():
    counts = client.usage()
    assert set(counts) == {"minute", "month"}
    assert all(isinstance(n, int) for period in counts.values() for n in period.values())


@check
def list_models():
    if VERSION < (0, 9):
        return
    assert "timegpt-2.1" in client.list_models()


@check
def detect_anomalies():
    spiked = frame.copy()
    spiked.loc[150, "y"] = 100
    out = client.detect_anomalies(spiked, freq="h", level=99.0)
    assert {"TimeGPT", "TimeGPT-lo-99.0", "TimeGPT-hi-99.0", "anomaly"} <= set(out.columns)
    assert len(out) == len(spiked)
    assert out["anomaly"].to_numpy()[150]


@check
def detect_anomalies_of_a_frame_out_of_order():
    shuffled = frame.sample(frac=1, random_state=0)
    out = client.detect_anomalies(shuffled, freq="h")
    assert len(out) == len(frame)


@check
def detect_anomalies_online():
    spiked = frame.copy()
    spiked.loc[STEPS - 3, "y"] = 100
    out = client.detect_anomalies_online(spiked, freq="h", h=6, detection_size=12, level=99)
    assert len(out) == 24
    first = out[out["unique_id"] == "a"]
    assert list(first["y"]) == list(spiked["y"][STEPS - 12 : STEPS])
    assert list(first["anomaly"]) == [i == 9 for i in range(12)]
    assert {"anomaly_score", "TimeGPT-lo-99", "TimeGPT-hi-99"} <= set(out.columns)


@check
def detect_anomalies_online_multivariate():
    out = client.detect_anomalies_online(
        frame, freq="h", h=6, detection_size=12, threshold_method="multivariate"
    )
    assert len(out) == 24
    scores = out["accumulated_anomaly_score"].to_numpy()
    assert np.array_equal(scores[:12], scores[12:])


@check
def forecast_with_levels():
    out = client.forecast(frame, h=30, freq="h", level=[80, 99.5])
    assert len(out) == 60
    inner = out["TimeGPT-hi-80"] - out["TimeGPT-lo-80"]
    outer = out["TimeGPT-hi-99.5"] - out["TimeGPT-lo-99.5"]
    assert (inner > 0).all() and (outer > inner).all()


@check
def forecast_with_quantiles():
    quantiles = [0.1, 0.2, 0.305, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
    out = client.forecast(frame, h=5, freq="h", quantiles=quantiles)
    columns = [f"TimeGPT-q-{int(q * 100)}" for q in quantiles]
    assert (np.diff(out[columns].to_numpy(), axis=1) > 0).all()


@check
def forecast_with_history():
    out = client.forecast(frame, h=5, freq="h", add_history=True, level=[90])
    assert len(out) == len(frame) + 10
    assert out["TimeGPT-lo-90"].notna().all()


@check
def forecast_of_cut_history_is_the_same():
    cut = frame.groupby("unique_id").tail(340)
    whole = client.forecast(frame, h=5, freq="h")
    np.testing.assert_allclose(client.forecast(cut, h=5, freq="h")["TimeGPT"], whole["TimeGPT"], rtol=1e-6)


@check
def forecast_with_exogenous_variables():
    known, future = loaded()
    out = client.forecast(
        known, X_df=future, h=5, freq="h", hist_exog_list=["past"], level=[80], feature_contributions=True
    )
    assert list(client.weights_x["features"]) == ["load", "past"]
    parts = client.feature_contributions
    np.testing.assert_allclose(parts[["load", "past", "base_value"]].sum(axis=1), out["TimeGPT"], rtol=1e-3)
    assert np.diff(parts["load"].to_numpy()[:5]).min() > 3
    assert (out["TimeGPT-lo-80"] < out["TimeGPT-hi-80"]).all()


@check
def forecast_with_categorical_variables():
    if VERSION < (0, 9):
        return
    known, future = by_day()
    client.forecast(known, X_df=future, h=6, freq="h", categorical_exog_list=["day"], feature_contributions=True)
    added = client.feature_contributions["day"].to_numpy()[:6]
    assert (added[[2, 5]] > 5).all() and (added[[0, 1, 3, 4]] < 0).all(), added


@check
def forecast_with_exogenous_variables_and_history():
    known, future = loaded()
    out = client.forecast(
        known, X_df=future, h=5, freq="h", hist_exog_list=["past"], add_history=True, feature_contributions=True
    )
    assert len(out) == len(frame) + 10
    parts = client.feature_contributions
    np.testing.assert_allclose(parts[["load", "past", "base_value"]].sum(axis=1), parts["TimeGPT"], rtol=1e-3)


@check
def detection_with_exogenous_variables():
    known, _ = loaded()
    known.loc[len(frame) - 3, "y"] += 50
    online = client.detect_anomalies_online(known, freq="h", h=6, detection_size=12, level=99.9)
    assert list(online["anomaly"]) == [i == 21 for i in range(24)]
    whole = client.detect_anomalies(known, freq="h", level=99.9)
    assert whole["anomaly"].to_numpy()[len(frame) - 3]
    assert list(client.weights_x["features"]) == ["load", "past"]


@check
def forecast_with_date_features():
    out = client.forecast(frame, h=5, freq="h", date_features=["hour"], date_features_to_one_hot=True)
    assert len(out) == 10
    assert len(client.weights_x) == 24


@check
def variables_that_do_not_vary_have_no_weights():
    short = frame.groupby("unique_id").head(10)
    assert len(client.forecast(short, h=2, freq="h", date_features=["year", "month"])) == 4
    assert getattr(client, "weights_x", None) is None


@check
def cross_validation():
    out = client.cross_validation(frame, h=6, n_windows=3, step_size=4, freq="h", level=[80])
    assert len(out) == 36
    assert out["cutoff"].nunique() == 3
    assert (out["ds"] > out["cutoff"]).all()
    merged = out.merge(frame, on=["unique_id", "ds"], suffixes=("", "_sent"))
    np.testing.assert_allclose(merged["y"], merged["y_sent"], rtol=1e-6)


@check
def cross_validation_with_exogenous_variables():
    known, _ = loaded()
    out = client.cross_validation(
        known, h=6, n_windows=2, freq="h", level=[80, 95], hist_exog_list=["past"], refit=False
    )
    assert len(out) == 24
    assert (out["TimeGPT-lo-95"] < out["TimeGPT-lo-80"]).all()


@check
def missing_values_are_sent_as_null():
    if VERSION < (0, 7):
        return
    gaps = frame.copy()
    gaps.loc[[20, 197], "y"] = np.nan
    out = client.detect_anomalies_online(gaps, freq="h", h=6, detection_size=12)
    assert not out[out["y"].isna()]["anomaly"].any()


@check
def large_bodies_travel_compressed_both_ways():
    large = pd.concat([series(str(i), i, 1000) for i in range(120)], ignore_index=True)
    out = client.detect_anomalies_online(large, freq="h", h=240, detection_size=240, step_size=240)
    assert len(out) == 28_800


@check
def integer_time():
    counted = frame[frame["unique_id"] == "a"].assign(ds=np.arange(STEPS))
    assert len(client.forecast(counted, h=3, freq=1)) == 3


@check
def too_short_for_intervals():
    try:
        client.forecast(frame.groupby("unique_id").tail(3), h=3, freq="h", level=[80])
    except Exception as error:
        told_by_service = "Minimum required" in str(error) and "422" in str(error)
        told_by_client = VERSION < (0, 7) and "too short" in str(error)
        assert told_by_service or told_by_client, error
    else:
        raise AssertionError("it must be refused")


@check
def asynchronous_jobs():
    if VERSION < (0, 9):
        return
    wait = {"poll_interval": 0.05, "poll_timeout": 60}
    job = client.jobs.forecast(frame, h=5, freq="h", level=[80], job_timeout_seconds=60)
    now = client.forecast(frame, h=5, freq="h", level=[80])
    pd.testing.assert_frame_equal(job.wait(**wait), now)
    assert job.status == "succeeded"
    job = client.jobs.cross_validation(frame, h=6, n_windows=2, freq="h")
    assert len(job.wait(**wait)) == 24
    job = client.jobs.detect_anomalies(frame, freq="h", h=6, detection_size=12)
    assert len(job.wait(**wait)) == 24
    parts = client.forecast(frame, h=5, freq="h", num_partitions=2)
    np.testing.assert_allclose(parts.sort_values("unique_id")["TimeGPT"], now["TimeGPT"], rtol=1e-6)


def retail():
    """A year of demand, as the documentation of the client makes it."""
    rng = np.random.default_rng(7)
    n, ahead = 365, 14
    days = np.arange(n + ahead)
    price = 20 + 1.8 * np.sin(2 * np.pi * days / 90) + rng.normal(0, 0.35, n + ahead)
    promotion = (days % 42 >= 35).astype(int)
    temperature = 18 + 9 * np.sin(2 * np.pi * (days - 30) / 365) + rng.normal(0, 0.8, n + ahead)
    known = pd.DataFrame({"price": price, "promotion": promotion, "temperature": temperature})[:n]
    demand = 118 - 2.4 * known["price"] + 16 * known["promotion"] + 0.55 * known["temperature"]
    demand += 6 * np.sin(2 * np.pi * days[:n] / 7) + rng.normal(0, 2.0, n)
    times = pd.date_range("2024-01-01", periods=n, freq="D")
    return known.assign(unique_id="store", ds=times, y=demand)


@check
def features_are_weighed_as_the_documentation_shows():
    if VERSION < (0, 9):
        return
    published = {"granger": [0.000, 0.863, 0.137], "transfer_entropy": [0.502, 0.046, 0.452]}
    for method, weights in published.items():
        found = client.explain(retail(), method=method, freq="D", poll_interval=0.05)
        assert list(found["feature"]) == ["price", "promotion", "temperature"]
        tolerance = 0.001 if method == "granger" else 0.05
        np.testing.assert_allclose(found["weight"], weights, atol=tolerance)
        np.testing.assert_allclose(found["weight"].sum(), 1)
        assert set(found["method"]) == {method}


@check
def contributions_are_of_the_kind_of_the_request():
    if VERSION < (0, 9):
        return
    known, future = loaded()
    known = known.drop(columns="past")
    for kind in ("shapley", "intervention", "granger", "transfer_entropy"):
        wanted = {"feature_contributions": True, "feature_contributions_type": kind}
        made = client.forecast(known, X_df=future, h=5, freq="h", add_history=True, **wanted)
        rows = client.feature_contributions
        assert len(rows) == len(made)
        np.testing.assert_allclose(rows[["load", "base_value"]].sum(axis=1), rows["TimeGPT"], rtol=1e-3)
        assert (rows["base_value"].round(6).nunique() <= 4) == (kind in ("granger", "transfer_entropy")), kind
    # The next checks compare what the client keeps beside an answer.
    del client.feature_contributions


@check
def categories_and_missing_values_are_weighed():
    if VERSION < (0, 9):
        return
    known = retail()
    known["kind"] = np.where(known["promotion"] == 1, "sale", None)
    known.loc[3, "price"] = np.nan
    job = client.jobs.explain(known, features=["price", "kind"], categorical_exog_list=["kind"], freq="D")
    found = job.wait(poll_interval=0.05)
    assert list(found["feature"]) == ["price", "kind"]
    assert found["weight"].between(0, 1).all()


@check
def paths_have_the_distribution_of_the_forecast():
    if VERSION < (0, 9):
        return
    quantiles = [0.1, 0.5, 0.9]
    wait = {"poll_interval": 0.05}
    paths = client.simulate(frame, h=6, freq="h", n_paths=500, quantiles=quantiles, seed=2**64 - 1, **wait)
    assert list(paths.columns) == ["unique_id", "ds", "sample_id", "TimeGPT", "coupled"]
    assert len(paths) == 500 * len(frame["unique_id"].unique()) * 6
    forecast = client.forecast(frame, h=6, freq="h", quantiles=quantiles).sort_values(["unique_id", "ds"])
    marginal = paths.groupby(["unique_id", "ds"])["TimeGPT"]
    for q in quantiles:
        found = marginal.quantile(q, interpolation="linear").to_numpy()
        np.testing.assert_allclose(found, forecast[f"TimeGPT-q-{int(q * 100)}"], atol=0.02)
    again = client.jobs.simulate(frame, h=6, freq="h", n_paths=500, quantiles=quantiles, seed=2**64 - 1)
    pd.testing.assert_frame_equal(again.wait(**wait), paths)
    other = client.simulate(frame, h=6, freq="h", n_paths=500, quantiles=quantiles, seed=2**64 - 2, **wait)
    assert not np.array_equal(other["TimeGPT"], paths["TimeGPT"])


@check
def paths_of_several_series_are_coupled():
    if VERSION < (0, 9):
        return
    twin = frame[frame["unique_id"] == "a"].assign(unique_id="twin")
    twin["y"] += np.random.default_rng(3).normal(0, 0.05, len(twin))
    both = pd.concat([frame, twin], ignore_index=True)
    options = {"h": 6, "freq": "h", "n_paths": 400, "seed": -(2**63), "poll_interval": 0.05}

    def correlation(paths):
        table = paths.pivot(index=["ds", "sample_id"], columns="unique_id", values="TimeGPT")
        return table.groupby("ds").corr().xs("a", level=1)["twin"].mean()

    together, apart = client.simulate(both, multivariate=True, **options), client.simulate(both, **options)
    assert together["coupled"].all() and not apart["coupled"].any()
    assert correlation(together) > 0.8 and abs(correlation(apart)) < 0.2, (correlation(together), correlation(apart))


@check
def paths_follow_exogenous_variables_in_parts():
    if VERSION < (0, 9):
        return
    known, future = loaded()
    options = {"h": 5, "freq": "h", "n_paths": 40, "hist_exog_list": ["past"], "poll_interval": 0.05}
    paths = client.simulate(known, X_df=future, num_partitions=2, seed=1, **options)
    means = paths.groupby(["unique_id", "ds"])["TimeGPT"].mean().to_numpy().reshape(2, 5)
    assert (np.diff(means, axis=1) > 2).all(), means
    known, future = by_day()
    paths = client.simulate(known, X_df=future, h=6, freq="h", categorical_exog_list=["day"], poll_interval=0.05)
    means = paths.groupby(["unique_id", "ds"])["TimeGPT"].mean().to_numpy().reshape(2, 6)
    assert (means[:, [2, 5]].min(axis=1) > means[:, [0, 1, 3, 4]].max(axis=1)).all(), means


@check
def simulations_are_refused_with_their_limits():
    if VERSION < (0, 9):
        return
    for options, text in (
        ({"n_paths": 10_001}, "10000"),
        ({"quantiles": [0.5]}, "at least 2"),
        ({"h": 401}, "401"),
    ):
        try:
            client.simulate(frame, **{"h": 3, "freq": "h", "poll_interval": 0.05, **options})
        except Exception as error:
            assert "422" in str(error) and text in str(error), error
        else:
            raise AssertionError(f"{options} must be refused")


@check
def steps_are_refused_with_the_reason():
    if VERSION < (0, 9):
        return
    try:
        client.jobs.execute_step("anything", {})
    except ModuleNotFoundError:
        return  # The client needs pyarrow for its steps.
    except Exception as error:
        assert "private library" in str(error), error
    else:
        raise AssertionError("it must be refused")


@check
def asynchronous_job_is_cancelled():
    if VERSION < (0, 9):
        return
    # A million forecasts keep the second job waiting, so that there is something to cancel.
    long = pd.concat([series(str(i), i, 5000) for i in range(200)], ignore_index=True)
    first = client.jobs.detect_anomalies(long, freq="h", h=6, step_size=1, detection_size=12)
    second = client.jobs.detect_anomalies(frame, freq="h", h=6, detection_size=12)
    for job in (second, first):
        assert job.status in ("pending", "running"), job.status
        job.cancel()
        try:
            job.wait(poll_interval=0.05)
        except Exception as error:
            assert type(error).__name__ == "JobCancelledError", error
        else:
            raise AssertionError("a cancelled job must not end well")


@check
def fine_tuning_is_refused_at_once():
    assert client.finetuned_models() == []
    for attempt in (
        lambda: client.finetune(frame, freq="h"),
        lambda: client.jobs.finetune(frame, freq="h"),
        lambda: client.finetuned_model("unknown"),
    ):
        try:
            attempt()
        except AttributeError:
            assert VERSION < (0, 9)
        except Exception as error:
            assert "cannot be fine-tuned" in str(error) or "Finetuned model not found" in str(error), error
        else:
            raise AssertionError("it must be refused")
    assert client.delete_finetuned_model("unknown") is False
