import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Diagnostic, diagnosticText, mergeDiagnostics } from '../../../../src/records/diagnostics/diagnostic.ts';
import {
  addShortLived,
  BLOCK_RECORDS,
  EndedShortLived,
  InputCounts,
  InputWatch,
  JUDGED_MIN,
  judgeInput,
  SHORT_LIVED_MAX,
  SHORT_LIVED_MIN,
  SHORT_LIVED_PERIOD_MS,
  type ShortLivedSeries,
} from '../../../../src/records/diagnostics/input-watch.ts';
import { decodeDiagnostics, encodeDiagnostics } from '../../../../src/records/diagnostics/offset-metadata.ts';
import { parseFrequency } from '../../../../src/time/frequency.ts';

const MIN_MS = 60_000;
const CLOCK_MS = Date.UTC(2026, 0, 1);
const FREQ = parseFrequency('30min')!;

/** Counts of a detector of 30 minutes whose series arrive otherwise. */
function counted({
  taken = 0,
  apartMin = 30,
  missing = 0,
  duplicates = 0,
}: {
  readonly taken?: number;
  readonly apartMin?: number;
  readonly missing?: number;
  readonly duplicates?: number;
}): InputCounts {
  const counts = new InputCounts();
  const arrivals = counts.of('cpu', FREQ);
  const jitterMs = (i: number) => ((i % 7) - 3) * 1_000;
  for (let i = 0; i < taken; i++) arrivals.accept(apartMin * MIN_MS + jitterMs(i), missing);
  for (let i = 0; i < duplicates; i++) arrivals.repeat(apartMin * MIN_MS + jitterMs(i));
  return counts;
}

const kinds = (diagnostics: readonly Diagnostic[]) => diagnostics.map(({ kind }) => kind);

test('5-minute data under a 30-minute detector are found with their step, their numbers and the remedy', () => {
  const [diagnostic, ...others] = judgeInput(counted({ taken: 965, duplicates: 4_635, apartMin: 5 }));
  assert.equal(
    diagnosticText(diagnostic),
    'detector cpu: series arrive every 5min, freq is 30min: 4,635 of 5,600 observations dropped as duplicates; ' +
      'set freq: 5min, or send them every 30min, or set aggregate',
  );
  assert.deepEqual(others, []);
});

test('2-hour data under a 30-minute detector are found, too', () => {
  const [diagnostic] = judgeInput(counted({ taken: 100, missing: 3, apartMin: 120 }));
  assert.equal(
    diagnosticText(diagnostic),
    'detector cpu: series arrive every 2h, freq is 30min: 300 steps missing between 100; ' +
      'set freq: 2h, or send them every 30min',
  );
});

test('data at their step are no diagnostic, with jitter, some repeats and some gaps', () => {
  assert.deepEqual(judgeInput(counted({ taken: 1_000, duplicates: 100 })), []);
  const counts = counted({ taken: 1_000 });
  counts.of('cpu', FREQ).accept(20 * 30 * MIN_MS, 19);
  assert.deepEqual(judgeInput(counts), []);
});

test('a share of duplicates beyond the bound is found, and stays found until it is clearly below', () => {
  const share = (duplicates: number) => counted({ taken: 1_000 - duplicates, duplicates });
  assert.deepEqual(kinds(judgeInput(share(199))), []);
  const found = judgeInput(share(210));
  assert.deepEqual(kinds(found), ['duplicates']);
  assert.deepEqual(kinds(judgeInput(share(160), found)), ['duplicates']);
  assert.deepEqual(kinds(judgeInput(share(149), found)), []);
});

test('a share of gaps beyond the bound is found where the step is right', () => {
  const counts = counted({ taken: 100 });
  for (let i = 0; i < 20; i++) counts.of('cpu', FREQ).accept(9 * 30 * MIN_MS, 8);
  const [diagnostic] = judgeInput(counts);
  assert.match(diagnosticText(diagnostic), /^detector cpu: 160 steps missing between 120 at freq 30min; /);
});

test('months of 28 to 31 days are steps of a month', () => {
  const counts = new InputCounts();
  const arrivals = counts.of('bills', parseFrequency('MS')!);
  for (let i = 0; i < 60; i++) arrivals.accept((28 + (i % 4)) * 86_400_000, 0);
  assert.deepEqual(judgeInput(counts), []);
});

test('a detector is judged from its first observations on, not before', () => {
  assert.deepEqual(judgeInput(counted({ taken: JUDGED_MIN - 1, apartMin: 5 })), []);
  assert.deepEqual(kinds(judgeInput(counted({ taken: JUDGED_MIN, apartMin: 5 }))), ['step']);
});

test('series that no detector watches are found, with examples that are bounded', () => {
  const counts = new InputCounts();
  for (let i = 0; i < 12_429; i++) counts.leave(`${'s'.repeat(100)}${i}`, i < 400);
  const [diagnostic] = judgeInput(counts);
  assert.ok(diagnostic.kind === 'unwatched');
  assert.deepEqual([diagnostic.records, diagnostic.before, diagnostic.of], [12_429, 400, 12_429]);
  assert.deepEqual(diagnostic.examples, ['s'.repeat(64)]);
  assert.match(
    diagnosticText(diagnostic),
    /12,429 of 12,429 records .* no detector watches, 400 of them of series that were/,
  );
});

test('diagnostics in a file advise what to do with its rows, not with senders', () => {
  const late = counted({ taken: 50, missing: 50, apartMin: 60 });
  late.addLate('cpu', 48);
  const [order] = judgeInput(late);
  const suspicions = (['senders', 'resets', 'conflicts', 'young'] as const).map((kind): Diagnostic => {
    return { kind, detector: 'cpu', series: 1, examples: ['a'] };
  });
  for (const diagnostic of [
    order,
    ...suspicions,
    ...judgeInput(counted({ taken: 100, duplicates: 500, apartMin: 5 })),
  ]) {
    assert.doesNotMatch(
      diagnosticText(diagnostic, 'file'),
      /input\.|service\.instance|or send|producer|partition|worker/,
    );
  }
  assert.match(diagnosticText(order, 'file'), /sort the rows/);
});

test('a watch judges the newest records: what is mended is over after two blocks', () => {
  const watch = new InputWatch();
  assert.deepEqual(watch.add(counted({ taken: 5 }), CLOCK_MS), { diagnostics: null, metadata: null });
  const wrong = watch.add(counted({ taken: BLOCK_RECORDS, apartMin: 5 }), CLOCK_MS);
  assert.deepEqual(kinds(wrong.diagnostics ?? []), ['step']);
  assert.ok(wrong.metadata?.includes('"step":"5min"'));
  for (let records = 0; records < 2 * BLOCK_RECORDS; records += 100) watch.add(counted({ taken: 100 }), CLOCK_MS);
  assert.deepEqual(watch.add(counted({ taken: 100 }), CLOCK_MS), { diagnostics: [], metadata: null });
});

test('the diagnostics of partitions become one, with the sums', () => {
  const one = judgeInput(counted({ taken: 100, duplicates: 500, apartMin: 5 }));
  const merged = mergeDiagnostics([one, one, []]);
  assert.equal(merged.length, 1);
  assert.match(diagnosticText(merged[0]), /1,000 of 1,200 observations/);
});

test('steps that are late are in the wrong order: the remedy is one partition for each series, not another freq', () => {
  const counts = counted({ taken: 50, missing: 50, apartMin: 60 });
  counts.addLate('cpu', 48);
  counts.addLate('cpu');
  const [diagnostic] = judgeInput(counts);
  assert.match(
    diagnosticText(diagnostic),
    /49 observations late, 50 in order, .*; keep each series in one partition \(partition_/,
  );
  const few = counted({ taken: 50, missing: 50, apartMin: 60 });
  few.addLate('cpu');
  assert.match(diagnosticText(judgeInput(few)[0]), /1 observations late, 50 in order, .*; set freq: h, /);
});

function ended(count: number, from = 0): ShortLivedSeries {
  const shortLived: ShortLivedSeries = new Map();
  addShortLived(
    shortLived,
    'pods',
    Array.from({ length: count }, (_, i) => `up{pod="${from + i}"}`),
  );
  return shortLived;
}

test('series that ended before they were calibrated are found from ten on, each once, and named', () => {
  const watch = new EndedShortLived();
  watch.add(ended(SHORT_LIVED_MIN - 1), CLOCK_MS);
  watch.add(ended(SHORT_LIVED_MIN - 1), CLOCK_MS);
  assert.deepEqual(watch.diagnostics(), []);
  watch.add(ended(1, 100), CLOCK_MS);
  const examples = ['up{pod="0"}', 'up{pod="1"}', 'up{pod="2"}'];
  assert.deepEqual(watch.diagnostics(), [{ kind: 'young', detector: 'pods', series: SHORT_LIVED_MIN, examples }]);
});

test('what ended more than two days ago counts no more', () => {
  const watch = new EndedShortLived();
  watch.add(ended(SHORT_LIVED_MIN), CLOCK_MS);
  watch.add(new Map(), CLOCK_MS + SHORT_LIVED_PERIOD_MS);
  assert.equal(watch.diagnostics().length, 1);
  watch.add(new Map(), CLOCK_MS + 2 * SHORT_LIVED_PERIOD_MS);
  assert.deepEqual(watch.diagnostics(), []);
  watch.add(ended(SHORT_LIVED_MIN), CLOCK_MS + 2 * SHORT_LIVED_PERIOD_MS);
  watch.add(new Map(), CLOCK_MS + 9 * SHORT_LIVED_PERIOD_MS);
  assert.deepEqual(watch.diagnostics(), []);
});

test('memory is bounded', () => {
  const watch = new EndedShortLived();
  watch.add(ended(3 * SHORT_LIVED_MAX), CLOCK_MS);
  const [diagnostic] = watch.diagnostics();
  assert.equal(diagnostic.kind === 'young' && diagnostic.series, SHORT_LIVED_MAX);
});

test('the diagnostic of several partitions is one sentence with the remedy, also for who reads the offsets', () => {
  const watches = [0, 50].map((from) => {
    const counts = new InputCounts();
    for (const [detector, series] of ended(SHORT_LIVED_MIN, from))
      for (const one of series) counts.endShortLived(detector, one);
    for (let i = 0; i < JUDGED_MIN; i++) counts.leave('other', false);
    return new InputWatch().add(counts, CLOCK_MS).diagnostics ?? [];
  });
  const merged = mergeDiagnostics(watches.map((diagnostics) => decodeDiagnostics(encodeDiagnostics(diagnostics))));
  const shortLived = merged.filter(({ kind }) => kind === 'young').map((diagnostic) => diagnosticText(diagnostic));
  assert.deepEqual(shortLived, [
    'detector pods: 20 series ended before they were calibrated ("up{pod=\\"0\\"}", "up{pod=\\"1\\"}", "up{pod=\\"2\\"}"); ' +
      'if a label names short-lived objects, list it in input.drop_labels, or send sums without it',
  ]);
});
