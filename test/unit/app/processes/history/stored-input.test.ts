import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StoredInput } from '../../../../../src/app/processes/history/stored-input.ts';
import type { KeptScore } from '../../../../../src/history/port/history-port.ts';
import { keptScore } from '../../../../fixture/history/kept-records.ts';

const MIN = 60_000;
const NOW = Date.UTC(2026, 7, 20, 12);

interface Fed {
  readonly stepMin: number;
  readonly detector?: string;
  readonly state?: KeptScore['state'];
  readonly series?: number;
  readonly untilMin?: number;
  readonly speed?: number;
}

/** Scores of three hours up to NOW, some series each step, a few seconds apart. */
function feed(input: StoredInput, { stepMin, untilMin = 0, series = 30, speed = 1, ...fields }: Fed): void {
  for (let minute = 180; minute >= untilMin; minute -= stepMin) {
    const scores = Array.from({ length: series }, (_, i) => {
      const timestampMs = NOW - minute * MIN + (((i + minute) * 7) % 13) * 100;
      return keptScore(i, { detector: 'metrics', series: `s${i}`, ...fields, timestampMs });
    });
    input.stored(scores, NOW - (minute * MIN) / speed + 2_000);
  }
}

test('a live input that stops is a problem since its newest observation, and none once it is back', () => {
  const input = new StoredInput();
  feed(input, { stepMin: 5, series: 1 });
  assert.equal(input.problem(NOW + 27 * MIN), null);
  const reason = 'nothing arrived since 2026-08-20T12:00:00.000Z, due every 5min';
  assert.deepEqual(input.problem(NOW + 28 * MIN), { reason, sinceMs: NOW, due: '5min' });
  input.stored([keptScore(0, { series: 's0', timestampMs: NOW + 30 * MIN })], NOW + 30 * MIN);
  assert.equal(input.problem(NOW + 31 * MIN), null);
});

test('the shortest step of the detectors that still receive is due, jitter or not', () => {
  const dueOf = (...fed: readonly Fed[]) => {
    const input = new StoredInput();
    for (const one of fed) feed(input, one);
    return input.problem(NOW + 600 * MIN)?.due;
  };
  assert.equal(dueOf({ stepMin: 5 }), '5min');
  assert.equal(dueOf({ stepMin: 5, detector: 'slow' }, { stepMin: 1 }), 'min');
  assert.equal(dueOf({ stepMin: 1, detector: 'gone', untilMin: 90 }, { stepMin: 5 }), '5min');
});

test('records of silence are no observations, and keep no stopped input alive', () => {
  const input = new StoredInput();
  feed(input, { stepMin: 1 });
  input.stored([keptScore(0, { state: 'silent', timestampMs: NOW })], NOW + 6 * MIN);
  assert.equal(input.problem(NOW + 7 * MIN)?.due, 'min');
});

test('a fed file, a history that is read again, one observation a series, and outages of Kafka are no stop', () => {
  const fed = new StoredInput();
  feed(fed, { stepMin: 1, speed: 1_000 });
  const single = new StoredInput();
  single.stored(
    Array.from({ length: 40 }, (_, i) => keptScore(i, { series: `s${i}`, timestampMs: NOW })),
    NOW,
  );
  const unread = new StoredInput();
  feed(unread, { stepMin: 1 });
  unread.readable(NOW + 57 * MIN);
  for (const input of [fed, single, unread, new StoredInput()]) assert.equal(input.problem(NOW + 60 * MIN), null);
});
