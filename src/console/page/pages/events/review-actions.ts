import { useEffect, useRef, useState } from 'preact/hooks';
import type { EventAnswer } from '../../../../api/wire/schema/operations/event-schema.ts';
import { parseRoute, routeTo } from '../../../view/route.ts';
import { HOUR_MS, MUTE_TIMES, type MuteScope } from '../../../view/words/mute-words.ts';
import { zonedText } from '../../../view/words/value-words.ts';
import { type Console, useAct } from '../../element/hooks.ts';
import { Failure, html, Icon, type Shown, typedIn } from '../../element/html.ts';
import { postJson, review } from '../../source/service-calls.ts';

interface ReviewProps {
  readonly app: Console;
  readonly of: 'events' | 'incidents';
  readonly id: string;
  readonly acknowledged: EventAnswer['acknowledged'];
  /** null: not muted now. */
  readonly muted: (Pick<NonNullable<EventAnswer['muted']>, 'until' | 'reason'> & { readonly mute_id?: unknown }) | null;
}

interface ReviewActionsProps extends ReviewProps {
  /** Feedback on an event; left out for an incident. */
  readonly label?: EventAnswer['label'];
  readonly scopes?: readonly MuteScope[];
  readonly onChanged: () => void;
}

/** Acknowledges and mutes an event, or an incident with all of its events. */
export function ReviewActions(props: ReviewActionsProps): Shown {
  const { app, of, id, acknowledged, muted, label, scopes = [], onChanged } = props;
  const [withEvents, all] = of === 'incidents' ? [', with its events', ' all of it'] : ['', ''];
  // A link of an alert only offers an action: the signed-in user must press the button.
  const offered = of === 'events' ? parseRoute(location.hash).query.do : undefined;
  const [muting, setMuting] = useState(offered === 'mute' && app.mayOperate);
  const acknowledging = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (offered === 'acknowledge') acknowledging.current?.focus();
  }, []);
  const { act, failure } = useAct(async () => {
    onChanged();
    await app.openEvents.refresh();
  });
  const send = (what: string, body: object) => act(() => review(of, id, what, body));
  const mute = (ms: number, reason: string, scope: MuteScope | undefined) => {
    const body = { until: Date.now() + ms, reason };
    const chosen = scope?.mute ?? null;
    return chosen === null ? send('mute', body) : act(() => postJson('/v1/mutes', { ...chosen, ...body }));
  };
  const notes = [
    acknowledged === null ? null : `Acknowledged by ${acknowledged.by}${withEvents}.`,
    muted === null ? null : `Muted until ${zonedText(muted.until)}${withEvents}${muted.reason && `: ${muted.reason}`}.`,
  ].filter((text) => text !== null);
  const answer = (given: boolean, text: string) => html`<button type="button" class="small text"
    aria-pressed=${label?.real === given}
    onClick=${() => send('label', { real: label?.real === given ? null : given })}>${text}</button>`;
  return html`<footer>
    ${notes.length > 0 && html`<p class="aside">${notes.join(' ')}</p>`}
    ${
      app.mayOperate
        ? html`<div class="buttons">
          ${
            label !== undefined &&
            html`<span role="group" aria-label="Was it real?"
              class="answers">Was it real? ${answer(true, 'Yes')}${answer(false, 'No')}</span>`
          }
          <button type="button" ref=${acknowledging} aria-pressed=${acknowledged !== null}
            class=${offered === 'acknowledge' && acknowledged === null ? 'small text primary' : 'small text'}
            onClick=${() => send('acknowledge', { acknowledged: acknowledged === null })}>
            <${Icon} name="check" />${acknowledged === null ? `Acknowledge${all}` : 'Acknowledged'}</button>
          ${
            (muted?.mute_id ?? null) !== null
              ? html`<a href=${routeTo('mutes')}>Mutes</a>`
              : html`<button type="button" class="small text"
            onClick=${() => (muted !== null ? send('mute', { until: null }) : setMuting(true))}>
            <${Icon} name=${muted !== null ? 'bell' : 'mute'} />${muted !== null ? 'Unmute' : `Mute${all}`}</button>`
          }
        </div>`
        : html`<p
          class="aside">Read-only access. Acknowledging, muting and feedback require a key with the role operator.</p>`
    }
    ${failure !== null && html`<${Failure} text=${failure} />`}
    ${
      muting &&
      html`<${MuteDialog} what=${of.slice(0, -1)} scopes=${scopes} onClose=${() => setMuting(false)} onMute=${mute} />`
    }
  </footer>`;
}

/** Acknowledges a line of a list; if it is muted, or the key may only read, a mark. @param name of its subject */
export function Acknowledge({
  app,
  of,
  id,
  acknowledged,
  muted,
  name,
}: ReviewProps & { readonly name: string }): Shown {
  const [what, withEvents] = of === 'events' ? ['event', ''] : ['incident', ' with its events'];
  const press = async () => {
    await review(of, id, 'acknowledge', { acknowledged: acknowledged === null });
    await app.openEvents.refresh();
  };
  if (muted !== null) return html`<span class="mark" title=${muted.reason}><${Icon} name="mute" />muted</span>`;
  if (!app.mayOperate) {
    return acknowledged !== null && html`<span class="mark"><${Icon} name="check" />${acknowledged.by}</span>`;
  }
  return html`<button type="button" class="small" aria-pressed=${acknowledged !== null} onClick=${press}
      title=${acknowledged === null ? `Acknowledge it${withEvents}` : `Acknowledged by ${acknowledged.by}`}>
      <${Icon} name="check" /><span class="sr">Acknowledge the ${what} of ${name}</span></button>`;
}

interface MuteDialogProps {
  readonly what?: string;
  readonly onClose: () => void;
  readonly scopes?: readonly MuteScope[];
  readonly onMute: (ms: number, reason: string, scope: MuteScope | undefined) => void;
}

/** For how long, and why, for later readers. */
function MuteDialog({ what = 'event', scopes = [], onClose, onMute }: MuteDialogProps): Shown {
  const [ms, setMs] = useState(HOUR_MS);
  const [scope, setScope] = useState(0);
  const [reason, setReason] = useState('');
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const send = (event: Event) => {
    event.preventDefault();
    onMute(ms, reason.trim(), scopes[scope]);
    onClose();
  };
  return html`<dialog ref=${dialog} aria-labelledby="mute-title" onClose=${onClose}>
    <form onSubmit=${send}>
      <h2 id="mute-title">Mute ${scopes.length > 1 ? 'notifications' : `this ${what}`}</h2>
      ${
        scopes.length > 1 &&
        html`<label for="mute-what">Of</label><select id="mute-what" value=${scope}
          onChange=${(event: Event) => setScope(Number(typedIn(event)))}>
          ${scopes.map(({ name }, i) => html`<option value=${i}>${name}</option>`)}</select>`
      }
      <label for="mute-for">For</label>
      <select id="mute-for" value=${ms}
        onChange=${(event: Event) => setMs(Number(typedIn(event)))}>
        ${MUTE_TIMES.map(([text, length]) => html`<option value=${length}>${text}</option>`)}
      </select>
      <label for="mute-why">Because</label>
      <input id="mute-why" required maxlength="500" value=${reason} placeholder="planned maintenance"
        onInput=${(event: Event) => setReason(typedIn(event))} />
      <div class="buttons"><button type="button" class="plain" onClick=${onClose}>Cancel</button>
        <button type="submit" class="primary" disabled=${reason.trim() === ''}>Mute</button></div>
    </form>
  </dialog>`;
}
