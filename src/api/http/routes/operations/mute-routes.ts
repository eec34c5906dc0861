import { randomUUID } from 'node:crypto';
import { patternProblem } from '../../../../records/series/series-pattern.ts';
import {
  addMute,
  endedMutes,
  endMute,
  holdingMutes,
  MUTES_MAX,
  type MuteRecord,
} from '../../../../store/reviews/mutes.ts';
import { listSent, type SentAlert } from '../../../../store/reviews/sent-alerts.ts';
import { fieldProblem, HttpProblem, invalidRequest } from '../../../wire/problem.ts';
import { countOf, cursorOf, cursorText } from '../../../wire/query-values.ts';
import { described } from '../../../wire/schema/answer-schemas.ts';
import { MuteAnswer, MutesAnswer, MutesQuery, NewMuteRequest } from '../../../wire/schema/operations/mute-schema.ts';
import { SentAnswer, SentQuery } from '../../../wire/schema/operations/sent-schema.ts';
import { ById, PAGE } from '../../../wire/schema/query-fields.ts';
import type { App, AppServices } from '../../exchange/app-services.ts';
import { callerOf } from '../../exchange/require-key.ts';
import { muteProblems } from './event-routes.ts';

/** Series and detectors that people have muted until a time. */
export function addMuteRoutes(app: App, { store, nowMs }: Pick<AppServices, 'store' | 'nowMs'>): void {
  app.get('/v1/mutes', described(MutesAnswer, { querystring: MutesQuery }), async ({ query }) => {
    const list = query.ended === 'true' ? endedMutes : holdingMutes;
    return { mutes: (await list(store, nowMs())).map(shownMute) };
  });
  app.post('/v1/mutes', described(MuteAnswer, { body: NewMuteRequest }, 409), async (request) => {
    const { match = null, detector = null, until: untilMs, reason } = request.body;
    const problems = [...choiceProblems(match, detector), ...muteProblems(request.body, nowMs())];
    if (problems.length > 0) throw invalidRequest(problems);
    const by = callerOf(request).key.name;
    const given = { id: randomUUID(), match, detector, atMs: nowMs(), by, untilMs, reason };
    const mute = await store.transaction((sql) => addMute(sql, given));
    if (mute === null) throw new HttpProblem(409, `${MUTES_MAX} mutes are active already: end one first`);
    return shownMute(mute);
  });
  app.delete('/v1/mutes/:id', described(MuteAnswer, { params: ById }, 404), async (request) => {
    const mute = await endMute(store, request.params.id, { atMs: nowMs(), by: callerOf(request).key.name });
    if (mute === null) throw new HttpProblem(404, 'There is no such mute, or it has ended');
    return shownMute(mute);
  });
}

function choiceProblems(match: string | null, detector: string | null) {
  const neither = match === null && detector === null;
  const problem = match === null ? null : patternProblem(match);
  return [
    ...(neither ? [fieldProblem(['body', 'match'], 'a mute needs match, detector or both')] : []),
    ...(problem === null ? [] : [fieldProblem(['body', 'match'], `match must be ${problem}`)]),
  ];
}

function shownMute({ id, match, detector, atMs: at, by, untilMs: until, reason, ended }: MuteRecord): MuteAnswer {
  return { id, match, detector, at, by, until, reason, ended: ended && { at: ended.atMs, by: ended.by } };
}

/** Notifications of alerts, as the process that sends them has stored them. */
export function addSentRoute(app: App, { store }: Pick<AppServices, 'store'>): void {
  app.get(
    '/v1/sent',
    described(SentAnswer, { querystring: SentQuery }),
    async ({ query: { event, incident, receiver = null, limit, cursor } }) => {
      const subjectIds = [event, incident].filter((id) => id !== undefined);
      const [before = null] = (cursorOf(cursor, ['number']) ?? []) as readonly number[];
      const { sent, next } = await listSent(store, { subjectIds, receiver, limit: countOf(limit, PAGE), before });
      return { sent: sent.map(shownSent), next_cursor: cursorText(next === null ? null : [next]) };
    },
  );
}

function shownSent({ atMs: at, about, subjectId, ...same }: SentAlert): SentAnswer['sent'][number] {
  const [eventId, incidentId] = about === 'event' ? [subjectId, null] : [null, subjectId];
  return { at, eventId, incidentId, ...same };
}
