/** Real series with labelled incidents. They lie next to the project and are measured on, never trained on. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

/** What a detector gets: the values of one series, or of a group's members at the same times. */
export interface SeriesInput {
  readonly name: string;
  readonly stepMs: number;
  readonly times: Float64Array;
  /** One of a series, several of a group; NaN where there is no value. */
  readonly channels: readonly Float64Array[];
}

export interface LabelledInput extends SeriesInput {
  readonly source: string;
  /** By row, 1 inside of an incident. */
  readonly labels: Uint8Array;
  /** Rows before it are warm-up and not judged. */
  readonly split: number;
  /** Largest width of the soft edges of VUS-PR. */
  readonly vusWindow: number;
}

interface ManifestEntry {
  readonly name: string;
  readonly source: string;
  readonly file: string;
  readonly kind: 'uni' | 'multi';
  readonly split: number;
  readonly freq_s: number;
  readonly vus_window: number;
}

/** Series or groups of the detection set below a folder; empty where it is not there. */
export function readLabelled(data: string, kind: ManifestEntry['kind'], everyNth = 1): LabelledInput[] {
  const folder = join(data, 'detection');
  const manifest = join(folder, 'manifest.json');
  if (!existsSync(manifest)) return [];
  const entries = JSON.parse(readFileSync(manifest, 'utf8')) as readonly ManifestEntry[];
  return entries
    .filter((entry) => entry.kind === kind)
    .filter((_, i) => i % everyNth === 0)
    .map((entry) => {
      const text = gunzipSync(readFileSync(join(folder, entry.file))).toString();
      const rows = text
        .trim()
        .split('\n')
        .slice(1)
        .map((line) => line.split(',').map((cell) => (cell === '' ? Number.NaN : Number(cell))));
      const column = (index: number) => Float64Array.from(rows, (row) => row.at(index)!);
      const width = rows[0].length - 2;
      return {
        name: entry.name,
        source: entry.source,
        split: entry.split,
        vusWindow: entry.vus_window,
        stepMs: entry.freq_s * 1_000,
        times: column(0).map((seconds) => seconds * 1_000),
        channels: Array.from({ length: width }, (_, i) => column(1 + i)),
        labels: Uint8Array.from(column(-1)),
      };
    });
}

/** Names with odd numbers are for choosing, those with even ones are reported. */
export function isReported({ name }: Pick<SeriesInput, 'name'>): boolean {
  return Number(name.slice(1)) % 2 === 0;
}
