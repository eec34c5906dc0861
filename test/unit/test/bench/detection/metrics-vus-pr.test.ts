import assert from 'node:assert/strict';
import test from 'node:test';
import { eventF1 } from '../../../../bench/detection/metrics-event-f1.ts';
import { vusPr } from '../../../../bench/detection/metrics-vus-pr.ts';

/** 60 rows with four incidents, found, missed and half found. */
const LABELS = Uint8Array.from({ length: 60 }, (_, row) => {
  const inside = (row >= 10 && row < 14) || row === 30 || (row >= 34 && row < 36) || (row >= 50 && row < 58);
  return inside ? 1 : 0;
});
const RAISED = new Map([
  [11, 1],
  [30, 0.6],
  [40, 0.9],
  [51, 0.8],
  [52, 0.8],
]);
const SCORES = Float64Array.from(LABELS, (_, row) => ((row * 37) % 23) / 23 + (RAISED.get(row) ?? 0));

test('VUS-PR is that of the reference program, whatever the width of the edges', () => {
  const reference = [
    [0, 0.3763216726144223],
    [1, 0.3763216726144223],
    [4, 0.4730211698850276],
    [9, 0.5692058131149302],
  ] as const;
  for (const [width, expected] of reference) assert.ok(Math.abs(vusPr(LABELS, SCORES, width) - expected) < 1e-12);
});

test('scores that are the labels are perfect without edges, and nothing labelled has no VUS-PR', () => {
  assert.equal(vusPr(LABELS, Float64Array.from(LABELS), 0), 1);
  assert.equal(vusPr(new Uint8Array(60), SCORES, 4), Number.NaN);
});

test('event F1 counts incidents for recall and rows for precision, at the best threshold', () => {
  assert.equal(eventF1(LABELS, SCORES), 0.6666666666666666);
  // One of two incidents by one row of two: recall 1/2, precision 1/2; at the lower threshold 1 and 2/4.
  const labels = Uint8Array.of(1, 0, 0, 1);
  assert.equal(eventF1(labels, Float64Array.of(3, 3, 0, 0)), 2 / 3);
  assert.equal(eventF1(new Uint8Array(4), Float64Array.of(3, 3, 0, 0)), Number.NaN);
});
