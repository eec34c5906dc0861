import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readDetectorsFile } from '../../../../src/config/detectors-file.ts';
import { NO_RULES } from '../../../../src/detection/event/open/event-rules.ts';

/** Reads a detector with these further keys. */
function read(more: string) {
  const problems: string[] = [];
  const entry = `name: a, series: "*", freq: h, h: 24, detection_size: 24, ${more}`;
  const file = readDetectorsFile('d.yaml', `detectors: [{ ${entry} }]`, problems);
  return { detector: file?.stream.detectors[0], problems };
}

test('every rule of events is read', () => {
  const { detector, problems } = read(`events: {
    direction: up, min_deviation: 5, min_deviation_share: 10%, valid_range: { min: 0 }, normal_range: { min: 1, max: 2 },
    min_duration: 15min, cool_down: 2h, once_in_drift: false, stopped_at: 0,
    quiet: [{ start: "2026-12-24T18:00:00+01:00", end: "2026-12-26T00:00:00Z" },
            { days: [sat, sun], time_zone: Europe/Berlin },
            { dates: 12-24, from: "22:00", to: "04:00", time_zone: UTC }] }`);
  assert.deepEqual(problems, []);
  assert.deepEqual(detector?.events, {
    direction: 'up',
    minDeviation: 5,
    minDeviationShare: 0.1,
    validRange: { min: 0, max: Number.POSITIVE_INFINITY },
    normalRange: { min: 1, max: 2 },
    minDurationMs: 900_000,
    coolDownMs: 7_200_000,
    onceInDrift: false,
    stoppedAt: 0,
    quiet: [
      { startMs: Date.UTC(2026, 11, 24, 17), endMs: Date.UTC(2026, 11, 26) },
      { days: ['sat', 'sun'], dates: [], from: 0, to: 1_440, timeZone: 'Europe/Berlin' },
      { days: [], dates: ['12-24'], from: 1_320, to: 240, timeZone: 'UTC' },
    ],
  });
});

test('without rules there are none, and labels are texts by name', () => {
  const { detector, problems } = read('labels: { team: web, "k8s.cluster": eu-1 }');
  assert.deepEqual(problems, []);
  assert.deepEqual(detector?.events, NO_RULES);
  assert.deepEqual(detector?.labels, { team: 'web', 'k8s.cluster': 'eu-1' });
});

test('a wrong rule or label is a problem that names what was expected', () => {
  for (const [more, expected] of [
    ['events: { direction: sideways }', /detectors\[0\]\.events\.direction must be up, down or both/],
    ['events: { min_deviation: -1 }', /events\.min_deviation must be a number of at least 0/],
    ['events: { min_deviation_share: 10 }', /events\.min_deviation_share must be a share in percent such as 10%/],
    ['events: { valid_range: { min: 3, max: 3 } }', /events\.valid_range\.max must be above min \(3\)/],
    ['events: { valid_range: {} }', /events\.valid_range must be a mapping with min, max or both/],
    ['events: { quiet: [{ days: sat }] }', /events\.quiet\[0\]\.time_zone must be a time zone/],
    ['events: { quiet: [{ days: sat, time_zone: Europe/Atlantis }] }', /quiet\[0\]\.time_zone must be a time zone/],
    [
      'events: { quiet: [{ start: "2026-01-01", end: "2026-01-02" }] }',
      /quiet\[0\]\.start must be a time with its zone/,
    ],
    ['events: { quiet: [{ dates: [12-24, 02-30], time_zone: UTC }] }', /quiet\[0\]\.dates\[1\] must be a date such as/],
    ['events: { quiet: [{ dates: 2026-02-29, time_zone: UTC }] }', /quiet\[0\]\.dates must be a date such as/],
    ['events: { quiet: [{ from: "25:00", time_zone: UTC }] }', /quiet\[0\]\.from must be a time of the day/],
    [
      'events: { quiet: [{ start: "2026-01-02T00:00:00Z", end: "2026-01-01T00:00:00Z" }] }',
      /quiet\[0\]\.end must be after start/,
    ],
    ['events: { mood: 3 }', /events\.mood is not a known key/],
    ['labels: { team: 3 }', /labels\.team must be text of 1 to 256 characters/],
    ['labels: { "a b": c }', /labels\.a b must be named by 1 to 64 letters/],
  ] as const) {
    assert.match(read(more).problems.join('\n'), expected, more);
  }
});
