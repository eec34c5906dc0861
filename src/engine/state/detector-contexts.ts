import { SeriesMemory } from '../../detection/memory/series-memory.ts';
import type { InputPlace } from '../../records/score-record.ts';
import type { LoadedDetector } from '../unit/loaded-detector.ts';
import type { DetectorContext, Scorable } from '../unit/scorable.ts';

/** Memory for the series of a partition: slabs by detector, since settings decide how much a series takes. */
export class DetectorContexts {
  readonly #place: InputPlace;
  readonly #contexts = new Map<LoadedDetector, DetectorContext>();
  /** Number of units each detector of the past has. */
  readonly #previous = new Map<LoadedDetector, number>();

  constructor(place: InputPlace) {
    this.#place = place;
  }

  contextOf(loaded: LoadedDetector): DetectorContext {
    let context = this.#contexts.get(loaded);
    if (context === undefined) {
      context = { loaded, memory: new SeriesMemory(loaded.layout), place: this.#place };
      this.#contexts.set(loaded, context);
    }
    return context;
  }

  /** As `contextOf`, for a unit of settings of the past. */
  contextOfPrevious(loaded: LoadedDetector): DetectorContext {
    this.#previous.set(loaded, (this.#previous.get(loaded) ?? 0) + 1);
    return this.contextOf(loaded);
  }

  /** Memory of settings that no unit has any more is given back. */
  releasePrevious(previous: Scorable): void {
    previous.release();
    const left = (this.#previous.get(previous.loaded) ?? 1) - 1;
    this.#previous.set(previous.loaded, left);
    if (left > 0) return;
    this.#previous.delete(previous.loaded);
    this.#contexts.delete(previous.loaded);
  }

  get bytes(): number {
    let bytes = 0;
    for (const { memory } of this.#contexts.values()) bytes += memory.bytes;
    return bytes;
  }
}
