import { listSent, type SentAlert } from '../../../../store/reviews/sent-alerts.ts';
import { countOf, cursorOf, cursorText } from '../../../wire/query-values.ts';
import { described } from '../../../wire/schema/answer-schemas.ts';
import { SentAnswer, SentQuery } from '../../../wire/schema/operations/sent-schema.ts';
import { PAGE } from '../../../wire/schema/query-fields.ts';
import type { AppServices } from '../../exchange/app-services.ts';
import type { App } from '../../exchange/fastify-app.ts';

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
