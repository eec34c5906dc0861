import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AliasStep, gridPosition, parseFrequency, readAlias } from '../../../src/time/frequency.ts';

const utc = (text: string) => Date.parse(`${text}Z`);

function positionOf(alias: string, origin: string, time: string): number {
  const freq = parseFrequency(alias);
  assert.ok(freq !== null, `${alias} is a frequency`);
  return gridPosition(freq, utc(origin), utc(time));
}

test('aliases of the same step give the same grid', () => {
  for (const [alias, stepMs] of [
    ['min', 60_000],
    ['T', 60_000],
    ['5min', 300_000],
    ['h', 3_600_000],
    ['60min', 3_600_000],
    ['D', 86_400_000],
    ['W-SUN', 604_800_000],
    ['250ms', 250],
  ] as const) {
    const freq = parseFrequency(alias);
    assert.equal(freq?.kind === 'fixed' ? freq.stepMs : null, stepMs, alias);
  }
});

test('steps are read in the spelling of any version of pandas, and of Polars', () => {
  const steps: readonly (readonly [string, AliasStep])[] = [
    ...['min', '1min', 'T', 't', 'm', '60s', '60S'].map((alias) => [alias, { kind: 'fixed', stepMs: 60_000 }] as const),
    ...['h', 'H', '1h', '60min', '60T'].map((alias) => [alias, { kind: 'fixed', stepMs: 3_600_000 }] as const),
    ...['D', 'd', '24h'].map((alias) => [alias, { kind: 'fixed', stepMs: 86_400_000 }] as const),
    ...['W', 'w', '1w', 'W-SUN', 'W-THU', '7D'].map(
      (alias) => [alias, { kind: 'fixed', stepMs: 604_800_000 }] as const,
    ),
    ...['ms', 'L', '1000us', '1000U'].map((alias) => [alias, { kind: 'fixed', stepMs: 1 }] as const),
    ...['M', 'ME', 'MS', 'BM', 'BME', 'BMS', 'CBM', 'CBME', 'CBMS', 'WOM-2FRI', 'LWOM-MON'].map(
      (alias) => [alias, { kind: 'months', months: 1 }] as const,
    ),
    ...['Q', 'q', 'QE', 'QS', 'Q-DEC', 'QS-OCT', 'BQ', 'BQE', 'BQS', '3MS'].map(
      (alias) => [alias, { kind: 'months', months: 3 }] as const,
    ),
    ...['A', 'Y', 'y', 'AS', 'YE', 'YS', 'YE-DEC', 'A-MAR', 'BA', 'BAS', 'BY', 'BYE', 'BYS', '4QS', 'RE-N-DEC-MON'].map(
      (alias) => [alias, { kind: 'months', months: 12 }] as const,
    ),
    ...['SM', 'SMS', 'SME'].map((alias) => [alias, { kind: 'half-months', halves: 1 }] as const),
    ...['B', 'b', 'C'].map((alias) => [alias, { kind: 'weekdays', days: 1 }] as const),
    ...['bh', 'BH', 'cbh', 'CBH'].map((alias) => [alias, { kind: 'business-hours', hours: 1 }] as const),
    ...['HYS', 'HYE', 'BHYS', 'BHYE', 'HYE-JUN'].map((alias) => [alias, { kind: 'months', months: 6 }] as const),
    ['15min', { kind: 'fixed', stepMs: 900_000 }],
    ['2h', { kind: 'fixed', stepMs: 7_200_000 }],
    ['4W', { kind: 'fixed', stepMs: 2_419_200_000 }],
    ['2bh', { kind: 'business-hours', hours: 2 }],
  ];
  for (const [alias, step] of steps) assert.deepEqual(readAlias(alias), step, alias);
});

/** `pandas._libs.tslibs.offsets.prefix_mapping` of version 3.1. */
const PANDAS =
  'B BHYE BHYS BME BMS BQE BQS BYE BYS C CBME CBMS D HYE HYS LWOM ME MS QE QS RE REQ SME SMS W WOM YE YS bh cbh h min ms ns s us';

test('every pandas alias is read, also with a multiple or an anchor', () => {
  for (const name of PANDAS.split(' ')) {
    for (const alias of [name, `3${name}`, `${name}-DEC`]) assert.notEqual(readAlias(alias), null, alias);
  }
});

test('aliases of Polars are read: months are mo, minutes m', () => {
  const names = ['mo', '3mo', '1m', '1d', '1h', '1w', '1q', '1y'];
  const kinds = names.map((name) => readAlias(name)?.kind);
  assert.deepEqual(kinds, ['months', 'months', 'fixed', 'fixed', 'fixed', 'fixed', 'months', 'months']);
});

test('half months, business hours and steps below a millisecond have no grid', () => {
  for (const alias of ['SM', 'SMS', 'BH', 'cbh', 'us', '10U', 'ns']) assert.equal(parseFrequency(alias), null, alias);
});

test('an unknown alias gives null', () => {
  for (const alias of ['', 'x', '0min', '-5min', '1.5h', 'min5', 'W-XYZ', '99999999999999999999s', 'constructor']) {
    assert.equal(parseFrequency(alias), null, alias);
  }
});

test('jitter of less than half a step does not move an observation on a grid of equal steps', () => {
  assert.equal(positionOf('5min', '2025-01-01T00:00:07', '2025-01-01T00:10:00'), 2);
  assert.equal(positionOf('5min', '2025-01-01T00:00:07', '2025-01-01T00:12:30'), 2);
  assert.equal(positionOf('5min', '2025-01-01T00:00:07', '2025-01-01T00:13:00'), 3);
});

test('months are counted by the calendar, whatever their length', () => {
  assert.equal(positionOf('MS', '2024-01-01T00:00:00', '2024-03-01T00:00:00'), 2);
  assert.equal(positionOf('ME', '2024-01-31T00:00:00', '2024-02-29T00:00:00'), 1);
  assert.equal(positionOf('QS-DEC', '2024-12-01T00:00:00', '2025-06-01T00:00:00'), 2);
  assert.equal(positionOf('YE', '2020-12-31T00:00:00', '2025-12-31T00:00:00'), 5);
});

test('on weekdays Monday follows Friday', () => {
  assert.equal(positionOf('B', '2025-01-03T00:00:00', '2025-01-06T00:00:00'), 1);
  assert.equal(positionOf('B', '2025-01-03T00:00:00', '2025-01-10T00:00:00'), 5);
});
