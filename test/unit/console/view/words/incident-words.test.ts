import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Freshness } from '../../../../../src/api/wire/schema/operations/freshness-schema.ts';
import type { IncidentAnswer } from '../../../../../src/api/wire/schema/operations/incident-schema.ts';
import {
  incidentName,
  incidentSize,
  incidentsStalled,
  onsetText,
  withIncident,
  withRevision,
} from '../../../../../src/console/view/words/incident-words.ts';
import { seen } from '../../../../fixture/console/seen-event.ts';
import { incident } from '../../../../fixture/incidents/incident.ts';

const revision = incident;
const answer = (changes: Partial<IncidentAnswer> = {}): IncidentAnswer => {
  const { events: _, ...fields } = revision();
  return { ...fields, acknowledged: null, muted: null, verdicts: [], ...changes };
};

test('an incident is called by where it may have begun, and otherwise by its sentence', () => {
  assert.equal(incidentName(answer()), 'db-1');
  assert.equal(incidentName(answer({ origins: [] })), incident().summary);
  assert.equal(incidentSize({ kind: 'related', eventCount: 7, seriesCount: 1 }), '7 events of 1 series');
  assert.equal(incidentSize({ kind: 'pause', eventCount: 5, seriesCount: 3 }), '5 events of 3 detectors');
  assert.deepEqual([onsetText(0), onsetText(41_000)], ['first', '+41 s']);
});

test('a revision changes, adds or ends an open incident, and keeps its feedback', () => {
  const acknowledged = { at: 1, by: 'ann', note: null };
  const known = [answer({ acknowledged }), answer({ incidentId: 'other' })];
  const updated = withRevision(known, revision({ type: 'updated', severity: 99 }));
  const actual = updated.map(({ incidentId, severity, acknowledged: by }) => [incidentId, severity, by]);
  assert.deepEqual(actual, [
    [incident().incidentId, 99, acknowledged],
    ['other', 48.125, null],
  ]);
  assert.equal(withRevision([], revision()).length, 1);
  for (const changes of [{ endedAtMs: 1 }, { type: 'merged', mergedInto: 'other' }, { kind: 'single' }] as const) {
    assert.deepEqual(withRevision(known, revision(changes)), known.slice(1));
  }
});

test('a revision names the incident of its events, and a merged one passes them on', () => {
  const events = [seen({ eventId: '0123' }), seen({ eventId: 'old', incidentId: 'i' }), seen({ eventId: 'x' })];
  const ids = (changes: Parameters<typeof incident>[0]) =>
    withIncident(events, revision({ incidentId: 'i', ...changes })).map(({ incidentId }) => incidentId);
  assert.deepEqual(ids({}), ['i', 'i', null]);
  assert.deepEqual(ids({ type: 'merged', mergedInto: 'j', events: [] }), [null, 'j', null]);
});

test('a stall of incidents is shown with its start, if events wait for one', () => {
  const freshness = (since: number | null) => ({ incidents: { open: 1, stalled_since: since } }) as Freshness;
  assert.equal(incidentsStalled(freshness(null), 0), null);
  assert.equal(incidentsStalled(null, 0), null);
  assert.match(incidentsStalled(freshness(5), 5)!, /^No incident was created since .*\. Run: npm start -- incidents$/);
});
