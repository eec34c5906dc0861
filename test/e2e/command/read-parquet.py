"""Prints what readers of a Parquet file make of its times, and which are not before an instant: a line of JSON each."""

import json
import os
import sys
import time
from datetime import datetime

os.environ["TZ"] = "America/New_York"
time.tzset()

import duckdb
import pandas
import polars

path, text = sys.argv[1:]
since = datetime.fromisoformat(text.replace("Z", "+00:00"))


def show(reader, kind, times):
    later = sorted(round(each.timestamp() * 1000) for each in times)
    print(json.dumps({"reader": reader, "type": str(kind), "later": later}))


frame = pandas.read_parquet(path)
show("pandas", frame.timestamp.dtype, frame.timestamp[frame.timestamp >= pandas.Timestamp(since)])

table = polars.read_parquet(path)
show("polars", table.schema["timestamp"], table.filter(polars.col("timestamp") >= since)["timestamp"].to_list())

rows = duckdb.sql(f"SELECT timestamp FROM '{path}' WHERE timestamp >= TIMESTAMPTZ '{text}'")
show("duckdb", rows.types[0], [time for (time,) in rows.fetchall()])
