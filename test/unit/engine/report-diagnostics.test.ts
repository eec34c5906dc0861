import assert from 'node:assert/strict';
import type { DetectorConfig } from '../../../src/config/config.ts';
import { UNKNOWN_LETTERS_MAX } from '../../../src/engine/commit/score-records.ts';
import { metricReports } from '../../../src/engine/metric-reports.ts';
import { createLogger } from '../../../src/ops/logger.ts';
import { createMetrics } from '../../../src/ops/metrics.ts';
import { decodeDiagnostics } from '../../../src/records/diagnostics/offset-metadata.ts';
import { parseFrequency } from '../../../src/time/frequency.ts';
import { detectorConfig, loadArithmetic, STEP_MS, streamRun, streamSettings } from '../../fixture/stream/stream-run.ts';
import { virtualTest as test } from '../../fixture/virtual-time.ts';

/** A worker whose diagnostics are reported; steps of the input are minutes. */
async function reported(detectors: readonly DetectorConfig[], partitions = 1) {
  const run = streamRun({ detectors, partitions });
  const metrics = createMetrics({ collectProcess: false });
  const lines: { level: string; msg: string }[] = [];
  const logger = createLogger('info', { write: (line: string) => lines.push(JSON.parse(line)) });
  const reports = metricReports(metrics, logger);
  reports.diagnostics.detectorsSet(detectors);
  const worker = await run.start({}, reports);
  const feed = async (series: readonly string[], from: number, to: number, every = 1) => {
    for (let step = from; step < to; step += every) {
      for (const [i, one] of series.entries()) run.feed([[one, step, Math.sin(step)]], i % partitions);
    }
    await run.settled();
  };
  const isDiagnostic = ({ level, msg }: { level: string; msg: string }) =>
    msg === 'finding resolved' || (level === 'warn' && !msg.startsWith('first dead letter'));
  const found = () => lines.filter(isDiagnostic).map(({ msg }) => msg);
  return { run, metrics, worker, reports, feed, found };
}

const frequent = (alias: string, detector: Partial<DetectorConfig> = {}) =>
  detectorConfig({ ...detector, settings: streamSettings({ freq: parseFrequency(alias)!, jitterMs: STEP_MS / 2 }) });

const names = (count: number, prefix = 's') => Array.from({ length: count }, (_, i) => `${prefix}-${i}`);

test('observations that are dropped because freq is too long are logged once, with numbers and the remedy', async () => {
  const { run, worker, reports, metrics, feed, found } = await reported([frequent('6min')], 2);
  await feed(names(8), 0, 200);
  const [text, ...others] = found();
  assert.match(text, /^detector every: series arrive every min, freq is 6min: .* observations dropped as duplicates; /);
  assert.match(text, /set freq: min, or send them every 6min, or set aggregate$/);
  assert.deepEqual(others, []);
  assert.match(reports.diagnostics.warnings()[0], /^detector every: series arrive every min, freq is 6min/);
  assert.match(await metrics.registry.metrics(), /tidewatch_input_findings\{kind="step"\} 1/);
  const kinds = decodeDiagnostics(run.broker.committedMetadata(1)).map(({ kind }) => kind);
  assert.deepEqual(kinds, ['step']);
  await worker.stop();
});

test('steps that are filled because freq is too short are logged once', async () => {
  const { worker, feed, found } = await reported([frequent('min')]);
  await feed(names(2), 0, 400, 5);
  assert.equal(found().length, 1);
  assert.match(found()[0], /^detector every: series arrive every 5min, freq is min: .* steps missing between/);
  await worker.stop();
});

test('series that start over with every observation, their step is so long, are found', async () => {
  const { worker, feed, found } = await reported([frequent('min')]);
  await feed(names(4), 0, 1_200, 60);
  assert.match(found()[0], /^detector every: series arrive every h, freq is min/);
  await worker.stop();
});

test('the members of a group are counted apart', async () => {
  const settings = { thresholdMethod: 'multivariate', freq: parseFrequency('5min')!, jitterMs: STEP_MS } as const;
  const grouped = detectorConfig({ group: 'group', settings: streamSettings(settings) });
  const { run, worker, found } = await reported([grouped]);
  for (let step = 0; step < 400; step += 5) {
    run.feed(names(3).map((member) => [member, step, Math.sin(step), 'g']));
  }
  await run.settled();
  assert.deepEqual(found(), []);
  await worker.stop();
});

test('a flood of series that no detector watches any more is one line of the log, and is over once they are watched', async () => {
  const all = frequent('min', { name: 'all', series: ['*'] });
  const { run, worker, reports, feed, found } = await reported([all]);
  await feed(names(50), 0, 5);
  const few = frequent('min', { name: 'all', series: ['other-*'] });
  const bind = (config: DetectorConfig) => loadArithmetic(config);
  worker.changeDetectors([bind(few)], 1);
  reports.diagnostics.detectorsSet([few]);
  await feed(names(50), 5, 245);
  assert.equal(run.deadLetters().length, UNKNOWN_LETTERS_MAX);
  assert.match(JSON.stringify(run.deadLetters()[0]), /no detector watches series \\"s-0\\" any more/);
  assert.equal(found().length, 1);
  assert.match(found()[0], /records are of series that no detector watches, [\d,]+ of them .* scored before \("s-0", /);
  worker.changeDetectors([bind(all)], 2);
  reports.diagnostics.detectorsSet([all]);
  assert.deepEqual(found().slice(1), ['finding resolved']);
  await feed(names(50), 245, 250);
  assert.deepEqual(reports.diagnostics.warnings(), []);
  await worker.stop();
});

test('a glob that takes no series is reported at the start, and not again while it stays so', async () => {
  const detectors = [frequent('min', { name: 'all' }), frequent('min', { name: 'db', series: ['db-*'] })];
  const { worker, reports, feed, found } = await reported(detectors);
  const text =
    'detector db: glob "db-*" takes no series: detector all comes first and takes all of them; put db before all';
  assert.deepEqual(found(), [text]);
  reports.diagnostics.detectorsSet(detectors);
  await feed(names(4), 0, 50);
  assert.deepEqual([found(), reports.diagnostics.warnings()], [[text], [text]]);
  await worker.stop();
});
