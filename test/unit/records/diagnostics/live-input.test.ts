import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LiveInput, stoppedText } from '../../../../src/records/diagnostics/live-input.ts';
import { parseFrequency } from '../../../../src/time/frequency.ts';

const MIN = 60_000;
const NOW = Date.UTC(2026, 7, 20, 12);

function inputOf(...freqs: readonly string[]): LiveInput {
  const input = new LiveInput();
  input.expect(freqs.map((freq) => parseFrequency(freq)!));
  return input;
}

/** Records of each minute up to NOW, as they become due; `behindMs` late, and `speed` times as fast. */
function feed(input: LiveInput, { behindMs = 0, speed = 1 } = {}): void {
  for (let minute = 30; minute >= 0; minute--) {
    input.arrived(NOW - minute * MIN - behindMs, NOW - (minute * MIN) / speed);
  }
}

test('a live input that stops as a whole is reported with the time of its newest record', () => {
  const input = inputOf('5min', 'min');
  feed(input);
  assert.equal(input.stopped(NOW + 5 * MIN), null);
  const stopped = input.stopped(NOW + 6 * MIN)!;
  assert.equal(stopped.forMs, 6 * MIN);
  assert.equal(stoppedText(stopped), 'nothing arrived since 2026-08-20T12:00:00.000Z, due every min');
  input.arrived(NOW + 7 * MIN, NOW + 7 * MIN);
  assert.equal(input.stopped(NOW + 8 * MIN), null, 'it is back');
});

test('the time in which nothing could be read is no stop', () => {
  const input = inputOf('min');
  feed(input);
  input.readable(NOW + 30 * MIN);
  assert.equal(input.stopped(NOW + 35 * MIN), null);
  assert.equal(input.stopped(NOW + 36 * MIN)?.newestMs, NOW);
});

test('five steps must be missing: an hourly input has not stopped after an hour', () => {
  const input = inputOf('h');
  for (let hour = 10; hour >= 0; hour--) input.arrived(NOW - hour * 60 * MIN, NOW - hour * 60 * MIN);
  assert.equal(input.stopped(NOW + 300 * MIN), null);
  assert.notEqual(input.stopped(NOW + 331 * MIN), null);
});

test('a file that is fed, a backlog, a restart, batches and other detectors are no stop', () => {
  const fed = inputOf('min');
  feed(fed, { speed: 1_000 });
  const behind = inputOf('min');
  feed(behind, { behindMs: 60 * MIN });
  const restarted = inputOf('min');
  restarted.arrived(NOW, NOW);
  const fedTwice = inputOf('s');
  for (const at of [NOW - 60 * MIN, NOW]) for (let s = 300; s >= 0; s--) fedTwice.arrived(at - s * 1_000, at - s * 100);
  const batches = inputOf('min');
  for (let hour = 10; hour >= 0; hour--) batches.arrived(NOW - hour * 60 * MIN, NOW - hour * 60 * MIN);
  const changed = inputOf('min');
  feed(changed);
  changed.forget();
  for (const input of [fed, behind, restarted, fedTwice, batches, changed, inputOf()]) {
    assert.equal(input.stopped(NOW + 60 * MIN), null);
  }
});
