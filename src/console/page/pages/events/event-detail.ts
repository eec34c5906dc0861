import { useEffect, useRef, useState } from 'preact/hooks';
import type { EventAnswer } from '../../../../api/wire/schema/operations/event-schema.ts';
import { quantityTexts } from '../../../../records/quantity-text.ts';
import { eventUrgency } from '../../../../records/urgency.ts';
import {
  closeText,
  isMuted,
  isOfDetector,
  isOfGroup,
  kindMeaning,
  kindName,
  whyFlagged,
} from '../../../view/words/event-words.ts';
import { type MuteScope, muteScopes } from '../../../view/words/mute-words.ts';
import { numberText, percentText } from '../../../view/words/number-words.ts';
import { parseRoute, routeTo } from '../../../view/route.ts';
import { zonedText } from '../../../view/words/time-words.ts';
import { type Console, useAct } from '../../element/hooks.ts';
import { classes, html, type Shown } from '../../element/html.ts';
import { Icon } from '../../element/icons.ts';
import { Meanings } from '../../element/meanings.ts';
import { Failure } from '../../element/page-states.ts';
import { Name, SharedName, useNames } from '../../element/series-name.ts';
import { Guidance, linked } from './guidance.ts';
import { MuteDialog } from './mute-dialog.ts';

interface EventDetailProps {
  readonly app: Console;
  readonly event: EventAnswer;
  readonly nowMs: number;
  readonly onChanged: () => void;
}

/** Why an event was raised, in words and numbers, and its review by people. */
export function EventDetail({ app, event, nowMs, onChanged }: EventDetailProps): Shown {
  const { kind, value, expected, lo, hi, severity, grade, startedAtMs, endedAtMs, closeReason, labels } = event;
  const [valueText, expectedText, loText, hiText] = quantityTexts([value, expected, lo, hi], event.unit);
  const [first, last] = [zonedText(event.firstAlarmAtMs), zonedText(event.lastAlarmAtMs)];
  const end = closeReason === 'new_level' ? 'New level' : 'Ended';
  const facts: readonly (readonly [string, string])[] = [
    ['Began', zonedText(startedAtMs)],
    [end, endedAtMs === null ? closeText(null) : `${zonedText(endedAtMs)}: ${closeText(closeReason)}`],
    ['Alarms', first === last ? first : `${first} to ${last}`],
    ['Peak', zonedText(event.peakAtMs)],
    ['Value there', valueText],
    ['Expected', expectedText],
    ['Interval', lo === null || hi === null ? '–' : `${loText} … ${hiText}`],
    ['Grade', grade === null ? '–' : grade.toFixed(3)],
    ['Severity', numberText(severity)],
  ];
  const shown = facts.filter(([, text]) => text !== '–');
  return html`<article class=${classes('panel', 'event-detail', `urgency-${eventUrgency(event)}`)}>
    <header><h2><${Icon} name=${kind} /> Why it was flagged: <em title=${kindMeaning(kind)}>${kindName(kind)}</em></h2>
      ${isOfGroup(event) && html`<p class="aside">in the group <strong>${event.group}</strong></p>`}
      ${isOfDetector(event) && html`<p class="aside">${event.seriesCount} series of one partition</p>`}</header>
    <p class="why">${whyFlagged(event, nowMs).join(' ')}</p>
    <${Guidance} of=${[labels]} />
    <dl class="facts">${shown.map(([name, text]) => html`<div><dt>${name}</dt><dd>${text}</dd></div>`)}</dl>
    <${Meanings} of=${['expected interval', 'grade', 'severity']} />
    ${event.members.length > 0 && html`<${MemberShares} event=${event} />`}
    ${
      Object.keys(labels).length > 0 &&
      html`<p class="labels">${Object.entries(labels).map(
        ([name, text]) => html`<span>${name}: ${linked(text)}</span>`,
      )}</p>`
    }
    ${
      app.source.kind === 'service' &&
      html`<${EventActions} app=${app} event=${event} nowMs=${nowMs}
      onChanged=${onChanged} />`
    }
  </article>`;
}

function MemberShares({ event }: { readonly event: EventAnswer }): Shown {
  const names = useNames(event.members.map(({ series }) => series));
  return html`<h3>Shares of its members</h3>
    <${SharedName} names=${names} />
    <ul class="bars">${event.members.map(
      ({ series, share }) => html`<li><a href=${routeTo('series', series, { event: event.eventId })}>
        <${Name} id=${series} names=${names} /><span class="figure">${percentText(share)}</span>
        <meter min="0" max="1" value=${share} aria-hidden="true" /></a></li>`,
    )}</ul>`;
}

function EventActions({ app, event, nowMs, onChanged }: EventDetailProps): Shown {
  // A link of an alert offers an act: it is done by whoever is signed in and presses the button.
  const { do: offered } = parseRoute(location.hash).query;
  const [muting, setMuting] = useState(offered === 'mute' && app.mayOperate);
  const acknowledging = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (offered === 'acknowledge') acknowledging.current?.focus();
  }, []);
  const { eventId: id, acknowledged, label } = event;
  const muted = isMuted(event, nowMs) ? event.muted : null;
  const { act, failure } = useAct(async () => {
    onChanged();
    await app.openEvents.refresh();
  });
  const mute = (ms: number, reason: string, scope: MuteScope | undefined) => {
    const [until, chosen] = [Date.now() + ms, scope?.mute ?? null];
    return act(() =>
      chosen === null ? app.source.mute(id, until, reason) : app.source.addMute({ ...chosen, until, reason }),
    );
  };
  const notes = [
    acknowledged === null ? null : `Acknowledged by ${acknowledged.by}.`,
    muted === null ? null : `Muted until ${zonedText(muted.until)}${muted.reason && `: ${muted.reason}`}.`,
  ].filter((text) => text !== null);
  const answer = (
    given: boolean,
    text: string,
  ) => html`<button type="button" class="small text" aria-pressed=${label?.real === given}
    onClick=${() => act(() => app.source.label(id, label?.real === given ? null : given))}>${text}</button>`;
  return html`<footer>
    ${notes.length > 0 && html`<p class="aside">${notes.join(' ')}</p>`}
    ${
      app.mayOperate
        ? html`<div class="buttons">
          <span role="group" aria-label="Was it real?"
            class="answers">Was it real? ${answer(true, 'Yes')}${answer(false, 'No')}</span>
          <button type="button" ref=${acknowledging} aria-pressed=${acknowledged !== null}
            class=${offered === 'acknowledge' && acknowledged === null ? 'small text primary' : 'small text'}
            onClick=${() => act(() => app.source.acknowledge(id, acknowledged === null))}>
            <${Icon} name="check" />${acknowledged === null ? 'Acknowledge' : 'Acknowledged'}</button>
          ${
            (muted?.mute_id ?? null) !== null
              ? html`<a href=${routeTo('mutes')}>Mutes</a>`
              : html`<button type="button" class="small text"
            onClick=${() => (muted !== null ? act(() => app.source.mute(id, null, '')) : setMuting(true))}>
            <${Icon} name=${muted !== null ? 'bell' : 'mute'} />${muted !== null ? 'Unmute' : 'Mute'}</button>`
          }
        </div>`
        : html`<p
          class="aside">Read-only access. Acknowledging, muting and feedback require a key with the role operator.</p>`
    }
    ${failure !== null && html`<${Failure} text=${failure} />`}
    ${muting && html`<${MuteDialog} scopes=${muteScopes(event)} onClose=${() => setMuting(false)} onMute=${mute} />`}
  </footer>`;
}
