import { quantityTexts } from '../../../../records/text/quantity-text.ts';
import { eventUrgency } from '../../../../records/urgency.ts';
import { routeTo } from '../../../view/route.ts';
import {
  closeText,
  isOfDetector,
  isOfGroup,
  kindMeaning,
  kindName,
  mutedNow,
  whyFlagged,
} from '../../../view/words/event-words.ts';
import { muteScopes } from '../../../view/words/mute-words.ts';
import { numberText, percentText, zonedText } from '../../../view/words/value-words.ts';
import type { Props } from '../../element/hooks.ts';
import { classes, html, Icon, type Shown } from '../../element/html.ts';
import { Meanings } from '../../element/meanings.ts';
import { Name, SharedName, useNames } from '../../element/series-name.ts';
import { Guidance, linked } from './guidance.ts';
import { ReviewActions } from './review-actions.ts';

/** Why an event was raised, in words and numbers, and its review by people. */
export function EventDetail({ app, event, nowMs, onChanged }: Props<'app' | 'event' | 'nowMs' | 'onChanged'>): Shown {
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
      html`<${ReviewActions} app=${app} of="events" id=${event.eventId} acknowledged=${event.acknowledged}
        muted=${mutedNow(event, nowMs)} label=${event.label} scopes=${muteScopes(event)}
        onChanged=${onChanged} />`
    }
  </article>`;
}

function MemberShares({ event }: Props<'event'>): Shown {
  const names = useNames(event.members.map(({ series }) => series));
  return html`<h3>Shares of its members</h3>
    <${SharedName} names=${names} />
    <ul class="bars">${event.members.map(
      ({ series, share }) => html`<li><a href=${routeTo('series', series, { event: event.eventId })}>
        <${Name} id=${series} names=${names} /><span class="figure">${percentText(share)}</span>
        <meter min="0" max="1" value=${share} aria-hidden="true" /></a></li>`,
    )}</ul>`;
}
