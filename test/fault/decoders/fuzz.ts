import { seededRandom } from '../../fixture/seeded-random.ts';
import { mutated } from './mutation.ts';
import type { FuzzTarget } from './targets.ts';

/** Inputs that are kept because something new came of them. */
const POOL_MAX = 2_000;

export interface FuzzRun {
  readonly target: FuzzTarget;
  readonly corpus: readonly Buffer[];
  readonly seed: number;
  /** Called before each input, with it; false ends the run. */
  readonly before: (bytes: Buffer) => boolean;
}

export interface FuzzFigures {
  readonly inputs: number;
  /** What came of them, numbers and names left out. */
  readonly outcomes: number;
}

/** Decodes changed inputs. Those with a new outcome are changed further. Throws what the decoder throws. */
export function fuzz({ target, corpus, seed, before }: FuzzRun): FuzzFigures {
  const random = seededRandom(seed);
  const pool = [...corpus];
  const outcomes = new Set<string>();
  for (let inputs = 0; ; inputs++) {
    const bytes = inputs < corpus.length ? corpus[inputs] : mutated(pool, random);
    if (!before(bytes)) return { inputs, outcomes: outcomes.size };
    const outcome = target
      .decode(bytes)
      .replace(/"(?:[^"\\]|\\.)*"?|[\d.]+/g, '')
      .slice(0, 120);
    if (outcomes.has(outcome) || outcomes.size >= POOL_MAX) continue;
    outcomes.add(outcome);
    pool.push(bytes);
  }
}
