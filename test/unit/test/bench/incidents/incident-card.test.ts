import assert from 'node:assert/strict';
import { test } from 'node:test';
import { caseCard, incidentFigures } from '../../../../bench/incidents/incident-card.ts';

const fault = { name: 'a', set: 'x', file: '', step_ms: 60_000, onset_row: 100, service: 's1' };
const at = (row: number, ...services: string[]) => ({
  startedAt: new Date(Date.UTC(2026, 0, 1) + row * fault.step_ms).toISOString(),
  origins: services.map((common, i) => ({ series: `${common}/cpu`, common, score: 1 / (i + 1), evidence: [] })),
});

test('a case counts by its first incident from two rows before the onset on', () => {
  const card = caseCard(fault, { incidents: [at(120, 's1'), at(98, 's2', 's1'), at(97, 's1'), at(49, 's1')] });
  assert.deepEqual(card, { set: 'x', place: 2, found: true, known: true, before: 1, pieces: 2 });
});

test('a service that is not among the origins has no place', () => {
  const none = caseCard(fault, { incidents: [] });
  const figures = incidentFigures([none, caseCard(fault, { incidents: [at(100, 's2', 's3', 's1')] })]);
  assert.deepEqual(figures, {
    found: 0.5,
    ac1: 0,
    ac3: 0.5,
    avg5: 0.3,
    pieces: 0.5,
    before: 0,
    unknown: 0.5,
    ac1Known: 0,
  });
});
