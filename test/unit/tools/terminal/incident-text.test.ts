import assert from 'node:assert/strict';
import { test } from 'node:test';
import { incidentLine, incidentLineHeader } from '../../../../src/tools/terminal/incident-text.ts';
import { incident } from '../../../fixture/incidents/incident.ts';

const plain = { colour: false };

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
