import { counted, elapsedText, numberText, percentText } from './number-words.ts';
import { routeTo } from './route.ts';
import type { AnomalyKind, SeenEvent } from './seen.ts';

/** Each kind in two words, and what it means for those who see it for the first time. */
export const KINDS: Readonly<Record<AnomalyKind, { readonly name: string; readonly meaning: string }>> = {
  spike: { name: 'spike', meaning: 'far above its forecast for a short time' },
  dip: { name: 'dip', meaning: 'far below its forecast for a short time' },
  level_shift: { name: 'level shift', meaning: 'moved to another level and stays there' },
  drift: { name: 'drift', meaning: 'moves away from its level step by step' },
  missing_season: { name: 'missing season', meaning: 'does not rise and fall as it does at this time' },
  stuck: { name: 'stuck', meaning: 'repeats one value, where it usually varies' },
  burst: { name: 'burst', meaning: 'varies much more than usual' },
  silence: { name: 'silence', meaning: 'no observation arrives any more' },
};

/** A kind of a later version is shown by its own name. */
export function kindName(kind: string): string {
  return (KINDS as Readonly<Record<string, { readonly name: string }>>)[kind]?.name ?? kind.replaceAll('_', ' ');
}

export const kindMeaning = (kind: AnomalyKind): string => KINDS[kind]?.meaning ?? '';

/** How many widths of the interval the peak lies beyond it; null where that says nothing. */
export function widthsOut({ value, lo, hi }: Pick<SeenEvent, 'value' | 'lo' | 'hi'>): number | null {
  if (value === null || lo === null || hi === null || !(hi > lo)) return null;
  if (value > hi) return (value - hi) / (hi - lo);
  return value < lo ? (lo - value) / (hi - lo) : 0;
}

/** `+62 %` against what was expected; a difference where a percentage would mislead. */
export function distanceText({ value, expected }: Pick<SeenEvent, 'value' | 'expected'>): string {
  if (value === null || expected === null) return '–';
  const difference = value - expected;
  const sign = difference >= 0 ? '+' : '−';
  const share = Math.abs(difference) / Math.abs(expected);
  const misleads = !Number.isFinite(share) || share > 9.99 || value * expected < 0;
  return `${sign}${misleads ? numberText(Math.abs(difference)) : percentText(share)}`;
}

/** For the eye that runs down a list: how far out, in one short figure. */
export function farOutText(event: SeenEvent): string {
  if (event.kind === 'silence') return 'no data';
  if (event.kind === 'stuck') return 'one value';
  return distanceText(event);
}

const CLOSE_REASONS: Readonly<Record<string, string>> = {
  recovered: 'the series is as usual again',
  evicted: 'the series was forgotten: nothing came for long, or to make room',
  silent: 'no observation arrived any more',
  returned: 'observations arrive again',
  detector_removed: 'its detector was removed',
  settings_changed: 'the settings of its detector changed',
};

export function closeText(reason: string | null): string {
  return reason === null ? 'still open' : (CLOSE_REASONS[reason] ?? reason.replaceAll('_', ' '));
}

/** Why the event was raised, sentence by sentence. */
export function whyFlagged(event: SeenEvent, nowMs: number): readonly string[] {
  const { value, expected, lo, hi, grade, alarms, observations, startedAt, endedAt } = event;
  const sentences: string[] = [];
  if (event.summary !== '') sentences.push(sentenceOf(event.summary));
  else if (value !== null && expected !== null) {
    sentences.push(`At its peak it was ${numberText(value)}; ${numberText(expected)} was expected.`);
  }
  const widths = widthsOut(event);
  if (widths !== null) {
    const beyond =
      widths > 0
        ? `the peak is ${numberText(round(widths))} times the width of this interval beyond it`
        : 'the peak itself is inside, and was flagged for its shape';
    sentences.push(`Between ${numberText(lo)} and ${numberText(hi)} was usual then; ${beyond}.`);
  }
  if (event.unusual !== null && event.unusual !== event.summary) sentences.push(sentenceOf(event.unusual));
  if (grade !== null)
    sentences.push(`Its grade was ${grade.toFixed(2)}; most series reach 0.5 once in 1,000 observations.`);
  const length = elapsedText((endedAt ?? Math.max(nowMs, startedAt)) - startedAt);
  const raised = `${counted(alarms, 'alarm')} in ${counted(observations, 'observation')}`;
  sentences.push(
    endedAt === null ? `It has been open for ${length}, with ${raised}.` : `It lasted ${length}, with ${raised}.`,
  );
  return sentences;
}

const round = (value: number) => Math.round(value * 10) / 10;

/** Begins large and ends with a stop. */
function sentenceOf(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
}

/** Worst first: what nobody has taken on, then by severity, then the newest. */
export function worstFirst(events: readonly SeenEvent[], nowMs: number): SeenEvent[] {
  const rank = (event: SeenEvent) => (isMuted(event, nowMs) ? 2 : event.acknowledgedBy !== null ? 1 : 0);
  return [...events].sort(
    (a, b) => rank(a) - rank(b) || (b.severity ?? 0) - (a.severity ?? 0) || b.startedAt - a.startedAt,
  );
}

export const isMuted = ({ mutedUntil }: SeenEvent, nowMs: number) => mutedUntil !== null && mutedUntil > nowMs;

/** The host of `web-1/cpu`: what other series of the same machine or service begin with. */
export function hostOf(series: string): string | null {
  const cut = Math.max(series.lastIndexOf('/'), series.lastIndexOf(':'));
  return cut > 0 ? series.slice(0, cut + 1) : null;
}

/** An event of a group has no series of its own. */
export const isOfGroup = ({ series, group }: Pick<SeenEvent, 'series' | 'group'>) => group !== null && series === group;

/** Where an event is looked at: in its series, or by itself where it is of a group. */
export function addressOf(event: SeenEvent): string {
  return isOfGroup(event) ? routeTo('events', event.id) : routeTo('series', event.series, { event: event.id });
}

/** The series that an event is about: its own, or the members of its group. */
export function addressedSeries({ series, members }: Pick<SeenEvent, 'series' | 'members'>): readonly string[] {
  return [series, ...members.map((member) => member.series)];
}
