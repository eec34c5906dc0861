/** What faulty records cost in detection: the same series through Kafka and a worker, with and without faults. */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { meanStepMs } from '../../../src/calendar/frequency.ts';
import type { KafkaConnection } from '../../../src/kafka/cluster/connection.ts';
import { seededRandom } from '../../fixture/seeded-random.ts';
import type { Figures } from '../bench.ts';
import { segmentsOf } from '../detection/event-segments.ts';
import { type LabelledInput, readLabelled } from '../detection/labelled-data.ts';
import { alarmScores } from '../detection/nab.ts';
import { NAB_PROFILES, type NabInput, readNabInputs, readNabProfiles } from '../detection/nab-data.ts';
import { NabSweep } from '../detection/nab-score.ts';
import { defaultDetector, type Verdicts } from '../detection/product.ts';
import { seriesCard, setCard } from '../detection/score-card.ts';
import { withBroker } from '../local-broker.ts';
import { type Cell, printTable, rounded } from '../table.ts';
import { arrivalsOf, FAULTS, type FaultCounts, type FaultName, inOrder } from './faulty-records.ts';
import { judgeStream } from './judge-stream.ts';

const DATA = fileURLToPath(new URL('../../../../shared', import.meta.url));
const PARTS = ['series', 'groups', 'nab'] as const;
type Part = (typeof PARTS)[number];
/** Of a quick run: every so many series, and files of NAB. */
const QUICK = 3;
/** No fault takes rows so near an incident. */
const KEPT_BEFORE = 24;
const KEPT_BEHIND = 48;
const SEED = 16;

/** What one set of inputs is measured by: name and value, 1 at best. */
type Scores = readonly (readonly [name: string, value: number])[];

interface InputSet {
  readonly part: Part;
  readonly inputs: readonly (LabelledInput | NabInput)[];
  readonly kept: readonly Uint8Array[];
  scoresOf(verdicts: readonly Verdicts[]): Scores;
}

/**
 * @param args parts to run (all by default), `--data FOLDER` (with detection/ and data/nab/), `--quick` takes a part
 *   of the series, `--faults NAME,NAME` some of the faults, `--each` also every fault alone
 */
export async function run(args: readonly string[]): Promise<Figures> {
  const { values: flags, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      data: { type: 'string', default: DATA },
      quick: { type: 'boolean', default: false },
      faults: { type: 'string', default: FAULTS.join() },
      each: { type: 'boolean', default: false },
    },
  });
  const parts = positionals.length === 0 ? PARTS : PARTS.filter((part) => positionals.includes(part));
  const chosen = FAULTS.filter((fault) => flags.faults.split(',').includes(fault));
  const everyNth = flags.quick ? QUICK : 1;
  const sets = parts.map((part) => inputSet(part, flags.data, everyNth)).filter(({ inputs }) => inputs.length > 0);
  if (sets.length < parts.length) console.log(`Without series that are not in ${flags.data}.`);
  const ways = [[], chosen, ...(flags.each ? chosen.map((fault) => [fault]) : [])];
  return await withBroker(async (connection) => {
    const figures: Record<string, unknown> = {};
    const differences: number[] = [];
    for (const set of sets) {
      const runs: MeasuredRun[] = [];
      for (const faults of ways) runs.push(await measure(connection, set, faults));
      printRuns(set, runs);
      const [clean, faulted] = runs;
      for (const [i, [name, value]] of clean.scores.entries()) {
        const [, faultedValue] = faulted.scores[i];
        figures[`${name}_clean`] = rounded(value);
        figures[`${name}_faulted`] = rounded(faultedValue);
        differences.push(faultedValue - value);
      }
    }
    return { ...figures, worst_difference: rounded(Math.min(...differences)) };
  });
}

interface MeasuredRun {
  readonly name: string;
  readonly scores: Scores;
  readonly counts: FaultCounts;
  readonly outcomes: Readonly<Record<string, number>>;
}

async function measure(connection: KafkaConnection, set: InputSet, faults: readonly FaultName[]): Promise<MeasuredRun> {
  const random = seededRandom(SEED);
  const counts = { ...(Object.fromEntries(FAULTS.map((fault) => [fault, 0])) as Record<FaultName, number>), lost: 0 };
  const arrivals = inOrder(
    set.inputs.flatMap((input, i) => {
      const stepMs = meanStepMs(defaultDetector(input).settings.freq);
      return arrivalsOf(input, { stepMs, faults: new Set(faults), kept: set.kept[i], random }, counts);
    }),
  );
  const name = faults.length === 0 ? 'clean' : faults.length === 1 ? faults[0] : 'faulted';
  const begunMs = performance.now();
  const { verdicts, outcomes } = await judgeStream(connection, `${set.part}-${name}`, { inputs: set.inputs, arrivals });
  const seconds = (performance.now() - begunMs) / 1_000;
  console.log(`${set.part}, ${name}: ${arrivals.length} records in ${seconds.toFixed(0)} s`);
  return { name, scores: set.scoresOf(verdicts), counts, outcomes };
}

function inputSet(part: Part, data: string, everyNth: number): InputSet {
  if (part === 'nab') return nabSet(data, everyNth);
  const inputs = readLabelled(data, part === 'series' ? 'uni' : 'multi', part === 'series' ? everyNth : 1);
  const prefix = part === 'series' ? '' : 'group_';
  return {
    part,
    inputs,
    kept: inputs.map(({ labels }) => keptRows(labels)),
    scoresOf(verdicts) {
      const { vusPr, eventF1, recall } = setCard(inputs.map((input, i) => seriesCard(input, verdicts[i])));
      return [
        [`${prefix}vus_pr`, vusPr],
        [`${prefix}event_f1`, eventF1],
        [`${prefix}recall`, recall],
      ];
    },
  };
}

function nabSet(data: string, everyNth: number): InputSet {
  const inputs = readNabInputs(data, everyNth);
  const profiles = inputs.length === 0 ? null : readNabProfiles(data);
  return {
    part: 'nab',
    inputs,
    kept: inputs.map(({ times, windows }) => {
      const labels = new Uint8Array(times.length);
      for (const { start, end } of windows) labels.fill(1, start, end);
      return labels;
    }),
    scoresOf(verdicts) {
      const files = inputs.map(({ name, windows }, i) => ({ name, windows, scores: alarmScores(verdicts[i].alarm) }));
      return NAB_PROFILES.map((profile) => [
        `nab_${profile}`,
        new NabSweep(files, profiles![profile]).scoreAt(1) / 100,
      ]);
    },
  };
}

function keptRows(labels: Uint8Array): Uint8Array {
  const kept = new Uint8Array(labels.length);
  for (const { start, end } of segmentsOf(labels)) kept.fill(1, Math.max(0, start - KEPT_BEFORE), end + KEPT_BEHIND);
  return kept;
}

function printRuns({ part, inputs }: InputSet, runs: readonly MeasuredRun[]): void {
  const [clean] = runs;
  const figures = clean.scores.map(([name, value], i): Cell[] => [
    name,
    ...runs.map(({ scores }) => scores[i][1]),
    runs[1].scores[i][1] - value,
  ]);
  const columns = runs.map(({ name }) => name);
  printTable(`${part}: ${inputs.length} through Kafka`, ['figure', ...columns, 'difference'], figures);
  const putIn = [...FAULTS, 'lost' as const].map((fault): Cell[] => [
    fault,
    ...runs.map(({ counts }) => counts[fault]),
  ]);
  printTable('faults put in, and records lost in outages', ['fault', ...columns], putIn);
  const names = [...new Set(runs.flatMap(({ outcomes }) => Object.keys(outcomes)))].sort();
  const became = names.map((name): Cell[] => [name, ...runs.map(({ outcomes }) => outcomes[name] ?? 0)]);
  printTable('what became of records', ['outcome', ...columns], became);
}
