import { SeriesMemory } from '../../detection/memory/series-memory.ts';
import type { InputPlace } from '../../records/input-place.ts';
import type { BoundDetector } from '../unit/bound-detector.ts';
import type { DetectionUnit, UnitHome } from '../unit/detection-unit.ts';

/** Memory for the series of a partition: slabs by detector, since settings decide how much a series takes. */
export class UnitMemories {
  readonly #place: InputPlace;
  readonly #homes = new Map<BoundDetector, UnitHome>();
  /** How many units each detector of the past has. */
  readonly #retired = new Map<BoundDetector, number>();

  constructor(place: InputPlace) {
    this.#place = place;
  }

  homeOf(bound: BoundDetector): UnitHome {
    let home = this.#homes.get(bound);
    if (home === undefined) {
      home = { bound, memory: new SeriesMemory(bound.layout), place: this.#place };
      this.#homes.set(bound, home);
    }
    return home;
  }

  /** As `homeOf`, for a unit of settings of the past. */
  homeOfRetired(bound: BoundDetector): UnitHome {
    this.#retired.set(bound, (this.#retired.get(bound) ?? 0) + 1);
    return this.homeOf(bound);
  }

  /** Memory of settings that no unit has any more is given back. */
  releaseRetired(retired: DetectionUnit): void {
    retired.release();
    const left = (this.#retired.get(retired.bound) ?? 1) - 1;
    this.#retired.set(retired.bound, left);
    if (left > 0) return;
    this.#retired.delete(retired.bound);
    this.#homes.delete(retired.bound);
  }

  get bytes(): number {
    let bytes = 0;
    for (const { memory } of this.#homes.values()) bytes += memory.bytes;
    return bytes;
  }
}
