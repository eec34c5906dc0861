/** What points and counters come to, beside what a real Prometheus makes of the same samples. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StreamDetectionSettings } from '../../../src/detection/calibration/settings.ts';
import { parseFrequency } from '../../../src/time/frequency.ts';
import { startPrometheus, whyNoPrometheus } from '../../fixture/http/prometheus.ts';
import { assertClose } from '../../fixture/stream/scored-stream.ts';
import { detectorConfig, streamRun, streamSettings } from '../../fixture/stream/stream-run.ts';

const SCRAPE_MS = 15_000;
const STEP_MS = 300_000;
const STEPS = 6;
/** Within the retention of Prometheus, at the beginning of a step. */
const BEGIN_MS = Math.floor(Date.now() / STEP_MS) * STEP_MS - 24 * STEP_MS;

interface Sample {
  readonly timestampMs: number;
  readonly value: number;
}

/** Irregular increments; the counter is reset twice, once at the border of two steps. */
function counted(): Sample[] {
  let value = 1_000;
  return Array.from({ length: (STEPS * STEP_MS) / SCRAPE_MS }, (_, i) => {
    value += (i * 7_919) % 41;
    if (i === 33 || i === 60) value = 5 + (i % 7);
    return { timestampMs: BEGIN_MS + i * SCRAPE_MS, value };
  });
}

const gauged = (): Sample[] =>
  counted().map(({ timestampMs }, i) => ({ timestampMs, value: ((i * 104_729) % 997) / 8 - 30 }));

function openMetrics(): string {
  const lines = (name: string, samples: readonly Sample[]) =>
    samples.map(({ timestampMs, value }) => `${name} ${value} ${timestampMs / 1_000}`);
  return [
    '# TYPE requests counter',
    ...lines('requests_total', counted()),
    '# TYPE fill gauge',
    ...lines('fill', gauged()),
    '# EOF',
    '',
  ].join('\n');
}

/** Values of the scores, by event time. */
async function valuesOf(samples: readonly Sample[], alias: string, settings: Partial<StreamDetectionSettings>) {
  const freq = parseFrequency(alias)!;
  const run = streamRun({ detectors: [detectorConfig({ settings: streamSettings({ freq, ...settings }) })] });
  for (const { timestampMs: timestamp, value } of samples) {
    run.broker.append(0, Buffer.from('s'), Buffer.from(JSON.stringify({ series: 's', timestamp, value })));
  }
  const worker = await run.start();
  await run.settled();
  await worker.stop();
  return run.scores().map(({ timestampMs, value }) => ({ timestampMs, value }));
}

const OVER_TIME = {
  mean: 'avg_over_time(RANGE)',
  sum: 'sum_over_time(RANGE)',
  min: 'min_over_time(RANGE)',
  max: 'max_over_time(RANGE)',
  last: 'last_over_time(RANGE)',
  count: 'count_over_time(RANGE)',
  p50: 'quantile_over_time(0.5, RANGE)',
  p95: 'quantile_over_time(0.95, RANGE)',
} as const;

test(`points and counters come to what Prometheus makes of samples at both ends of its range${
  whyNoPrometheus === null ? '' : ` (skipped: ${whyNoPrometheus})`
}`, { skip: whyNoPrometheus !== null }, async (t) => {
  const { samples } = await startPrometheus(t, 'global: {}\n', { history: openMetrics() });
  const at = async (expression: string, timeMs: number) => (await samples(expression, timeMs))[0]?.value ?? null;

  // A millisecond more than from one sample to the other: whether the range has its left end depends on the version.
  const rates = await valuesOf(counted(), '15s', { as: 'rate', jitterMs: 0 });
  assert.equal(rates.length, (STEPS * STEP_MS) / SCRAPE_MS - 1);
  for (const { timestampMs, value } of rates.slice(25, 65)) {
    assertClose(value, await at('rate(requests_total[15001ms])', timestampMs), 1e-9, `rate at ${timestampMs}`);
  }

  const lastOf = (stepMs: number) => stepMs + STEP_MS - SCRAPE_MS;
  const mean = await valuesOf(counted(), '5min', { as: 'rate', aggregate: 'mean' });
  const increase = await valuesOf(counted(), '5min', { as: 'increase', aggregate: 'sum' });
  assert.deepEqual([mean.length, increase.length], [STEPS - 1, STEPS - 1]);
  // The first step has no point before it.
  for (const { timestampMs, value } of mean.slice(1)) {
    assertClose(value, await at('rate(requests_total[300001ms])', lastOf(timestampMs)), 1e-9, 'mean rate');
  }
  for (const { timestampMs, value } of increase.slice(1)) {
    const found = await at('increase(requests_total[300001ms])', lastOf(timestampMs));
    // Extrapolated by that millisecond.
    assertClose(value, found === null ? null : (found * 300_000) / 300_001, 1e-9, 'increase');
    assert.equal(value, Math.round(value ?? Number.NaN));
  }

  for (const [aggregate, expression] of Object.entries(OVER_TIME)) {
    const values = await valuesOf(gauged(), '5min', { aggregate: aggregate as keyof typeof OVER_TIME });
    assert.equal(values.length, STEPS - 1, aggregate);
    for (const { timestampMs, value } of values) {
      const range = `fill[${STEP_MS - SCRAPE_MS + 1}ms]`;
      assertClose(value, await at(expression.replace('RANGE', range), lastOf(timestampMs)), 1e-9, aggregate);
    }
  }
});
