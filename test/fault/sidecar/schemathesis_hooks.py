"""What a description cannot say of a request that is right; see schemathesis.ts."""

from itertools import cycle, islice

import schemathesis
from schemathesis.openapi.checks import RejectedPositiveData

MODELS = ("tsmodel-1", "timegpt-1", "timegpt-1-long-horizon", "timegpt-2.1")
CONTEXT_MIN = 16
SAMPLES_OF_INTERVALS_MIN = 8
# What is generated is cut to what is quickly answered.
SERIES_MAX, SIZE_MAX, STEPS_MAX, VARIABLES_MAX = 4, 40, 12, 4


@schemathesis.hook
def before_call(context, case, kwargs):
    """Makes the parts of a request that is meant to be accepted fit each other. One that is meant to be refused stays as it is."""
    if case.meta is None or not case.meta.generation.mode.is_positive:
        return
    if isinstance(case.body, dict) and isinstance(case.body.get("series"), dict):
        case.body = fitting(case.operation.path, case.body)
    elif isinstance(case.body, dict) and "model" in case.body:
        case.body = {**case.body, "model": known(case.body["model"])}
    if "model" in (case.query or {}):
        case.query = {**case.query, "model": known(case.query["model"])}
    if "page_token" in (case.query or {}):
        # One that is right comes from an answer; any other text is refused.
        case.query = {name: value for name, value in case.query.items() if name != "page_token"}


# What is refused for what the service holds, or what time it is, which no description can say.
EXPECTED = (
    "as many as may be kept",
    "another request was submitted under this key",
    "there is no model ",
    "a key cannot ",
    "it must be a time to come",
    "must be in the future",
    "must be a next_cursor of this list",
    "must be a next_page_token of this list",
)


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """Keeps what is a failure; none is a refusal of what is expected, nor of a path of 16 KB or a body of megabytes."""
    if response.status_code in (413, 431):
        return False
    return not (isinstance(failure, RejectedPositiveData) and any(text in response.text for text in EXPECTED))


def known(model):
    return MODELS[len(model) % len(MODELS)]


def fitting(path, body):
    # What an endpoint does not name may be anything, and is left as it is.
    fields = {**body}
    for steps in ("h", "detection_size", "step_size", "n_windows"):
        if is_number(fields.get(steps)):
            fields[steps] = 1 + (int(fields[steps]) - 1) % STEPS_MAX
    if isinstance(fields.get("model"), str):
        fields["model"] = known(fields["model"])
    tuned = fields.get("finetuned_model_id")
    if isinstance(tuned, str) and len(tuned) % 4:
        # One in four is not found; the others are about everything else.
        fields["finetuned_model_id"] = None
    # Few are tuned, and those little: a step takes a fifth of a second.
    steps = fields.get("finetune_steps")
    fields["finetune_steps"] = 1 if is_number(steps) and int(steps) % 16 == 15 else 0
    if "/finetune" in path:
        fields["output_model_id"] = None
    if isinstance(fields.get("model_parameters"), dict):
        fields["model_parameters"] = {**fields["model_parameters"], "calibration_size": "all"}
    if "/simulate" in path:
        fields |= fitting_paths(fields)
    fields["series"], columns = fitting_series(path, fields, needed(path, fields))
    if isinstance(fields.get("hist_exog"), list):
        fields["hist_exog"] = [column for column in fields["hist_exog"] if is_number(column) and column < columns]
    return fields


def fitting_paths(fields):
    """Few paths, quantiles in their order, and a seed of at most 64 bits, which no number of a description can be."""
    quantiles = sorted(set(fields.get("quantiles") or []))
    few = {"n_paths": 1 + int(fields.get("n_paths", 1)) % 20, "quantiles": quantiles if len(quantiles) > 1 else None}
    seed = fields.get("seed")
    return few | ({"seed": max(-(2**63), min(int(seed), 2**64 - 1))} if is_number(seed) else {})


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def needed(path, fields):
    """Values that each series must have."""
    if path in ("/v2/online_anomaly_detection", "/v2/anomaly_detection/async"):
        return max(fields["detection_size"], CONTEXT_MIN + fields["h"])
    if path.startswith("/v2/cross_validation") and not fields.get("full_history"):
        samples = SAMPLES_OF_INTERVALS_MIN if fields.get("level") else 1
        return fields["h"] + (fields.get("n_windows", 1) - 1) * (fields.get("step_size") or fields["h"]) + samples
    if "/simulate" in path:
        return max(SAMPLES_OF_INTERVALS_MIN, fields["h"])
    return SAMPLES_OF_INTERVALS_MIN if path.startswith("/v2/forecast") and fields.get("level") else 1


def fitting_series(path, fields, size_min):
    series = {**fields["series"]}
    sizes = [max(size_min, min(int(size), SIZE_MAX)) for size in series["sizes"][:SERIES_MAX]]
    if fields.get("threshold_method") == "multivariate":
        sizes = [sizes[0]] * len(sizes)
    series["sizes"] = sizes
    series["y"] = as_long(series["y"], sum(sizes))
    if "/simulate" in path:
        # Paths need a window without gaps.
        series["y"] = [0 if value is None else value for value in series["y"]]
    if series.get("start_datetime") is not None:
        # Any text does where series are forecast alone, only times where they are forecast together.
        series["start_datetime"] = as_long(["2024-01-01", "2024-01-02 06:00:00", "2024-01-01T00:30:00Z"], len(sizes))
    columns = [as_long(column, sum(sizes)) for column in (series.get("X") or [])[:VARIABLES_MAX]]
    if series.get("X") is not None:
        series["X"] = columns
    ahead = []
    if series.get("X_future") and path.startswith(("/v2/forecast", "/v2/simulate", "/v2/anomaly_detection/async")):
        ahead = [as_long(column, len(sizes) * fields["h"]) for column in series["X_future"][: len(columns)]]
        series["X_future"] = ahead
    given = [*enumerate(columns), *enumerate(ahead)]
    texts = {i for i, column in given if any(isinstance(value, str) for value in column)}
    named = {column for column in series.get("categorical_exog") or [] if column < len(columns)}
    if texts or series.get("categorical_exog"):
        series["categorical_exog"] = sorted(texts | named)
    return series, len(columns)


def as_long(values, length):
    """The values again and again, or cut, until there are so many."""
    return list(islice(cycle(values or [1, 2, None, 4]), length))
