import assert from 'node:assert/strict';
import type { HistoryStore } from '../../../src/history/port/history-port.ts';
import type { Incident } from '../../../src/records/incident.ts';
import { historyTest, openedHistoryTest } from '../../fixture/history/histories.ts';
import {
  anomalyEvent,
  batchOf,
  EVERY_EVENT,
  EVERY_INCIDENT,
  keptEvent,
  keptIncident,
  keptScore,
  MINUTE_MS,
  START_MS,
} from '../../fixture/history/kept-records.ts';
import { incident } from '../../fixture/incidents/incident.ts';

const DAY_MS = 86_400_000;

const named = (eventId: string, series: string, atMs = START_MS) =>
  ({ ...incident().events[0], eventId, series, startedAtMs: atMs }) as Incident['events'][number];

/** An incident that began with an event, which names some. */
const of = (incidentId: string, series: readonly string[], changes: Partial<Incident> = {}): Incident =>
  incident({
    incidentId,
    startedAtMs: START_MS,
    events: series.map((each, i) => named(`${incidentId}-${each}`, each, START_MS + i)),
    ...changes,
  });

const kept = (incidents: readonly Incident[], first = 0) =>
  batchOf({ incidents: incidents.map((each, i) => keptIncident(first + i, each)) });

const idsOf = async (history: HistoryStore, changes: Partial<Parameters<HistoryStore['listIncidents']>[0]> = {}) => {
  const { incidents } = await history.listIncidents({ ...EVERY_INCIDENT, ...changes });
  return incidents.map(({ incidentId }) => incidentId);
};

historyTest('the newest revision of an incident has the events of all of them by onset', async (at) => {
  const history = await at.open();
  const opened = of('a', ['x', 'y']);
  const later = of('a', ['w'], { type: 'updated', revision: 1, severity: 99, openedOrigins: [], summary: 'grew' });
  const batch = kept([opened, later]);
  assert.equal((await history.append(batch)).incidents.length, 2);
  assert.equal((await history.append(batch)).incidents.length, 0, 'a batch that is repeated is stored once');
  await history.close();
  const again = await at.open();
  const { incidents, totalOpen, next } = await again.listIncidents(EVERY_INCIDENT);
  assert.deepEqual([incidents, totalOpen, next], [[{ ...later, events: [] }], 1, null]);
  const found = await again.findIncident('a');
  assert.deepEqual(found?.incident, { ...later, events: [later.events[0], ...opened.events] });
  assert.deepEqual([found?.mergedIds, found?.similar], [[], []]);
  assert.equal(await again.findIncident('unheard of'), null);
});

openedHistoryTest('events of an incident have their present kind, and keep it once they expire', async (history) => {
  await history.append(kept([of('a', ['x', 'y'])]));
  const opened = anomalyEvent('a-x', { kind: 'spike', direction: 'up' });
  await history.append(batchOf({ events: [keptEvent(0, opened)] }));
  const later = anomalyEvent('a-x', { kind: 'level_shift', direction: 'down', revision: 1 });
  await history.append(batchOf({ events: [keptEvent(1, later)] }));
  const found = (await history.findIncident('a'))!.incident.events;
  const { kind, direction } = incident().events[0];
  const actual = found.map((each) => [each.eventId, each.kind, each.direction]);
  assert.deepEqual(actual, [
    ['a-x', 'level_shift', 'down'],
    ['a-y', kind, direction],
  ]);
});

openedHistoryTest('the events of a merged incident are those of the one that it is part of', async (history) => {
  const events = ['a-x', 'b-y', 'c-z', 'alone'].map((id, i) => keptEvent(i, anomalyEvent(id)));
  await history.append(batchOf({ events }));
  const merged = (id: string, mergedInto: string) => of(id, [], { type: 'merged', revision: 1, mergedInto });
  await history.append(kept([of('a', ['x']), of('b', ['y']), of('c', ['z']), merged('c', 'b')]));
  await history.append(kept([merged('b', 'a')], 4));
  assert.deepEqual(await idsOf(history), ['a']);
  for (const id of ['a', 'b', 'c']) {
    const found = await history.findIncident(id);
    const actual = [found?.incident.incidentId, found?.incident.events.map(({ eventId }) => eventId), found?.mergedIds];
    assert.deepEqual(actual, ['a', ['a-x', 'b-y', 'c-z'], ['b', 'c']]);
    const { events: listed } = await history.listEvents({ ...EVERY_EVENT, incident: id });
    assert.deepEqual(
      listed.map(({ eventId, incidentId }) => [eventId, incidentId]),
      [
        ['a-x', 'a'],
        ['b-y', 'a'],
        ['c-z', 'a'],
      ],
    );
  }
  assert.equal((await history.findEvent('c-z'))?.incidentId, 'a');
  assert.equal((await history.findEvent('alone'))?.incidentId, null);
});

openedHistoryTest('incidents are listed open ones first, in pages, by every filter', async (history) => {
  const closed = { type: 'closed', revision: 1, endedAtMs: START_MS + MINUTE_MS } as const;
  await history.append(
    kept([
      of('early', ['db-1/x'], { startedAtMs: START_MS - DAY_MS, kind: 'single' }),
      of('ended', ['web-1/x', 'web-2/x'], { ...closed, startedAtMs: START_MS - MINUTE_MS, kind: 'related' }),
      of('now', ['up{job="web-1"}'], { startedAtMs: START_MS }),
      of('other', [], { startedAtMs: START_MS, events: [{ ...named('o', 'x'), detector: 'memory' }] }),
    ]),
  );
  const pages: string[] = [];
  for (let after: readonly (string | number)[] | null = null; ; ) {
    const page = await history.listIncidents({ ...EVERY_INCIDENT, limit: 1, after });
    pages.push(...page.incidents.map(({ incidentId }) => incidentId));
    assert.equal(page.totalOpen, 3);
    if (page.next === null) break;
    after = page.next;
  }
  assert.deepEqual(pages, ['now', 'other', 'early', 'ended']);
  assert.deepEqual(await idsOf(history, { open: false }), ['ended']);
  assert.deepEqual(await idsOf(history, { single: false, open: true }), ['now', 'other']);
  assert.equal((await history.listIncidents({ ...EVERY_INCIDENT, single: false })).totalOpen, 2);
  assert.deepEqual(await idsOf(history, { single: true }), ['early']);
  assert.deepEqual(await idsOf(history, { kind: 'related' }), ['ended']);
  assert.deepEqual(await idsOf(history, { detector: 'memory' }), ['other']);
  assert.deepEqual(await idsOf(history, { match: 'web-*' }), ['ended']);
  assert.deepEqual(await idsOf(history, { match: '{job="web-1"}' }), ['now']);
  assert.deepEqual(await idsOf(history, { fromMs: START_MS + 2 * MINUTE_MS, toMs: START_MS }), ['early']);
});

openedHistoryTest('what was like it before: by the share of series that both have', async (history) => {
  const before = (id: string, series: readonly string[], minutes: number) =>
    of(id, series, { startedAtMs: START_MS - minutes * MINUTE_MS });
  await history.append(
    kept([
      before('same', ['x', 'y'], 9),
      before('half', ['x', 'z'], 5),
      before('none', ['q'], 4),
      of('this', ['x', 'y']),
      of('later', ['x', 'y'], { startedAtMs: START_MS + MINUTE_MS }),
    ]),
  );
  const { similar } = (await history.findIncident('this'))!;
  const actual = similar.map(({ incident: { incidentId }, commonCount }) => [incidentId, commonCount]);
  assert.deepEqual(actual, [
    ['same', 2],
    ['half', 1],
  ]);
});

historyTest('incidents that ended are dropped with age, and their events with them', async (at) => {
  let nowMs = START_MS;
  const history = await at.open({ nowMs: () => nowMs });
  const ended = { type: 'closed', revision: 1, endedAtMs: START_MS } as const;
  await history.append(kept([of('open', ['x']), of('ended', ['y'], ended), of('part', ['z'])]));
  await history.append(kept([of('part', [], { type: 'merged', revision: 1, mergedInto: 'open' })], 3));
  nowMs += 15 * DAY_MS;
  await history.append(batchOf({ events: [keptEvent(0, anomalyEvent('ended-y'))] }));
  await history.maintain();
  assert.deepEqual(await idsOf(history), ['open']);
  assert.equal(await history.findIncident('ended'), null);
  assert.equal((await history.findEvent('ended-y'))?.incidentId, null);
  assert.equal((await history.findIncident('open'))?.incident.events.length, 2);
});

historyTest('open events that no incident names, while none is made, have waited since they came', async (at) => {
  let nowMs = START_MS;
  const history = await at.open({ nowMs: () => nowMs });
  await history.append(batchOf({ events: [keptEvent(0, anomalyEvent('before'))] }));
  assert.equal((await history.standing()).incidents, null);
  nowMs += 1_000;
  await history.append(kept([of('a', ['x'])]));
  nowMs += 1_000;
  await history.append(batchOf({ events: [keptEvent(1, anomalyEvent('a-x')), keptEvent(2, anomalyEvent('waits'))] }));
  const sinceMs = nowMs;
  const waiting = async () => (await history.standing()).incidents;
  assert.deepEqual(await waiting(), { open: 1, unnamedSinceMs: null });
  nowMs += 31_000;
  await history.append(batchOf({ events: [keptEvent(3, anomalyEvent('waits', { revision: 1 }))] }));
  assert.deepEqual(await waiting(), { open: 1, unnamedSinceMs: sinceMs });
  await history.append(kept([of('b', [], { events: [named('waits', 'x')] })], 1));
  assert.deepEqual(await waiting(), { open: 2, unnamedSinceMs: null });
});

historyTest('a history of the release before has what it had, and keeps incidents from now on', async (at) => {
  const first = await at.open();
  await first.append(batchOf({ scores: [keptScore(0)], events: [keptEvent(0, anomalyEvent('e'))] }));
  await first.close();
  const database = await at.openDatabase();
  await database.write(async (sql) => {
    await sql.query('DROP TABLE history_incidents');
    await sql.query('DROP TABLE history_incident_events');
    await sql.query('ALTER TABLE history_events DROP COLUMN first_kept_at');
    for (const name of ['judged_from', 'judged_to', 'step']) {
      await sql.query(`ALTER TABLE history_series DROP COLUMN ${name}`);
    }
    await sql.query('ALTER TABLE history_hours ADD COLUMN alarms INT8');
    await sql.query('ALTER TABLE history_version DROP COLUMN cluster');
    await sql.query('UPDATE history_version SET version = 1');
  });
  await database.close();
  const history = await at.open();
  await history.append(kept([of('a', [], { events: [named('e', 'a')] })]));
  assert.equal((await history.findEvent('e'))?.incidentId, 'a');
  assert.equal((await history.state()).scores, 1);
  const counts = (await history.detectors()).map(({ observations, events }) => [observations, events]);
  assert.deepEqual(counts, [[1, 1]]);
});
