import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WarmObservation } from '../../../../src/engine/warm-start.ts';
import {
  detectorConfig,
  lines,
  observationRecord,
  START_MS,
  STEP_MS,
  type StreamRun,
  streamConfig,
  streamRun,
  streamSettings,
} from '../../../fixture/stream/stream-run.ts';

const settings = streamSettings({ context: 32, gapLimit: 300, silenceAfter: 5 });
const web = detectorConfig({ settings, series: ['{job=~"web-.*"}'] });
const A = 'up{instance="a",job="web-1"}';
const B = 'up{instance="b",job="web-1"}';
const OTHER = 'up{instance="a",job="web-2"}';

/** Scores records of these series at these steps by a worker of its own. */
async function scored(
  run: StreamRun,
  records: readonly (readonly [series: string, step: number])[],
  {
    template = '{job}/{__name__}' as string | null,
    detector = web,
    warmStart = null as { source: string; observationsOf: () => readonly WarmObservation[] } | null,
  } = {},
) {
  const stream = streamConfig([detector]);
  for (const [series, step] of records) {
    const { value } = observationRecord(series, step, step % 4);
    run.broker.append(0, Buffer.from('k'), value);
  }
  await run.scoreAll({ stream: { ...stream, input: { ...stream.input, idTemplate: template } }, warmStart });
}

const from = (series: string, start: number, end: number) =>
  Array.from({ length: end - start }, (_, i) => [series, start + i] as const);
const positions = (run: StreamRun) => lines(run.scores(), 'series', 'position');

test('series are scored under the ids of the template, and chosen by their labels', async () => {
  const run = streamRun({ detectors: [web] });
  await scored(run, [...from(A, 0, 3), ...from('up{job="db"}', 0, 1)]);
  assert.deepEqual(positions(run), ['web-1/up 0', 'web-1/up 1', 'web-1/up 2']);
  assert.deepEqual(run.letters('series'), ['series-unknown db/up']);
});

test('a series whose id another one has is refused, also after a restart, until that one is forgotten', async () => {
  const idle = detectorConfig({ settings: { ...settings, idleMs: 50 * 60_000 }, series: ['*'] });
  const run = streamRun({ detectors: [idle] });
  await scored(run, [...from(A, 0, 3), [B, 3], [A, 4]], { detector: idle });
  assert.deepEqual(run.letters('series'), ['series-collides web-1/up']);
  await scored(run, [...from(B, 5, 6), [A, 6]], { detector: idle });
  assert.deepEqual(run.letters('series'), ['series-collides web-1/up', 'series-collides web-1/up']);
  await scored(run, [...from(OTHER, 6, 80), ...from(B, 80, 82)], { detector: idle });
  assert.equal(run.letters('series').length, 2);
  await scored(run, [...from(A, 83, 84), [B, 84]], { detector: idle });
  assert.deepEqual(run.letters('series').slice(2), ['series-collides web-1/up']);
});

test('an event has the labels that the template does not show, also after a restart', async () => {
  const run = streamRun({ detectors: [web] });
  await scored(run, from(A, 0, 30));
  await scored(run, from(OTHER, 0, 60));
  const [silence] = run.events().filter(({ kind }) => kind === 'silence');
  assert.deepEqual(
    [silence.series, silence.seriesLabels],
    ['web-1/up', { __name__: 'up', instance: 'a', job: 'web-1' }],
  );
});

test('ids that are made otherwise are those of new series', async () => {
  const run = streamRun({ detectors: [web] });
  await scored(run, from(A, 0, 3), { template: null });
  await scored(run, from(A, 3, 6));
  await scored(run, from(A, 6, 9), { template: null });
  assert.deepEqual(positions(run).slice(0, 6), [
    `${A} 0`,
    `${A} 1`,
    `${A} 2`,
    'web-1/up 0',
    'web-1/up 1',
    'web-1/up 2',
  ]);
  assert.deepEqual(run.letters('series'), []);
});

test('a series begins with a history under its labels, which were refused where a template makes ids', async () => {
  const run = streamRun({ detectors: [web] });
  const history = Array.from({ length: 20 }, (_, step) => {
    return { series: 'web-1/up', source: A, group: null, timestampMs: START_MS + step * STEP_MS, value: step % 4 };
  });
  await scored(run, from(A, 20, 22), { warmStart: { source: 'file', observationsOf: () => history } });
  assert.deepEqual(positions(run), ['web-1/up 20', 'web-1/up 21']);
  await scored(run, [[B, 22], ...from(OTHER, 22, 60)]);
  assert.deepEqual(run.letters('series'), ['series-collides web-1/up']);
  const [silence] = run.events().filter(({ kind }) => kind === 'silence');
  assert.deepEqual(silence.seriesLabels, { __name__: 'up', instance: 'a', job: 'web-1' });
});
