import type { EventAnswer } from '../../../api/wire/schema/operations/event-schema.ts';
import { quantityText, quantityTexts } from '../../../records/text/quantity-text.ts';
import { routeTo } from '../route.ts';
import { counted, elapsedText, numberText, percentText, withShownClock } from './value-words.ts';

export const KINDS: Readonly<Record<EventAnswer['kind'], string>> = {
  spike: 'far above its forecast for a short time',
  dip: 'far below its forecast for a short time',
  level_shift: 'moves to another level and stays there',
  drift: 'moves away from its level step by step',
  missing_season: 'does not rise and fall as it does at this time',
  stuck: 'repeats one value although it usually varies',
  burst: 'varies much more than usual',
  silence: 'no observation arrives',
};

export const kindName = (kind: string): string => kind.replaceAll('_', ' ');

/** A kind of a later version has a name, and no meaning. */
export const kindMeaning = (kind: EventAnswer['kind']): string => KINDS[kind] ?? '';

/** Distance of the peak from the interval, in its widths; null if that has no meaning. */
export function widthsOut({ value, lo, hi }: Pick<EventAnswer, 'value' | 'lo' | 'hi'>): number | null {
  if (value === null || lo === null || hi === null || !(hi > lo)) return null;
  if (value > hi) return (value - hi) / (hi - lo);
  return value < lo ? (lo - value) / (hi - lo) : 0;
}

type Distant = Pick<EventAnswer, 'value' | 'expected'> & Partial<Pick<EventAnswer, 'unit'>>;

/** `+62 %` against what was expected; a difference where a percentage would mislead. */
export function distanceText({ value, expected, unit = null }: Distant): string {
  if (value === null || expected === null) return '–';
  const difference = value - expected;
  const sign = difference >= 0 ? '+' : '−';
  const share = Math.abs(difference) / Math.abs(expected);
  const misleads = !Number.isFinite(share) || share > 9.99 || value * expected < 0;
  return `${sign}${misleads ? quantityText(Math.abs(difference), unit) : percentText(share)}`;
}

/** For the eye that runs down a list: how far out, in one short figure. */
export function farOutText(event: EventAnswer): string {
  if (event.kind === 'silence') return 'no data';
  if (event.kind === 'stuck') return 'one value';
  return distanceText(event);
}

const CLOSE_REASONS: Readonly<Record<string, string>> = {
  recovered: 'the series is as usual again',
  new_level: 'values stay where they went, and forecasts follow them',
  evicted: 'the series was dropped: no observation for long, or to make room',
  silent: 'no observation arrived',
  returned: 'observations arrive again',
  detector_removed: 'its detector was removed',
  settings_changed: 'the settings of its detector changed',
};

export function closeText(reason: string | null): string {
  return reason === null ? 'still open' : (CLOSE_REASONS[reason] ?? reason.replaceAll('_', ' '));
}

/** Length of an event, in a column: a new level has none. */
export function lengthText(event: EventAnswer, nowMs: number): string {
  const { startedAtMs, endedAtMs, closeReason, recoveringSinceMs } = event;
  if (endedAtMs !== null && closeReason === 'new_level') return 'new level';
  return elapsedText(Math.max(endedAtMs ?? recoveringSinceMs ?? nowMs, startedAtMs) - startedAtMs);
}

/** Why the event was raised, sentence by sentence. */
export function whyFlagged(event: EventAnswer, nowMs: number): readonly string[] {
  const { value, expected, lo, hi, grade, alarms, observations, startedAtMs, closeReason, unit } = event;
  const { endedAtMs, recoveringSinceMs } = event;
  const [valueText, expectedText, loText, hiText] = quantityTexts([value, expected, lo, hi], unit);
  const sentences: string[] = [];
  if (event.summary !== '') sentences.push(sentenceOf(event.summary));
  else if (value !== null && expected !== null) {
    sentences.push(`At its peak it was ${valueText}; ${expectedText} was expected.`);
  }
  const distance = widthsOut(event);
  const widths = distance === null ? null : Math.round(distance * 10) / 10;
  if (widths !== null) {
    const beyond = beyondText(event.kind, widths);
    const isDescribed = event.summary.includes('(usually ');
    const isOnAverage = event.summary.includes('(usually around ');
    if (!isDescribed) sentences.push(`Usual then: ${loText} to ${hiText}; ${beyond}.`);
    // The summary describes means.
    else if (widths > 0 && !isOnAverage) sentences.push(sentenceOf(beyond));
  }
  if (event.unusual !== null && !event.summary.includes(event.unusual)) sentences.push(sentenceOf(event.unusual));
  if (grade !== null)
    sentences.push(`Its grade was ${grade.toFixed(2)}; most series reach 0.5 once in 1,000 observations.`);
  const length = elapsedText((endedAtMs ?? recoveringSinceMs ?? Math.max(nowMs, startedAtMs)) - startedAtMs);
  // An event of missing observations has none to count.
  const raised =
    event.kind === 'silence' ? '' : `, with ${counted(alarms, 'alarm')} in ${counted(observations, 'observation')}`;
  if (endedAtMs === null && recoveringSinceMs !== null) {
    const since = elapsedText(Math.max(nowMs, recoveringSinceMs) - recoveringSinceMs);
    sentences.push(`It lasted ${length}${raised}. It has been recovering for ${since}.`);
  } else if (endedAtMs === null) sentences.push(`It has been open for ${length}${raised}.`);
  else if (closeReason !== 'new_level' || event.kind === 'stuck') sentences.push(`It lasted ${length}${raised}.`);
  else sentences.push(`Values stay at the new level; forecasts followed after ${length}${raised}.`);
  return sentences.map(withShownClock);
}

function beyondText(kind: EventAnswer['kind'], widths: number): string {
  if (kind === 'stuck') return 'it was flagged because the value does not change';
  if (widths === 0) return 'the peak is inside and was flagged for its shape';
  return `the peak is ${numberText(widths)}x the width of this interval outside it`;
}

function sentenceOf(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
}

type Reviewed = Pick<EventAnswer, 'acknowledged' | 'endedAtMs'> & { readonly muted: { readonly until: number } | null };
type Ranked = Omit<Reviewed, 'endedAtMs'> & Pick<EventAnswer, 'severity' | 'startedAtMs'>;

/** Worst first: unacknowledged events, then by severity, then the newest. */
export function worstFirst<T extends Ranked>(all: readonly T[], nowMs: number): T[] {
  const rank = (each: T) => (isMuted(each, nowMs) ? 2 : each.acknowledged !== null ? 1 : 0);
  return all.toSorted(
    (a, b) => rank(a) - rank(b) || (b.severity ?? 0) - (a.severity ?? 0) || b.startedAtMs - a.startedAtMs,
  );
}

/** The mute that still applies; null without one. */
export const mutedNow = <M extends { readonly until: number }>(
  { muted }: { readonly muted: M | null },
  nowMs: number,
) => (muted !== null && muted.until > nowMs ? muted : null);

const isMuted = (of: Pick<Reviewed, 'muted'>, nowMs: number) => mutedNow(of, nowMs) !== null;

/** The state of an event or incident in a list. @param verdict of people on it; null without one */
export function stateText(of: Reviewed, nowMs: number, verdict: string | null): string {
  const parts = [
    of.endedAtMs === null ? 'open' : 'ended',
    of.acknowledged === null ? null : `acknowledged by ${of.acknowledged.by}`,
    isMuted(of, nowMs) ? 'muted' : null,
    verdict,
  ];
  return parts.filter((part) => part !== null).join(', ');
}

/** The host of `web-1/cpu`: the prefix of other series of the same machine or service. */
export function hostOf(series: string): string | null {
  const cut = Math.max(series.lastIndexOf('/'), series.lastIndexOf(':'));
  return cut > 0 ? series.slice(0, cut + 1) : null;
}

/** An event of a group has no series of its own. */
export const isOfGroup = ({ group, series }: Pick<EventAnswer, 'group' | 'series'>) =>
  series === null && group !== null;

/** Neither has a pause of a whole detector. */
export const isOfDetector = ({ seriesCount }: Pick<EventAnswer, 'seriesCount'>) => seriesCount !== null;

export function subjectName({ series, group, detector }: Pick<EventAnswer, 'series' | 'group' | 'detector'>): string {
  return series ?? group ?? `detector ${detector}`;
}

export function addressOf({ eventId }: Pick<EventAnswer, 'eventId'>): string {
  return routeTo('events', eventId);
}

/** The series that an event is about: its own, or the members of its group. */
export function addressedSeries(event: EventAnswer): readonly string[] {
  return [subjectName(event), ...event.members.map(({ series }) => series)];
}
