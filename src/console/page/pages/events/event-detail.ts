import { useState } from 'preact/hooks';
import { eventUrgency } from '../../../../record/urgency.ts';
import type { EventAnswer } from '../../../../sidecar/wire/schema/event-schema.ts';
import {
  closeText,
  isMuted,
  isOfDetector,
  isOfGroup,
  kindMeaning,
  kindName,
  whyFlagged,
} from '../../../view/event-words.ts';
import { momentText, numberText, percentText } from '../../../view/number-words.ts';
import { routeTo } from '../../../view/route.ts';
import type { Console } from '../../element/hooks.ts';
import { classes, html, type Shown } from '../../element/html.ts';
import { Icon } from '../../element/icons.ts';
import { Failure } from '../../element/page-states.ts';
import { MuteDialog } from './mute-dialog.ts';

interface EventDetailProps {
  readonly app: Console;
  readonly event: EventAnswer;
  readonly nowMs: number;
  readonly onChanged: () => void;
}

/** Why an event was raised, in words and numbers, and its review by people. */
export function EventDetail({ app, event, nowMs, onChanged }: EventDetailProps): Shown {
  const { kind, value, expected, lo, hi, severity, grade, started_at, ended_at, labels } = event;
  const facts: readonly (readonly [string, string])[] = [
    ['Began', momentText(started_at)],
    ['Ended', ended_at === null ? closeText(null) : `${momentText(ended_at)}: ${closeText(event.close_reason)}`],
    ['Peak', momentText(event.peak_at)],
    ['Value there', numberText(value)],
    ['Expected', numberText(expected)],
    ['Interval', lo === null || hi === null ? '–' : `${numberText(lo)} … ${numberText(hi)}`],
    ['Grade', grade === null ? '–' : grade.toFixed(3)],
    ['Severity', numberText(severity)],
  ];
  return html`<article class=${classes('panel', 'event-detail', `urgency-${eventUrgency(event)}`)}>
    <header><h2><${Icon} name=${kind} /> Why it was flagged: <em title=${kindMeaning(kind)}>${kindName(kind)}</em></h2>
      ${isOfGroup(event) && html`<p class="aside">in the group <strong>${event.group_id}</strong></p>`}
      ${isOfDetector(event) && html`<p class="aside">${event.series_count} series of one partition</p>`}</header>
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

function MemberShares({ event }: { readonly event: EventAnswer }): Shown {
  return html`<h3>Shares of its members</h3>
    <ul class="bars">${event.members.map(
      ({ series_id, share }) => html`<li><a href=${routeTo('series', series_id, { event: event.event_id })}>
        <span class="name" title=${series_id}>${series_id}</span><span class="figure">${percentText(share)}</span>
        <meter min="0" max="1" value=${share} aria-hidden="true" /></a></li>`,
    )}</ul>`;
}

function EventActions({ app, event, nowMs, onChanged }: EventDetailProps): Shown {
  const [muting, setMuting] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  const { event_id: id, acknowledged, label } = event;
  const muted = isMuted(event, nowMs) ? event.muted : null;
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
  const notes = [
    acknowledged === null ? null : `Acknowledged by ${acknowledged.by}.`,
    muted === null ? null : `Muted until ${momentText(muted.until)}: ${muted.reason}.`,
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
          <button type="button" class="small text" aria-pressed=${acknowledged !== null}
            onClick=${() => act(() => app.source.acknowledge(id, acknowledged === null))}>
            <${Icon} name="check" />${acknowledged === null ? 'Acknowledge' : 'Acknowledged'}</button>
          <button type="button" class="small text"
            onClick=${() => (muted !== null ? act(() => app.source.mute(id, null, '')) : setMuting(true))}>
            <${Icon} name=${muted !== null ? 'bell' : 'mute'} />${muted !== null ? 'Unmute' : 'Mute'}</button>
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
