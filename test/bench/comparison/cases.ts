/** What detectors are compared on: public, generated and labelled series, each at most once. */
import { segmentsOf } from '../detection/event-segments.ts';
import { readLabelled, type SeriesInput } from '../detection/labelled-data.ts';
import { nabFolder, readNabInputs } from '../detection/nab-data.ts';
import { RandomNumbers } from '../weeks/random-numbers.ts';
import { DAY_MS, INCIDENTS, SHAPES, SPRING_MS, seasonSeries, type WeekSeries } from '../weeks/season-series.ts';

export interface Case extends SeriesInput {
  /** By row, 1 inside of an incident. */
  readonly labels: Uint8Array;
  /** Largest width of the soft edges of VUS-PR, in rows. */
  readonly vusWindow: number;
  /** Rows before it are warm-up and not judged. */
  readonly split: number;
}

export interface CaseSet {
  readonly key: string;
  readonly title: string;
  readonly cases: readonly Case[];
}

/** Of generated weeks, the first two are warm-up. */
const WARM_UP_WEEKS = 2;
const STEPS_MS = [300_000, 3_600_000];
const SLOW_ROWS = [90, 180, 400];
const SLOW_SEEDS = 8;
const VUS_WINDOW = 24;

/** @param data folder with data/nab/ and detection/ @param everyNth takes so many of them only */
export function caseSets(data: string, everyNth: number): CaseSet[] {
  const some = <T>(all: readonly T[]) => all.filter((_, i) => i % everyNth === 0);
  const sets: CaseSet[] = [
    { key: 'nab', title: 'NAB (public)', cases: readNabInputs(nabFolder(data), everyNth).map(nabCase) },
    { key: 'quiet', title: 'five quiet weeks (generated)', cases: some(weeks(null)) },
    { key: 'weeks', title: 'five weeks with one incident (generated)', cases: some(INCIDENTS.flatMap(weeks)) },
    { key: 'outlier', title: '90 to 400 days with one outlier (generated)', cases: some(slowSeries('outlier')) },
    { key: 'shift', title: '90 to 400 days with one level shift (generated)', cases: some(slowSeries('shift')) },
    { key: 'labelled', title: 'labelled series (not public)', cases: readLabelled(data, 'uni', everyNth) },
  ];
  return sets.filter(({ cases }) => cases.length > 0);
}

function nabCase({ windows, ...input }: ReturnType<typeof readNabInputs>[number]): Case {
  const labels = new Uint8Array(input.times.length);
  for (const { start, end } of windows) labels.fill(1, start, end);
  // NAB's own probation: 15 % of a file, at most 750 rows.
  return { ...input, labels, vusWindow: VUS_WINDOW, split: Math.min(750, Math.floor(0.15 * labels.length)) };
}

function weeks(incident: (typeof INCIDENTS)[number] | null): Case[] {
  return STEPS_MS.flatMap((stepMs) =>
    (incident === null ? SHAPES : SHAPES.slice(0, 2)).map((shape, i) => {
      const seed = 7_000 + i + (incident === null ? 0 : 10 * INCIDENTS.indexOf(incident));
      return weekCase(seasonSeries(`${incident ?? 'quiet'}-${shape}-${stepMs}`, { shape, stepMs, seed, incident }));
    }),
  );
}

function weekCase({ name, stepMs, startMs, values, incident }: WeekSeries): Case {
  const labels = new Uint8Array(values.length);
  if (incident !== null) labels.fill(1, incident.start, incident.end);
  return {
    name,
    stepMs,
    times: Float64Array.from(values, (_, row) => startMs + row * stepMs),
    channels: [values],
    labels,
    vusWindow: VUS_WINDOW,
    split: (WARM_UP_WEEKS * 7 * DAY_MS) / stepMs,
  };
}

/** Daily values with a weekly season; at 60 % an outlier of six, or a level shift of five deviations of the noise. */
function slowSeries(kind: 'outlier' | 'shift'): Case[] {
  return SLOW_ROWS.flatMap((rows) =>
    Array.from({ length: SLOW_SEEDS }, (_, seed) => {
      const random = new RandomNumbers(9_000 + 100 * seed + rows + (kind === 'shift' ? 50 : 0));
      const at = Math.round(0.6 * rows);
      const labels = new Uint8Array(rows);
      labels.fill(1, at, kind === 'outlier' ? at + 1 : Math.min(rows, at + 14));
      const moved = (row: number) => (kind === 'outlier' ? row === at && 30 : row >= at && 25) || 0;
      const values = Float64Array.from({ length: rows }, (_, row) => {
        return 500 + 60 * Math.sin((2 * Math.PI * (row % 7)) / 7) + 5 * random.normal() + moved(row);
      });
      const times = Float64Array.from({ length: rows }, (_, row) => SPRING_MS + row * DAY_MS);
      const name = `${kind}-${rows}-${seed}`;
      return { name, stepMs: DAY_MS, times, channels: [values], labels, vusWindow: 7, split: Math.round(0.3 * rows) };
    }),
  );
}

/** The first row of each incident that is judged. */
export const incidentsOf = ({ labels, split }: Case) => segmentsOf(labels).filter(({ start }) => start >= split);
