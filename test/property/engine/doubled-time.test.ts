import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseFrequency } from '../../../src/time/frequency.ts';
import {
  detectorConfig,
  type StreamRunOptions,
  streamConfig,
  streamRun,
  streamSettings,
} from '../../fixture/stream/stream-run.ts';

const HOUR_MS = 3_600_000;
/** Ten hours before Berlin sets its clock back. */
const START_MS = Date.UTC(2026, 9, 24, 14);
const local = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Europe/Berlin', dateStyle: 'short', timeStyle: 'medium' });

/** Event times of the scores of hourly records with times of Berlin. A worker ends before each hour of `restarts`. */
async function timesOf(series: readonly string[], group: string | undefined, restarts: readonly number[]) {
  const settings = streamSettings({
    freq: parseFrequency('h')!,
    jitterMs: HOUR_MS / 2,
    ...(group !== undefined && { thresholdMethod: 'multivariate' as const }),
  });
  const detectors = [detectorConfig({ settings, ...(group !== undefined && { group: 'group' }) })];
  const options: StreamRunOptions = { detectors };
  const run = streamRun(options);
  const config = streamConfig(detectors);
  const input = { ...config.input, timeUnit: 'iso', timeZone: 'Europe/Berlin', futureMsMax: 1e12 } as const;
  for (let hour = 0; hour < 24; hour++) {
    if (restarts.includes(hour)) await run.scoreAll({ stream: { ...config, input } });
    for (const one of series) {
      const timestamp = local.format(START_MS + hour * HOUR_MS);
      const record = { series: one, timestamp, value: 10 + (hour % 3), ...(group !== undefined && { group }) };
      run.broker.append(0, Buffer.from(group ?? one), Buffer.from(JSON.stringify(record)));
    }
  }
  await run.scoreAll({ stream: { ...config, input } });
  assert.deepEqual(run.deadLetters(), []);
  const scores = Map.groupBy(run.scores(), (score) => score.series);
  return series.map((one) => scores.get(one)!.map(({ timestampMs }) => (timestampMs - START_MS) / HOUR_MS));
}

const hours = Array.from({ length: 24 }, (_, hour) => hour);

test('the second hour of a clock that is set back is the next step, wherever a worker is restarted', async () => {
  for (const restarts of [[], [10], [11], [10, 11, 12]]) {
    assert.deepEqual(await timesOf(['a', 'b'], undefined, restarts), [hours, hours]);
  }
});

test('members of a group have their own second hour', async () => {
  for (const restarts of [[], [11]]) {
    const [a, b] = await timesOf(['a', 'b'], 'g', restarts);
    assert.deepEqual([a.slice(0, 23), b.slice(0, 23)], [hours.slice(0, 23), hours.slice(0, 23)]);
  }
});
