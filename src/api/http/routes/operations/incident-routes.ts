import type { FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import type { FoundIncident } from '../../../../history/port/span-port.ts';
import type { Incident } from '../../../../records/incident.ts';
import type { Sql } from '../../../../store/database/database.ts';
import type { ReviewAct } from '../../../../store/reviews/event-reviews.ts';
import { giveVerdict, reviewIncident, type WholeIncident } from '../../../../store/reviews/incident-reviews.ts';
import {
  incidentDetail,
  reviewedIncident,
  reviewedIncidents,
  shownIncidentReview,
} from '../../../operations/incident-answers.ts';
import { operationsOf } from '../../../operations/operations.ts';
import { fieldProblem, HttpProblem, invalidRequest } from '../../../wire/problem.ts';
import { cursorText, flagOf } from '../../../wire/query-values.ts';
import { described } from '../../../wire/schema/answer-schemas.ts';
import { AcknowledgeRequest, MuteRequest } from '../../../wire/schema/operations/event-schema.ts';
import {
  IncidentDetailAnswer,
  IncidentReview,
  IncidentsAnswer,
  IncidentsQuery,
  VerdictRequest,
} from '../../../wire/schema/operations/incident-schema.ts';
import { ById } from '../../../wire/schema/query-fields.ts';
import type { App, AppServices } from '../../exchange/app-services.ts';
import { callerOf } from '../../exchange/require-key.ts';
import { acknowledgement, chosenSpans, muting, type ReviewOf } from './event-routes.ts';

/** Related events, with the feedback of people. */
export function addIncidentRoutes(app: App, services: AppServices): void {
  addIncidentLists(app, services);
  addIncidentReviews(app, services);
  addVerdicts(app, services);
}

async function foundIncident({ operations }: AppServices, id: string) {
  const found = await operationsOf(operations).reader.findIncident(id);
  if (found === null) throw new HttpProblem(404, 'There is no such incident');
  return found;
}

function addIncidentLists(app: App, services: AppServices): void {
  const { operations, store, nowMs } = services;
  app.get('/v1/incidents', described(IncidentsAnswer, { querystring: IncidentsQuery }, 404), async ({ query }) => {
    const { reader } = operationsOf(operations);
    const selection = { ...chosenSpans(query), single: flagOf(query.single) };
    const { incidents, totalOpen, next } = await reader.listIncidents(selection);
    const shown = await reviewedIncidents({ sql: store, reader }, incidents, nowMs());
    return { incidents: shown, total_open: totalOpen, next_cursor: cursorText(next) };
  });
  app.get('/v1/incidents/:id', described(IncidentDetailAnswer, { params: ById }, 404), async ({ params: { id } }) => {
    const found = await foundIncident(services, id);
    const { reader, changes } = operationsOf(operations);
    return incidentDetail(found, { sql: store, reader, changes: changes.known, nowMs: nowMs() });
  });
}

function wholeIncident({ incident: { incidentId }, mergedIds }: FoundIncident): WholeIncident {
  return { incidentId, mergedIds };
}

/** Reads what it needs of the history, and returns what it writes. */
type IncidentAct = (found: FoundIncident, act: ReviewAct) => Promise<(sql: Sql) => Promise<unknown>>;

/** Reviews an incident, and answers with its reviews. */
function reviewer({ store, nowMs, ...services }: AppServices) {
  return async (request: FastifyRequest, id: string, reviewing: IncidentAct) => {
    const found = await foundIncident({ store, nowMs, ...services }, id);
    const act = { atMs: nowMs(), by: callerOf(request).key.name };
    await store.transaction(await reviewing(found, act));
    const { reader } = operationsOf(services.operations);
    return shownIncidentReview({ sql: store, reader }, found.incident.incidentId, nowMs());
  };
}

const reviewing = <B extends TSchema>(body: B) => described(IncidentReview, { params: ById, body }, 404);

function addIncidentReviews(app: App, services: AppServices): void {
  const { operations, nowMs } = services;
  const answer = reviewer(services);
  const reviewed = (columnsOf: ReviewOf): IncidentAct => {
    return async (found, act) => {
      const incident = await reviewedIncident(operationsOf(operations).reader, wholeIncident(found));
      return (sql) => reviewIncident(sql, incident, columnsOf(act));
    };
  };
  app.post('/v1/incidents/:id/acknowledge', reviewing(AcknowledgeRequest), async (request) => {
    return answer(request, request.params.id, reviewed(acknowledgement(request.body)));
  });
  app.post('/v1/incidents/:id/mute', reviewing(MuteRequest), async (request) => {
    return answer(request, request.params.id, reviewed(muting(request.body, nowMs())));
  });
}

function addVerdicts(app: App, services: AppServices): void {
  const answer = reviewer(services);
  app.post('/v1/incidents/:id/verdict', reviewing(VerdictRequest), async (request) => {
    const { verdict, subject, given = true, note = null } = request.body;
    return answer(request, request.params.id, async (found, act) => {
      if (verdict === 'not-related' && !(await isMember(services, found.incident, subject))) {
        throw invalidRequest([fieldProblem(['body', 'subject'], 'subject must be the id of an event of the incident')]);
      }
      const incident = wholeIncident(found);
      return (sql) => giveVerdict(sql, incident, { verdict, subject }, given ? { ...act, note } : null);
    });
  });
}

/** Not all events of a large incident are listed with it. */
async function isMember({ operations }: AppServices, { incidentId, events }: Incident, id: string): Promise<boolean> {
  if (events.some(({ eventId }) => eventId === id)) return true;
  return (await operationsOf(operations).reader.findEvent(id))?.incidentId === incidentId;
}
