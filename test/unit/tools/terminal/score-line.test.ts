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

test('colour adds nothing but colour', () => {
  for (const score of [
    judged,
    { ...judged, anomaly: true, alarm: true },
    { ...judged, state: 'calibrating' as const },
  ]) {
    assert.equal(stripVTControlCharacters(scoreLine(score, coloured)), scoreLine(score));
  }
});

const nothing = { forecast: null, lo: null, hi: null, anomalyScore: null, grade: null };
const ofGroup = { group: 'shop', lo: null, hi: null, accumulatedAnomalyScore: 7.125 };

for (const [law, changes, line] of [
  ['a value outside its interval that is no alarm is an anomaly without a mark', { anomaly: true }, /^ {2}.* ANOMALY$/],
  ['where alarms are off an anomaly is marked', { grade: null, severity: null, anomaly: true }, /^! .* ANOMALY$/],
  ['a missing number is a dash', { ...nothing, state: 'warming-up' }, /42\.5( +-){4} +warming-up$/],
  ['the score of a member is that of its group', ofGroup, / - +g \+7\.13 +\.75 +scored$/],
  ['a series that started over is marked as restarted', { restarted: true }, /scored, started over$/],
  ['a long series id is whole', { series: `region/${'x'.repeat(30)}/web-1/cpu` }, / region\/x{30}\/web-1\/cpu {2}/],
] as const) {
  test(law, () => assert.match(scoreLine({ ...judged, ...changes }), line));
}

test('control characters in a series id do not reach the terminal', () => {
  const line = scoreLine({ ...judged, series: '\u001b[2Jcpu\r\n\u202e' });
  assert.doesNotMatch(line, /[\p{Cc}\p{Cf}]/u);
});

const viewOf = (selection: ScoreSelection, { series = '*', json = false } = {}) =>
  new ScoreView({ selection, series: globPattern([series]), json, style: SCORE_LINE_STYLE });

const normal = scoreRecord({ series: 'web/a', anomaly: false, alarm: false });
const flagged = scoreRecord({ series: 'web/b', anomaly: true, alarm: true });
const warming = scoreRecord({ series: 'db', anomaly: false, alarm: false, state: 'warming-up' });

for (const [law, view, scores, isShown, summary] of [
  [
    'by default anomalies are shown, and from time to time the number of scores',
    viewOf('flagged'),
    [normal, flagged, warming],
    [false, true, false],
    '  2 scored, 1 flagged, 1 not judged yet',
  ],
  ['the selection of anomalies has no summaries', viewOf('anomalies'), [normal, flagged], [false, true], null],
  ['the selection of all shows every score', viewOf('all'), [normal, warming], [true, true], null],
  [
    'series that do not match are neither shown nor counted',
    viewOf('flagged', { series: 'web/?' }),
    [warming, flagged],
    [false, true],
    '  1 scored, 1 flagged',
  ],
] as const) {
  test(law, () => {
    const lines = scores.map((score) => view.show(score));
    const expected = scores.map((score, i) => (isShown[i] ? scoreLine(score) : null));
    assert.deepEqual(lines, expected);
    assert.equal(view.summary(), summary);
    assert.equal(view.summary(), null);
  });
}

test('JSON is the record itself, one a line', () => {
  const line = viewOf('all', { json: true }).show(flagged)!;
  assert.deepEqual([JSON.parse(line), line.includes('\n')], [flagged, false]);
});
