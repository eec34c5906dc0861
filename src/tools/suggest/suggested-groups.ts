import { seriesOfId } from '../../records/series/series-id.ts';
import type { SuggestedDetector } from './suggested-detector.ts';

/** Detectors whose series could be scored together, those with the same value of a label. */
export interface SuggestedGroup {
  readonly label: string;
  /** Values of the label, each a group. */
  readonly values: number;
  readonly detectors: readonly SuggestedDetector[];
}

const MEMBERS_MAX = 1_000;
/** A detector belongs to a group where it has this share of the values of the label. */
const SHARED_MIN = 0.5;

/** One for each step: the label with most values that several detectors have, such as that of the host. */
export function suggestedGroups(detectors: readonly SuggestedDetector[]): readonly SuggestedGroup[] {
  const sameStep = Map.groupBy(detectors, ({ freq, as, aggregate }) => `${freq.alias} ${as} ${aggregate}`);
  return [...sameStep.values()].flatMap((several) => groupOf(several) ?? []);
}

function groupOf(detectors: readonly SuggestedDetector[]): SuggestedGroup | null {
  const holders = new Map<string, { detector: SuggestedDetector; values: ReadonlySet<string> }[]>();
  for (const detector of detectors) {
    for (const [label, values] of labelsOf(detector)) {
      if (values.size < 2) continue;
      holders.set(label, [...(holders.get(label) ?? []), { detector, values }]);
    }
  }
  let best: SuggestedGroup | null = null;
  for (const [label, all] of holders) {
    const widest = all.reduce((most, each) => (each.values.size > most.values.size ? each : most));
    const isShared = ({ values }: (typeof all)[number]) => {
      const both = [...widest.values].filter((value) => values.has(value)).length;
      return both >= SHARED_MIN * widest.values.size;
    };
    const sharing = all.filter(isShared);
    const found = { label, values: widest.values.size, detectors: sharing.map(({ detector }) => detector) };
    if (sharing.length > 1 && found.values > (best?.values ?? 0)) best = found;
  }
  return best;
}

function labelsOf({ family }: SuggestedDetector): ReadonlyMap<string, ReadonlySet<string>> {
  const members = family.members.slice(0, MEMBERS_MAX);
  const values = new Map<string, string[]>();
  for (const { id } of members) {
    for (const [label, value] of seriesOfId(id).labels) {
      const known = values.get(label);
      if (known === undefined) values.set(label, [value]);
      else known.push(value);
    }
  }
  return new Map(
    [...values].filter(([, each]) => each.length === members.length).map(([label, each]) => [label, new Set(each)]),
  );
}
