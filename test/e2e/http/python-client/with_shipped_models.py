"""What users do with the public client that needs the models as they are shipped: series together, and models of one's own."""

import numpy as np
import pandas as pd

from checks import VERSION, check, client, run

HORIZON = 6


def hourly(uid, start, y):
    times = pd.date_range("2024-01-01", periods=start + len(y), freq="h")[start:]
    return pd.DataFrame({"unique_id": uid, "ds": times, "y": y})


def led():
    """A series that does what another one did HORIZON hours before, and begins later; and what it does next."""
    x = np.random.default_rng(7).uniform(size=300)
    follows = 5 + 2 * x
    late = 50
    frame = pd.concat([hourly("leader", 0, x), hourly("led", late, follows[late - HORIZON : -HORIZON])])
    return frame.reset_index(drop=True), follows[-HORIZON:]


def waves():
    """Two waves whose lengths do not fit each other: there is something to learn."""
    t = np.arange(400)
    return hourly("waves", 0, np.sin(2 * np.pi * t / 17.3) + np.sin(2 * np.pi * t / 41.7))


@check
def series_with_overlapping_dates_are_forecast_together():
    if VERSION < (0, 9):
        return
    frame, truth = led()

    def error(**options):
        out = client.forecast(frame, h=HORIZON, freq="h", model="timegpt-2.1", **options)
        return np.abs(out[out["unique_id"] == "led"]["TimeGPT"].to_numpy() - truth).mean()

    together, alone = error(multivariate=True), error()
    assert together < alone / 2, (together, alone)
    out = client.cross_validation(frame, h=HORIZON, n_windows=2, freq="h", model="timegpt-2.1", multivariate=True)
    missed = out[out["unique_id"] == "led"]
    assert (missed["y"] - missed["TimeGPT"]).abs().mean() < alone / 2


@check
def a_model_of_ones_own_forecasts_by_its_id():
    frame = waves()
    name = f"mine-of-{VERSION[1]}"
    assert client.finetune(frame, freq="h", finetune_steps=2, output_model_id=name) == name
    plain = client.forecast(frame, h=HORIZON, freq="h")
    tuned = client.forecast(frame, h=HORIZON, freq="h", finetuned_model_id=name)
    assert not np.allclose(plain["TimeGPT"], tuned["TimeGPT"])
    assert name in [model.id for model in client.finetuned_models()]
    assert client.delete_finetuned_model(name) is True


@check
def a_model_is_tuned_by_a_job():
    if VERSION < (0, 9):
        return
    job = client.jobs.finetune(waves(), freq="h", finetune_steps=2, output_model_id="by-a-job")
    assert job.wait(poll_interval=0.1) == "by-a-job"
    assert job.status == "succeeded"
    assert client.delete_finetuned_model("by-a-job") is True


run()
