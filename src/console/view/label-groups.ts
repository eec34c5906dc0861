import type { EventAnswer } from '../../api/wire/schema/operations/event-schema.ts';
import { shownLabels } from '../../records/series/series-id.ts';
import type { ShownSeries } from './scores/shown-scores.ts';

/** Grouping of a list: a detector, or labels by their names. */
export interface Labelled {
  readonly detector: string;
  readonly labels: Readonly<Record<string, string>>;
}

export interface LabelGroup<T> {
  /** null: the list is not grouped. */
  readonly name: string | null;
  readonly items: readonly T[];
}

const LABEL = 'label.';

export const labelledSeries = ({ series, detector }: Pick<ShownSeries, 'series' | 'detector'>): Labelled => {
  return { detector, labels: shownLabels(series) };
};

/** Labels of its series, and those of its detector where the series has no such label. */
export const labelledEvent = ({
  detector,
  labels,
  seriesLabels,
}: Pick<EventAnswer, 'detector' | 'labels' | 'seriesLabels'>): Labelled => {
  return { detector, labels: { ...labels, ...seriesLabels } };
};

/** Groupings that a list can have, as in the address, with their names; the chosen one stays. */
export function groupChoices(all: readonly Labelled[], chosen: string): readonly (readonly [string, string])[] {
  const names = new Set(all.flatMap(({ labels }) => Object.keys(labels)));
  if (chosen.startsWith(LABEL)) names.add(chosen.slice(LABEL.length));
  return [['detector', 'detector'], ...[...names].sort().map((name) => [`${LABEL}${name}`, name] as const)];
}

export function groupsBy<T>(
  items: readonly T[],
  by: string,
  labelled: (item: T) => Labelled,
): readonly LabelGroup<T>[] {
  if (by === '') return [{ name: null, items }];
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const value = groupedValue(labelled(item), by);
    const group = groups.get(value);
    if (group === undefined) groups.set(value, [item]);
    else group.push(item);
  }
  const label = by === 'detector' ? by : by.slice(LABEL.length);
  return [...groups].map(([value, found]) => {
    const name = value === '' ? `no ${label}` : `${label}=${value}`;
    return { name, items: found };
  });
}

function groupedValue({ detector, labels }: Labelled, by: string): string {
  if (by === 'detector') return detector;
  const name = by.slice(LABEL.length);
  return by.startsWith(LABEL) && Object.hasOwn(labels, name) ? labels[name] : '';
}
