import { KEY_SEPARATOR } from '../../checkpoint/delta-log.ts';
import type { PointsOfSeries } from '../../checkpoint/open-step-state.ts';
import { whyFull } from '../group/group-room.ts';
import { OPEN_POINTS_MAX, type OpenSteps } from '../unit/open-steps.ts';
import type { ReceivedObservation } from '../unit/received-observation.ts';
import { refuse, refuseLate } from '../unit/refused-observations.ts';
import type { Scorable } from '../unit/scorable.ts';
import type { ScoreSink } from '../unit/score-sink.ts';
import { DeadlineWatch, type UnderWatch } from './deadline-watch.ts';
import type { Watermark } from './watermark.ts';

/** An observation that waits for no other one any more, and its unit. */
export interface ReadyObservation {
  readonly unit: Scorable;
  readonly observation: ReceivedObservation;
}

interface WatchedSteps extends UnderWatch {
  readonly unit: Scorable;
  readonly steps: OpenSteps;
  readonly points: PointsOfSeries;
}

/** Closes the steps of series that have sent nothing, while the event time of the partition continued. */
export class StepWatch {
  readonly #watch = new DeadlineWatch<WatchedSteps>(1, ({ steps, points }) => steps.deadlineMs(points), null);
  #watched = new WeakMap<PointsOfSeries, WatchedSteps>();

  /** After a restore of the unit. */
  adopt(unit: Scorable, steps: OpenSteps): void {
    for (const points of steps.all.values()) if (points.steps.length > 0) this.#add(unit, steps, points);
  }

  /** Adds a point to its step. Returns what the steps came to that it closes. */
  accept(
    unit: Scorable,
    observation: ReceivedObservation,
    { steps, watermark, sink }: { readonly steps: OpenSteps; readonly watermark: Watermark; readonly sink: ScoreSink },
  ): readonly ReceivedObservation[] {
    const closed: ReceivedObservation[] = [];
    const outcome = steps.add(observation, watermark.ms, closed);
    if (outcome === 'duplicate') sink.counters.duplicate(unit.loaded, 0);
    else if (outcome === 'conflict') sink.counters.suspect('conflicts', unit.loaded, observation.series);
    else if (outcome === 'late') refuseLate(observation, unit.loaded, sink);
    else if (outcome !== 'accepted') {
      const detail = whyRefused(outcome, unit.group);
      refuse(observation, { reason: outcome, detail }, { loaded: unit.loaded, sink });
    }
    steps.report(observation.series, unit.loaded, sink);
    if (steps.opened !== null) this.#add(unit, steps, steps.opened);
    steps.opened = null;
    return closed;
  }

  isDue(watermarkMs: number): boolean {
    return this.#watch.isDue(watermarkMs);
  }

  /** Returns what the steps come to that close by an event time of the partition. */
  closeDue(watermarkMs: number): ReadyObservation[] {
    return this.#watch.popDue(watermarkMs).flatMap(({ unit, steps, points }) => {
      // Another unit may have taken them over. One that was forgotten has none that are open.
      if (steps.all.get(points.series) !== points) return [];
      return steps.close(points).map((observation) => ({ unit, observation }));
    });
  }

  keepOnly(isHeld: (unit: Scorable) => boolean): void {
    this.#watch.keepOnly(({ unit }) => isHeld(unit));
  }

  #add(unit: Scorable, steps: OpenSteps, points: PointsOfSeries): void {
    let watched = this.#watched.get(points);
    if (watched === undefined) {
      watched = { key: unit.key + KEY_SEPARATOR + points.series, watches: 0, unit, steps, points };
      this.#watched.set(points, watched);
    }
    this.#watch.watch(watched);
  }
}

function whyRefused(reason: 'step-full' | 'group-full', group: string | null): string {
  if (reason === 'group-full') return whyFull(group);
  return `${OPEN_POINTS_MAX} points wait in the open steps of ${group === null ? 'its series' : 'its group'}`;
}
