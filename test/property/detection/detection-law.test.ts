import assert from 'node:assert/strict';
import test from 'node:test';
import { detectOnline } from '../../../src/api/tasks/online-detection/online-detection-run.ts';
import type { DetectionSettings } from '../../../src/detection/calibration/settings.ts';
import { offsetAt, weekdayOf, zoneOffsets } from '../../../src/time/local-calendar.ts';
import { fc } from '../../fixture/fast-check.ts';
import { arithmeticQuantileForecaster } from '../../fixture/models/arithmetic-forecaster.ts';
import { assertClose } from '../../fixture/stream/scored-stream.ts';
import { detectGroup, detectSeries } from '../../fixture/stream/stream-detection.ts';

/** Settings of the stream: d a multiple of s, h <= d, at least 6 x d residuals kept. */
const settings = fc
  .record({
    stepSize: fc.integer({ min: 1, max: 6 }),
    steps: fc.integer({ min: 1, max: 3 }),
    horizon: fc.double({ min: 0, max: 1, noNaN: true }),
    level: fc.constantFrom(80, 95, 99, 99.9),
    spare: fc.integer({ min: 0, max: 40 }),
    context: fc.constantFrom(20, 64, 128),
    all: fc.boolean(),
    calibration: fc.constantFrom('plain' as const, 'robust' as const),
  })
  .map(({ stepSize, steps, horizon, level, spare, context, all, calibration }): DetectionSettings => {
    const detectionSize = stepSize * steps;
    return {
      stepSize,
      detectionSize,
      h: 1 + Math.floor(horizon * (detectionSize - 1)),
      level,
      thresholdMethod: 'univariate',
      calibration,
      alarmRate: 0.01,
      calibrationSize: all ? 'all' : 6 * detectionSize + spare,
      context,
    };
  });

/** Modulo the detection size: where the first window of a series closes in the stream. */
const phases = fc.nat({ max: 1_000 });

/** A series around some level, with missing values; the level may be far from zero. */
function seriesOf(length: number) {
  return fc
    .record({
      level: fc.constantFrom(0, -3, 1_000, 5e6),
      first: fc.constantFrom(null, 2 ** 31, 1e38),
      noise: fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: length, maxLength: length }),
      missing: fc.array(fc.integer({ min: 0, max: 9 }), { minLength: length, maxLength: length }),
      gaps: fc.boolean(),
      /** Where a flat series goes away, and for how long; null: it is not flat. */
      away: fc.option(fc.tuple(fc.integer({ min: 30, max: length - 20 }), fc.integer({ min: 1, max: 40 }))),
    })
    .map(({ level, noise, missing, gaps, first, away }) =>
      noise.map((distance, i) => {
        if (i === 0 && first !== null) return first;
        if (gaps && missing[i] === 0) return Number.NaN;
        if (away === null) return level + distance + Math.sin(i);
        const flat = i >= away[0] && i < away[0] + away[1] ? level + 9 : level;
        return gaps && missing[i] === 1 ? flat * (1 + Number.EPSILON) : flat;
      }),
    );
}

/** Its longest context leaves the grade some lags to compare shapes at. */
const forecaster = () => arithmeticQuantileForecaster({ context: 128, contextBuckets: [32, 64, 128] });

/** Compares the windows that close from `first` on. Returns how many they are. */
async function compareWindows(
  values: readonly number[],
  chosen: DetectionSettings,
  { phase, first, model = forecaster() }: { phase: number; first: number; model?: ReturnType<typeof forecaster> },
): Promise<number> {
  const { detectionSize } = chosen;
  let compared = 0;
  const detections = await detectSeries(values, chosen, model, { phase });
  for (let n = detectionSize * first + phase; n <= values.length; n += detectionSize * 3) {
    const [whole] = await detectOnline({ series: [values.slice(0, n)], settings: chosen, forecaster: model });
    if (whole!.calibratedOn === 'whole-series') continue;
    compared++;
    detections.slice(n - detectionSize, n).forEach((detection, k) => {
      const place = `position ${detection.position} of the window closing at ${n}`;
      assertClose(detection.score, whole!.score[k], 1e-6, `score at ${place}`);
      assertClose(detection.forecast, whole!.forecast[k], 1e-6, `forecast at ${place}`);
      assertClose(detection.lo, whole!.lo[k], 1e-6, `lo at ${place}`);
      assert.equal(detection.anomaly, whole!.anomaly[k], `flag at ${place}`);
      assertClose(detection.grade, whole!.grade[k], 1e-6, `grade at ${place}`);
      assertClose(detection.severity, whole!.severity[k], 1e-6, `severity at ${place}`);
      assert.equal(detection.alarm, whole!.alarm[k], `alarm at ${place}`);
    });
  }
  return compared;
}

test('the scores of a closed window equal those of online detection over the same history', async () => {
  let compared = 0;
  await fc.assert(
    fc.asyncProperty(settings, seriesOf(260), phases, async (chosen, values, any) => {
      compared += await compareWindows(values, chosen, { phase: any % chosen.detectionSize, first: 8 });
    }),
    { numRuns: 80 },
  );
  assert.ok(compared > 0, `only ${compared} windows were compared`);
});

test('so do those of a series that has rested for long, departs, and is back', async () => {
  const rested = fc
    .tuple(fc.constantFrom(0.3, 5, 1e9), fc.integer({ min: 2, max: 30 }), seriesOf(120))
    .map(([level, away, tail]) => [
      ...Array.from({ length: 330 }, (_, i) =>
        i % 7 === 3 ? level * (1 + Number.EPSILON) : i % 31 === 5 ? Number.NaN : level,
      ),
      ...Array.from({ length: away }, () => level + 1),
      ...tail.map((value, i) => (Number.isNaN(value) ? value : i % 40 < 25 ? level : level + 1)),
    ]);
  let compared = 0;
  await fc.assert(
    fc.asyncProperty(settings, rested, phases, async (any, values, phase) => {
      const chosen = { ...any, context: 512, calibrationSize: 'all' as const };
      const model = arithmeticQuantileForecaster({ context: 512, contextBuckets: [128, 512] });
      const [windows, own] = [Math.ceil(320 / chosen.detectionSize), phase % chosen.detectionSize];
      compared += await compareWindows(values, chosen, { phase: own, first: windows, model });
    }),
    { numRuns: 20 },
  );
  assert.ok(compared > 0, `only ${compared} windows were compared`);
});

test('the accumulated scores of a closed window equal those of multivariate online detection', async () => {
  let compared = 0;
  const group = fc
    .integer({ min: 2, max: 4 })
    .chain((members) => fc.tuple(...Array.from({ length: members }, () => seriesOf(200))));
  await fc.assert(
    fc.asyncProperty(settings, group, phases, async (alone, series, any) => {
      const calibrationSize = alone.calibrationSize === 'all' ? 6 * alone.detectionSize + 7 : alone.calibrationSize;
      const chosen: DetectionSettings = { ...alone, thresholdMethod: 'multivariate', calibrationSize };
      const { detectionSize } = chosen;
      const phase = any % detectionSize;
      const steps = await detectGroup(series, chosen, forecaster(), { phase });
      const n = Math.floor((200 - phase) / detectionSize) * detectionSize + phase;
      const whole = await detectOnline({
        series: series.map((values) => values.slice(0, n)),
        settings: chosen,
        forecaster: forecaster(),
      });
      if (whole[0].calibratedOn === 'whole-series') return;
      compared++;
      for (let k = 0; k < detectionSize; k++) {
        const step = steps[n - detectionSize + k];
        assertClose(step.accumulatedScore, whole[0].accumulatedScore![k], 1e-6, `accumulated score at ${k}`);
        assertClose(step.grade, whole[0].grade[k], 1e-6, `grade at ${k}`);
        assertClose(step.severity, whole[0].severity[k], 1e-6, `severity at ${k}`);
        assert.equal(step.alarm, whole[0].alarm[k], `alarm at ${k}`);
        series.forEach((values, member) => {
          assertClose(step.members[member].score, whole[member].score[k], 1e-6, `score of member ${member} at ${k}`);
          const observed = !Number.isNaN(values[n - detectionSize + k]);
          assert.equal(
            observed && step.anomaly && !Number.isNaN(step.members[member].forecast),
            whole[member].anomaly[k],
          );
        });
      }
    }),
    { numRuns: 40 },
  );
  assert.ok(compared > 0, `only ${compared} windows were compared`);
});

const HOUR_MS = 3_600_000;
const DAYS = 28;

/**
 * Weeks of hours by some clock, busy by day on weekdays, with one weekday like a Sunday, or low as a whole where values
 * are noisy; some values are missing.
 */
const weeks = fc
  .record({
    zone: fc.constantFrom('UTC', 'Europe/Berlin', 'Australia/Lord_Howe', 'America/New_York'),
    holiday: fc.integer({ min: 15, max: 27 }),
    isHolidayKnown: fc.boolean(),
    isNoisy: fc.boolean(),
    unit: fc.constantFrom(1e-6, 1, 1e7),
    noise: fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 24 * DAYS, maxLength: 24 * DAYS }),
    missing: fc.array(fc.integer({ min: 0, max: 30 }), { minLength: 24 * DAYS, maxLength: 24 * DAYS }),
  })
  .map(({ zone, holiday, isHolidayKnown, isNoisy, unit, noise, missing }) => {
    const startMs = Date.UTC(2026, 2, 2) + 7 * 60_000;
    const offsets = zoneOffsets(zone);
    const dayOf = (hour: number) => {
      const localMs = startMs + hour * HOUR_MS;
      return Math.floor((localMs + offsetAt({ offsets }, localMs)) / (24 * HOUR_MS));
    };
    const specialDay = dayOf(24 * holiday);
    const values = noise.map((distance, hour) => {
      const localMs = startMs + hour * HOUR_MS;
      const hourOfDay = ((localMs + offsetAt({ offsets }, localMs)) / HOUR_MS) % 24;
      const isSpecial = dayOf(hour) === specialDay;
      const isBusy = weekdayOf(dayOf(hour)) < 5 && !(isSpecial && !isNoisy) && hourOfDay >= 8 && hourOfDay < 18;
      const level = (isBusy ? 90 : 10) * (isSpecial && isNoisy ? 0.75 : 1);
      return missing[hour] === 0 ? Number.NaN : unit * (level + (isNoisy ? 25 : 1) * distance);
    });
    const calendar = { offsets, specialDays: isHolidayKnown ? ([[specialDay, 6]] as const) : [] };
    return { startMs, values, holiday, profile: { calendar, stepMs: HOUR_MS } };
  });

test('alarms of the seasonal profile equal those of online detection over the same history with its times', async () => {
  let [raised, days, refused] = [0, 0, 0];
  await fc.assert(
    fc.asyncProperty(settings, weeks, phases, async (alone, { startMs, values, profile, holiday }, any) => {
      const chosen = { ...alone, profile };
      const { detectionSize } = chosen;
      const phase = any % detectionSize;
      const detections = await detectSeries(values, chosen, forecaster(), { startMs, phase });
      const plain = await detectSeries(values, alone, forecaster(), { phase });
      detections.forEach(({ alarm, season, grade, severity, score }, position) => {
        const { alarm: plainAlarm, ...other } = plain[position];
        assert.deepEqual([grade, severity, score], [other.grade, other.severity, other.score], 'more than alarms');
        if (season !== null) raised++;
        if (season?.day !== undefined) days++;
        if (!alarm && plainAlarm) refused++;
      });
      for (let n = Math.ceil((24 * holiday + 6) / detectionSize) * detectionSize + phase; n < 24 * holiday + 26; ) {
        const request = { series: [values.slice(0, n)], settings: chosen, startsMs: [startMs] };
        const [whole] = await detectOnline({ ...request, forecaster: forecaster() });
        detections.slice(n - detectionSize, n).forEach(({ alarm, position }, k) => {
          assert.equal(alarm, whole!.alarm[k], `alarm at position ${position} of the window closing at ${n}`);
        });
        n += detectionSize;
      }
    }),
    { numRuns: 40 },
  );
  const told = `${raised} alarms of the seasonal profile, ${days} of whole days, ${refused} that it refused`;
  assert.ok(raised > 0 && days > 0 && refused > 0, told);
});

test('alarms of the long memories of a group equal those of online detection over the same histories', async () => {
  let [raised, refused] = [0, 0];
  await fc.assert(
    fc.asyncProperty(settings, weeks, fc.integer({ min: 0, max: 400 }), phases, async (alone, week, joinsAt, any) => {
      const { startMs, values, profile, holiday } = week;
      const calibrationSize = 6 * alone.detectionSize + 7;
      const chosen = { ...alone, thresholdMethod: 'multivariate' as const, calibrationSize, profile };
      const { detectionSize } = chosen;
      // The second has no weekends, the third begins late.
      const steady = values.map((value, hour) => (value % 7) + 40 * Math.sin((Math.PI * hour) / 12));
      const series = [values, steady, values.map((value, hour) => (hour < joinsAt ? Number.NaN : 3 * value))];
      const phase = any % detectionSize;
      const steps = await detectGroup(series, chosen, forecaster(), { startMs, phase });
      const plain = await detectGroup(series, { ...chosen, profile: null }, forecaster(), { phase });
      steps.forEach(({ alarm, season, grade, severity, accumulatedScore }, position) => {
        const { alarm: plainAlarm, ...other } = plain[position];
        const scores = [other.grade, other.severity, other.accumulatedScore];
        assert.deepEqual([grade, severity, accumulatedScore], scores, 'more than alarms');
        if (season !== null) raised++;
        if (!alarm && plainAlarm) refused++;
      });
      for (let n = Math.ceil((24 * holiday + 6) / detectionSize) * detectionSize + phase; n < 24 * holiday + 26; ) {
        const whole = await detectOnline({
          series: series.map((each) => each.slice(0, n)),
          settings: chosen,
          startsMs: series.map(() => startMs),
          forecaster: forecaster(),
        });
        steps.slice(n - detectionSize, n).forEach(({ alarm }, k) => {
          assert.equal(alarm, whole[0].alarm[k], `alarm at ${k} of the window closing at ${n}`);
        });
        n += detectionSize;
      }
    }),
    { numRuns: 20 },
  );
  assert.ok(raised > 0 && refused > 0, `${raised} alarms of long memories, ${refused} that they refused`);
});

test('nothing scored depends on a later observation', async () => {
  await fc.assert(
    fc.asyncProperty(settings, seriesOf(120), seriesOf(120), async (chosen, values, others) => {
      const cut = 90;
      const changed = [...values.slice(0, cut), ...others.slice(cut)];
      const before = await detectSeries(values, chosen, forecaster());
      const after = await detectSeries(changed, chosen, forecaster());
      assert.deepEqual(after.slice(0, cut), before.slice(0, cut));
    }),
    { numRuns: 50 },
  );
});
