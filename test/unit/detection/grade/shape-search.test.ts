import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  leftByAnalogue,
  nearestDistance,
  nearestLag,
  restoreShapes,
  seedShapes,
  trackShape,
} from '../../../../src/detection/grade/shape-search.ts';
import { SCALARS } from '../../../../src/detection/memory/series-memory.ts';
import type { SeriesRings } from '../../../../src/detection/memory/series-rings.ts';
import { SEED_PERIOD, shapeLags } from '../../../../src/detection/memory/shape-lags.ts';
import { freshRings } from '../../../fixture/events/fresh-rings.ts';
import { fc } from '../../../fixture/fast-check.ts';

/** What the search is by its definition, number by number. */
class DefinedSearch {
  readonly #values: readonly number[];
  readonly #lags: number;
  readonly #contextStart: number;
  #distances: number[] = [];
  #clamp = Number.POSITIVE_INFINITY;
  nearest = 0;
  distance = Number.POSITIVE_INFINITY;

  constructor(values: readonly number[], lags: number, contextStart: number) {
    this.#values = values;
    this.#lags = lags;
    this.#contextStart = contextStart;
  }

  /** Infinite where the value, or one of the four before, is missing. */
  innovation(position: number): number {
    const [innovation] = this.#compared(position, position);
    const isWhole = [1, 2, 3, 4].every((back) => !Number.isNaN(this.#valueAt(position - back)));
    return isWhole && !Number.isNaN(innovation) ? innovation : Number.POSITIVE_INFINITY;
  }

  /** Innovations of two positions, from the values before that both have. */
  #compared(position: number, other: number): [number, number] {
    const known = [1, 2, 3, 4].filter(
      (back) => !Number.isNaN(this.#valueAt(position - back)) && !Number.isNaN(this.#valueAt(other - back)),
    );
    const of = (at: number) => {
      if (known.length < 2) return Number.NaN;
      const level = known.reduce((sum, back) => sum + this.#valueAt(at - back), 0) / known.length;
      return Math.min(this.#clamp, Math.max(-this.#clamp, this.#valueAt(at) - level));
    };
    return [of(position), of(other)];
  }

  leftByAnalogue(position: number, analogue: number): number {
    const [innovation, earlier] = this.#compared(position, analogue);
    return Math.abs(earlier) >= this.#clamp ? Number.NaN : Math.abs(innovation - earlier);
  }

  seed(position: number, clamp: number): void {
    this.#clamp = clamp;
    this.#distances = Array<number>(this.#lags).fill(Number.POSITIVE_INFINITY);
    for (let row = Math.max(this.#contextStart, position - 16); row < position; row++) this.move(row);
    this.#search(position);
  }

  track(position: number): void {
    this.move(position);
    this.#search(position);
  }

  move(position: number): void {
    for (let index = 0; index < this.#lags && position - 16 - index - 4 >= this.#contextStart; index++) {
      const [innovation, earlier] = this.#compared(position, position - 16 - index);
      const square = (Number.isNaN(earlier) ? this.#compared(position, position)[0] : innovation - earlier) ** 2;
      if (Number.isNaN(square)) continue;
      const before = this.#distances[index];
      this.#distances[index] = roundedHalf(
        Math.fround(before === Number.POSITIVE_INFINITY ? square : 0.8 * before + (1 - 0.8) * square),
      );
    }
  }

  #search(position: number): void {
    const searched = Math.max(0, position - 16 - 16 - 4 - this.#contextStart + 1);
    const found = this.#distances.slice(0, searched);
    this.distance = Math.min(...found, Number.POSITIVE_INFINITY);
    this.nearest = this.distance === Number.POSITIVE_INFINITY ? 0 : 16 + found.indexOf(this.distance);
  }

  #valueAt(position: number): number {
    return position < this.#contextStart ? Number.NaN : this.#values[position];
  }
}

/** The nearest number of 8 bits of precision to a float32, of two equally near ones the even one. */
function roundedHalf(number: number): number {
  if (number === 0 || number === Number.POSITIVE_INFINITY) return number;
  const unit = 2 ** (Math.max(-126, Math.floor(Math.log2(number))) - 7);
  const [units, rest] = [Math.floor(number / unit), number / unit - Math.floor(number / unit)];
  return (rest > 0.5 || (rest === 0.5 && units % 2 === 1) ? units + 1 : units) * unit;
}

function ringsOf(context: number): SeriesRings {
  return freshRings({ h: 8, detectionSize: 8, context });
}

const observation = fc.oneof(
  { weight: 12, arbitrary: fc.float({ min: -50, max: 50, noNaN: true }) },
  { weight: 2, arbitrary: fc.constant(Number.NaN) },
  { weight: 1, arbitrary: fc.constantFrom(0, -0, Math.fround(1e30), Math.fround(-1e30)) },
);
const runs = fc.record({
  values: fc.array(observation, { minLength: 40, maxLength: 220 }),
  context: fc.integer({ min: 40, max: 140 }),
  contextStart: fc.integer({ min: 0, max: 30 }),
  clamp: fc.constantFrom(0, 3, 20, Number.POSITIVE_INFINITY),
});

test('the nearest stretch, its distance and the innovations are those of the definition, bit for bit', () => {
  fc.assert(
    fc.property(runs, ({ values, context, contextStart, clamp }) => {
      const rings = ringsOf(context);
      rings.setScalar(SCALARS.contextStart, contextStart);
      const defined = new DefinedSearch(values, shapeLags(context), contextStart);
      for (let position = contextStart; position < values.length; position++) {
        rings.keepDistance(position, values[position]);
        if (position % SEED_PERIOD === 0 || position === contextStart) {
          rings.setScalar(SCALARS.innovationMax, clamp);
          seedShapes(rings, position);
          defined.seed(position, clamp);
        }
        const analogue = nearestLag(rings);
        assert.equal(trackShape(rings, position), defined.innovation(position), `innovation ${position}`);
        if (analogue > 0)
          assert.equal(leftByAnalogue(analogue, clamp), defined.leftByAnalogue(position, position - analogue));
        defined.track(position);
        assert.deepEqual([nearestLag(rings), nearestDistance(rings)], [defined.nearest, defined.distance]);
      }
      // What a restore computes from the ring.
      const [nearest, distance] = [nearestLag(rings), nearestDistance(rings)];
      if (values.length % SEED_PERIOD === 0) return;
      restoreShapes(rings, values.length);
      assert.deepEqual([nearestLag(rings), nearestDistance(rings)], [nearest, distance]);
    }),
    { numRuns: 60 },
  );
});
