import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileObservationWriter } from '../../../../src/codecs/observations/observation-writer.ts';
import type { DetectorConfig } from '../../../../src/config/config.ts';
import { type PastObservation, scoreHistory } from '../../../../src/engine/commit/score-history.ts';
import type { Tally } from '../../../../src/engine/commit/tally.ts';
import type { ScoreRecord } from '../../../../src/records/score-record.ts';
import { pullObservations, readObservations } from '../../../../src/tools/csv/observations.ts';
import {
  detectorConfig,
  loadArithmetic,
  START_MS,
  STEP_MS,
  streamConfig,
  streamRun,
  streamSettings,
} from '../../../fixture/stream/stream-run.ts';

const GROUP = 'shop';

async function historyOf(csv: string): Promise<PastObservation[]> {
  async function* source() {
    yield csv;
  }
  const history: PastObservation[] = [];
  const pull = pullObservations(readObservations(source(), { onlySeries: 'only' }), () => {});
  for await (const { kind: _, line: __, ...observation } of pull.observations) history.push(observation);
  assert.deepEqual([pull.refusals.count, pull.problems], [0, []]);
  return history;
}

async function streamed(history: readonly PastObservation[], detector: DetectorConfig) {
  const group = detector.group === null ? null : GROUP;
  const run = streamRun({ detectors: [detector] });
  const write = compileObservationWriter(streamConfig([detector]).input, () => detector.group);
  for (const observation of history) {
    const written = write({ ...observation, group }, Date.now());
    assert.equal(written.kind, 'record');
    run.broker.append(0, written.key, written.value);
  }
  await run.scoreAll();
  return { scores: run.scores(), tallies: run.tallies };
}

async function backtested(history: readonly PastObservation[], detector: DetectorConfig) {
  const scores: ScoreRecord[] = [];
  const loaded = loadArithmetic(detector);
  const onScores = (some: readonly ScoreRecord[]) => void scores.push(...some);
  const options = { source: 'file.csv', detectors: [loaded], group: GROUP, onScores };
  const tally = await scoreHistory(history, options, new AbortController().signal);
  return { scores, tally };
}

/** Without the place of the input, and by series and time: a stream may interleave series in another way. */
function comparable(scores: readonly ScoreRecord[]) {
  return scores
    .map(({ input: _, ...score }) => score)
    .sort((a, b) => a.timestampMs - b.timestampMs || (a.series < b.series ? -1 : 1));
}

const at = (step: number) => new Date(START_MS + step * STEP_MS).toISOString();
const wave = (step: number, phase: number) =>
  Math.sin(step / 3 + phase) + ((step * 7919) % 13) / 50 + (step === 90 ? 9 : 0);
const row = (series: string, step: number, phase = 0) => `${series},${at(step)},${wave(step, phase)}`;
const csvOf = (rows: readonly string[]) => ['series,timestamp,value', ...rows].join('\n');
const steps = (from: number, below: number) => Array.from({ length: below - from }, (_, i) => from + i);

function countsOf(tallies: readonly Tally[]) {
  const sum = (read: (tally: Tally) => number) => tallies.reduce((total, tally) => total + read(tally), 0);
  return {
    scored: sum(({ scored }) => scored.scored),
    flagged: sum(({ flagged }) => flagged),
    alarms: sum(({ alarms }) => alarms),
    duplicates: sum(({ duplicates }) => duplicates),
    late: sum(({ deadLetters }) => deadLetters.late ?? 0),
    gaps: sum(({ gapsFilled }) => gapsFilled),
    restarted: sum(({ restarted }) => restarted.gap ?? 0),
  };
}

test('a backtest of a file finds what the stream finds: gaps, duplicate rows, a series that starts over, none late', async () => {
  const rows = [
    ...steps(0, 120).flatMap((step) => [row('a', step), row('b', step, 1)]),
    row('a', 119),
    row('b', 100, 1),
    ...steps(123, 160).map((step) => row('a', step)),
    ...steps(140, 260).map((step) => row('b', step, 1)),
  ];
  const detector = detectorConfig({ settings: streamSettings({ level: 99 }) });
  const history = await historyOf(csvOf(rows));
  const [inStream, inFile] = [await streamed(history, detector), await backtested(history, detector)];
  assert.deepEqual(comparable(inFile.scores), comparable(inStream.scores));
  // Rows of a file are put in order as they are read.
  const { late, ...counts } = countsOf([inFile.tally]);
  assert.deepEqual({ late, ...counts }, countsOf(inStream.tallies));
  assert.equal(late, 0);
  for (const [name, count] of Object.entries(counts)) assert.ok(count > 0, name);
});

test('a file sorted by series is scored as one sorted by time, groups too', async () => {
  const settings = streamSettings({ thresholdMethod: 'multivariate', level: 99 });
  const detector = detectorConfig({ group: 'group', settings });
  const bySeries = ['a', 'b', 'c'].flatMap((series, phase) => steps(0, 130).map((step) => row(series, step, phase)));
  const byTime = steps(0, 130).flatMap((step) => ['a', 'b', 'c'].map((series, phase) => row(series, step, phase)));
  const inStream = await streamed(await historyOf(csvOf(byTime)), detector);
  const inFile = await backtested(await historyOf(csvOf(bySeries)), detector);
  assert.deepEqual(comparable(inFile.scores), comparable(inStream.scores));
  assert.ok(inFile.scores.some(({ anomaly, group }) => anomaly && group === GROUP));
});

test('a file of counters has the increases of the stream: large integers, starts and deltas', async () => {
  const counted = (series: string, step: number, fields: string) => `${series},${at(step)},${fields}`;
  const rows = steps(1, 60).flatMap((step) => [
    counted('large', step, `${2n ** 60n + 100n * BigInt(step)},,`),
    counted('begun', step, `${step < 30 ? 10 * step : 1_000 + step},${at(step < 30 ? 0 : 29)},cumulative`),
    counted('delta', step, `${(step * 7) % 5},,delta`),
  ]);
  const csv = ['series,timestamp,value,start,temporality', ...rows].join('\n');
  const detector = detectorConfig({ settings: streamSettings({ aggregate: 'sum', as: 'increase' }) });
  const history = await historyOf(csv);
  const [inStream, inFile] = [await streamed(history, detector), await backtested(history, detector)];
  const valuesOf = (scores: readonly ScoreRecord[], series: string) =>
    comparable(scores).flatMap((score) => (score.series === series ? [score.value] : []));
  for (const series of ['large', 'begun', 'delta']) {
    const found = valuesOf(inFile.scores, series);
    const shared = valuesOf(inStream.scores, series);
    assert.ok(shared.length > 50);
    assert.deepEqual(found.slice(0, shared.length), shared);
  }
  assert.ok(
    valuesOf(inFile.scores, 'large')
      .slice(1)
      .every((value) => value === 100),
  );
  assert.ok(valuesOf(inFile.scores, 'begun').includes(1_030));
});

test('the last steps of a group are scored, also those that wait for a member', async () => {
  const settings = streamSettings({ thresholdMethod: 'multivariate', grace: 3 });
  const rows = ['a', 'b', 'c'].flatMap((series, phase) => {
    // The last steps of b and c are missing.
    return steps(0, 50 - phase).map((step) => row(series, step, phase));
  });
  const { scores } = await backtested(await historyOf(csvOf(rows)), detectorConfig({ group: 'group', settings }));
  assert.equal(scores.length, rows.length);
});

test('scores come in the order of their observations', async () => {
  const rows = steps(0, 100).flatMap((step) => [row('a', step), row('b', step, 1), row('c', step, 2)]);
  const { scores } = await backtested(await historyOf(csvOf(rows)), detectorConfig());
  const actual = scores.map(({ input }) => input.offset);
  assert.deepEqual(actual, steps(0, 300));
});
