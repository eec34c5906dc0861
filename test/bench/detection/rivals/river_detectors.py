"""Detectors of river with their defaults, one a series.

Arguments: two files of little-endian doubles, and `trees` or `gaussian`. Read: for each series its rows, its channels
and the values row by row. Written: observations for each second of processor time, bytes a series (pickled), and for
each row a score and 1 where it is an alarm. Half-space trees: values scaled by their range so far, an alarm above the
quantile of 0.95 of river's example. Gaussian (of one channel): an alarm beyond three deviations, which is a score of
0.9973. A value that is missing repeats.
"""

import pickle
import sys
import time
from array import array

from river import anomaly, preprocessing

THREE_DEVIATIONS = 0.9973


class Trees:
    def __init__(self):
        self.scaler = preprocessing.MinMaxScaler()
        self.filter = anomaly.QuantileFilter(
            anomaly.HalfSpaceTrees(seed=42), q=0.95, protect_anomaly_detector=False
        )

    def judge(self, point):
        self.scaler.learn_one(point)
        scaled = self.scaler.transform_one(point)
        score = self.filter.score_one(scaled)
        alarm = self.filter.classify(score)
        self.filter.learn_one(scaled)
        return score, float(alarm and score > 0)


class Gaussian:
    def __init__(self):
        self.scorer = anomaly.GaussianScorer()

    def judge(self, point):
        value = point[0]
        score = self.scorer.score_one(None, value)
        self.scorer.learn_one(None, value)
        return score, float(score > THREE_DEVIATIONS)


def main():
    kind = {"trees": Trees, "gaussian": Gaussian}[sys.argv[3]]
    values = array("d")
    with open(sys.argv[1], "rb") as file:
        values.frombytes(file.read())
    out = array("d", [0.0, 0.0])
    at, observations, detector = 0, 0, None
    begun = time.process_time()
    while at < len(values):
        rows, channels = int(values[at]), int(values[at + 1])
        at += 2
        detector = kind()
        point = dict.fromkeys(range(channels), 0.0)
        for _ in range(rows):
            for channel in range(channels):
                if values[at] == values[at]:
                    point[channel] = values[at]
                at += 1
            out.extend(detector.judge(point))
        observations += rows * channels
    out[0] = observations / max(time.process_time() - begun, 1e-9)
    out[1] = len(pickle.dumps(detector))
    with open(sys.argv[2], "wb") as file:
        out.tofile(file)


if __name__ == "__main__":
    main()
