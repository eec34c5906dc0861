import assert from 'node:assert/strict';
import { historyTest, openedHistoryTest } from '../../fixture/history/histories.ts';
import {
  anomalyEvent,
  batchOf,
  keptEvent,
  keptScore,
  MINUTE_MS,
  START_MS,
} from '../../fixture/history/kept-records.ts';

const DAY_MS = 86_400_000;

openedHistoryTest('judged time is that of units: not of members, of waits, or by the clock', async (history) => {
  const day = (n: number) => ({ timestampMs: START_MS + n * DAY_MS });
  const member = (offset: number, series: string, n: number) =>
    keptScore(offset, { series, detector: 'groups', group: 'g', ...day(n) });
  // Members of a time step arrive in different batches.
  await history.append(batchOf({ scores: [member(0, 'g/a', 1), keptScore(1, { series: 'b', ...day(2) })] }));
  await history.append(batchOf({ scores: [member(2, 'g/b', 1), member(3, 'g/a', 8)] }));
  const scores = [
    member(4, 'g/b', 8),
    keptScore(5, { series: 'a', state: 'calibrating', ...day(0) }),
    keptScore(6, { series: 'b', ...day(5) }),
    keptScore(7, { series: 'b', state: 'silent', ...day(20) }),
    keptScore(8, { series: 'c', state: 'warming-up', ...day(30) }),
  ];
  const at = (n: number) => ({ startedAtMs: START_MS + n * DAY_MS });
  const events = [
    keptEvent(0, anomalyEvent('one', at(3))),
    keptEvent(1, anomalyEvent('two', at(5))),
    keptEvent(2, anomalyEvent('silent', { ...at(5), kind: 'silence' })),
    keptEvent(3, anomalyEvent('before', at(1))),
    keptEvent(4, anomalyEvent('group', { ...at(2), detector: 'groups', series: null, group: 'g' })),
  ];
  await history.append(batchOf({ scores, events }));
  const judged = (await history.detectors()).map(({ detector, judgedMs, eventsJudged }) => {
    return [detector, judgedMs / DAY_MS, eventsJudged];
  });
  assert.deepEqual(judged, [
    ['groups', 7, 1],
    ['metrics', 3, 2],
  ]);
  await history.append(batchOf({ scores: [keptScore(9, { series: 'b', detector: 'other', ...day(21) })] }));
  const moved = (await history.detectors()).find(({ detector }) => detector === 'metrics');
  assert.deepEqual([moved?.judgedMs, moved?.eventsJudged], [0, 0], 'another detector judges b now');
});

historyTest('hours are counted as long as a score of them, or of an earlier one, is kept', async (kept) => {
  let nowMs = START_MS;
  const limits = { parts: { rowsMax: 10, ageMsMax: DAY_MS }, nowMs: () => nowMs };
  const history = await kept.open({ ...limits, bounds: { days: 3, gb: 100 } });
  const observed = async () => {
    await history.maintain();
    const [{ observations, sinceMs, judgedMs }] = await history.detectors();
    return [observations, sinceMs, judgedMs];
  };
  const hourly = (first: number) =>
    Array.from({ length: 24 }, (_, i) =>
      keptScore(first + i, { timestampMs: START_MS + (first + i) * 60 * MINUTE_MS }),
    );
  await history.append(batchOf({ scores: hourly(0) }));
  assert.deepEqual(await observed(), [24, START_MS, 23 * 60 * MINUTE_MS]);
  nowMs += 2 * DAY_MS;
  await history.append(batchOf({ scores: hourly(24) }));
  nowMs += 2 * DAY_MS;
  assert.deepEqual(await observed(), [24, START_MS + DAY_MS, 23 * 60 * MINUTE_MS]);
});
