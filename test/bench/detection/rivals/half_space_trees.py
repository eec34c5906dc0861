"""Scores of river's half-space trees with its defaults, on values scaled by their range so far.

Two files of little-endian doubles. Read: for each series its rows, its channels and the values row by row. Written:
observations (values) for each second of processor time, and a score for each row.
"""

import sys
import time
from array import array

from river import anomaly, preprocessing


def main():
    values = array("d")
    with open(sys.argv[1], "rb") as file:
        values.frombytes(file.read())
    out = array("d", [0.0])
    at = 0
    begun = time.process_time()
    observations = 0
    while at < len(values):
        rows, channels = int(values[at]), int(values[at + 1])
        at += 2
        scaler = preprocessing.MinMaxScaler()
        trees = anomaly.HalfSpaceTrees(seed=42)
        point = dict.fromkeys(range(channels), 0.0)
        for _ in range(rows):
            for channel in range(channels):
                if values[at] == values[at]:  # What is missing repeats.
                    point[channel] = values[at]
                at += 1
            scaler.learn_one(point)
            scaled = scaler.transform_one(point)
            out.append(trees.score_one(scaled))
            trees.learn_one(scaled)
        observations += rows * channels
    out[0] = observations / (time.process_time() - begun)
    with open(sys.argv[2], "wb") as file:
        out.tofile(file)


if __name__ == "__main__":
    main()
