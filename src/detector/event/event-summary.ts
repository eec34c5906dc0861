import type { AnomalyEvent, EventDirection, EventKind } from '../../record/anomaly-event.ts';
import type { Rarity } from './event-extremes.ts';

const KIND_NAMES: Readonly<Record<EventKind, string>> = {
  spike: 'Spike',
  dip: 'Dip',
  level_shift: 'Level shift',
  drift: 'Drift',
  missing_season: 'Missing season',
  stuck: 'Stuck value',
  burst: 'Burst',
  silence: 'Silence',
};
/** Kinds that go one way; the names of the others imply it, or they have none. */
const DIRECTED: readonly EventKind[] = ['level_shift', 'drift'];
const DIRECTION_NAMES: Readonly<Record<EventDirection, string>> = { up: ' up', down: ' down', both: '' };

const SIGNIFICANT_DIGITS = 6;

type Summarised = Pick<
  AnomalyEvent,
  'kind' | 'direction' | 'value' | 'expected' | 'unusual' | 'members' | 'seriesCount'
>;

/**
 * One sentence without a full stop: `Level shift up: 512 where 430.2 was expected, highest in 14 days`.
 * @param lastedMs from the first to the last alarm; null while it goes on
 */
export function summaryOf(event: Summarised, lastedMs: number | null): string {
  const { kind, direction, value, expected, unusual, members, seriesCount } = event;
  const way = DIRECTED.includes(kind) ? DIRECTION_NAMES[direction] : '';
  const expectation = expected === null ? '' : ` where ${shown(expected)} was expected`;
  const missed = seriesCount === null ? 'no value where one was due' : `no value of any of ${seriesCount} series`;
  const nothing = kind === 'silence' ? `: ${missed}` : '';
  const seen = value === null ? nothing : `: ${shown(value)}${expectation}`;
  const [first] = members;
  const mostly = first === undefined ? '' : `, mostly ${first.series} (${Math.round(100 * first.share)} %)`;
  const over = lastedMs === null ? '' : lastedMs === 0 ? ', at one time step' : `, for ${durationText(lastedMs)}`;
  return `${KIND_NAMES[kind]}${way}${seen}${mostly}${unusual === null ? '' : `, ${unusual}`}${over}`;
}

/** `highest in 14 days`. */
export function rarityText({ side, rows }: Rarity, stepMs: number): string {
  return `${side} in ${durationText(rows * stepMs)}`;
}

const UNITS = [
  { name: 'day', ms: 86_400_000 },
  { name: 'hour', ms: 3_600_000 },
  { name: 'minute', ms: 60_000 },
  { name: 'second', ms: 1_000 },
] as const;

/** Whole units, rounded down, of the largest unit of which there are two: `36 hours`. */
export function durationText(ms: number): string {
  const { name, ms: unitMs } = UNITS.find((unit) => ms >= 2 * unit.ms) ?? UNITS[UNITS.length - 1];
  const count = Math.floor(ms / unitMs);
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}

function shown(value: number): string {
  return String(Number(value.toPrecision(SIGNIFICANT_DIGITS)));
}
