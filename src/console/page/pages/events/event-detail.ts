import { useState } from 'preact/hooks';
import { eventUrgency } from '../../../../record/urgency.ts';
import { closeText, isMuted, isOfGroup, kindMeaning, kindName, whyFlagged } from '../../../view/event-words.ts';
import { momentText, numberText, percentText } from '../../../view/number-words.ts';
import { routeTo } from '../../../view/route.ts';
import type { SeenEvent } from '../../../view/seen.ts';
import type { Console } from '../../element/hooks.ts';
import { classes, html, type Shown } from '../../element/html.ts';
import { Icon } from '../../element/icons.ts';
import { Failure } from '../../element/page-states.ts';
import { MuteDialog } from './mute-dialog.ts';

interface EventDetailProps {
  readonly app: Console;
  readonly event: SeenEvent;
  readonly nowMs: number;
  readonly onChanged: () => void;
}

/** Why an event was raised, in words and numbers, and what people say about it. */
export function EventDetail({ app, event, nowMs, onChanged }: EventDetailProps): Shown {
  const { kind, value, expected, lo, hi, severity, grade, startedAt, endedAt, closeReason, labels } = event;
  const facts: readonly (readonly [string, string])[] = [
    ['Began', momentText(startedAt)],
    ['Ended', endedAt === null ? closeText(null) : `${momentText(endedAt)}: ${closeText(closeReason)}`],
    ['Peak', momentText(event.peakAt)],
    ['Value there', numberText(value)],
    ['Expected', numberText(expected)],
    ['Interval', lo === null || hi === null ? '–' : `${numberText(lo)} … ${numberText(hi)}`],
    ['Grade', grade === null ? '–' : grade.toFixed(3)],
    ['Severity', numberText(severity)],
  ];
  return html`<article class=${classes('panel', 'event-detail', `urgency-${eventUrgency(event)}`)}>
    <header><h2><${Icon} name=${kind} /> Why it was flagged: <em title=${kindMeaning(kind)}>${kindName(kind)}</em></h2>
      ${isOfGroup(event) && html`<p class="aside">in the group <strong>${event.series}</strong></p>`}</header>
    <p class="why">${whyFlagged(event, nowMs).join(' ')}</p>
    <dl class="facts">${facts.map(([name, text]) => html`<div><dt>${name}</dt><dd>${text}</dd></div>`)}</dl>
    ${event.members.length > 0 && html`<${MemberShares} event=${event} />`}
    ${
      Object.keys(labels).length > 0 &&
      html`<p class="labels">${Object.entries(labels).map(([name, text]) => html`<span>${name}: ${text}</span>`)}</p>`
    }
    ${
      app.source.kind === 'service' &&
      html`<${EventActions} app=${app} event=${event} nowMs=${nowMs}
      onChanged=${onChanged} />`
    }
  </article>`;
}

function MemberShares({ event }: { readonly event: SeenEvent }): Shown {
  return html`<h3>Shares of its members</h3>
    <ul class="bars">${event.members.map(
      ({ series, share }) => html`<li><a href=${routeTo('series', series, { event: event.id })}>
        <span class="name" title=${series}>${series}</span><span class="figure">${percentText(share)}</span>
        <meter min="0" max="1" value=${share} aria-hidden="true" /></a></li>`,
    )}</ul>`;
}

function EventActions({ app, event, nowMs, onChanged }: EventDetailProps): Shown {
  const [muting, setMuting] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  const { id, real, acknowledgedBy, mutedUntil, muteReason } = event;
  const muted = isMuted(event, nowMs);
  const act = async (action: () => Promise<void>) => {
    try {
      await action();
      setFailure(null);
      onChanged();
      await app.openEvents.refresh();
    } catch (error) {
      setFailure((error as Error).message);
    }
  };
  const said = [
    acknowledgedBy === null ? null : `Acknowledged by ${acknowledgedBy}.`,
    muted ? `Muted until ${momentText(mutedUntil ?? 0)}: ${muteReason ?? 'no reason given'}.` : null,
  ].filter((text) => text !== null);
  const answer = (
    given: boolean,
    text: string,
  ) => html`<button type="button" class="small text" aria-pressed=${real === given}
    onClick=${() => act(() => app.source.label(id, real === given ? null : given))}>${text}</button>`;
  return html`<footer>
    ${said.length > 0 && html`<p class="aside">${said.join(' ')}</p>`}
    ${
      app.mayOperate
        ? html`<div class="buttons">
          <span role="group" aria-label="Was it real?"
            class="answers">Was it real? ${answer(true, 'Yes')}${answer(false, 'No')}</span>
          <button type="button" class="small text" aria-pressed=${acknowledgedBy !== null}
            onClick=${() => act(() => app.source.acknowledge(id, acknowledgedBy === null))}>
            <${Icon} name="check" />${acknowledgedBy === null ? 'Acknowledge' : 'Acknowledged'}</button>
          <button type="button" class="small text"
            onClick=${() => (muted ? act(() => app.source.mute(id, null, '')) : setMuting(true))}>
            <${Icon} name=${muted ? 'bell' : 'mute'} />${muted ? 'Unmute' : 'Mute'}</button>
        </div>`
        : html`<p
          class="aside">This key may look. Acknowledging, muting and answering need a key with the role operator.</p>`
    }
    ${failure !== null && html`<${Failure} text=${failure} />`}
    ${
      muting &&
      html`<${MuteDialog} onClose=${() => setMuting(false)}
      onMute=${(ms: number, reason: string) => act(() => app.source.mute(id, Date.now() + ms, reason))} />`
    }
  </footer>`;
}
