import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endOf, reportTunings } from '../../../../src/api/models/tuning-progress.ts';
import { createLogger } from '../../../../src/ops/logger.ts';
import { createMetrics } from '../../../../src/ops/metrics.ts';

const ASKED = { model: 'm', series: 3, steps: 50, loss: 'mae', depth: 2 } as const;
const theta = new Float32Array();

function reported() {
  const metrics = createMetrics({ collectProcess: false });
  const lines: string[] = [];
  const clock = { nowMs: 0 };
  const logger = createLogger('info', { write: (line: string) => lines.push(line) });
  const watch = reportTunings(metrics, logger, () => clock.nowMs);
  const figure = async (name: string, labels: object = {}) => {
    const { values } = (await metrics.registry.getMetricsAsJSON()).find((metric) => metric.name === name)!;
    const found = values.find((value) => JSON.stringify(value.labels) === JSON.stringify(labels));
    return found?.value ?? 0;
  };
  const logged = () => lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  return { watch, clock, figure, logged };
}

test('the time in the queue is not part of the duration of a fine-tuning', async () => {
  const { watch, clock, figure, logged } = reported();
  const standing = async () => [await figure('tidewatch_tunings_waiting'), await figure('tidewatch_tunings_running')];
  const [first, second] = [watch(ASKED), watch(ASKED)];
  assert.deepEqual(await standing(), [2, 0]);
  first.stepped(0);
  assert.deepEqual(await standing(), [1, 1]);
  for (const step of [1, 2, 50]) first.stepped(step);
  assert.equal(await figure('tidewatch_tuning_steps_total'), 50);
  clock.nowMs = 4_000;
  first.ended(endOf({ theta, step: 40, coefficient: 0.5, validation: { before: 0.5, after: 0.25 } }));
  second.stepped(0);
  clock.nowMs = 9_000;
  second.ended({ kind: 'too-long' });
  assert.deepEqual(await standing(), [0, 0]);
  const [line, other] = logged();
  const { time: _, level: __, ...fields } = line;
  const validation = { before: 0.5, after: 0.25 };
  assert.deepEqual(fields, {
    ...ASKED,
    outcome: 'tuned',
    made: 50,
    step: 40,
    share: 0.5,
    validation,
    ms: 4_000,
    msg: 'tuning',
  });
  assert.deepEqual([other.outcome, other.ms], ['too-long', 5_000]);
});

test('every outcome has its own count; a fine-tuning that never ran has no duration', async () => {
  const { watch, figure, logged } = reported();
  watch(ASKED).ended(endOf({ theta, step: 10, coefficient: 0.5, validation: null }));
  watch(ASKED).ended(endOf({ theta, step: 0, coefficient: 0, validation: { before: 1, after: 1 } }));
  for (const kind of ['too-long', 'too-large', 'stopped', 'refused', 'failed'] as const) watch(ASKED).ended({ kind });
  const outcomes = ['tuned', 'unchanged', 'too-long', 'too-large', 'stopped', 'refused', 'failed'];
  for (const outcome of outcomes) assert.equal(await figure('tidewatch_tunings_total', { outcome }), 1, outcome);
  const actual = logged().map(({ outcome }) => outcome);
  assert.deepEqual(actual, outcomes);
  assert.equal(await figure('tidewatch_tunings_waiting'), 0);
  assert.equal(await figure('tidewatch_tunings_running'), 0);
});
