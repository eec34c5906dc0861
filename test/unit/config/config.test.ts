import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settingsDigest } from '../../../src/config/config.ts';
import type { StreamDetectionSettings } from '../../../src/detection/calibration/settings.ts';
import { parseFrequency } from '../../../src/time/frequency.ts';
import { UTC_CALENDAR } from '../../../src/time/local-calendar.ts';

const SETTINGS: StreamDetectionSettings = {
  freq: parseFrequency('h')!,
  h: 24,
  detectionSize: 24,
  stepSize: 12,
  level: 99,
  thresholdMethod: 'univariate',
  calibration: 'robust',
  alarmRate: 0.001,
  calibrationSize: 288,
  context: 512,
  gapLimit: 24,
  jitterMs: 150_000,
  latenessMs: 0,
  silenceAfter: null,
  idleMs: null,
  grace: 1,
};
const digestOf = (changes: Partial<StreamDetectionSettings>) =>
  settingsDigest({ settings: { ...SETTINGS, ...changes } });

test('the digest of settings is the one that stored state has', () => {
  assert.equal(digestOf({}), '63cfb3c87c01ed76');
});

test('every setting that state depends on changes the digest', () => {
  const changes: readonly Partial<StreamDetectionSettings>[] = [
    { freq: parseFrequency('2h')! },
    { freq: parseFrequency('MS')! },
    { h: 12 },
    { detectionSize: 48 },
    { stepSize: 24 },
    { thresholdMethod: 'multivariate' },
    { calibrationSize: 'all' },
    { context: 256 },
    { gapLimit: 0 },
    { grace: 0 },
    { profile: { calendar: { offsets: [[0, 3_600_000]], specialDays: [] }, stepMs: 3_600_000 } },
    { profile: { calendar: { offsets: [], specialDays: [[20_000, 6]] }, stepMs: 3_600_000 } },
  ];
  const digests = new Set([digestOf({}), ...changes.map(digestOf)]);
  assert.equal(digests.size, changes.length + 1);
});

test('a seasonal profile by UTC, or none, has the digest of the time before there was one', () => {
  assert.equal(digestOf({ profile: null }), digestOf({}));
  assert.equal(digestOf({ profile: { calendar: UTC_CALENDAR, stepMs: 3_600_000 } }), digestOf({}));
});

test('neither the level, nor another alias of the frequency, nor the order of the keys changes the digest', () => {
  const reversed = Object.fromEntries(Object.entries(SETTINGS).reverse()) as unknown as StreamDetectionSettings;
  for (const changes of [{ level: 95 }, { freq: parseFrequency('60min')! }, reversed]) {
    assert.equal(digestOf(changes), digestOf({}));
  }
});
