import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { globPattern } from '../../../../src/records/series/glob.ts';
import {
  SCORE_LINE_STYLE,
  type ScoreSelection,
  ScoreView,
  scoreLine,
  scoreLineHeader,
} from '../../../../src/tools/terminal/score-line.ts';
import { scoreRecord } from '../../../fixture/stream/score-record.ts';

const judged = scoreRecord({
  value: 42.5,
  forecast: 41.99999999999999,
  lo: 40.25,
  hi: 43.75,
  anomalyScore: 0.4567,
  anomaly: false,
  alarm: false,
});
const coloured = { ...SCORE_LINE_STYLE, colour: true };
const red = '\u001b[1;31m';

test('a line shows time, series, value, forecast, interval, score, grade and state under their titles', () => {
  assert.deepEqual(
    [scoreLineHeader(SCORE_LINE_STYLE), scoreLine(judged)],
    [
      '  time (UTC)           series                          value     forecast                  interval      score  grade  state',
      '  2026-05-01 12:00:00  web-1/cpu                        42.5           42              40.25..43.75      +0.46    .75  scored',
    ],
  );
});

test('an anomaly is marked at both ends, without colour too', () => {
  const line = scoreLine({ ...judged, anomaly: true, alarm: true });
  assert.match(line, /^! .* ALARM$/);
  assert.equal(scoreLine({ ...judged, anomaly: true, alarm: true }, coloured), `${red}${line}\u001b[0m`);
});

test('a value outside its interval that is no alarm is named an anomaly, and is not marked', () => {
  assert.match(scoreLine({ ...judged, anomaly: true }), /^ {2}.* ANOMALY$/);
});

test('where alarms are off an anomaly is marked', () => {
  assert.match(scoreLine({ ...judged, grade: null, severity: null, anomaly: true }), /^! .* ANOMALY$/);
});

test('colour adds nothing but colour', () => {
  for (const score of [
    judged,
    { ...judged, anomaly: true, alarm: true },
    { ...judged, state: 'calibrating' as const },
  ]) {
    assert.equal(stripVTControlCharacters(scoreLine(score, coloured)), scoreLine(score));
  }
});

test('a missing number is a dash', () => {
  const nothing = { forecast: null, lo: null, hi: null, anomalyScore: null, grade: null };
  assert.match(scoreLine({ ...judged, ...nothing, state: 'warming-up' }), /42\.5( +-){4} +warming-up$/);
});

test('the score of a member is that of its group', () => {
  const line = scoreLine({ ...judged, group: 'shop', lo: null, hi: null, accumulatedAnomalyScore: 7.125 });
  assert.match(line, / - +g \+7\.13 +\.75 +scored$/);
});

test('a series that started over is marked as restarted', () => {
  assert.match(scoreLine({ ...judged, restarted: true }), /scored, started over$/);
});

test('a long series id is whole', () => {
  const line = scoreLine({ ...judged, series: `region/${'x'.repeat(30)}/web-1/cpu` });
  assert.match(line, / region\/x{30}\/web-1\/cpu {2}/);
});

test('control characters in a series id do not reach the terminal', () => {
  const line = scoreLine({ ...judged, series: '\u001b[2Jcpu\r\n\u202e' });
  assert.doesNotMatch(line, /[\p{Cc}\p{Cf}]/u);
});

const viewOf = (selection: ScoreSelection, { series = '*', json = false } = {}) =>
  new ScoreView({ selection, series: globPattern([series]), json, style: SCORE_LINE_STYLE });

const normal = scoreRecord({ series: 'web/a', anomaly: false, alarm: false });
const flagged = scoreRecord({ series: 'web/b', anomaly: true, alarm: true });
const warming = scoreRecord({ series: 'db', anomaly: false, alarm: false, state: 'warming-up' });

test('by default anomalies are shown, and from time to time the number of scores', () => {
  const view = viewOf('flagged');
  const lines = [normal, flagged, warming].map((score) => view.show(score));
  assert.deepEqual(lines, [null, scoreLine(flagged), null]);
  assert.equal(view.summary(), '  2 scored, 1 flagged, 1 not judged yet');
  assert.equal(view.summary(), null);
});

test('the selection of anomalies has no summaries', () => {
  const view = viewOf('anomalies');
  const lines = [normal, flagged].map((score) => view.show(score));
  assert.deepEqual(lines, [null, scoreLine(flagged)]);
  assert.equal(view.summary(), null);
});

test('the selection of all shows every score', () => {
  const view = viewOf('all');
  const lines = [normal, warming].map((score) => view.show(score));
  assert.deepEqual(lines, [scoreLine(normal), scoreLine(warming)]);
  assert.equal(view.summary(), null);
});

test('series that do not match are neither shown nor counted', () => {
  const view = viewOf('flagged', { series: 'web/?' });
  const lines = [warming, flagged].map((score) => view.show(score));
  assert.deepEqual(lines, [null, scoreLine(flagged)]);
  assert.equal(view.summary(), '  1 scored, 1 flagged');
});

test('JSON is the record itself, one a line', () => {
  const line = viewOf('all', { json: true }).show(flagged)!;
  assert.deepEqual([JSON.parse(line), line.includes('\n')], [flagged, false]);
});
