import type { SentAnswer } from '../../../../api/wire/schema/operations/sent-schema.ts';
import { routeTo } from '../../../view/route.ts';
import { timeText, zonedText } from '../../../view/words/value-words.ts';
import { type Console, useLoaded } from '../../element/hooks.ts';
import { html, type Shown } from '../../element/html.ts';

export type Sent = SentAnswer['sent'][number];

const EVERY_MS = 15_000;
const SHOWN_MAX = 12;

/** `accepted`, or why it failed. */
export function outcomeText({ outcome, detail }: Pick<Sent, 'outcome' | 'detail'>): string {
  return outcome === 'accepted' ? outcome : `given up, ${outcome.replaceAll('-', ' ')}: ${detail}`;
}

interface SentOfProps {
  readonly app: Console;
  /** Ids; null if there is none. */
  readonly event: string | null;
  readonly incident: string | null;
}

/** Whom an event or its incident was sent to, and when. */
export function SentOf({ app, event, incident }: SentOfProps): Shown {
  const wanted = { ...(event !== null && { event }), ...(incident !== null && { incident }), limit: SHOWN_MAX };
  const load = () => app.source.sent(wanted);
  const { value } = useLoaded(`sent ${event} ${incident}`, load, EVERY_MS);
  if (value === null || value.sent.length === 0) return null;
  const all = routeTo('sent', null, { event: event ?? '', incident: incident ?? '' });
  return html`<section class="panel"><h2>Sent to</h2>
    <ul class="event-list sent">${value.sent.map(
      (sent) => html`<li><span>${sent.receiver}: ${sent.type}</span>
        <time title=${zonedText(sent.at)}>${timeText(sent.at, Date.now())}</time>
        ${sent.outcome !== 'accepted' && html`<p class="aside">${outcomeText(sent)}</p>`}</li>`,
    )}</ul>
    <p class="aside"><a href=${all}>With outcomes and routes</a></p></section>`;
}
