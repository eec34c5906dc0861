import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ALARM_STATE } from '../../../../src/detection/alarm/alarm.ts';
import { GROUP_SCALES } from '../../../../src/detection/alarm/group-unusualness.ts';
import { judgeGroup } from '../../../../src/detection/memory/group-season.ts';
import { SeriesMemory, seriesLayout } from '../../../../src/detection/memory/series-memory.ts';
import { SeriesRings } from '../../../../src/detection/memory/series-rings.ts';
import { type GroupDetection, GroupDetector } from '../../../../src/detection/series/group-detector.ts';
import { UTC_CALENDAR } from '../../../../src/time/local-calendar.ts';
import { arithmeticForecaster } from '../../../fixture/models/arithmetic-forecaster.ts';
import { supplyForecast } from '../../../fixture/stream/stream-detection.ts';
import { streamSettings } from '../../../fixture/stream/stream-run.ts';

const HOUR_MS = 3_600_000;
/** A Monday. */
const START_MS = Date.UTC(2026, 2, 2);
const QUIET_DAY = 29;
const MEMBERS = 3;

const settings = streamSettings({
  h: 6,
  detectionSize: 6,
  stepSize: 6,
  context: 64,
  calibrationSize: 60,
  alarmRate: 0.01,
  thresholdMethod: 'multivariate',
  profile: { calendar: UTC_CALENDAR, stepMs: HOUR_MS },
});

const noiseAt = (member: number, hour: number) => ((hour * (7_919 + 101 * member)) % 97) / 10;

/** Busy by day on weekdays, but for one member on one day. */
function valueAt(member: number, hour: number, isQuiet: boolean): number {
  const day = Math.floor(hour / 24);
  const isBusy = day % 7 < 5 && hour % 24 >= 8 && hour % 24 < 18 && !(isQuiet && day === QUIET_DAY);
  return (isBusy ? 1_000 : 100) + noiseAt(member, hour);
}

/** @param quiet the member that is like on a Sunday on one day; null for none */
async function detect(quiet: number | null, { isTimed = true } = {}): Promise<GroupDetection[]> {
  const group = new GroupDetector(settings, new SeriesMemory(seriesLayout(settings)));
  for (let member = 0; member < MEMBERS; member++) group.addMember();
  const detections: GroupDetection[] = [];
  for (let hour = 0; hour < 24 * (QUIET_DAY + 7); hour++) {
    for (const member of group.members)
      await supplyForecast(member, arithmeticForecaster({ context: 64, contextBuckets: [64] }));
    const values = group.members.map((_, member) => valueAt(member, hour, member === quiet));
    detections.push(group.score(values, isTimed ? START_MS + hour * HOUR_MS : undefined));
  }
  return detections;
}

const alarmsFrom = (detections: readonly GroupDetection[], day: number) =>
  detections.flatMap(({ alarm }, hour) => (alarm && hour >= 24 * day ? [hour - 24 * day] : []));

test('Monday mornings are no alarm of a group once its members know them, and their scores are the same', async () => {
  const [known, unknown] = [await detect(null), await detect(null, { isTimed: false })];
  assert.deepEqual(alarmsFrom(known, 21), []);
  assert.notDeepEqual(alarmsFrom(unknown, 21), []);
  const numbers = ({ grade, severity, accumulatedScore }: GroupDetection) => [grade, severity, accumulatedScore];
  assert.deepEqual(known.map(numbers), unknown.map(numbers));
});

test('one member that is like on a Sunday is an alarm of its group, which names it', async () => {
  const detections = await detect(1);
  const raised = detections.findIndex(({ season }) => season?.raised === true);
  const hour = raised - 24 * QUIET_DAY;
  assert.ok(hour >= 8 && hour < 11, `raised at hour ${hour}`);
  const { alarm, season, members, outsideProfile } = detections[raised];
  assert.ok(alarm && outsideProfile > 0);
  assert.equal(members[1].season, season);
  assert.ok(season!.expected > 900, `expected ${season!.expected}`);
  assert.ok(members[0].season?.raised === false && members[2].season?.raised === false);
});

test('a group whose members come at times that are not known judges by forecasts alone', async () => {
  const detections = await detect(1, { isTimed: false });
  assert.ok(detections.every(({ season, outsideProfile }) => season === null && outsideProfile === 0));
});

test('one of eight members is an alarm by one row far beyond its own past, and again 40 rows later', () => {
  const alone = { ...settings, alarmRate: 0.001, profile: null };
  const memory = new SeriesMemory(seriesLayout(alone));
  const rings = Array.from({ length: 8 }, () => new SeriesRings(memory));
  const states = { alarm: new Float64Array(ALARM_STATE.count), scales: new Float64Array(GROUP_SCALES.count) };
  const alarms = Array.from({ length: 600 }, (_, row) => {
    const shown = (member: number) => (member === 3 && (row === 500 || row === 540) ? 30 : 3 + noiseAt(member, row));
    const members = rings.map((each, i) => ({ rings: each, value: 1, unusual: { sharp: shown(i), wide: shown(i) } }));
    return judgeGroup(states, members, { timestampMs: Number.NaN, settings: alone }).verdict.alarm;
  });
  const actual = [...alarms.keys()].filter((row) => alarms[row]);
  assert.deepEqual(actual, [500, 540]);
});
