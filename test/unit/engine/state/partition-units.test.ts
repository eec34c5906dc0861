import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DetectorConfig } from '../../../../src/config/config.ts';
import type { StreamDetectionSettings } from '../../../../src/detection/calibration/settings.ts';
import { parseFrequency } from '../../../../src/time/frequency.ts';
import {
  detectorConfig,
  type Fed,
  groupDetector,
  resumed,
  STEP_MS,
  type StreamRun,
  streamRun,
  streamSettings,
  TOPICS,
} from '../../../fixture/stream/stream-run.ts';
import { until } from '../../../fixture/until.ts';

const other = detectorConfig({ name: 'other', series: ['other'] });
const detectorsOf = (settings: Partial<StreamDetectionSettings>): DetectorConfig[] => [
  other,
  groupDetector(settings, { name: 'together', series: ['m*'] }),
  detectorConfig({ settings: streamSettings(settings) }),
];

const LATENESS = { latenessMs: 300_000 };
const WATCHED = ['alone', 'm1', 'm2'];

function append(run: StreamRun, series: readonly string[], steps: readonly number[]): void {
  const at = (step: number) => series.map((id): Fed => [id, step, step % 4, id.startsWith('m') ? 'group' : undefined]);
  run.feed(steps.flatMap(at));
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

const givenUp = [
  {
    what: 'whose first record waited for older ones as its settings changed',
    steps: [0],
    after: { calibrationSize: 28 },
  },
  {
    what: 'whose grid changed while a record waited for older ones',
    steps: range(0, 20),
    after: { freq: parseFrequency('2min')! },
  },
];

for (const { what, steps, after } of givenUp) {
  for (const interruption of ['a restart', 'a commit whose answer is lost'] as const) {
    test(`a series or group ${what} reports that it starts over, also after ${interruption} before its next record`, async () => {
      const first = streamRun();
      append(first, ['other', ...WATCHED], steps);
      await resumed(first, { detectors: detectorsOf(LATENESS) });
      append(first, ['other'], [20]);
      if (interruption !== 'a restart') first.broker.failNextCommit('after');
      await resumed(first, { detectors: detectorsOf(after) });
      append(first, WATCHED, [22, 24, 26]);
      const { scores } = await resumed(first, { detectors: detectorsOf(after) });
      for (const id of WATCHED) {
        const own = scores().filter(({ series, restarted }) => series === id && restarted);
        assert.equal(own[0]?.position, 0, id);
      }
    });
  }
}

test('a series or group of which nothing is continued is forgotten after its idle limit', async () => {
  const first = streamRun();
  append(first, ['other', ...WATCHED], [0]);
  await resumed(first, { detectors: detectorsOf(LATENESS) });
  const detectors = detectorsOf({ calibrationSize: 28, idleMs: 10 * STEP_MS });
  append(first, ['other'], [1]);
  await resumed(first, { detectors });
  append(first, ['other'], range(2, 20));
  const run = await resumed(first, { detectors });
  const actual = run.total(({ forgotten }) => forgotten.idle);
  assert.equal(actual, 2);
});

/**
 * Of the series `last` a record waits for a backfill when the grid changes, behind more forecasts than a round has.
 * @param restarts whether the worker that changes the grid ends before the turn of the series
 * @param later steps of the series after that
 */
async function waitingOnAnotherGrid(restarts: boolean, later: readonly number[]): Promise<StreamRun> {
  const fleet = Array.from({ length: 80 }, (_, i) => `fleet-${i}`);
  const settings = (of: Partial<StreamDetectionSettings>) => streamSettings({ context: 64, gapLimit: 64, ...of });
  const detectors = (last: Partial<StreamDetectionSettings>, of: Partial<StreamDetectionSettings>) => [
    other,
    detectorConfig({ name: 'last', series: ['last'], settings: settings(last) }),
    detectorConfig({ settings: settings(of) }),
  ];
  const first = streamRun();
  append(first, [...fleet, 'last', 'other'], range(0, 60));
  await resumed(first, { detectors: detectors({}, {}) });
  const slowly = async (slow: readonly DetectorConfig[]) => {
    const run = streamRun({ detectors: slow, limits: { backfillForecastsPerSMax: 1 }, broker: first.broker });
    const worker = await run.start();
    const end = first.broker.read(TOPICS.observations, 0).length;
    await until('every record is covered by a commit', () => first.broker.committedOffset(0) === end);
    await worker.stop();
  };
  append(first, [...fleet, 'last'], [60]);
  await slowly(detectors({ calibrationSize: 28 }, { calibrationSize: 28 }));
  const changed = detectors({ freq: parseFrequency('2min')! }, { calibrationSize: 28 });
  append(first, ['other'], [60]);
  if (restarts) await slowly(changed);
  append(first, ['last'], later);
  return resumed(first, { detectors: changed });
}

for (const restarts of [false, true]) {
  const when = restarts ? ', also after a restart before its turn' : '';
  test(`a record that waits for a backfill as the grid of its series changes is scored${when}`, async () => {
    const run = await waitingOnAnotherGrid(restarts, []);
    const last = run.scores().filter(({ series }) => series === 'last');
    assert.equal(last.length, 61);
    assert.deepEqual([last[60].position, last[60].restarted], [0, true]);
  });

  test(`a wrong time behind such a record is found${when}`, async () => {
    const run = await waitingOnAnotherGrid(restarts, [700, 62]);
    assert.deepEqual(run.letters('series'), ['time-unconfirmed last']);
  });
}
