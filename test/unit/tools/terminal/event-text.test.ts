import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  eventLine,
  eventLineHeader,
  incidentLine,
  incidentLineHeader,
  isAbout,
} from '../../../../src/tools/terminal/event-text.ts';
import { SCORE_LINE_STYLE } from '../../../../src/tools/terminal/score-line.ts';
import { incident } from '../../../fixture/incidents/incident.ts';
import { anomalyEvent } from '../../../fixture/stream/anomaly-event.ts';

const plain = { ...SCORE_LINE_STYLE, seriesWidth: 12 };
const coloured = { ...plain, colour: true };

test('an event that was opened begins with a mark; its columns are below their titles', () => {
  const line = eventLine(anomalyEvent(), plain);
  assert.equal(line, '! 2026-05-01 12:00:00  opened   web-1/cpu       .30  Spike: 99 where 42 was expected');
  const header = eventLineHeader(plain);
  assert.equal(header, '  time (UTC)           event    series        grade  what');
  assert.equal(header.indexOf('what'), line.indexOf('Spike'));
});

test('a group is named as one, and a reason that is none of the values is in brackets', () => {
  const closed = anomalyEvent({ type: 'closed', series: null, group: 'web', closeReason: 'settings_changed' });
  assert.match(
    eventLine(closed, plain),
    /^ {2}2026-05-01 12:00:00 {2}closed {3}group web .* expected \(settings changed\)$/,
  );
  assert.doesNotMatch(eventLine({ ...closed, closeReason: 'recovered' }, plain), /\(/);
});

test('a pause of a detector is named by it, and is about every series', () => {
  const summary = 'Silence: no value of any of 40 series';
  const pause = anomalyEvent({ kind: 'silence', series: null, detector: 'web', grade: null, summary, seriesCount: 40 });
  assert.match(eventLine(pause, plain), /opened {3}detector web +- +Silence: no value of any of 40 series$/);
  assert.ok(isAbout(pause, /^db-1$/));
  assert.ok(!isAbout(anomalyEvent({ series: 'web-1' }), /^db-1$/));
  const ofGroup = anomalyEvent({ series: null, group: 'g', members: [{ series: 'db-1', share: 1 }] });
  assert.ok(isAbout(ofGroup, /^db-1$/) && !isAbout(ofGroup, /^web-1$/));
});

test('a long id keeps its end, and no text controls the terminal', () => {
  assert.match(eventLine(anomalyEvent({ series: 'plant-7/hall-3/pump-12' }), plain), / plant-7\/hall-3\/pump-12 /);
  assert.ok(!eventLine(anomalyEvent({ summary: 'Spike \u001b[2J' }), plain).includes('\u001b'));
});

test('on a terminal what begins is red and what ended is dim', () => {
  assert.ok(eventLine(anomalyEvent(), coloured).startsWith('\u001b[1;31m'));
  assert.ok(eventLine(anomalyEvent({ type: 'closed' }), coloured).startsWith('\u001b[2m'));
});

test('an incident that was opened begins with a mark, and shows the evidence for its first origin', () => {
  const line = incidentLine(incident({ eventCount: 40 }), plain);
  assert.equal(
    line,
    '! 2026-05-01 12:00:00  opened        40    .30  40 series at once; usually 2; likely origin db-1; ' +
      'first to move, 41 s before the others',
  );
  assert.equal(incidentLineHeader().indexOf('what'), line.indexOf('40 series'));
});

test('one that was merged names where it is now, and no text controls the terminal', () => {
  assert.match(incidentLine(incident({ type: 'merged', mergedInto: 'abc' }), plain), /part of abc from now on$/);
  assert.ok(!incidentLine(incident({ summary: '\u001b[2J' }), plain).includes('\u001b'));
});
