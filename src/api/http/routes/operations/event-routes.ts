import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import type Type from 'typebox';
import type { TSchema } from 'typebox';
import type { SpanSelection } from '../../../../history/port/span-port.ts';
import {
  acknowledged,
  labelled,
  labelledReviews,
  muted,
  type ReviewAct,
  type ReviewColumns,
  type ReviewedEvent,
  reviewEvents,
} from '../../../../store/reviews/event-reviews.ts';
import { labelRows, reviewedEvents, shownReview } from '../../../operations/event-answers.ts';
import { reviewedEvent } from '../../../operations/incident-answers.ts';
import { type Operations, operationsOf } from '../../../operations/operations.ts';
import { fieldProblem, HttpProblem, invalidRequest } from '../../../wire/problem.ts';
import { countOf, cursorOf, cursorText, flagOf, matchOf, queryTime } from '../../../wire/query-values.ts';
import { described, describedMedia } from '../../../wire/schema/answer-schemas.ts';
import {
  AcknowledgeRequest,
  AnomalyEventAnswer,
  EventReview,
  EventsAnswer,
  EventsQuery,
  LabelRequest,
  LabelsQuery,
  MuteRequest,
} from '../../../wire/schema/operations/event-schema.ts';
import { ById, PAGE } from '../../../wire/schema/query-fields.ts';
import type { App, AppServices } from '../../exchange/app-services.ts';
import { callerOf } from '../../exchange/require-key.ts';

const notFound = () => new HttpProblem(404, 'There is no such event');

/** Events, and their reviews by people. */
export function addEventRoutes(app: App, services: AppServices): void {
  addEventLists(app, services);
  addReviews(app, services);
  addLabels(app, services);
}

function addEventLists(app: App, { operations, store, nowMs }: AppServices): void {
  app.get('/v1/events', described(EventsAnswer, { querystring: EventsQuery }, 404), async ({ query }) => {
    const { series = null, group = null, incident = null } = query;
    const { reader } = operationsOf(operations);
    const selection = { ...chosenSpans(query), series, group, incident };
    const { events, totalOpen, next } = await reader.listEvents(selection);
    const reviewed = await reviewedEvents({ sql: store, reader }, events, nowMs());
    const wanted = flagOf(query.acknowledged);
    const shown = reviewed.filter((event) => wanted === null || (event.acknowledged !== null) === wanted);
    return { events: shown, total_open: totalOpen, next_cursor: cursorText(next) };
  });
  app.get('/v1/events/:id', described(AnomalyEventAnswer, { params: ById }, 404), async ({ params: { id } }) => {
    const { reader } = operationsOf(operations);
    const event = await reader.findEvent(id);
    if (event === null) throw notFound();
    return (await reviewedEvents({ sql: store, reader }, [event], nowMs()))[0];
  });
}

/** The filters and the page of a list of events, or of incidents, by its query. */
export function chosenSpans(
  query: Omit<Type.Static<typeof EventsQuery>, 'kind'> & { readonly kind?: string },
): SpanSelection {
  const { detector = null, kind = null } = query;
  return {
    detector,
    kind,
    match: matchOf(query.match),
    open: flagOf(query.open),
    fromMs: queryTime(query.from),
    toMs: queryTime(query.to),
    limit: countOf(query.limit, PAGE),
    after: cursorOf(query.cursor, ['number', 'number', 'string']),
  };
}

function addReviews(app: App, services: AppServices): void {
  const { operations, store, nowMs } = services;
  const answer = async (request: FastifyRequest, id: string, columnsOf: ReviewOf) => {
    const event = await eventToReview(operationsOf(operations), id);
    const act = { atMs: nowMs(), by: callerOf(request).key.name };
    const [review] = await store.transaction((sql) => reviewEvents(sql, [event], columnsOf(act)));
    return { eventId: id, ...shownReview(review, nowMs()) };
  };
  const acts = <B extends TSchema>(body: B) => described(EventReview, { params: ById, body }, 404);
  app.post('/v1/events/:id/acknowledge', acts(AcknowledgeRequest), async (request) => {
    return answer(request, request.params.id, acknowledgement(request.body));
  });
  app.post('/v1/events/:id/mute', acts(MuteRequest), async (request) => {
    return answer(request, request.params.id, muting(request.body, nowMs()));
  });
  app.post('/v1/events/:id/label', acts(LabelRequest), async (request) => {
    const { real, note = null } = request.body;
    return answer(request, request.params.id, (act) => labelled(real === null ? null : { ...act, real, note }));
  });
}

/** The review of an event, or of an incident, by somebody at a time. */
export type ReviewOf = (act: ReviewAct) => ReviewColumns;

export function acknowledgement(body: Type.Static<typeof AcknowledgeRequest>): ReviewOf {
  const { acknowledged: on = true, note = null } = body;
  return (act) => acknowledged(on ? { ...act, note } : null);
}

export function muteProblems({ until, reason = '' }: Type.Static<typeof MuteRequest>, nowMs: number) {
  return [
    ...(until !== null && until <= nowMs ? [fieldProblem(['body', 'until'], 'until must be in the future')] : []),
    ...(until !== null && reason === '' ? [fieldProblem(['body', 'reason'], 'a mute needs a reason')] : []),
  ];
}

/** The review that mutes, or ends a mute. Throws an HttpProblem with all problems of the body. */
export function muting(body: Type.Static<typeof MuteRequest>, nowMs: number): ReviewOf {
  const { until, reason = '' } = body;
  const problems = muteProblems(body, nowMs);
  if (problems.length > 0) throw invalidRequest(problems);
  return (act) => muted(until === null ? null : { ...act, untilMs: until, reason });
}

async function eventToReview({ reader }: Operations, id: string): Promise<ReviewedEvent> {
  const event = await reader.findEvent(id);
  if (event === null) throw notFound();
  return reviewedEvent(event);
}

function addLabels(app: App, { store }: AppServices): void {
  app.get('/v1/labels', describedMedia('text/csv', { querystring: LabelsQuery }), async ({ query }, reply) => {
    const range = { fromMs: queryTime(query.from) ?? 0, toMs: queryTime(query.to) ?? Number.MAX_SAFE_INTEGER };
    const rows = labelRows(await labelledReviews(store, range));
    return reply.type('text/csv; charset=utf-8').send(Readable.from(rows) as never);
  });
}
