import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { offsetAt, weekdayOf, zoneOffsets } from '../../../src/time/local-calendar.ts';
import { startCommand } from '../../fixture/command.ts';
import { freshFolder } from '../../fixture/fresh-folder.ts';
import { seededRandom } from '../../fixture/seeded-random.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const WEEKS = 9;
/** Days until a series has seen its weekdays. */
const DAYS_SEEN = 28;
const DAYS_AFTER = 5;

/** A series of a place that is busy on working days, over nine weeks. */
interface Case {
  readonly name: string;
  readonly timezone: string;
  readonly holidays: string;
  /** The first day of the weeks. */
  readonly from: string;
  /** Weekdays of rest, from 0, Monday. */
  readonly weekend: readonly number[];
  /** Days on which it rests, as its country does. */
  readonly off: readonly string[];
  /** Whether it has an alarm without its holidays. */
  readonly alarmsWithout: boolean;
}

const daysFrom = (first: string, days: number) =>
  Array.from({ length: days }, (_, i) => new Date(Date.parse(first) + i * DAY_MS).toISOString().slice(0, 10));
const WEEKEND = [5, 6];

/** Name, time zone, place, first day, weekend, days off, and whether there is an alarm without the holidays. */
const CASES: readonly Case[] = (
  [
    ['tet', 'Asia/Ho_Chi_Minh', 'VN', '2025-12-29', WEEKEND, ['2026-01-01', ...daysFrom('2026-02-16', 5)], true],
    ['january', 'Europe/Moscow', 'RU', '2025-11-17', WEEKEND, daysFrom('2026-01-01', 8), true],
    ['seollal', 'Asia/Seoul', 'KR', '2025-12-29', WEEKEND, ['2026-01-01', ...daysFrom('2026-02-16', 3)], true],
    [
      'tishrei',
      'Asia/Jerusalem',
      'IL',
      '2025-08-24',
      [4, 5],
      ['2025-09-23', '2025-09-24', '2025-10-02', '2025-10-07', '2025-10-14'],
      true,
    ],
    [
      'adha',
      'Africa/Cairo',
      'EG',
      '2026-04-12',
      [4, 5],
      ['2026-04-13', '2026-05-01', ...daysFrom('2026-05-27', 4)],
      true,
    ],
    // It works on Youth Day and Children's Day.
    ['june', 'Asia/Shanghai', 'CN', '2026-04-13', WEEKEND, ['2026-05-01', '2026-05-02'], false],
    ['war', 'Europe/Kyiv', 'UA', '2026-04-13', WEEKEND, [], false],
  ] as const
).map(([name, timezone, holidays, from, weekend, off, alarmsWithout]) => {
  return { name, timezone, holidays, from, weekend, off, alarmsWithout };
});

function lines({ name, timezone, from, weekend, off }: Case, index: number): string[] {
  const random = seededRandom(index + 1);
  const calendar = { offsets: zoneOffsets(timezone) };
  const startMs = Date.parse(from);
  return Array.from({ length: WEEKS * 7 * 24 }, (_, i) => {
    const ms = startMs + i * HOUR_MS;
    const localMs = ms + offsetAt(calendar, ms);
    const [day, hour] = [Math.floor(localMs / DAY_MS), Math.floor(localMs / HOUR_MS) % 24];
    const rests = weekend.includes(weekdayOf(day)) || off.includes(new Date(localMs).toISOString().slice(0, 10));
    const level = rests ? 20 : hour >= 9 && hour < 18 ? 100 : 25;
    return `${name},${ms},${(level * (1 + 0.05 * (random() - 0.5))).toFixed(3)}`;
  });
}

/** From when a series has seen its weekdays until some days after the last day off, which are learned from. */
function isJudged(series: string, time: string): boolean {
  const { from, off, alarmsWithout } = CASES.find(({ name }) => name === series)!;
  const endMs = alarmsWithout ? Date.parse(off.at(-1)!) + DAYS_AFTER * DAY_MS : Number.POSITIVE_INFINITY;
  return Date.parse(time) >= Date.parse(from) + DAYS_SEEN * DAY_MS && Date.parse(time) < endMs;
}

test('days off raise no alarm, and days that are worked neither, by the holidays of their place', async () => {
  const folder = freshFolder();
  const [csv, file] = ['days.csv', 'detectors.yaml'].map((name) => join(folder, name));
  await writeFile(csv, `series,timestamp,value\n${CASES.flatMap(lines).join('\n')}\n`);
  const alarms = async (out: string, keys: (each: Case) => string) => {
    const detectors = CASES.map((each) => {
      const { name, timezone } = each;
      return `  - { name: ${name}, series: ${name}, freq: h, h: 24, detection_size: 24, timezone: ${timezone}${keys(each)} }`;
    });
    await writeFile(file, `detectors:\n${detectors.join('\n')}\n`);
    const command = startCommand(['backtest', csv, '--detectors', file, '--out', out], { INFERENCE_THREADS: '1' });
    assert.equal(await command.exitCode, 0, command.err.join('\n'));
    const [header, ...rows] = (await readFile(out, 'utf8')).trim().split('\n');
    const [series, time, alarm] = ['series', 'timestamp', 'alarm'].map((name) => header.split(',').indexOf(name));
    const raised = rows
      .map((row) => row.split(','))
      .filter((row) => row[alarm] === 'true' && isJudged(row[series], row[time]));
    return Map.groupBy(raised, (row) => row[series]);
  };
  const without = await alarms(join(folder, 'without.csv'), () => '');
  const found = await alarms(join(folder, 'scores.csv'), ({ holidays }) => `, holidays: ${holidays}`);
  for (const { name, alarmsWithout } of CASES) {
    assert.equal(without.has(name), alarmsWithout, `${name} without holidays: ${without.get(name)?.join('\n')}`);
    assert.equal(found.get(name)?.join('\n'), undefined, name);
  }
});

test('a backtest drops the labels that the input drops, as the stream does', async () => {
  const folder = freshFolder();
  const [csv, out, file] = ['pair.csv', 'scores.csv', 'detectors.yaml'].map((name) => join(folder, name));
  const lines = Array.from({ length: 80 }, (_, i) => {
    const id = `"up{job=""web"",replica=""${i % 2 === 0 ? 'a' : 'b'}""}"`;
    return `${id},${1_767_225_600_000 + i * 60_000},${i % 5}`;
  });
  await writeFile(csv, `series,timestamp,value\n${lines.join('\n')}\n`);
  await writeFile(
    file,
    'input: { drop_labels: replica }\ndetectors: [{ name: all, series: "*", freq: min, h: 4, detection_size: 4 }]\n',
  );
  const command = startCommand(['backtest', csv, '--detectors', file, '--out', out], { INFERENCE_THREADS: '1' });
  assert.equal(await command.exitCode, 0, command.err.join('\n'));
  const rows = (await readFile(out, 'utf8')).trim().split('\n').slice(1);
  assert.equal(rows.length, 80);
  assert.ok(rows.every((row) => row.startsWith('"up{job=""web""}",')));
});
