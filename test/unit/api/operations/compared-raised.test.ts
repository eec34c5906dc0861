import assert from 'node:assert/strict';
import { test } from 'node:test';
import { comparedRaised, differingFirst } from '../../../../src/api/operations/compared-raised.ts';
import { anomalyEvent } from '../../../fixture/history/kept-records.ts';

const event = (startedAtMs: number, changes: Parameters<typeof anomalyEvent>[1] = {}) =>
  anomalyEvent(`${startedAtMs}`, { startedAtMs, endedAtMs: startedAtMs + 10, severity: startedAtMs, ...changes });

test('what both settings raise at one time is listed once, as the first raise it; differences come first', () => {
  const before = [event(100), event(200), event(300)];
  const after = [event(305), event(400), event(200, { series: 'other' })];
  const real = [
    { real: false, event: event(195) },
    { real: true, event: event(205) },
  ];
  const listed = differingFirst(comparedRaised({ before, after }, real));
  assert.deepEqual(
    listed.map(({ event: { startedAtMs, series }, raisedBy, real }) => [startedAtMs, series, raisedBy, real]),
    [
      [400, 'a', 'after', null],
      [200, 'a', 'before', true],
      [200, 'other', 'after', null],
      [100, 'a', 'before', null],
      [300, 'a', 'both', null],
    ],
  );
});

test('a group is no series of the same name', () => {
  const ofGroup = event(100, { series: null, group: 'a' });
  const compared = comparedRaised({ before: [event(100)], after: [ofGroup] }, []);
  assert.deepEqual(
    compared.map(({ raisedBy }) => raisedBy),
    ['before', 'after'],
  );
});
