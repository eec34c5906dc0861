import type { AnomalyEvent } from '../records/anomaly-event.ts';
import { isSilence } from '../records/score-record.ts';
import type { HistoryBatch, HistoryPlace, HistorySource, KeptScore, SourcePosition } from './port/history-port.ts';
import type { ColumnValues, HistorySql, HistoryValue, HistoryWritingSql } from './sql/history-database.ts';
import { fillPart, openPart } from './sql/score-parts.ts';
import { SCORE_COLUMNS } from './sql/score-row.ts';
import type { SeriesIds } from './sql/series-ids.ts';
import { makeBatchTable, NEWEST_BATCH } from './sql/tables.ts';

const HOUR_MS = 3_600_000;

/** Stores a batch in one transaction, except rows that exist. */
export async function appendBatch(
  sql: HistoryWritingSql,
  batch: HistoryBatch,
  { ids, nowMs }: { readonly ids: SeriesIds; readonly nowMs: number },
): Promise<HistoryBatch> {
  const stored = await readPositions(sql);
  const isNew = (source: HistorySource) => (place: HistoryPlace) => {
    return place.offset >= storedOffset(stored, batch.positions, source, place.partition);
  };
  const fresh = {
    scores: batch.scores.filter(isNew('scores')),
    events: batch.events.filter(isNew('events')),
    incidents: batch.incidents.filter(isNew('incidents')),
    deadLetters: batch.deadLetters.filter(isNew('dead-letters')),
    positions: batch.positions.filter(({ source, partition, nextOffset }) => {
      return nextOffset > storedOffset(stored, batch.positions, source, partition);
    }),
  };
  if (fresh.scores.length > 0) await keepScores(sql, fresh.scores, { ids, nowMs });
  if (fresh.events.length > 0) await keepEvents(sql, fresh.events, nowMs);
  if (fresh.incidents.length > 0) await keepIncidents(sql, fresh.incidents, nowMs);
  await upsertRows(sql, {
    table: 'history_letters',
    rows: fresh.deadLetters.map(({ partition, offset, reason, atMs, record }) => {
      return [partition, offset, reason, atMs, record];
    }),
    onConflict: '(partition, letter_offset) DO NOTHING',
  });
  await keepPositions(sql, fresh.positions);
  return fresh;
}

export async function readPositions(sql: HistorySql): Promise<SourcePosition[]> {
  return sql.query<SourcePosition>(
    `SELECT source, topic_id AS "topicId", partition, next_offset AS "nextOffset"
      FROM history_positions ORDER BY source, partition`,
  );
}

/** 0 where nothing is stored, or the topic was created again since then. */
function storedOffset(
  stored: readonly SourcePosition[],
  given: readonly SourcePosition[],
  source: HistorySource,
  partition: number,
): number {
  const isHere = (each: SourcePosition) => each.source === source && each.partition === partition;
  const [known, now] = [stored.find(isHere), given.find(isHere)];
  const sameTopic = known?.topicId === now?.topicId || known?.topicId === null || now?.topicId === null;
  return known === undefined || (now !== undefined && !sameTopic) ? 0 : known.nextOffset;
}

function keepPositions(sql: HistorySql, positions: readonly SourcePosition[]): Promise<void> {
  return upsertRows(sql, {
    table: 'history_positions',
    rows: positions.map(({ source, partition, topicId, nextOffset }) => [source, partition, topicId, nextOffset]),
    onConflict: '(source, partition) DO UPDATE SET topic_id = excluded.topic_id, next_offset = excluded.next_offset',
  });
}

async function keepScores(
  sql: HistoryWritingSql,
  scores: readonly KeptScore[],
  { ids, nowMs }: { readonly ids: SeriesIds; readonly nowMs: number },
): Promise<void> {
  const idOf = await ids.resolve(sql, scores);
  const observed = scores.filter((score) => !isSilence(score));
  if (observed.length > 0) await keepObserved(sql, observed, { idOf, nowMs });
  await updateNewest(sql, newestOf(scores), { idOf, nowMs, judged: judgedSpans(scores) });
}

interface KeepingRows {
  readonly idOf: ReadonlyMap<string, number>;
  readonly nowMs: number;
}

async function keepObserved(
  sql: HistoryWritingSql,
  scores: readonly KeptScore[],
  { idOf, nowMs }: KeepingRows,
): Promise<void> {
  const times = scores.map(({ timestampMs }) => timestampMs);
  const filled = {
    ids: scores.map(({ series }) => idOf.get(series)!),
    columns: SCORE_COLUMNS.map(({ of }) => scores.map(of)),
    fromMs: times.reduce((a, b) => Math.min(a, b)),
    toMs: times.reduce((a, b) => Math.max(a, b)),
  };
  await fillPart(sql, await openPart(sql, nowMs), filled, nowMs);
  await upsertRows(sql, {
    table: 'history_hours',
    rows: byHour(scores).map(({ detector, hour, observations }) => [detector, hour, observations]),
    onConflict: '(detector, hour) DO UPDATE SET observations = history_hours.observations + excluded.observations',
  });
}

interface NewestScore {
  score: KeptScore;
  /** The smallest distance of two scores of the batch; null for a single one. */
  stepMs: number | null;
}

function newestOf(scores: readonly KeptScore[]): NewestScore[] {
  const newest = new Map<string, NewestScore>();
  for (const score of scores) {
    const known = newest.get(score.series);
    if (known === undefined) newest.set(score.series, { score, stepMs: null });
    else {
      const distance = score.timestampMs - known.score.timestampMs;
      if (distance >= 0) known.score = score;
      if (distance > 0) known.stepMs = Math.min(known.stepMs ?? distance, distance);
    }
  }
  return [...newest.values()];
}

interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** From when until when each series was judged, by the detector of its newest score. */
function judgedSpans(scores: readonly KeptScore[]): ReadonlyMap<string, Span> {
  const spans = new Map<string, Span & { readonly detector: string }>();
  for (const { series, detector, state, timestampMs: ms } of scores) {
    if (state !== 'scored') continue;
    const known = spans.get(series);
    const span = known?.detector === detector ? known : { fromMs: ms, toMs: ms };
    spans.set(series, { detector, fromMs: Math.min(span.fromMs, ms), toMs: Math.max(span.toMs, ms) });
  }
  return spans;
}

/** The known judged span counts unless another detector judges now. */
const JUDGED_FROM = `CASE WHEN history_series.detector = b.detector AND history_series.judged_from IS NOT NULL
  THEN history_series.judged_from ELSE b.judged_from END`;
const JUDGED_TO = `CASE WHEN b.judged_to IS NULL AND history_series.detector = b.detector
  THEN history_series.judged_to ELSE b.judged_to END`;

/** The smallest distance of two observations, of which the newest of earlier batches is one. */
const STEP = `LEAST(history_series.step, b.step,
  CASE WHEN b.time > history_series.time THEN b.time - history_series.time END)`;

async function updateNewest(
  sql: HistoryWritingSql,
  rows: readonly NewestScore[],
  { idOf, nowMs, judged }: KeepingRows & { readonly judged: ReadonlyMap<string, Span> },
): Promise<void> {
  const newest = rows.map(({ score }) => score);
  await makeBatchTable(sql);
  const text = (name: string, of: (score: KeptScore) => string | null): ColumnValues => {
    return { name, type: 'text', values: newest.map(of) };
  };
  await sql.insert(NEWEST_BATCH, [
    { name: 'id', type: 'int4', values: newest.map(({ series }) => idOf.get(series)!) },
    text('detector', ({ detector }) => detector),
    text('member_of', ({ group }) => group),
    { name: 'kept_at', type: 'int8', values: newest.map(() => nowMs) },
    { name: 'judged_from', type: 'int8', values: newest.map(({ series }) => judged.get(series)?.fromMs ?? null) },
    { name: 'judged_to', type: 'int8', values: newest.map(({ series }) => judged.get(series)?.toMs ?? null) },
    { name: 'step', type: 'int8', values: rows.map(({ stepMs }) => stepMs) },
    ...SCORE_COLUMNS.map(({ name, type, of }) => ({ name, type, values: newest.map(of) })),
  ]);
  const names = ['detector', 'member_of', 'kept_at', ...SCORE_COLUMNS.map(({ name }) => name)];
  await sql.query(
    `UPDATE history_series SET judged_from = ${JUDGED_FROM}, judged_to = ${JUDGED_TO}, step = ${STEP},
        ${names.map((name) => `${name} = b.${name}`).join(', ')} FROM ${NEWEST_BATCH} AS b
      WHERE history_series.id = b.id AND (history_series.time IS NULL OR b.time >= history_series.time)`,
  );
}

function byHour(scores: readonly KeptScore[]) {
  const hours = new Map<string, { detector: string; hour: number; observations: number }>();
  for (const { detector, timestampMs } of scores) {
    const hour = timestampMs - (timestampMs % HOUR_MS);
    const key = `${hour} ${detector}`;
    const sum = hours.get(key) ?? { detector, hour, observations: 0 };
    sum.observations++;
    hours.set(key, sum);
  }
  return [...hours.values()];
}

/** The newest revision of each event. A member of a group is found by its series. */
async function keepEvents(sql: HistorySql, events: HistoryBatch['events'], nowMs: number): Promise<void> {
  const newest = new Map<string, AnomalyEvent>();
  const members = new Map<string, readonly [string, string]>();
  for (const { event } of events) {
    const known = newest.get(event.eventId);
    if (known === undefined || event.revision >= known.revision) newest.set(event.eventId, event);
    for (const { series } of event.members) members.set(`${event.eventId} ${series}`, [event.eventId, series]);
  }
  await upsertRows(sql, {
    table: 'history_events',
    rows: [...newest.values()].map((event) => {
      const { eventId, revision, detector, series, group, kind, startedAtMs, endedAtMs } = event;
      const found = [eventId, revision, detector, series, group, kind, startedAtMs, endedAtMs];
      return [...found, nowMs, JSON.stringify(event), nowMs];
    }),
    onConflict: `(id) DO UPDATE SET revision = excluded.revision, kind = excluded.kind, ended = excluded.ended,
      kept_at = excluded.kept_at, record = excluded.record WHERE excluded.revision >= history_events.revision`,
  });
  await upsertRows(sql, {
    table: 'history_members',
    rows: [...members.values()],
    onConflict: '(event_id, series) DO NOTHING',
  });
}

/**
 * Revisions in the order they were written: the last one of an incident counts. Each names the events that joined, so
 * they are rows of their own; those of a merged incident move to the one that it is part of from now on.
 */
async function keepIncidents(sql: HistorySql, incidents: HistoryBatch['incidents'], nowMs: number): Promise<void> {
  const newest = new Map(incidents.map(({ incident }) => [incident.incidentId, incident]));
  const named = incidents.flatMap(({ incident }) => incident.events.map((event) => ({ incident, event })));
  await upsertRows(sql, {
    table: 'history_incidents',
    rows: [...newest.values()].map((incident) => {
      const { incidentId, kind, mergedInto, startedAtMs, endedAtMs } = incident;
      const found = [incidentId, kind, mergedInto, startedAtMs, endedAtMs];
      return [...found, nowMs, JSON.stringify({ ...incident, events: [] })];
    }),
    onConflict: `(id) DO UPDATE SET kind = excluded.kind, merged_into = excluded.merged_into,
      started = excluded.started, ended = excluded.ended, kept_at = excluded.kept_at, record = excluded.record`,
  });
  await upsertRows(sql, {
    table: 'history_incident_events',
    rows: [...new Map(named.map((each) => [each.event.eventId, each])).values()].map(({ incident, event }) => {
      const { eventId, detector, series, group, startedAtMs } = event;
      return [eventId, incident.incidentId, detector, series, group, startedAtMs, JSON.stringify(event)];
    }),
    onConflict: '(event_id) DO UPDATE SET incident_id = excluded.incident_id, record = excluded.record',
  });
  await mergeIncidents(sql, incidents);
}

async function mergeIncidents(sql: HistorySql, incidents: HistoryBatch['incidents']): Promise<void> {
  const into = new Map<string, string>();
  for (const { incident } of incidents) {
    if (incident.mergedInto !== null) into.set(incident.incidentId, incident.mergedInto);
  }
  if (into.size === 0) return;
  const merges = [...into.keys()].map((id) => {
    let survivor = into.get(id)!;
    for (let next = into.get(survivor); next !== undefined; next = into.get(survivor)) survivor = next;
    return [id, survivor];
  });
  const marks = merges.map((_, i) => `(CAST($${2 * i + 1} AS TEXT), CAST($${2 * i + 2} AS TEXT))`);
  const merged = `(VALUES ${marks.join(', ')}) AS merged (id, survivor)`;
  for (const [table, column] of [
    ['history_incident_events', 'incident_id'],
    ['history_incidents', 'merged_into'],
  ]) {
    await sql.query(
      `UPDATE ${table} SET ${column} = merged.survivor FROM ${merged} WHERE ${table}.${column} = merged.id`,
      merges.flat(),
    );
  }
}

const ROWS_AT_ONCE = 200;

interface Upsert {
  readonly table: string;
  /** Rows of distinct keys: all columns of the table, in their order. */
  readonly rows: readonly (readonly HistoryValue[])[];
  readonly onConflict: string;
}

/** Inserts rows, or does what their conflict defines, hundreds a statement: one by one takes milliseconds each. */
async function upsertRows(sql: HistorySql, { table, rows, onConflict }: Upsert): Promise<void> {
  for (let start = 0; start < rows.length; start += ROWS_AT_ONCE) {
    const some = rows.slice(start, start + ROWS_AT_ONCE);
    let mark = 0;
    const marks = some.map((row) => `(${row.map(() => `$${++mark}`).join(', ')})`);
    await sql.query(`INSERT INTO ${table} VALUES ${marks.join(', ')} ON CONFLICT ${onConflict}`, some.flat());
  }
}
