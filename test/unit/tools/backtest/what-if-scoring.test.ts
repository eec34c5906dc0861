import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { KeptValues, RaisedEvents, WhatIfOutcome } from '../../../../src/api/operations/backtests.ts';
import { describeDetectors } from '../../../../src/app/processes/operations/describe-detectors.ts';
import { openCatalog } from '../../../../src/models/catalog.ts';
import { FinetunedWeights } from '../../../../src/store/models/finetuned-weights.ts';
import { BacktestSandbox } from '../../../../src/tools/backtest/backtest-sandbox.ts';
import { freshFolder } from '../../../fixture/fresh-folder.ts';
import { writeModelFolder } from '../../../fixture/models/model-folder.ts';
import { openMemoryStore } from '../../../fixture/store/memory-store.ts';

const TEXT = `# What we watch.
detectors:
  - name: hosts # every host
    series: host-*
    freq: min
    h: 4
    detection_size: 4
    false_alarms: 1/week
  - { name: groups, series: "g-*", freq: min, h: 4, detection_size: 4, threshold_method: multivariate, group: group }
`;
const [modelsDir, pretrainedDir] = [freshFolder(), freshFolder()];
await writeModelFolder(modelsDir, 'tsmodel-1-detection');
const catalog = await openCatalog({ modelsDir, pretrainedDir });
const database = await openMemoryStore();
const backtests = new BacktestSandbox({ catalog, database, kept: new FinetunedWeights(database, null) });
after(() => backtests.close());
const turn = { owner: 'owner', signal: new AbortController().signal };

type Changes = Readonly<Record<string, string | number>>;

async function whatIf(
  series: string,
  alternatives: readonly Changes[],
  others: readonly KeptValues[] = [],
  fromMs: number | null = null,
): Promise<WhatIfOutcome> {
  const described = describeDetectors(TEXT);
  assert.equal(described.kind, 'detectors');
  const found = await backtests.detectorOf(described.detectors, series);
  if (found.kind === 'problems') return found;
  const past = [{ series, timestamps, values }, ...others];
  const group = series.startsWith('g-') ? 'room' : null;
  return backtests.whatIf({ past, group, detectorsText: TEXT, detector: found.detector, alternatives, fromMs }, turn);
}

const START_MS = Date.UTC(2026, 0, 1);
const LENGTH = 2_000;
const SPIKE_AT = 1_500;
const values = Float64Array.from({ length: LENGTH }, (_, i) => (i === SPIKE_AT ? 90 : 50 + ((i * 7919) % 13) / 10));
const timestamps = Float64Array.from({ length: LENGTH }, (_, i) => START_MS + i * 60_000);

test('values are scored by each of the settings, and other settings raise other events', async () => {
  const result = await whatIf('host-1', [{}, { direction: 'down', min_deviation: '5%' }]);
  assert.equal(result.kind, 'scored');
  const [before, then] = result.alternatives;
  assert.equal(result.observations, LENGTH);
  const spike = before.events.find(({ startedAtMs }) => startedAtMs === timestamps[SPIKE_AT]);
  assert.equal(spike?.direction, 'up');
  assert.ok(before.alarms > 0 && before.weeks > 0);
  const found = then.events.some(({ startedAtMs }) => startedAtMs === timestamps[SPIKE_AT]);
  assert.equal(found, false);
  const fromMs = timestamps[SPIKE_AT + 200];
  const later = await whatIf('host-1', [{}], [], fromMs);
  assert.equal(later.kind === 'scored' && later.alternatives[0].scoredFromMs, fromMs, 'calibrated by what came before');
  assert.equal(
    later.kind === 'scored' && later.alternatives[0].events.some(({ startedAtMs }) => startedAtMs < fromMs),
    false,
  );
  assert.match(then.text, /^# What we watch\.\n/);
  assert.match(
    then.text,
    /- name: hosts # every host\n(?: .*\n)* {4}events:\n {6}direction: down\n {6}min_deviation_share: 5%\n/,
  );
});

test('the same settings raise the same events, whatever other series are scored with them', async () => {
  const other = { series: 'host-2', timestamps, values: values.map((value) => 3 * value) };
  const result = await whatIf('host-1', [{}, {}], [other]);
  const alone = await whatIf('host-1', [{}]);
  assert.ok(result.kind === 'scored' && alone.kind === 'scored');
  const [before, after] = result.alternatives;
  assert.deepEqual(after, before);
  assert.equal(before.text.replaceAll(/\s/g, ''), TEXT.replaceAll(/\s/g, ''));
  const placed = (raised: RaisedEvents, wanted: string) =>
    raised.events.filter(({ series }) => series === wanted).map(({ startedAtMs, kind }) => [startedAtMs, kind]);
  assert.deepEqual(placed(before, 'host-1'), placed(alone.alternatives[0], 'host-1'));
  assert.ok(placed(before, 'host-2').length > 0);
});

test('a quiet time is one more, and `5` is a distance in the units of the series', async () => {
  const result = await whatIf('host-1', [{ quiet: '02:00-04:00 Europe/Berlin', min_deviation: '5' }]);
  assert.equal(result.kind, 'scored');
  const quiet = 'quiet:\n +- from: 02:00\n +to: 04:00\n +time_zone: Europe/Berlin\n';
  assert.match(result.alternatives[0].text, new RegExp(`events:\\n +${quiet} +min_deviation: 5\\n`));
});

test('a group is scored together, under its id', async () => {
  const members = ['g-2', 'g-3'].map((series, i) => {
    return { series, timestamps, values: values.map((value) => value + 10 * (i + 1)) };
  });
  const result = await whatIf('g-1', [{}], members);
  assert.equal(result.kind, 'scored');
  const [{ events }] = result.alternatives;
  assert.ok(events.length > 0 && events.every(({ group, series }) => group === 'room' && series === null));
});

test('what the settings, the model or the file refuse is reported', async () => {
  const problemsOf = async (series: string, changes: Record<string, string | number>) => {
    const result = await whatIf(series, [changes]);
    return result.kind === 'problems' ? result.problems.join() : result.kind;
  };
  assert.match(await problemsOf('host-1', { h: 9 }), /h must be at most detection_size \(4\)/);
  assert.match(await problemsOf('host-1', { false_alarms: 'few' }), /false_alarms must be off, or a rate/);
  assert.match(
    await problemsOf('host-1', { h: 5_000, detection_size: 5_000 }),
    /h must be at most the horizon of tsmodel-1-detection/,
  );
  assert.match(await problemsOf('other', {}), /no detector of the file takes the series other/);
});
