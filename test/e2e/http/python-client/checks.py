"""What the checks of the public client, unmodified, against a running service have in common."""

import json
import sys
import traceback
from importlib.metadata import version

import numpy as np
import pandas as pd
from nixtla import NixtlaClient

URL, KEY = sys.argv[1:]
STEPS = 400
VERSION = tuple(int(part) for part in version("nixtla").split(".")[:2])

client = NixtlaClient(api_key=KEY, base_url=URL, max_retries=1)
checks = []


def check(function):
    checks.append(function)
    return function


def run():
    """Prints a line of JSON for each check: its name, and what went wrong or null."""
    for function in checks:
        try:
            function()
            problem = None
        except Exception:
            problem = traceback.format_exc()
        print(json.dumps({"name": function.__name__, "problem": problem}), flush=True)


def series(uid, seed, steps=STEPS):
    rng = np.random.default_rng(seed)
    hours = np.arange(steps)
    y = 10 + 3 * np.sin(hours * 2 * np.pi / 24) + rng.normal(0, 0.2, steps)
    times = pd.date_range("2024-01-01", periods=steps, freq="h")
    return pd.DataFrame({"unique_id": uid, "ds": times, "y": y})


frame = pd.concat([series("a", 1), series("b", 2)], ignore_index=True)


def ahead(**columns):
    """What is known of the steps after `frame`, the same for both series."""
    steps = len(next(iter(columns.values())))
    times = pd.date_range(frame["ds"].max() + pd.Timedelta("1h"), periods=steps, freq="h")
    return pd.concat([pd.DataFrame({"unique_id": uid, "ds": times, **columns}) for uid in "ab"], ignore_index=True)


def loaded():
    """A frame that follows its `load`, which is known ahead, and what is known; its `past` is not."""
    rng = np.random.default_rng(0)
    known = frame.assign(load=rng.normal(size=len(frame)), past=rng.normal(size=len(frame)))
    known["y"] += 5 * known["load"]
    return known, ahead(load=np.arange(5.0))


def by_day():
    """A frame that is higher on every third `day`, a category, and what is known ahead."""
    days = np.array(["work", "work", "rest"])
    known = frame.assign(day=days[np.arange(len(frame)) % 3])
    known["y"] += 10 * (known["day"] == "rest")
    return known, ahead(day=days[np.arange(6) % 3])
