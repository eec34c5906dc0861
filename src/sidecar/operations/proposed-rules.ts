import type { AnomalyEvent } from '../../record/anomaly-event.ts';
import type { ChangedSettings } from './backtests.ts';
import type { LabelledEvent } from './labels-raised.ts';
import type { DescribedDetector } from './operations.ts';

/** So many events of one kind that people said are not real propose a rule. */
const VERDICTS_MIN = 3;

/** Settings that would have raised less of what people said is not real. Nobody knows yet what they would lose. */
interface ProposedRule {
  readonly detector: string;
  /** The series of all of these events; null where they are of several. */
  readonly series: string | null;
  readonly kind: AnomalyEvent['kind'];
  /** Events that people said are not real. */
  readonly verdicts: number;
  readonly changes: ChangedSettings;
  /** What these events have in common. */
  readonly why: string;
}

/** False alarms that a detector may promise, with how many a week that is. Rarer ones follow. */
export const PROMISES: readonly (readonly [name: string, perWeek: number])[] = [
  ['1/day', 7],
  ['2/week', 2],
  ['1/week', 1],
  ['2/month', 14 / 30],
  ['1/month', 7 / 30],
];
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** A quiet time is at most so long. */
const QUIET_MS_MAX = 3 * HOUR_MS;

/**
 * Rules for events of one kind and detector that people said are not real. A rule that would remove an event that is
 * real by what can be seen of the event itself is left out.
 */
export function proposedRules(
  labelled: readonly LabelledEvent[],
  detectors: readonly DescribedDetector[],
): ProposedRule[] {
  return detectors.flatMap((detector) => {
    const own = labelled.filter(({ event }) => event.detector === detector.name);
    const [real, wrong] = [true, false].map((wanted) =>
      own.flatMap((label) => (label.real === wanted ? [label.event] : [])),
    );
    return [...Map.groupBy(wrong, ({ kind }) => kind)].flatMap(([kind, events]) => {
      if (events.length < VERDICTS_MIN) return [];
      const names = new Set(events.map(({ series }) => series));
      const series = names.size === 1 ? events[0].series : null;
      const rules = [minimalDeviation(events, real), quietTime(events, real), rarerPromise(detector)];
      return rules.flatMap((rule) =>
        rule === null || isSet(detector, rule.changes)
          ? []
          : [{ detector: detector.name, series, kind, verdicts: events.length, ...rule }],
      );
    });
  });
}

/** Whether the detector has this rule, or a wider one. */
function isSet({ settings }: DescribedDetector, { min_deviation: share, quiet }: ChangedSettings): boolean {
  const percentOf = (text: unknown) => Number.parseFloat(String(text ?? 0));
  if (share !== undefined) return percentOf(settings.min_deviation_share) >= percentOf(share);
  return quiet !== undefined && String(settings.quiet ?? '').includes(String(quiet));
}

type Rule = Pick<ProposedRule, 'changes' | 'why'> | null;

function minimalDeviation(wrong: readonly AnomalyEvent[], real: readonly AnomalyEvent[]): Rule {
  const percent = Math.floor(Math.max(...wrong.map(deviationOf)) * 100) + 1;
  const losesReal = real.some((event) => deviationOf(event) * 100 < percent);
  if (!(percent <= 100) || losesReal) return null;
  const changes = { min_deviation: `${percent}%` };
  return { changes, why: `each is less than ${percent} % from what was expected` };
}

/** As a share of what was expected; infinite where nothing can be said. */
function deviationOf({ value, expected }: AnomalyEvent): number {
  if (value === null || expected === null || expected === 0) return Number.POSITIVE_INFINITY;
  return Math.abs(value - expected) / Math.abs(expected);
}

/** Hours of the day, by UTC, in which all of them lie. */
function quietTime(wrong: readonly AnomalyEvent[], real: readonly AnomalyEvent[]): Rule {
  const days = new Set(wrong.map(({ startedAtMs }) => Math.floor(startedAtMs / DAY_MS)));
  if (days.size < VERDICTS_MIN) return null;
  const timeOfDay = (ms: number) => ((ms % DAY_MS) + DAY_MS) % DAY_MS;
  const from = Math.floor(Math.min(...wrong.map(({ startedAtMs }) => timeOfDay(startedAtMs))) / HOUR_MS) * HOUR_MS;
  const ends = wrong.map(({ startedAtMs, endedAtMs }) => {
    return timeOfDay(startedAtMs) + (endedAtMs ?? Number.POSITIVE_INFINITY) - startedAtMs;
  });
  const to = Math.ceil((Math.max(...ends) + 1) / HOUR_MS) * HOUR_MS;
  const isQuiet = ({ startedAtMs }: AnomalyEvent) => {
    return timeOfDay(startedAtMs) >= from && timeOfDay(startedAtMs) < to;
  };
  if (!(to - from <= QUIET_MS_MAX && to <= DAY_MS) || real.some(isQuiet)) return null;
  const [begin, end] = [from, to].map((ms) => `${String(ms / HOUR_MS).padStart(2, '0')}:00`);
  return { changes: { quiet: `${begin}-${end} UTC` }, why: `all are between ${begin} and ${end} UTC` };
}

function rarerPromise({ alarmsPerWeek }: DescribedDetector): Rule {
  const rarer = PROMISES.find(([, perWeek]) => alarmsPerWeek !== null && perWeek < alarmsPerWeek - 0.01);
  if (rarer === undefined) return null;
  return { changes: { false_alarms: rarer[0] }, why: 'a rarer promise raises fewer of all kinds' };
}
