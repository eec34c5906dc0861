import { SeriesMemory } from '../../../detector/memory/series-memory.ts';
import type { BoundDetector } from '../unit/bound-detector.ts';
import type { DetectionUnit } from '../unit/detection-unit.ts';

/** Memory for the series of a partition: slabs by detector, since settings decide how much a series takes. */
export class UnitMemories {
  readonly #memories = new Map<BoundDetector, SeriesMemory>();
  /** How many units each detector of the past has. */
  readonly #retired = new Map<BoundDetector, number>();

  of(bound: BoundDetector): SeriesMemory {
    let memory = this.#memories.get(bound);
    if (memory === undefined) {
      memory = new SeriesMemory(bound.layout);
      this.#memories.set(bound, memory);
    }
    return memory;
  }

  /** As `of`, for a unit of settings of the past. */
  ofRetired(bound: BoundDetector): SeriesMemory {
    this.#retired.set(bound, (this.#retired.get(bound) ?? 0) + 1);
    return this.of(bound);
  }

  /** Memory of settings that no unit has any more is given back. */
  releaseRetired(retired: DetectionUnit): void {
    retired.release();
    const left = (this.#retired.get(retired.bound) ?? 1) - 1;
    this.#retired.set(retired.bound, left);
    if (left > 0) return;
    this.#retired.delete(retired.bound);
    this.#memories.delete(retired.bound);
  }

  get bytes(): number {
    let bytes = 0;
    for (const memory of this.#memories.values()) bytes += memory.bytes;
    return bytes;
  }
}
