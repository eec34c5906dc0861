import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DemoFaults } from '../../../src/demo/demo-faults.ts';
import { DEMO_SERIES } from '../../../src/demo/demo-series.ts';
import { STEPS_PER_DAY, timeOf } from '../../../src/demo/demo-time.ts';
import { outageBefore, sentTime } from '../../../src/demo/faults.ts';
import { SCORE_LINE_STYLE } from '../../../src/tools/terminal/score-line.ts';
import { scoreRecord } from '../../fixture/stream/score-record.ts';

const STEPS = Array.from({ length: 2 * STEPS_PER_DAY }, (_, i) => 6_000_000 + i);
/** First step after an outage. */
const RETURN = STEPS.find((step) => outageBefore(step) !== null)!;
const covered = new Set(['a', 'b', 'c']);

const shown = (liveStart: number) => new DemoFaults({ covered, liveStart, style: SCORE_LINE_STYLE });

function scoreAt(series: string, step: number, state: 'scored' | 'calibrating' | 'silent' = 'scored') {
  return scoreRecord({ series, timestampMs: timeOf(step), state, alarm: false, anomaly: false });
}

/** The dead letter of the record of a step whose time is wrong. */
function wrongTime(series = 'a') {
  const [step, id] = STEPS.flatMap((step) => DEMO_SERIES.map(({ id }) => [step, id] as const)).find(
    ([step, id]) => sentTime(id, step) !== null && sentTime(id, step) !== timeOf(step),
  )!;
  const value = Buffer.from(JSON.stringify({ series, timestamp: sentTime(id, step) })).toString('base64');
  return { step, letter: { reason: 'time-unconfirmed', detail: 'far ahead', series, value } as const };
}

test('after an outage it is said how many series are judged by their first value, once all have one', () => {
  const faults = shown(0);
  assert.deepEqual(faults.takeScores([scoreAt('a', RETURN), scoreAt('b', RETURN, 'calibrating')], true), []);
  const [line, ...others] = faults.takeScores([scoreAt('c', RETURN), scoreAt('a', RETURN + 1)], true);
  assert.match(line!, /outage .* no record for 24 steps; 2 of 3 series are judged by their first value$/);
  assert.deepEqual(others, []);
});

test('a refused record is shown at the step that it was due, not at the time that it says', () => {
  const { step, letter } = wrongTime();
  const [line] = shown(0).takeLetters([letter, { ...letter, series: 'of-another' }], true);
  const due = new Date(timeOf(step)).toISOString().slice(0, 19).replace('T', ' ');
  assert.match(line!, new RegExp(`^ {2}${due} {2}refused .* time-unconfirmed: far ahead {2}<- wrong time$`));
});

test('what happened in the history is shown once, in order of time, when the live scores run', () => {
  const faults = shown(RETURN + 100);
  const { letter } = wrongTime();
  assert.deepEqual(
    faults.takeScores(
      [...covered].map((id) => scoreAt(id, RETURN)),
      false,
    ),
    [],
  );
  assert.deepEqual(faults.takeScores([scoreAt('a', RETURN - 30, 'silent')], false), []);
  assert.deepEqual(faults.takeLetters([letter], false), []);
  assert.deepEqual(faults.release(false), []);
  const [title, ...lines] = faults.release(true);
  assert.equal(title, 'What became of faulty records in the history:');
  assert.deepEqual(
    lines.map((line) => /refused|silent|outage/.exec(line)![0]),
    ['refused', 'silent', 'outage'],
  );
  assert.deepEqual(faults.release(true), []);
});

test('a live series that stops stands among the scores, not here', () => {
  assert.deepEqual(shown(0).takeScores([scoreAt('a', 10, 'silent')], true), []);
});
