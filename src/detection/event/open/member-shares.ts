import type { EventMember } from '../../../records/anomaly-event.ts';
import type { SeasonAlarm } from '../../alarm/alarm.ts';

/** Members that an event names. Of a larger group it keeps those that showed most. */
export const EVENT_MEMBERS_MAX = 16;

/** Unusualness of members during an event, summed over its alarms. */
export interface MemberShares {
  readonly total: number;
  readonly shown: readonly (readonly [series: string, sum: number])[];
}

export const NO_SHARES: MemberShares = { total: 0, shown: [] };

/**
 * Adds what the members of one row show. Where there is no room, the smallest sum passes to the new member (space
 * saving, Metwally et al. 2005), so that no member that shows much is missed.
 */
export function addShares(
  shares: MemberShares,
  seen: readonly { readonly series: string; readonly sharp: number }[],
): MemberShares {
  const shown = new Map(shares.shown);
  let total = shares.total;
  for (const { series, sharp } of seen.toSorted((a, b) => b.sharp - a.sharp)) {
    total += sharp;
    let taken = shown.get(series) ?? 0;
    if (taken === 0 && shown.size >= EVENT_MEMBERS_MAX) {
      const [least, sum] = [...shown].reduce((a, b) => (b[1] < a[1] ? b : a));
      if (sharp <= sum) continue;
      shown.delete(least);
      taken = sum;
    }
    shown.set(series, taken + sharp);
  }
  return { total, shown: [...shown] };
}

/** Distances of members from their seasons, for an alarm that a seasonal profile raised. */
export function outsideSeasons(
  seen: readonly {
    readonly series: string;
    readonly value: number;
    readonly season?: SeasonAlarm | null | undefined;
  }[],
) {
  return seen.map(({ series, value, season }) => {
    const outsideProfile = season ? Math.abs(value - season.expected) / season.deviation : 0;
    return { series, sharp: Number.isFinite(outsideProfile) ? outsideProfile : 0 };
  });
}

/** The largest share first. */
export function sharesOf({ total, shown }: MemberShares): EventMember[] {
  if (total <= 0) return [];
  return shown
    .map(([series, sum]) => ({ series, share: Math.min(1, sum / total) }))
    .sort((a, b) => b.share - a.share || (a.series < b.series ? -1 : 1));
}
