import assert from 'node:assert/strict';
import { test } from 'node:test';
import { timeOf } from '../../../src/demo/demo-plan.ts';
import { DemoView } from '../../../src/demo/demo-view.ts';
import { SCORE_LINE_STYLE } from '../../../src/tools/terminal/score-line.ts';
import { anomalyEvent } from '../../fixture/stream/anomaly-event.ts';
import { scoreRecord } from '../../fixture/stream/score-record.ts';

const LIVE_START = 6_000_000;

function demoView({ historyScores = 4, colour = false } = {}): DemoView {
  const covered = new Set(['a', 'b']);
  return new DemoView({ covered, liveStart: LIVE_START, historyScores, style: { ...SCORE_LINE_STYLE, colour } });
}

/** A score some steps before (or after) the first live one. */
function score(series: string, step: number, anomaly = false) {
  return scoreRecord({ series, timestampMs: timeOf(LIVE_START + step), anomaly, alarm: anomaly });
}

const named = (lines: readonly string[]) => lines.map((line) => line.slice(2).split(/ {2,}/)[1]);

test('the history is counted until every series has its last score, then summed up', () => {
  const view = demoView();
  assert.deepEqual(view.scoreLines([score('a', -2), score('b', -2)], 0), ['Scoring the history: 2 of 4 observations']);
  assert.deepEqual(view.scoreLines([score('a', -1, true)], 500), []);
  assert.equal(view.live, false);
  const [sum, , , flagged, ...rest] = view.scoreLines([score('b', -1)], 600);
  assert.equal(sum, 'History of 2 series scored: 4 observations, 1 flagged, lately:');
  assert.match(flagged!, /^! .* a .* ALARM/);
  assert.deepEqual([rest, view.live], [[], true]);
});

test('series that are not of the demo do not count as history', () => {
  const view = demoView();
  const [line] = view.scoreLines([score('a', -2), score('z', -2, true)], 0);
  assert.equal(line, 'Scoring the history: 1 of 4 observations');
  const [sum] = view.scoreLines([score('a', -1), score('b', -1), score('z', -1)], 1);
  assert.equal(sum, 'History of 2 series scored: 3 observations, 0 flagged.');
});

test('the last flagged score of each series of the history is shown, in order of time', () => {
  const view = demoView();
  view.scoreLines([score('b', -4, true), score('a', -6, true), score('a', -5, true)], 0);
  const lines = view.scoreLines([score('a', -1), score('b', -1)], 1);
  assert.deepEqual(named(lines.slice(3)), ['a', 'b']);
});

test('on a terminal progress takes one line', () => {
  const view = demoView({ colour: true });
  const lines = [...view.scoreLines([score('a', -2)], 0), ...view.scoreLines([score('b', -2)], 2_000)];
  const rewrites = lines.map((line) => line.startsWith('\u001b[1A\u001b[2K'));
  assert.deepEqual(rewrites, [false, true]);
});

test('a demo that continues has no history to wait for', () => {
  assert.equal(demoView({ historyScores: 0 }).live, true);
});

test('live, every flagged score is shown, and the others by series in turn', () => {
  const view = demoView({ historyScores: 0 });
  const shown = [0, 1_000, 2_000, 4_000].map((nowMs, i) =>
    named(view.scoreLines([score('a', i), score('b', i), score('c', i, true)], nowMs)),
  );
  assert.deepEqual(shown, [['c', 'a'], ['c'], ['c', 'b'], ['c', 'a']]);
});

test('a series that stops in the history, and returns, is no observation of it', () => {
  const view = demoView();
  view.scoreLines([{ ...score('a', -3), state: 'silent' }, score('a', -1)], 0);
  const [sum] = view.scoreLines([{ ...score('b', -2), state: 'returned' }, score('b', -1)], 1);
  assert.equal(sum, 'History of 2 series scored: 2 observations, 0 flagged.');
});

test('live events and refused records are shown with what the demo did, those of the history are not', () => {
  const view = demoView({ historyScores: 0 });
  const at = timeOf(LIVE_START + 1);
  const event = (series: string, updatedAtMs: number) => anomalyEvent({ series, updatedAtMs, firstAlarmAtMs: at });
  const lines = view.eventLines([event('of-another', at), event('old', timeOf(LIVE_START - 1))]);
  assert.equal(lines.length, 1);
  assert.match(lines[0], /of-another.*<- nothing: a false alarm$/);
  const letter = { reason: 'time-unconfirmed', detail: 'ahead', series: 'a' } as const;
  const [refused, ...rest] = view.letterLines([letter, { ...letter, series: 'z' }]);
  assert.match(refused, /refused {2}a +time-unconfirmed: ahead {2}<- wrong time$/);
  assert.deepEqual(rest, []);
  const behind = demoView();
  assert.deepEqual([...behind.eventLines([event('a', at)]), ...behind.letterLines([letter])], []);
});
