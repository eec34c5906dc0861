/** Who is measured: our detector, and rivals on the same rows in the same run. */
import type { SeriesInput } from './labelled-data.ts';
import { judge, judgeSpeed } from './product.ts';
import { held, lastChange } from './rivals/last-value.ts';
import { HALF_SPACE_TREES, keptScores, RANDOM_CUT_FORESTS, type RivalProgram, runRival } from './rivals/processes.ts';
import type { TwoScores } from './score-card.ts';

export interface Contestant {
  readonly name: string;
  /** Lower snake case, for the figures. */
  readonly key: string;
  score(inputs: readonly SeriesInput[]): Promise<readonly TwoScores[]>;
  /** Observations scored in a second of one core. */
  speed(inputs: readonly SeriesInput[]): Promise<number>;
}

export const OURS: Contestant = {
  name: 'tidewatch',
  key: 'tidewatch',
  score: (inputs) => judge(inputs),
  speed: judgeSpeed,
};

const LAST_VALUE = inProcess('last value held', 'last_value_held', (input) => held(lastChange(input)));
/** Key of the rival that speed is compared with. */
export const RANDOM_CUT_FOREST = 'random_cut_forest';
const PROGRAMS: readonly Contestant[] = [
  inChild('random cut forest', RANDOM_CUT_FOREST, RANDOM_CUT_FORESTS),
  inChild('half-space trees', 'half_space_trees', HALF_SPACE_TREES),
];

/** Those that can run here; what is left out is said. */
export async function rivals(): Promise<Contestant[]> {
  const able: Contestant[] = [LAST_VALUE];
  const tiny = [{ name: 'tiny', stepMs: 1, times: new Float64Array(64), channels: [new Float64Array(64)] }];
  for (const rival of PROGRAMS) {
    try {
      await rival.speed(tiny);
      able.push(rival);
    } catch (error) {
      console.log(`Without ${rival.name}: ${(error as Error).message.split('\n')[0]}`);
    }
  }
  return able;
}

function inProcess(name: string, key: string, scoresOf: (input: SeriesInput) => Float64Array): Contestant {
  const score = (inputs: readonly SeriesInput[]) => inputs.map(scoresOf).map(both);
  return {
    name,
    key,
    score: async (inputs) => score(inputs),
    async speed(inputs) {
      score(inputs);
      const begun = process.cpuUsage();
      score(inputs);
      const { user, system } = process.cpuUsage(begun);
      return countOf(inputs) / ((user + system) / 1e6);
    },
  };
}

function inChild(name: string, key: string, program: RivalProgram): Contestant {
  return {
    name,
    key,
    score: async (inputs) => (await keptScores(program, inputs)).map(both),
    speed: async (inputs) => (await runRival(program, inputs)).observationsPerSecond,
  };
}

function both(scores: Float64Array): TwoScores {
  return { severity: scores, grade: scores };
}

function countOf(inputs: readonly SeriesInput[]): number {
  return inputs.reduce((sum, { times, channels }) => sum + times.length * channels.length, 0);
}
