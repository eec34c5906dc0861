import assert from 'node:assert/strict';
import { test } from 'node:test';
import { detectOnline } from '../../../src/api/tasks/online-detection/online-detection-run.ts';
import type { StreamDetectionSettings } from '../../../src/detection/calibration/settings.ts';
import type { AnomalyEvent } from '../../../src/records/anomaly-event.ts';
import { incidentValues } from '../../fixture/events/incident-values.ts';
import { fc } from '../../fixture/fast-check.ts';
import { arithmeticQuantileForecaster } from '../../fixture/models/arithmetic-forecaster.ts';
import { inStream, type TimedValue } from '../../fixture/stream/both-ways.ts';
import { detectorConfig, START_MS, STEP_MS, streamRun, streamSettings } from '../../fixture/stream/stream-run.ts';

const GAP = 4;
const alone = streamSettings({ detectionSize: GAP, context: 32, alarmRate: 0.01, gapLimit: 400, silenceAfter: null });
const together = { ...alone, thresholdMethod: 'multivariate', calibrationSize: 28 } as const;

/** Calm rows and incidents in turn, a whole number of windows, the last row observed. */
function valuesOf(length: number): fc.Arbitrary<number[]> {
  return incidentValues([0, 40, -40, 400, Number.NaN]).map((made) =>
    Array.from({ length }, (_, row) => (row === length - 1 ? 10 : (made[row] ?? 10 + Math.sin(row)))),
  );
}

/** Their limits fit the stream's. */
const forecaster = () => arithmeticQuantileForecaster();

/** What both say of an event: times as positions, and no ids. */
function comparable(event: AnomalyEvent, positionOf: (timeMs: number) => number, seriesOf: (id: string) => string) {
  const { type, revision, kind, direction, alarms, observations, value, unusual, closeReason } = event;
  const { startedAtMs, firstAlarmAtMs, peakAtMs, lastAlarmAtMs, updatedAtMs } = event;
  const times = [startedAtMs, firstAlarmAtMs, peakAtMs, lastAlarmAtMs, updatedAtMs].map(positionOf);
  const end = event.endedAtMs === null ? null : positionOf(event.endedAtMs);
  const members = event.members.map(({ series, share }) => `${seriesOf(series)} ${share.toFixed(6)}`);
  const near = [event.severity, event.grade, event.expected].map((number) => number?.toPrecision(5) ?? null);
  const counts = { type, revision, kind, direction, alarms, observations, value, unusual, closeReason };
  return { ...counts, times, end, members, near };
}

async function streamed(series: readonly (readonly number[])[], settings: StreamDetectionSettings) {
  const isGroup = settings.thresholdMethod === 'multivariate';
  const detector = detectorConfig({ group: isGroup ? 'group' : null, settings });
  const run = streamRun({ detectors: [detector], forecaster: forecaster() });
  const length = series[0].length;
  const observations = Array.from({ length }, (_, step) => step).flatMap((step) =>
    series.flatMap((values, i): TimedValue[] => (Number.isNaN(values[step]) ? [] : [[`s${i}`, step, values[step]]])),
  );
  const { events } = await inStream(observations, detector, run);
  return events.map((event) =>
    comparable(
      event,
      (timeMs) => (timeMs - START_MS) / STEP_MS,
      (id) => id.slice(1),
    ),
  );
}

async function overHttp(series: readonly (readonly number[])[], settings: StreamDetectionSettings) {
  const request = { series, settings, forecaster: forecaster(), eventStepMs: STEP_MS };
  const [{ events }] = await detectOnline(request);
  return events.map((event) =>
    comparable(
      event,
      (timeMs) => Math.round(timeMs / STEP_MS),
      (id) => id,
    ),
  );
}

test('the events of a stream are those over the same history', async () => {
  let compared = 0;
  await fc.assert(
    fc.asyncProperty(valuesOf(60 * GAP), async (values) => {
      const expected = await overHttp([values], alone);
      assert.deepEqual(await streamed([values], alone), expected);
      compared += expected.length;
    }),
    { numRuns: 40 },
  );
  assert.ok(compared > 0, `only ${compared} revisions were compared`);
});

test('the events of a group in the stream are those over the same histories', async () => {
  let compared = 0;
  const members = fc.tuple(valuesOf(50 * GAP), valuesOf(50 * GAP), valuesOf(50 * GAP));
  await fc.assert(
    fc.asyncProperty(members, async (series) => {
      const whole = series.map((values) => values.map((value) => (Number.isNaN(value) ? 10 : value)));
      const expected = await overHttp(whole, together);
      assert.deepEqual(await streamed(whole, together), expected);
      compared += expected.length;
    }),
    { numRuns: 20 },
  );
  assert.ok(compared > 0, `only ${compared} revisions were compared`);
});
