import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InputStopReport } from '../../../src/engine/report-input-stop.ts';
import type { Logger } from '../../../src/ops/logger.ts';
import type { Metrics } from '../../../src/ops/metrics.ts';
import { detectorConfig, START_MS, STEP_MS } from '../../fixture/stream/stream-run.ts';

/** Live for ten steps. */
function liveInput() {
  let nowMs = START_MS;
  const lines: string[] = [];
  const seconds: number[] = [];
  const metrics = { inputStoppedSeconds: { set: (value: number) => void seconds.push(value) } };
  const log = (line: string) => void lines.push(line);
  const logger = { warn: log, info: log };
  const report = new InputStopReport(metrics as unknown as Metrics, logger as unknown as Logger, () => nowMs);
  report.detectorsSet([detectorConfig()]);
  const pass = (steps: number, { arrives = false, isReady = true }) => {
    for (let step = 0; step < steps; step++) {
      nowMs += STEP_MS;
      if (arrives) report.committed(nowMs);
      report.check(isReady);
    }
  };
  pass(10, { arrives: true });
  return { report, pass, lines, seconds };
}

test('an input that stops is a warning, a metric and a log line, until a record arrives', () => {
  const { report, pass, lines, seconds } = liveInput();
  pass(5, {});
  assert.deepEqual([report.warnings(), seconds.at(-1)], [[], 0]);
  pass(2, {});
  const text = 'nothing arrived since 2025-01-01T00:10:00.000Z, due every min';
  assert.deepEqual([report.warnings(), seconds.at(-1), lines], [[text], 420, [text]]);
  pass(1, { arrives: true });
  assert.deepEqual([report.warnings(), seconds.at(-1), lines.at(-1)], [[], 0, 'observations arrive again']);
});

test('the time in which a worker is not ready is no stop', () => {
  const { report, pass, lines } = liveInput();
  pass(30, { isReady: false });
  pass(5, {});
  assert.deepEqual([report.warnings(), lines], [[], []]);
  pass(2, {});
  assert.equal(report.warnings().length, 1);
});
