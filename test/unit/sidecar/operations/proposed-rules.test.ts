import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LabelledEvent } from '../../../../src/sidecar/operations/labels-raised.ts';
import type { DescribedDetector } from '../../../../src/sidecar/operations/operations.ts';
import { proposedRules } from '../../../../src/sidecar/operations/proposed-rules.ts';
import { anomalyEvent } from '../../../fixture/history/kept-records.ts';

const HOUR_MS = 3_600_000;
const detector: DescribedDetector = {
  name: 'metrics',
  series: ['*'],
  group: null,
  model: 'tsmodel-1',
  settings: {},
  digest: '',
  alarmsPerWeek: 1,
};

/** An event of a day and an hour whose value is so far from the expected 100. */
function labelled(real: boolean, day: number, { hour = 3, deviation = 4 } = {}): LabelledEvent {
  const startedAtMs = (day * 24 + hour) * HOUR_MS;
  const times = { startedAtMs, endedAtMs: startedAtMs + HOUR_MS / 2 };
  return { real, event: anomalyEvent(`${day}`, { ...times, value: 100 + deviation, expected: 100 }) };
}

const changesOf = (events: readonly LabelledEvent[]) => proposedRules(events, [detector]).map(({ changes }) => changes);

test('three events of one kind that are not real propose a minimal deviation, a quiet time and a rarer promise', () => {
  const wrong = [1, 2, 3].map((day) => labelled(false, day, { deviation: day }));
  assert.deepEqual(changesOf(wrong), [
    { min_deviation: '4%' },
    { quiet: '03:00-04:00 UTC' },
    { false_alarms: '2/month' },
  ]);
  assert.deepEqual(changesOf(wrong.slice(1)), []);
  const [{ series, verdicts, kind }] = proposedRules(wrong, [detector]);
  assert.deepEqual([series, verdicts, kind], ['a', 3, 'spike']);
});

test('a rule that would remove an event that is real is not proposed', () => {
  const wrong = [1, 2, 3].map((day) => labelled(false, day));
  const small = labelled(true, 4, { hour: 12, deviation: -2 });
  assert.deepEqual(changesOf([...wrong, small]), [{ quiet: '03:00-04:00 UTC' }, { false_alarms: '2/month' }]);
  const nightly = labelled(true, 4, { deviation: 90 });
  assert.deepEqual(changesOf([...wrong, nightly]), [{ min_deviation: '5%' }, { false_alarms: '2/month' }]);
});

test('what is far out, at any time of the day, leaves the promise; events of no value propose no deviation', () => {
  const far = [1, 9, 17].map((hour, day) => labelled(false, day, { hour, deviation: 150 }));
  assert.deepEqual(changesOf(far), [{ false_alarms: '2/month' }]);
  assert.deepEqual(proposedRules(far, [{ ...detector, alarmsPerWeek: null }]), []);
  const silent = far.map(({ event, real }) => ({ real, event: { ...event, value: null } }));
  assert.deepEqual(changesOf(silent), [{ false_alarms: '2/month' }]);
});

test('a rule that the detector has is not proposed again', () => {
  const wrong = [1, 2, 3].map((day) => labelled(false, day));
  const settings = { min_deviation_share: '5%', quiet: '03:00-04:00 UTC, 22:00-23:00 UTC' };
  const proposed = proposedRules(wrong, [{ ...detector, settings }]);
  assert.deepEqual(
    proposed.map(({ changes }) => changes),
    [{ false_alarms: '2/month' }],
  );
});
