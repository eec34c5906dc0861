import assert from 'node:assert/strict';
import type { WarmStarted } from '../../../src/engine/engine-reports.ts';
import type { WarmObservation } from '../../../src/engine/warm-start.ts';
import {
  detectorConfig,
  type Fed,
  lines,
  START_MS,
  STEP_MS,
  type StreamRun,
  streamRun,
  streamSettings,
} from '../../fixture/stream/stream-run.ts';
import { virtualTest as test } from '../../fixture/virtual-time.ts';

const detectors = [detectorConfig({ settings: streamSettings({ context: 32, gapLimit: 40, silenceAfter: 5 }) })];

const valueAt = (step: number) => (step === 58 ? 900 : (step * 7) % 5);

function historyOf(series: readonly string[], from: number, to: number): WarmObservation[] {
  return Array.from({ length: to - from }, (_, i) =>
    series.map((id) => ({
      series: id,
      group: null,
      timestampMs: START_MS + (from + i) * STEP_MS,
      value: valueAt(from + i),
    })),
  ).flat();
}

function feed(run: StreamRun, series: readonly string[], from: number, to: number): void {
  const at = (step: number) => series.map((id): Fed => [id, step, valueAt(step)]);
  run.feed(Array.from({ length: to - from }, (_, i) => at(from + i)).flat());
}

/** A worker that begins with a history, until it has scored what there is. */
async function started(run: StreamRun, source: string, history: readonly WarmObservation[]): Promise<WarmStarted[]> {
  const said: WarmStarted[] = [];
  const warmStart = { source, observationsOf: () => history };
  await run.scoreAll({ warmStart }, { warmStarted: (_, one) => void said.push(one) });
  return said;
}

test('series with a state stay as they are; a history is taken up once', async () => {
  const run = streamRun({ detectors });
  feed(run, ['old'], 0, 10);
  await run.scoreAll();
  feed(run, ['old', 'new'], 60, 61);
  const history = historyOf(['old', 'new'], 0, 60);
  const said = await started(run, 'first', history);
  assert.deepEqual(lines(said, 'units', 'observations', 'leftToInput'), ['1 120 0']);
  feed(run, ['old', 'new'], 61, 62);
  assert.deepEqual(await started(run, 'first', history), []);
  const at = (series: string) =>
    run.scores().flatMap(({ series: id, position, state }) => (id === series && state !== 'silent' ? [position] : []));
  assert.deepEqual(at('new'), [60, 61]);
  assert.equal(at('old')[9], 9);
  assert.ok(Math.max(...at('old').slice(10)) < 3, 'it starts over after its own gap');
});

test('a history publishes nothing, and its open event is not closed in the stream', async () => {
  const run = streamRun({ detectors });
  feed(run, ['a', 'b'], 60, 80);
  await started(run, 'first', historyOf(['a', 'b'], 0, 60));
  assert.equal(run.scores().length, 40);
  assert.ok(run.scores().every(({ input, state }) => input.offset >= 0 && state === 'scored'));
  const types = Map.groupBy(run.events(), ({ eventId }) => eventId);
  assert.ok([...types.values()].every(([first]) => first.type === 'opened'));
});

test('a second history fills the series that the first one did not have', async () => {
  const run = streamRun({ detectors });
  feed(run, ['a'], 60, 61);
  await started(run, 'first', historyOf(['a'], 0, 60));
  feed(run, ['a', 'b'], 61, 62);
  const [said] = await started(run, 'second', historyOf(['a', 'b'], 0, 60));
  assert.equal(said.units, 1);
  assert.deepEqual(lines(run.scores(), 'series', 'position'), ['a 60', 'a 61', 'b 61']);
});

test('what the unread input covers is left to it, also where its first record has a wrong time', async () => {
  const run = streamRun({ detectors });
  run.feed([['a', 5, 1]]);
  feed(run, ['a'], 50, 80);
  const [said] = await started(run, 'first', historyOf(['a'], 0, 70));
  assert.deepEqual([said.observations, said.leftToInput], [50, 20]);
  assert.equal(run.scores().at(-1)?.position, 79);
});
