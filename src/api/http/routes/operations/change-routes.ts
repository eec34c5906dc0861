import Type from 'typebox';
import { CHANGE_BEFORE_MS, CHANGE_LIMITS } from '../../../../records/changes/change-limits.ts';
import type { ConcernedSubject } from '../../../../records/changes/deployments.ts';
import { readChange } from '../../../../records/changes/read-change.ts';
import { concernedBy, concernedSeries } from '../../../operations/concerned.ts';
import { type Operations, operationsOf } from '../../../operations/operations.ts';
import { fieldProblem, HttpProblem, invalidRequest } from '../../../wire/problem.ts';
import { countOf, queryTime } from '../../../wire/query-values.ts';
import { described } from '../../../wire/schema/answer-schemas.ts';
import {
  ChangeRequest,
  ChangesAnswer,
  ChangesQuery,
  ChangeTakenBack,
  DeploymentAnswer,
} from '../../../wire/schema/operations/change-schema.ts';
import { PAGE } from '../../../wire/schema/query-fields.ts';
import type { App, AppServices } from '../../exchange/app-services.ts';

/** Changes that people and programs report, such as deployments. */
export function addChangeRoutes(app: App, { operations, nowMs }: AppServices): void {
  app.post('/v1/changes', described(DeploymentAnswer, { body: ChangeRequest }, 404), async ({ body }) => {
    const { changes } = operationsOf(operations);
    const read = readChange(body, nowMs());
    if (read.kind === 'problems') {
      throw invalidRequest(
        read.problems.map(({ field, expected }) => fieldProblem(['body', field], `${field} must be ${expected}`)),
      );
    }
    await changes.write(read.change.id, read.change);
    return shown(read.change);
  });
  app.get('/v1/changes', described(ChangesAnswer, { querystring: ChangesQuery }, 404), async ({ query }) => {
    const asked = operationsOf(operations);
    const { fromMs, toMs, subjects } = await concerned(asked, query);
    const found = asked.changes.known.between(queryTime(query.from) ?? fromMs, queryTime(query.to) ?? toMs, subjects);
    return { changes: found.slice(0, countOf(query.limit, PAGE)).map(shown), total: found.length };
  });
  app.delete(
    '/v1/changes/:id',
    described(
      ChangeTakenBack,
      { params: Type.Object({ id: Type.String({ minLength: 1, maxLength: CHANGE_LIMITS.idCharactersMax }) }) },
      404,
      422,
    ),
    async ({ params: { id } }) => {
      const { changes } = operationsOf(operations);
      if (!changes.known.has(id))
        throw new HttpProblem(404, 'There is no such change: what another process wrote is known a moment later');
      await changes.write(id, null);
      return { id };
    },
  );
}

function shown<T extends { readonly tags: readonly string[] }>(change: T) {
  return { ...change, tags: [...change.tags] };
}

interface Concerned {
  readonly fromMs: number;
  readonly toMs: number;
  /** null: everything. */
  readonly subjects: readonly ConcernedSubject[] | null;
}

async function concerned(
  { reader }: Operations,
  { series, event: eventId, incident: incidentId }: { series?: string; event?: string; incident?: string },
): Promise<Concerned> {
  const always = { fromMs: Number.NEGATIVE_INFINITY, toMs: Number.POSITIVE_INFINITY };
  if ([series, eventId, incidentId].filter((each) => each !== undefined).length > 1) {
    const problem = 'only one of series, event and incident may be given';
    throw invalidRequest([fieldProblem(['query', 'series'], problem)]);
  }
  if (series !== undefined) return { ...always, subjects: await concernedSeries(reader, series) };
  if (eventId !== undefined) {
    const event = await reader.findEvent(eventId);
    if (event === null) throw new HttpProblem(404, 'There is no such event');
    return { ...around(event), subjects: concernedBy(event) };
  }
  if (incidentId === undefined) return { ...always, subjects: null };
  const found = await reader.findIncident(incidentId);
  if (found === null) throw new HttpProblem(404, 'There is no such incident');
  return { ...around(found.incident), subjects: found.incident.events };
}

function around({ startedAtMs, endedAtMs }: { readonly startedAtMs: number; readonly endedAtMs: number | null }) {
  return { fromMs: startedAtMs - CHANGE_BEFORE_MS, toMs: endedAtMs ?? Number.POSITIVE_INFINITY };
}
