import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  addYoung,
  EndedYoung,
  YOUNG_MAX,
  YOUNG_MIN,
  YOUNG_PERIOD_MS,
  type YoungSeries,
} from '../../../../src/records/diagnostics/ended-young.ts';
import { findingText, mergeFindings } from '../../../../src/records/diagnostics/finding.ts';
import { InputCounts, InputWatch, JUDGED_MIN } from '../../../../src/records/diagnostics/input-watch.ts';
import { decodeFindings, encodeFindings } from '../../../../src/records/diagnostics/offset-metadata.ts';

const CLOCK_MS = Date.UTC(2026, 0, 1);

function ended(count: number, from = 0): YoungSeries {
  const young: YoungSeries = new Map();
  addYoung(
    young,
    'pods',
    Array.from({ length: count }, (_, i) => `up{pod="${from + i}"}`),
  );
  return young;
}

test('series that ended young are found from ten on, each once, and named', () => {
  const watch = new EndedYoung();
  watch.add(ended(YOUNG_MIN - 1), CLOCK_MS);
  watch.add(ended(YOUNG_MIN - 1), CLOCK_MS);
  assert.deepEqual(watch.findings(), []);
  watch.add(ended(1, 100), CLOCK_MS);
  const examples = ['up{pod="0"}', 'up{pod="1"}', 'up{pod="2"}'];
  assert.deepEqual(watch.findings(), [{ kind: 'young', detector: 'pods', series: YOUNG_MIN, examples }]);
});

test('what ended more than two days ago counts no more', () => {
  const watch = new EndedYoung();
  watch.add(ended(YOUNG_MIN), CLOCK_MS);
  watch.add(new Map(), CLOCK_MS + YOUNG_PERIOD_MS);
  assert.equal(watch.findings().length, 1);
  watch.add(new Map(), CLOCK_MS + 2 * YOUNG_PERIOD_MS);
  assert.deepEqual(watch.findings(), []);
  watch.add(ended(YOUNG_MIN), CLOCK_MS + 2 * YOUNG_PERIOD_MS);
  watch.add(new Map(), CLOCK_MS + 9 * YOUNG_PERIOD_MS);
  assert.deepEqual(watch.findings(), []);
});

test('memory is bounded', () => {
  const watch = new EndedYoung();
  watch.add(ended(3 * YOUNG_MAX), CLOCK_MS);
  const [finding] = watch.findings();
  assert.equal(finding.kind === 'young' && finding.series, YOUNG_MAX);
});

test('the finding of several partitions is one sentence with the remedy, also for who reads the offsets', () => {
  const watches = [0, 50].map((from) => {
    const counts = new InputCounts();
    for (const [detector, series] of ended(YOUNG_MIN, from)) for (const one of series) counts.endYoung(detector, one);
    for (let i = 0; i < JUDGED_MIN; i++) counts.leave('other', false);
    return new InputWatch().add(counts, CLOCK_MS).findings ?? [];
  });
  const merged = mergeFindings(watches.map((findings) => decodeFindings(encodeFindings(findings))));
  const young = merged.filter(({ kind }) => kind === 'young').map((finding) => findingText(finding));
  assert.deepEqual(young, [
    'detector pods: 20 series ended before they were calibrated ("up{pod=\\"0\\"}", "up{pod=\\"1\\"}", "up{pod=\\"2\\"}"); ' +
      'if a label names what comes and goes, list it in input.drop_labels, or send sums without it',
  ]);
});
