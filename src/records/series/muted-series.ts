import { globPattern } from './glob.ts';
import { seriesPattern } from './series-pattern.ts';

/** A mute of a person until its end: series, by a glob or matchers of their labels; detectors, by a glob; or both. */
export interface MutedSeries {
  readonly match: string | null;
  readonly detector: string | null;
  readonly untilMs: number;
}

interface MutableEvent {
  readonly series: string | null;
  readonly group: string | null;
  /** An event that an earlier version kept has none: its id may show them. */
  readonly seriesLabels?: Readonly<Record<string, string>>;
}

/** A choice of series by their ids and labels. */
type Chooses = Pick<ReturnType<typeof seriesPattern>, 'test'>;

/** True if series are chosen that an event is about: its own, or its group. A pause of a detector is about none. */
export function choosesSubject(pattern: Chooses, { series, group, seriesLabels = {} }: MutableEvent): boolean {
  const own = series ?? group;
  return own !== null && pattern.test(own, Object.keys(seriesLabels).length > 0 ? seriesLabels : null);
}

/** The first of these that mutes an event; undefined if none does. An end that has passed counts no more. */
export function mutingOf<M extends MutedSeries>(
  mutes: readonly M[],
): (event: MutableEvent & { readonly detector: string }, nowMs: number) => M | undefined {
  const compiled = mutes.map((mute) => {
    const { match, detector } = mute;
    return {
      mute,
      series: match === null ? null : seriesPattern([match]),
      detectors: detector === null ? null : globPattern([detector]),
    };
  });
  return (event, nowMs) =>
    compiled.find(
      ({ mute, series, detectors }) =>
        mute.untilMs > nowMs &&
        (detectors?.test(event.detector) ?? true) &&
        (series === null || choosesSubject(series, event)),
    )?.mute;
}
