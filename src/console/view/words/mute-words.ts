import type { EventAnswer } from '../../../api/wire/schema/operations/event-schema.ts';
import { canonicalId } from '../../../records/series/series-id.ts';
import { labelledEvent } from '../label-groups.ts';

export const HOUR_MS = 3_600_000;
export const MUTE_TIMES: readonly (readonly [string, number])[] = [
  ['1 hour', HOUR_MS],
  ['4 hours', 4 * HOUR_MS],
  ['1 day', 24 * HOUR_MS],
  ['1 week', 7 * 24 * HOUR_MS],
];

export interface MuteScope {
  readonly name: string;
  /** null: the event alone. */
  readonly mute: { readonly match?: string; readonly detector?: string } | null;
}

/** Scopes of a mute from an event: itself, its series or group, each label of its series, its detector. */
export function muteScopes(event: EventAnswer): readonly MuteScope[] {
  const { series, group, detector, seriesLabels } = event;
  const own = series ?? group;
  const { labels } = labelledEvent({ detector, labels: {}, seriesLabels });
  return [
    { name: 'this event', mute: null },
    ...(own === null ? [] : [{ name: `${series === null ? 'the group' : 'the series'} ${own}`, mute: { match: own } }]),
    ...Object.entries(labels).map(([label, value]) => {
      return { name: `all of ${label}=${value}`, mute: { match: canonicalId('', [[label, value]]) } };
    }),
    { name: `the detector ${detector}`, mute: { detector } },
  ];
}
