/** Recall and delay by kind and size of incidents that were put into quiet series. */
import type { Figures } from '../bench.ts';
import { type Cell, printTable, rounded } from '../table.ts';
import { type Contestant, OURS } from './contestants.ts';
import { median } from './event-segments.ts';
import { INJECTED_KINDS, INJECTED_SIZES, type Injected, type InjectedSeries } from './injected-incidents.ts';
import { seriesCard, sharedThreshold } from './score-card.ts';

/** @param key of the set, in the figures */
export async function injectedFigures(
  title: string,
  key: string,
  inputs: readonly InjectedSeries[],
  able: readonly Contestant[],
): Promise<Figures> {
  if (inputs.length === 0) return {};
  const found = new Map<Contestant, readonly Found[]>();
  for (const contestant of able) found.set(contestant, await foundBy(contestant, inputs));
  const rows: Cell[][] = [];
  for (const kind of INJECTED_KINDS) {
    for (const size of [null, ...INJECTED_SIZES]) {
      const of = (all: readonly Found[]) => all.filter((each) => each.kind === kind && each.size === size);
      if (of(found.get(OURS)!).length === 0) continue;
      rows.push([size === null ? kind : `${kind}, ${size} sigma`, ...able.map((one) => shown(of(found.get(one)!)))]);
    }
  }
  rows.push(['all', ...able.map((one) => shown(found.get(one)!))]);
  const columns = ['incident', ...able.map(({ name }) => name)];
  printTable(`${title}: recall at one false alarm in 1,000 rows, and the median of rows until then`, columns, rows);
  return Object.fromEntries(
    able.flatMap((one) => {
      const suffix = one === OURS ? '' : `_${one.key}`;
      return [[`${key}_recall${suffix}`, rounded(recallOf(found.get(one)!))]];
    }),
  );
}

interface Found extends Injected {
  /** null: it is not found. */
  readonly delay: number | null;
}

async function foundBy(contestant: Contestant, inputs: readonly InjectedSeries[]): Promise<Found[]> {
  const scores = await contestant.score(inputs);
  const cards = inputs.map((input, i) => seriesCard(input, scores[i]));
  const threshold = sharedThreshold(cards);
  return inputs.flatMap(({ incidents }, i) => {
    const delays = cards[i].alarms.delays(threshold);
    return incidents.map((incident, j) => ({ ...incident, delay: delays[j] }));
  });
}

function recallOf(found: readonly Found[]): number {
  return found.filter(({ delay }) => delay !== null).length / found.length;
}

function shown(found: readonly Found[]): string {
  const delays = found.flatMap(({ delay }) => (delay === null ? [] : [delay]));
  const rows = delays.length === 0 ? '' : `, ${median(delays)}`;
  return `${recallOf(found).toFixed(2)}${rows}`;
}
