import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DetectorConfig } from '../../../../src/config/config.ts';
import type { AnomalyEvent } from '../../../../src/records/anomaly-event.ts';
import { parseFrequency } from '../../../../src/time/frequency.ts';
import {
  detectorConfig,
  type Fed,
  groupDetector,
  lines,
  resumed,
  START_MS,
  type StreamRun,
  stepOf,
  streamRun,
  streamSettings,
  TOPICS,
} from '../../../fixture/stream/stream-run.ts';
import { until } from '../../../fixture/until.ts';

const settings = streamSettings({ context: 300, gapLimit: 300, silenceAfter: 5 });
/** Two feeders of one input: `web` has forty series, `db` three. */
const web = detectorConfig({ name: 'web', series: ['web-*'], settings });
const db = detectorConfig({ name: 'db', series: ['db-*'], settings });
const WEB = Array.from({ length: 40 }, (_, i) => `web-${i}`);
const DB = ['db-1', 'db-2', 'db-3'];

type Sends = (series: string, step: number) => boolean;

const at = (step: number, series: readonly string[], group?: string) =>
  series.map((one): Fed => [one, step, (step * 7 + one.length) % 5, group]);

/** Each of the steps from `from` to `to`. */
const each = (from: number, to: number, of: (step: number) => readonly Fed[]) =>
  Array.from({ length: to - from }, (_, i) => of(from + i)).flat();

/** Steps before `to` of all series that send one. */
async function scored(
  sends: Sends,
  { to = 60, detectors = [web, db] }: { readonly to?: number; readonly detectors?: DetectorConfig[] } = {},
): Promise<StreamRun> {
  const run = streamRun({ detectors });
  const sent = (step: number) => [...DB, ...WEB].filter((series) => sends(series, step));
  run.feed(each(0, to, (step) => at(step, sent(step))));
  await run.scoreAll();
  return run;
}

const shown = (run: StreamRun) => {
  const times = ({ startedAtMs, endedAtMs }: AnomalyEvent) =>
    endedAtMs === null ? stepOf(startedAtMs) : `${stepOf(startedAtMs)}-${stepOf(endedAtMs)}`;
  return lines(silences(run), 'type', 'detector', 'series', 'seriesCount', 'closeReason', times);
};
const silences = (run: StreamRun) => run.events().filter(({ kind }) => kind === 'silence');
const silentScores = (run: StreamRun) => run.scores().filter(({ state }) => state === 'silent' || state === 'returned');

const isWeb = (series: string) => series.startsWith('web');
const webPauses: Sends = (series, step) => !isWeb(series) || step < 20 || step >= 40;

test('a detector whose series all stop while others continue is one event, with their number', async () => {
  const run = await scored(webPauses);
  assert.deepEqual(shown(run), ['opened web null 40 null 20', 'closed web null 40 returned 20-40']);
  assert.deepEqual(silentScores(run), []);
  const [opened, closed] = silences(run);
  assert.equal(closed.eventId, opened.eventId);
  assert.equal(closed.group, null);
  assert.equal(closed.summary, 'Silence: no value of any of 40 series, for 20 minutes');
  assert.equal(closed.observations, 20);
  assert.equal(stepOf(opened.firstAlarmAtMs), 24, 'it is noticed by then');
  const keys = run.broker.read(TOPICS.events, 0).map(({ key }) => key?.toString());
  assert.equal(keys.filter((key) => key === 'web/0').length, 2);
});

test('where only some stop, each has a silence of its own', async () => {
  const stops = ['web-3', 'web-7', 'db-1'];
  const run = await scored((series, step) => !stops.includes(series) || step < 20 || step >= 40);
  const expected = stops.flatMap((series) => [`closed ${series} null`, `opened ${series} null`]).sort();
  assert.deepEqual(lines(silences(run), 'type', 'series', 'seriesCount').sort(), expected);
  assert.equal(silentScores(run).length, 6);
});

test('a series that does not return with the others has a silence of its own, so many steps after the pause', async () => {
  const sends: Sends = (series, step) => webPauses(series, step) && (series !== 'web-3' || step < 20 || step >= 50);
  const run = await scored(sends);
  const actual = lines(silences(run), 'type', 'series', ({ updatedAtMs }) => stepOf(updatedAtMs));
  assert.deepEqual(actual, ['opened null 24', 'closed null 40', 'opened web-3 24', 'closed web-3 50']);
  const silent = run.scores().findIndex(({ state }) => state === 'silent');
  assert.equal(stepOf(run.scores()[silent - 1].timestampMs), 46);
});

test('a series that was silent before the pause keeps its own silence', async () => {
  const run = await scored(
    (series, step) => webPauses(series, step) && (series !== 'web-3' || step < 10 || step >= 50),
  );
  const said = lines(silences(run), 'type', 'series', 'seriesCount');
  assert.deepEqual(said, ['opened web-3 null', 'opened null 39', 'closed null 39', 'closed web-3 null']);
});

test('records that continue where they stopped end the pause, and nobody is silent while they catch up', async () => {
  const run = streamRun({ detectors: [web, db] });
  run.feed(each(0, 20, (step) => at(step, [...DB, ...WEB])));
  run.feed(each(20, 40, (step) => at(step, DB)));
  run.feed(each(20, 40, (step) => at(step, WEB)));
  run.feed(each(40, 50, (step) => at(step, [...DB, ...WEB])));
  await run.scoreAll();
  assert.deepEqual(shown(run), ['opened web null 40 null 20', 'closed web null 40 returned 20-24']);
  assert.deepEqual(silentScores(run), []);
});

test('a detector of one series, or one group, has the silence of that one', async () => {
  const one = detectorConfig({ name: 'web', series: ['web-3'], settings });
  const run = await scored((series, step) => !isWeb(series) || (series === 'web-3' && (step < 20 || step >= 40)), {
    detectors: [one, db],
  });
  const said = lines(silences(run), 'type', 'series', 'seriesCount');
  assert.deepEqual(said, ['opened web-3 null', 'closed web-3 null']);
});

test('of groups that all stop, the pause counts the members', async () => {
  const groups = groupDetector(settings, { name: 'web', series: ['web-*'] });
  const run = streamRun({ detectors: [groups, db] });
  const ofGroups = (step: number) => [...at(step, WEB.slice(0, 5), 'g1'), ...at(step, WEB.slice(5, 8), 'g2')];
  run.feed(each(0, 60, (step) => [...at(step, DB), ...(step >= 20 && step < 40 ? [] : ofGroups(step))]));
  await run.scoreAll();
  assert.deepEqual(shown(run), ['opened web null 8 null 20', 'closed web null 8 returned 20-40']);
  assert.deepEqual(silentScores(run), []);
});

test('a pause of a detector that was removed is closed; settings that change leave it open', async () => {
  const paused = await scored((series, step) => !isWeb(series) || step < 20, { to: 30 });
  const { broker } = paused;
  const gone = await resumed(streamRun({ detectors: [db], broker }), { detectors: [db] });
  assert.deepEqual(lines(silences(gone), 'type', 'closeReason'), ['opened null', 'closed detector_removed']);
  const again = await scored((series, step) => !isWeb(series) || step < 20, { to: 30 });
  const detectors = [{ ...web, settings: { ...settings, level: 90 } }, db];
  const changed = await resumed(again, { detectors });
  assert.equal(silences(changed).length, 1);
  changed.feed(each(30, 50, (step) => at(step, [...DB, ...WEB])));
  await changed.scoreAll();
  assert.deepEqual(lines(silences(changed), 'type', 'closeReason'), ['opened null', 'closed returned']);
  assert.deepEqual(silentScores(changed), []);
});

test('a feeder that stops is one event of each detector, opened and closed once: the clock decides, over a restart', async () => {
  // So that the clock decides soon.
  const quick = streamSettings({ freq: parseFrequency('20ms')!, silenceAfter: 5, jitterMs: 10 });
  const detectors = [web, db].map((one) => ({ ...one, settings: quick }));
  const run = streamRun({ detectors });
  const send = (step: number) => {
    for (const series of [...DB, ...WEB]) {
      const observation = { series, timestamp: START_MS + 20 * step, value: step % 3 };
      run.broker.append(0, Buffer.from(series), Buffer.from(JSON.stringify(observation)));
    }
  };
  for (let step = 0; step < 20; step++) send(step);
  const first = await run.start();
  await until('both detectors are in a pause', () => silences(run).length === 2);
  await first.stop();
  const second = await run.start();
  await new Promise((next) => setTimeout(next, 300));
  assert.equal(silences(run).length, 2);
  for (let step = 60; step < 64; step++) send(step);
  await run.settled();
  await second.stop();
  const said = lines(silences(run), 'type', 'detector', 'series', 'seriesCount').slice(0, 4).sort();
  assert.deepEqual(said, ['closed db null 3', 'closed web null 40', 'opened db null 3', 'opened web null 40']);
  assert.deepEqual(silentScores(run), []);
});
