import assert from 'node:assert/strict';
import { test } from 'node:test';
import { globPattern } from '../../../../src/records/series/glob.ts';
import { SCORE_LINE_STYLE, scoreLine } from '../../../../src/tools/terminal/score-line.ts';
import { type ScoreSelection, ScoreView } from '../../../../src/tools/terminal/score-view.ts';
import { scoreRecord } from '../../../fixture/stream/score-record.ts';

const viewOf = (selection: ScoreSelection, { series = '*', json = false } = {}) =>
  new ScoreView({ selection, series: globPattern([series]), json, style: SCORE_LINE_STYLE });

const normal = scoreRecord({ series: 'web/a', anomaly: false, alarm: false });
const flagged = scoreRecord({ series: 'web/b', anomaly: true, alarm: true });
const warming = scoreRecord({ series: 'db', anomaly: false, alarm: false, state: 'warming-up' });

test('by default anomalies are shown, and from time to time the number of scores', () => {
  const view = viewOf('flagged');
  assert.deepEqual(
    [normal, flagged, warming].map((score) => view.show(score)),
    [null, scoreLine(flagged), null],
  );
  assert.equal(view.summary(), '  2 scored, 1 flagged, 1 not judged yet');
  assert.equal(view.summary(), null);
});

test('the selection of anomalies has no summaries', () => {
  const view = viewOf('anomalies');
  assert.deepEqual(
    [normal, flagged].map((score) => view.show(score)),
    [null, scoreLine(flagged)],
  );
  assert.equal(view.summary(), null);
});

test('the selection of all shows every score', () => {
  const view = viewOf('all');
  assert.deepEqual(
    [normal, warming].map((score) => view.show(score)),
    [scoreLine(normal), scoreLine(warming)],
  );
  assert.equal(view.summary(), null);
});

test('series that do not match are neither shown nor counted', () => {
  const view = viewOf('flagged', { series: 'web/?' });
  assert.deepEqual(
    [warming, flagged].map((score) => view.show(score)),
    [null, scoreLine(flagged)],
  );
  assert.equal(view.summary(), '  1 scored, 1 flagged');
});

test('JSON is the record itself, one a line', () => {
  const line = viewOf('all', { json: true }).show(flagged)!;
  assert.deepEqual([JSON.parse(line), line.includes('\n')], [flagged, false]);
});
