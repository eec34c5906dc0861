/** Our detector next to others on the same rows, each with its defaults. */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Figures } from '../bench.ts';
import { median } from '../detection/event-segments.ts';
import { eventF1 } from '../detection/metrics-event-f1.ts';
import { vusPr } from '../detection/metrics-vus-pr.ts';
import { withLowest } from '../detection/score-card.ts';
import { type Cell, printTable, rounded } from '../table.ts';
import { type Case, type CaseSet, caseSets, incidentsOf } from './cases.ts';
import { coverageFigures } from './coverage.ts';
import { DETECTORS, type Detector, type JudgedCase } from './detectors.ts';
import { DAY_MS } from './rules.ts';

const DATA = fileURLToPath(new URL('../../../../shared', import.meta.url));
/** Of a quick run: every so many series. */
const QUICK = 5;
/** An event finds an incident if it begins so many rows before it, or so many, or a day, behind it, at most. */
const ROWS_BEFORE = 2;
const ROWS_BEHIND_MAX = 24;

/**
 * @param args `--data FOLDER` (with data/nab/ and detection/), `--quick`: a part of the series,
 *   `--part detectors|target`
 */
export async function run(args: readonly string[]): Promise<Figures> {
  const { values: flags } = parseArgs({
    args: [...args],
    options: {
      data: { type: 'string', default: DATA },
      quick: { type: 'boolean', default: false },
      part: { type: 'string' },
    },
  });
  const sets = caseSets(flags.data, flags.quick ? QUICK : 1);
  return {
    ...(flags.part !== 'target' && (await detectorFigures(sets))),
    ...(flags.part !== 'detectors' && { target_rate: await coverageFigures(sets) }),
  };
}

/** Figures of one detector on one set. */
interface SetFigures {
  readonly vus_pr: number;
  readonly event_f1: number;
  readonly recall: number;
  readonly precision: number;
  /** Events a week and series. */
  readonly events_per_week: number;
  /** Rows from the start of an incident to the event that finds it. */
  readonly delay_rows: number;
}

async function detectorFigures(sets: readonly CaseSet[]): Promise<Figures> {
  const figures: Record<string, Figures> = {};
  const rows = new Map<CaseSet, Cell[][]>(sets.map((set) => [set, []]));
  const costs: Cell[][] = [];
  for (const detector of DETECTORS) {
    const found = await figuresOf(detector, sets);
    if (found === null) continue;
    for (const [set, { vus_pr, event_f1, recall, precision, ...rest }] of found.bySet) {
      const { events_per_week, delay_rows } = rest;
      const cells = [vus_pr, event_f1, recall, precision, events_per_week, delay_rows];
      rows.get(set)!.push([detector.name, ...cells]);
    }
    const { micros, bytes } = found;
    costs.push([detector.name, detector.defaults, micros, bytes]);
    figures[detector.key] = {
      ...Object.fromEntries([...found.bySet].map(([{ key }, one]) => [key, roundedAll(one)])),
      us_per_observation: rounded(micros),
      bytes_per_series: rounded(bytes),
    };
  }
  const columns = ['VUS-PR', 'event F1', 'recall', 'precision', 'events a week', 'delay, rows'];
  for (const [{ title, cases }, cells] of rows) {
    printTable(`${title}, ${cases.length} series; recall to delay at the defaults`, ['detector', ...columns], cells);
  }
  const costColumns = ['detector', 'defaults', 'us an observation', 'bytes a series'];
  printTable('what it costs', costColumns, costs);
  return figures;
}

/** null if the detector cannot run here: the reason is printed. */
async function figuresOf(detector: Detector, sets: readonly CaseSet[]) {
  let [micros, rows, bytes] = [0, 0, 0];
  const bySet = new Map<CaseSet, SetFigures>();
  for (const set of sets) {
    try {
      const { judged, ...cost } = await detector.judge(set.cases);
      micros += cost.micros;
      bytes = Math.max(bytes, cost.bytesPerSeries);
      rows += set.cases.reduce((sum, { times }) => sum + times.length, 0);
      bySet.set(set, setFigures(set.cases, judged));
    } catch (error) {
      console.log(`Without ${detector.name}: ${(error as Error).message.split('\n')[0]}`);
      return null;
    }
  }
  return { bySet, micros: micros / rows, bytes };
}

function setFigures(cases: readonly Case[], judged: readonly JudgedCase[]): SetFigures {
  const found: (number | null)[] = [];
  const inside: number[] = [];
  let [events, weeks] = [0, 0];
  cases.forEach((one, i) => {
    const starts = judged[i].starts.filter((row) => row >= one.split);
    const behind = Math.max(ROWS_BEFORE, Math.min(ROWS_BEHIND_MAX, Math.round(DAY_MS / one.stepMs)));
    events += starts.length;
    weeks += ((one.times.length - one.split) * one.stepMs) / (7 * DAY_MS);
    for (const { start, end } of incidentsOf(one)) {
      const hits = starts.filter((row) => row >= start - ROWS_BEFORE && row < end + behind);
      found.push(hits.length === 0 ? null : Math.max(0, hits[0] - start));
      inside.push(hits.length);
    }
  });
  const scored = cases.map((one, i) => {
    const from = (scores: Float64Array) => withLowest(scores.subarray(one.split));
    const labels = one.labels.subarray(one.split);
    return [vusPr(labels, from(judged[i].scores), one.vusWindow), eventF1(labels, from(judged[i].grades))];
  });
  const delays = found.filter((delay) => delay !== null);
  const hits = inside.reduce((sum, count) => sum + count, 0);
  return {
    vus_pr: mean(scored.map(([vus]) => vus)),
    event_f1: mean(scored.map(([, f1]) => f1)),
    recall: found.length === 0 ? Number.NaN : delays.length / found.length,
    precision: found.length === 0 || events === 0 ? Number.NaN : hits / events,
    events_per_week: events / weeks,
    delay_rows: median(delays),
  };
}

/** Of those that are a number. */
function mean(values: readonly number[]): number {
  const known = values.filter((value) => !Number.isNaN(value));
  return known.length === 0 ? Number.NaN : known.reduce((sum, value) => sum + value, 0) / known.length;
}

function roundedAll(figures: SetFigures): Figures {
  return Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, rounded(value)]));
}
