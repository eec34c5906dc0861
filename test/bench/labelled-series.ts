/** Labelled series: synthetic ones, and those of the Numenta Anomaly Benchmark. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  DEMO_INCIDENT_KINDS,
  type DemoIncident,
  type DemoIncidentKind,
  disturbed,
  type Parts,
} from '../../src/demo/demo-incidents.ts';
import { noiseAt, uniformAt, wanderAt } from '../../src/demo/hash-noise.ts';

export interface LabelledSeries {
  readonly name: string;
  readonly freq: string;
  readonly values: Float64Array;
  /** Labelled anomalies: `start <= position < end`, ascending. */
  readonly windows: readonly { readonly start: number; readonly end: number }[];
}

interface Shape {
  readonly length: number;
  /** Steps of the short and of the long season. */
  readonly seasons: readonly [number, number];
  readonly incidentSteps: Readonly<Record<DemoIncidentKind, number>>;
}

const SHAPES: Readonly<Record<string, Shape>> = {
  D: {
    length: 730,
    seasons: [7, 364],
    incidentSteps: { spike: 1, 'level-shift': 14, drift: 14, stuck: 10, 'dropped-season': 14, burst: 10 },
  },
  B: {
    length: 730,
    seasons: [5, 260],
    incidentSteps: { spike: 1, 'level-shift': 10, drift: 10, stuck: 8, 'dropped-season': 10, burst: 8 },
  },
  h: {
    length: 730,
    seasons: [24, 168],
    incidentSteps: { spike: 2, 'level-shift': 24, drift: 24, stuck: 12, 'dropped-season': 24, burst: 12 },
  },
};
const SERIES_OF_A_KIND = 24;
/** Starts of the incidents, as fractions of a series. */
const STARTS = [0.37, 0.71];

/** Equally many series of each kind of incident, two incidents each, and as many without. Reproducible. */
export function syntheticSeries(freq: string): LabelledSeries[] {
  return [...DEMO_INCIDENT_KINDS, null].flatMap((kind, k) =>
    Array.from({ length: SERIES_OF_A_KIND }, (_, i) => synthetic(freq, kind, k * SERIES_OF_A_KIND + i)),
  );
}

function synthetic(freq: string, kind: DemoIncidentKind | null, seed: number): LabelledSeries {
  const { length, seasons, incidentSteps } = SHAPES[freq];
  const among = (draw: number, low: number, high: number) => low * (high / low) ** uniformAt(seed, 0, draw);
  const noise = among(0, 0.3, 3);
  const wander = noise * among(1, 0.3, 10);
  const [short, long] = [among(2, 3, 12), among(3, 1, 12)];
  const [everyShort, everyLong] = seasons;
  const partsAt = (step: number): Parts => ({
    base: 100,
    season: short * weekly(step / everyShort) + long * Math.cos((2 * Math.PI * step) / everyLong + seed),
    noise: noise * noiseAt(seed, step) + wander * wanderAt(seed, step, 4 * everyShort),
  });
  const windows = STARTS.flatMap((part, i) => {
    if (kind === null) return [];
    const start = Math.floor(length * part + 2 * everyShort * uniformAt(seed, i, 6));
    return [{ kind, start, end: start + incidentSteps[kind] }];
  });
  const unit = noise * among(5, 1, 4);
  const values = Float64Array.from({ length }, (_, step) => {
    const incident = windows.find(({ start, end }) => start <= step && step < end) as DemoIncident | undefined;
    if (incident !== undefined) return disturbed(incident, step, { unit, partsAt });
    const { base, season, noise } = partsAt(step);
    return base + season + noise;
  });
  return { name: `${kind ?? 'nothing'} ${seed}`, freq, values, windows };
}

/** A weekly level: five days high, two days low. */
function weekly(cycle: number): number {
  const part = (cycle - Math.floor(cycle)) * 7;
  return part < 5 ? 0.4 + 0.1 * Math.sin(part) : part < 6 ? -0.7 : -1.3;
}

/** The Numenta Anomaly Benchmark, beside the project; evaluation only. */
const NAB = new URL('../../../shared/data/nab/', import.meta.url);

/** Empty where the data are not there. */
export function nabSeries(): LabelledSeries[] {
  if (!existsSync(NAB)) return [];
  const labels: Readonly<Record<string, readonly [string, string][]>> = JSON.parse(
    readFileSync(new URL('labels/combined_windows.json', NAB), 'utf8'),
  );
  return globSync('*/*.csv', { cwd: fileURLToPath(new URL('data/', NAB)) })
    .sort()
    .map((name) => {
      const [, ...lines] = readFileSync(new URL(`data/${name}`, NAB), 'utf8')
        .trim()
        .split('\n');
      const rows = lines.map((line) => line.split(',') as [string, string]);
      const windows = labels[name].map(([from, to]) => {
        const within = rows.map(([time]) => from.slice(0, 19) <= time && time <= to.slice(0, 19));
        return { start: within.indexOf(true), end: within.lastIndexOf(true) + 1 };
      });
      const hourly = rows[1][0].slice(14, 16) === rows[0][0].slice(14, 16);
      return {
        name,
        freq: hourly ? 'h' : '5min',
        values: Float64Array.from(rows, ([, value]) => Number(value)),
        windows,
      };
    });
}
