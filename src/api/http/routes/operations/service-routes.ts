import type { KeptDeadLetter } from '../../../../history/port/history-port.ts';
import type { DeadLetterRecord } from '../../../../records/dead-letter.ts';
import { listFinetunedModels } from '../../../../store/models/finetuned-models.ts';
import { noteRedriven, redrivenLetters } from '../../../../store/reviews/event-reviews.ts';
import { freshnessReader } from '../../../operations/freshness.ts';
import { NO_HISTORY, noStream, type Operations, operationsOf } from '../../../operations/operations.ts';
import { HttpProblem } from '../../../wire/problem.ts';
import { countOf, cursorOf, cursorText } from '../../../wire/query-values.ts';
import { described } from '../../../wire/schema/answer-schemas.ts';
import { Freshness } from '../../../wire/schema/operations/freshness-schema.ts';
import {
  DeadLettersAnswer,
  DeadLettersQuery,
  Redriven,
  ServiceState,
} from '../../../wire/schema/operations/service-schema.ts';
import { ById, PAGE } from '../../../wire/schema/query-fields.ts';
import type { App, AppServices } from '../../exchange/app-services.ts';
import { callerOf } from '../../exchange/require-key.ts';

const LETTER_ID = /^(\d{1,10})-(\d{1,15})$/;

/** State of the service, for operators. */
export function addServiceRoutes(app: App, services: AppServices): void {
  const { operations, store, jobs } = services;
  app.get('/v1/service', described(ServiceState), async (request) => {
    const { owner } = callerOf(request).key;
    const [{ history, deadLetters }, workers, open, tuned] = await Promise.all([
      historyState(operations),
      operations === null ? null : workersState(operations),
      jobs.inFlight(owner),
      listFinetunedModels(store, owner),
    ]);
    const count = (status: string) =>
      open.filter((each) => each.status === status).reduce((sum, each) => sum + each.jobs, 0);
    return {
      history,
      workers,
      dead_letters: deadLetters.map(({ reason, letters, newestMs }) => ({ reason, letters, newest_at: newestMs })),
      jobs: { pending: count('pending'), running: count('running') },
      tuned_models: tuned.length,
    };
  });
  addFreshness(app, services);
  addDeadLetters(app, services);
}

function addFreshness(app: App, { operations, nowMs }: AppServices): void {
  const read = operations === null ? null : freshnessReader(operations, nowMs);
  app.get('/v1/freshness', described(Freshness, {}, 404), async () =>
    read === null ? Promise.reject(noStream()) : read(),
  );
}

async function historyState(operations: Operations | null) {
  const ends = operations === null ? [] : await operations.cluster.historyEnds().catch(() => []);
  // While the history starts, or its database is away, the rest is shown.
  const state = (await operations?.reader.state().catch(() => null)) ?? NO_HISTORY;
  const partitions = state.positions.map(({ source, partition, nextOffset }) => {
    const end = ends.find((each) => each.source === source && each.partition === partition)?.endOffset ?? null;
    const lag = end === null ? null : Math.max(0, end - nextOffset);
    return { topic: operations!.topics[source], partition, next_offset: nextOffset, end_offset: end, lag };
  });
  const problem = operations?.problem();
  const history = {
    kept: operations !== null,
    store: operations === null ? null : 'duckdb',
    series: state.series,
    scores: state.scores,
    events: state.events,
    bytes: state.bytes,
    oldest: state.oldestMs,
    partitions,
    days_max: operations?.bounds.days ?? 0,
    gb_max: operations?.bounds.gb ?? 0,
    problem: problem?.due === null ? problem.reason : null,
  };
  return { history, deadLetters: state.deadLetters };
}

/** null if Kafka does not answer: the page shows the rest. */
async function workersState({ cluster }: Operations) {
  const state = await cluster.workers().catch(() => null);
  if (state === null) return null;
  const partitions = state.partitions.map(({ topic, partition, nextOffset, endOffset, owner }) => {
    const lag = nextOffset === null ? null : Math.max(0, endOffset - nextOffset);
    return { topic, partition, next_offset: nextOffset, end_offset: endOffset, lag, owner };
  });
  return { group: state.group, members: state.members, partitions };
}

function addDeadLetters(app: App, { operations, store, nowMs }: AppServices): void {
  app.get(
    '/v1/dead-letters',
    described(DeadLettersAnswer, { querystring: DeadLettersQuery }, 404),
    async ({ query: { reason = null, limit, cursor } }) => {
      const selection = {
        reason,
        limit: countOf(limit, PAGE),
        after: cursorOf(cursor, ['number', 'number', 'number']),
      };
      const [{ letters, next }, redriven] = await Promise.all([
        operationsOf(operations).reader.listDeadLetters(selection),
        redrivenLetters(store),
      ]);
      return { dead_letters: letters.map((letter) => shownLetter(letter, redriven)), next_cursor: cursorText(next) };
    },
  );
  app.post('/v1/dead-letters/:id/redrive', described(Redriven, { params: ById }, 404, 409), async (request) => {
    const { id } = request.params;
    const { reader, cluster } = operationsOf(operations);
    const [, partition, offset] = LETTER_ID.exec(id) ?? [];
    const place = { partition: Number(partition), offset: Number(offset) };
    const letter = partition === undefined ? null : await reader.findDeadLetter(place);
    if (letter === null) throw new HttpProblem(404, 'There is no such dead letter');
    const { topic, record } = letterToRedrive(letter);
    const by = callerOf(request).key.name;
    // In one transaction: where Kafka refuses, the letter may be sent later.
    await store.transaction(async (sql) => {
      if (!(await noteRedriven(sql, place, { atMs: nowMs(), by }))) {
        throw new HttpProblem(409, 'The record of this dead letter was sent again before');
      }
      await cluster.redrive(record);
    });
    return { id, topic, partition: record.partition };
  });
}

/** Longer keys and values are cut where they are shown. */
const SHOWN_LENGTH_MAX = 10_000;

function shownLetter({ partition, offset, record }: KeptDeadLetter, redriven: ReadonlySet<string>) {
  const id = `${partition}-${offset}`;
  const { reason, detail, series, detector, input, atMs, key, value, truncated } = JSON.parse(
    record,
  ) as DeadLetterRecord;
  const { topic, timestampMs } = input;
  const place = { topic, partition: input.partition, offset: input.offset, timestampMs };
  const shown = { id, reason, detail, atMs, series, detector, input: place, truncated };
  return { ...shown, key: textOf(key), value: textOf(value), redriven: redriven.has(id) };
}

function textOf(base64: string | null): string | null {
  return base64 === null ? null : Buffer.from(base64, 'base64').toString().slice(0, SHOWN_LENGTH_MAX);
}

/** The record of a dead letter as it was read. Throws an HttpProblem where the letter does not hold all of it. */
function letterToRedrive({ record }: KeptDeadLetter) {
  const { input, key, value, truncated } = JSON.parse(record) as DeadLetterRecord;
  if (truncated || input.lastOffset !== undefined) {
    throw new HttpProblem(409, 'The dead letter does not hold the whole record, so it cannot be sent again');
  }
  const bytes = (base64: string | null) => (base64 === null ? null : Buffer.from(base64, 'base64'));
  return { topic: input.topic, record: { partition: input.partition, key: bytes(key), value: bytes(value) } };
}
