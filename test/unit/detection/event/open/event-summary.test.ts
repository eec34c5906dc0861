import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SeasonAlarm } from '../../../../../src/detection/alarm/alarm.ts';
import {
  durationText,
  rarityText,
  summaryOf,
  seasonText as textInRange,
} from '../../../../../src/detection/event/open/event-summary.ts';
import type { EventDirection, EventKind } from '../../../../../src/records/anomaly-event.ts';
import { quantityTexts } from '../../../../../src/records/text/quantity-text.ts';

const ANY = { least: Number.NEGATIVE_INFINITY, most: Number.POSITIVE_INFINITY };
const seasonText = (value: number, season: SeasonAlarm, unit: string | null, shown = ANY) =>
  textInRange(value, season, { unit, ...shown });

const spike = {
  kind: 'spike',
  direction: 'up',
  value: 1234.5678,
  expected: 40,
  lo: null,
  hi: null,
  unusual: 'highest in 14 days',
  members: [],
  seriesCount: null,
  unit: null,
  days: 1,
} as const;

const START_MS = Date.UTC(2026, 2, 3, 9);
const open = { startedAtMs: START_MS, endedAtMs: null, closeReason: null, originMs: 0 };
const lasted = (ms: number) => ({ ...open, endedAtMs: START_MS + ms, closeReason: 'recovered' }) as const;

test('a sentence has what was seen, what was expected and how rare that is', () => {
  assert.equal(summaryOf(spike, open), 'Spike: 1235 where 40 was expected, highest in 14 days');
  const shift = { ...spike, kind: 'level_shift', direction: 'both', expected: null, unusual: null } as const;
  assert.equal(summaryOf(shift, open), 'Level shift: 1235');
});

test('values of a detector with a unit have it', () => {
  const seen = { ...spike, value: 1_408_600_000_000, expected: 1_408_100_000_000, unit: 'bytes', unusual: null };
  assert.equal(summaryOf(seen, open), 'Spike: 1.2811 TiB where 1.2807 TiB was expected');
});

test('of a group it names the member whose value it is, and how many showed as much as the first', () => {
  const members = [0.3, 0.28, 0.2, 0.1].map((share, i) => ({ series: `web-${i + 1}`, share }));
  const group = { ...spike, members, unusual: null };
  assert.match(summaryOf({ ...group, of: 'web-1' }, open), /: 1235 where .+, in 3 members, most in web-1 \(30 %\)$/);
  assert.match(summaryOf({ ...group, of: 'web-4' }, open), /: 1235 in web-4 where .+, in 3 members, most in web-1/);
});

test('a duration has two of its unit at least, where there are so many', () => {
  const [second, minute, hour, day] = [1_000, 60_000, 3_600_000, 86_400_000];
  assert.deepEqual(
    [1_500, 90 * second, hour, 2 * minute, 119 * minute, 36 * hour, 2 * day, 400 * day].map(durationText),
    ['1 second', '90 seconds', '1 hour', '2 minutes', '119 minutes', '36 hours', '2 days', '400 days'],
  );
  assert.equal(rarityText({ side: 'lowest', rows: 336 }, hour), 'lowest in 14 days');
});

test('what is unusual for a time of the week names weekday, local time and what is usual', () => {
  const at = (value: number, localMs: number, expected = 990, deviation = 45) => {
    return seasonText(value, { expected, deviation, recentMean: value, raised: true, localMs }, null);
  };
  const tuesday = Date.UTC(2026, 2, 3, 9);
  assert.equal(at(171, tuesday), 'lower than usual for a Tuesday 09:00 (usually 900 to 1080)');
  assert.equal(at(1_400, tuesday), 'higher than usual for a Tuesday 09:00 (usually 900 to 1080)');
  assert.equal(at(171, Date.UTC(2026, 2, 8, 23, 55)), 'lower than usual for a Sunday 23:55 (usually 900 to 1080)');
  assert.equal(at(0, Date.UTC(1969, 11, 29), 5, 1.23456), 'lower than usual for a Monday 00:00 (usually 2.5 to 7.5)');
});

// What people on call read: eight sentences of each kind.

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const STAYED = {
  startedAtMs: START_MS,
  endedAtMs: START_MS + 2 * HOUR_MS,
  closeReason: 'new_level',
  originMs: 0,
} as const;

interface Seen {
  readonly kind: EventKind;
  readonly direction: EventDirection;
  readonly value: number | null;
  readonly expected: number | null;
}

const reported = (seen: Seen) => ({
  ...seen,
  lo: null,
  hi: null,
  unusual: null,
  members: [],
  seriesCount: null,
  unit: null,
  days: 1,
});
const MEMBERS = [
  { series: 'web-1/cpu', share: 0.61 },
  { series: 'web-2/cpu', share: 0.39 },
];

function eight(seen: Seen): readonly string[] {
  const event = reported(seen);
  const value = seen.value ?? Number.NaN;
  const side = value > 990 ? 'highest' : 'lowest';
  const season = { expected: 990, deviation: 45, recentMean: 700, raised: true, localMs: START_MS };
  const rare = { ...event, unusual: rarityText({ side, rows: 14 * 24 }, HOUR_MS) };
  const unusual = { ...event, unusual: seasonText(value, season, null) };
  return [
    summaryOf(event, open),
    summaryOf(event, lasted(5 * MINUTE_MS)),
    summaryOf(rare, open),
    summaryOf(unusual, lasted(3 * HOUR_MS)),
    summaryOf({ ...event, days: 3 }, open),
    summaryOf({ ...unusual, days: 12 }, lasted(90 * MINUTE_MS)),
    summaryOf({ ...event, members: MEMBERS }, lasted(36 * HOUR_MS)),
    summaryOf(event, STAYED),
  ];
}

/** The same for every kind that has a value. What is usual takes the place of what was expected. */
function sentences(kind: string, value: string, [side, way, stays]: readonly [string, string, string]) {
  const seen = `${kind}: ${value} where 990 was expected`;
  const unusual = `${kind}: ${value}, ${way} than usual for a Tuesday 09:00 (usually 900 to 1080)`;
  return [
    seen,
    `${seen}, for 5 minutes`,
    `${seen}, ${side} in 14 days`,
    `${unusual}, for 3 hours`,
    `${seen}, third day in a row at this time`,
    `${unusual}, day 12 in a row at this time, for 90 minutes`,
    `${seen}, mostly web-1/cpu (61 %), for 36 hours`,
    `${seen}, ${stays} since 2026-03-03 09:00 UTC`,
  ];
}

/** The same for a kind whose sentence has neither what was expected nor what is usual. */
function alike(text: string, stays: string) {
  return [
    text,
    `${text}, for 5 minutes`,
    text,
    `${text}, for 3 hours`,
    `${text}, third day in a row at this time`,
    `${text}, day 12 in a row at this time, for 90 minutes`,
    `${text}, mostly web-1/cpu (61 %), for 36 hours`,
    `${text}, ${stays} since 2026-03-03 09:00 UTC`,
  ];
}

const HARDLY = 'Missing season: values vary by less than half of what is usual';
const HIGH = ['highest', 'higher', 'at a new level'] as const;
const LOW = ['lowest', 'lower', 'at a new level'] as const;

const KINDS: readonly (readonly [Seen, readonly string[]])[] = [
  [{ kind: 'spike', direction: 'up', value: 2_140, expected: 990 }, sentences('Spike', '2140', HIGH)],
  [{ kind: 'dip', direction: 'down', value: 171, expected: 990 }, sentences('Dip', '171', LOW)],
  [{ kind: 'level_shift', direction: 'down', value: 594, expected: 990 }, sentences('Level shift down', '594', LOW)],
  [{ kind: 'drift', direction: 'up', value: 1_310, expected: 990 }, sentences('Drift up', '1310', HIGH)],
  [{ kind: 'missing_season', direction: 'down', value: 402.5, expected: 990 }, alike(HARDLY, 'without a season')],
  [{ kind: 'stuck', direction: 'down', value: 612, expected: 610 }, alike('Stuck value: 612 again and again', 'stuck')],
  [{ kind: 'burst', direction: 'both', value: 1_720, expected: 990 }, sentences('Burst', '1720', HIGH)],
];

for (const [seen, expected] of KINDS) {
  test(`the summary of a ${seen.kind}`, () => assert.deepEqual(eight(seen), expected));
}

test('the summary of a silence', () => {
  const silence = reported({ kind: 'silence', direction: 'down', value: null, expected: null });
  const pause = { ...silence, seriesCount: 1_500 };
  assert.deepEqual(
    [
      summaryOf(silence, open),
      summaryOf(silence, lasted(90_000)),
      summaryOf(silence, lasted(30 * MINUTE_MS)),
      summaryOf(silence, lasted(72 * HOUR_MS)),
      summaryOf({ ...silence, members: [{ series: 'web-1/cpu', share: 1 }] }, open),
      summaryOf(pause, open),
      summaryOf(pause, lasted(9 * MINUTE_MS)),
      summaryOf(pause, lasted(26 * HOUR_MS)),
    ],
    [
      'Silence: no value where one was due',
      'Silence: no value where one was due, for 90 seconds',
      'Silence: no value where one was due, for 30 minutes',
      'Silence: no value where one was due, for 3 days',
      'Silence: no value where one was due, in web-1/cpu alone',
      'Silence: no value of any of 1500 series',
      'Silence: no value of any of 1500 series, for 9 minutes',
      'Silence: no value of any of 1500 series, for 26 hours',
    ],
  );
});

test('less than a day is no measure of how rare a value is, nor is what forecasts alone find', () => {
  assert.equal(rarityText({ side: 'highest', rows: 5 }, HOUR_MS), null);
  const season = { expected: 990, deviation: 45, recentMean: 700, raised: false, localMs: START_MS };
  assert.equal(seasonText(950, season, null), null);
  assert.match(seasonText(171, season, 'bytes') ?? '', /^lower than usual for a Tuesday 09:00 \(usually .* to .*\)$/);
});

test('values that are usual one by one are described by their average', () => {
  const season = { expected: 990, deviation: 45, recentMean: 1042.4, raised: true, localMs: START_MS };
  const text = 'on average higher than usual for a Tuesday 09:00 (usually around 990)';
  assert.deepEqual([seasonText(1055, season, null), seasonText(980, season, null)], [text, text]);
  const summary = summaryOf({ ...spike, value: 1055, unusual: text }, lasted(MINUTE_MS));
  assert.equal(summary, `Spike: 1055, ${text}, for 1 minute`);
});

test('the summary of a whole day', () => {
  const wednesday = { expected: 480, deviation: 12.4, raised: true, localMs: Date.UTC(2026, 2, 4, 17) };
  const day = { agoMs: 17 * HOUR_MS, leftMs: 7 * HOUR_MS };
  const whole = { ...ANY, least: 0 };
  const text = (recentMean: number, more: Partial<SeasonAlarm> = {}, shown = whole, unit: string | null = null) =>
    seasonText(recentMean, { ...wednesday, recentMean, day, ...more }, unit, shown);
  const shift = reported({ kind: 'level_shift', direction: 'down', value: 417, expected: 480 });
  const low = { ...shift, unusual: text(417) };
  assert.deepEqual(
    [
      summaryOf(low, open),
      summaryOf(low, lasted(24 * HOUR_MS)),
      summaryOf({ ...low, days: 2 }, open),
      summaryOf(low, STAYED),
      summaryOf({ ...low, direction: 'up', value: 1_200, unusual: text(1_200) }, open),
      text(417, { localMs: Date.UTC(2026, 2, 8, 9) }, ANY),
      text(479.99, { deviation: 0.001 }),
      text(0.96, { expected: 0.99, deviation: 0.002 }, { least: 0, most: 1 }, 'ratio'),
    ],
    [
      'Level shift down: 417 on average, the day up to 17:00 is 13 % lower than usual for a Wednesday (usually around 480)',
      'Level shift down: 417 on average, the day up to 17:00 is 13 % lower than usual for a Wednesday (usually around 480), for 1 day',
      'Level shift down: 417 on average, the day up to 17:00 is 13 % lower than usual for a Wednesday (usually around 480), second day in a row at this time',
      'Level shift down: 417 on average, the day up to 17:00 is 13 % lower than usual for a Wednesday (usually around 480), at a new level since 2026-03-03 09:00 UTC',
      'Level shift up: 1200 on average, the day up to 17:00 is 150 % higher than usual for a Wednesday (usually around 480)',
      'the day up to 09:00 is lower than usual for a Sunday (usually around 480)',
      'the day up to 17:00 is lower than usual for a Wednesday (usually around 480)',
      'the day up to 17:00 is 3 % lower than usual for a Wednesday (usually around 99 %)',
    ],
  );
});

test('a usual range that is narrow relative to its level has as many digits as it is wide', () => {
  const season = { expected: 100_049, deviation: 250, recentMean: 100_900, raised: false, localMs: START_MS };
  assert.match(seasonText(100_900, season, null) ?? '', /^higher than usual .* \(usually 99500 to 100500\)$/);
  const fine = { ...season, expected: 1.00012, deviation: 0.00001 };
  assert.match(seasonText(1.0002, fine, null) ?? '', /\(usually 1\.0001 to 1\.00014\)$/);
});

test('what was expected has two digits of its interval, and stays on its side of the value', () => {
  const seen = (value: number, expected: number, lo: number, hi: number) =>
    summaryOf({ ...spike, value, expected, lo, hi, unusual: null }, open);
  assert.equal(seen(26.5, -0.01423, -7.79, 8.52), 'Spike: 26.5 where 0 was expected');
  assert.equal(seen(336_431_000, 210_860, -959_690, 1_340_100), 'Spike: 336431000 where 200000 was expected');
  assert.equal(seen(5_234_830, 67.08, 49.9, 87.1), 'Spike: 5234830 where 67 was expected');
  assert.equal(seen(280.4, 280.9, 130, 430), 'Spike: 280.4 where 280.9 was expected');
  assert.equal(seen(14.83, 0.25, 0.25, 0.25), 'Spike: 14.83 where 0.25 was expected');
});

test('a sentence has no times if they are not known', () => {
  const shift = { ...spike, kind: 'level_shift', unusual: null } as const;
  const stayed = { ...lasted(7_200_000), closeReason: 'new_level', originMs: null } as const;
  assert.equal(summaryOf(shift, stayed), 'Level shift up: 1235 where 40 was expected, at a new level');
  const since = { ...stayed, startedAtMs: 3_600_000, originMs: START_MS };
  assert.match(summaryOf(shift, since), /, at a new level since 2026-03-03 10:00 UTC$/);
});

test('a usual range ends where the series does: at none, and at all of a share', () => {
  const season = { expected: 195, deviation: 232, recentMean: 900, raised: false, localMs: START_MS };
  assert.match(seasonText(900, season, null) ?? '', /\(usually -270 to 660\)$/);
  assert.match(seasonText(900, season, null, { ...ANY, least: 0 }) ?? '', /\(usually 0 to 660\)$/);
  const share = { ...season, expected: 0.99, deviation: 0.01 };
  assert.match(seasonText(0.9, share, 'ratio', { least: 0, most: 1 }) ?? '', /\(usually 97 % to 100 %\)$/);
});

test('large values that differ in later digits alone are shown with these', () => {
  const seen = { ...spike, unusual: null };
  const [value, expected] = [1_408_612_377_120_001, 1_408_612_377_120_004];
  assert.equal(
    summaryOf({ ...seen, value, expected }, open),
    'Spike: 1408612377120001 where 1408612377120004 was expected',
  );
  assert.equal(
    summaryOf(
      { ...seen, value: 1_408_612_377_126, expected: 1_408_612_377_101, lo: 1_408_612_377_091, hi: 1_408_612_377_111 },
      open,
    ),
    'Spike: 1408612377126 where 1408612377101 was expected',
  );
  const texts = quantityTexts([value, expected], 'requests');
  assert.notEqual(texts[0], texts[1]);
});

test('a stuck value outside its interval is described with what was expected', () => {
  const stuck = { ...spike, kind: 'stuck', value: 0, expected: 31.2, lo: 24, hi: 38, unusual: null } as const;
  assert.equal(summaryOf(stuck, open), 'Stuck value: 0 again and again where 31 was expected');
  assert.equal(summaryOf({ ...stuck, value: 30 }, open), 'Stuck value: 30 again and again');
});

test('an event that ends as it begins has no length', () => {
  assert.equal(summaryOf({ ...spike, unusual: null }, lasted(0)), 'Spike: 1235 where 40 was expected');
});
