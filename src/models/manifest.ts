import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ServiceError } from '../ops/service-error.ts';
import { checkTuning, type GraphFile, isGraphFile, type TuningGraphs } from './tuning-graphs.ts';

/**
 * The content of a model folder's manifest.json (there in snake case). README.md explains how to write one.
 * Inputs of the graph are `values` and `observed` [batch, T] and `future` [batch, H], all float32. The output is
 * [batch, H, quantiles] in the units of `values`, ascending along the last axis, and 0 for a row without observations.
 * A graph with the input `group` [batch] forecasts rows of equal numbers as a group: series with the same cutoff in
 * time. Rows of other groups must not change a row's forecast.
 */
export interface ModelManifest {
  readonly name: string;
  readonly version: string;
  /** File name of the forecasting graph, in the same folder. */
  readonly graph: string;
  /** SHA-256 of the graph, lower-case hex: the digest of the model. */
  readonly sha256: string;
  /** The same network with its median as the only output, equal to the bit; null if there is none. */
  readonly median: MedianGraph | null;
  /** Digest that the state of a stream has for this model, so that it continues; null: `sha256`. */
  readonly state: string | null;
  /** Observations per token. Contexts and horizons of the graph are multiples of it. */
  readonly patch: number;
  /** Longest context, observations. */
  readonly context: number;
  /** Context lengths the graph runs at, ascending; the last equals `context`. */
  readonly contextBuckets: readonly number[];
  /** Longest horizon decoded in one pass, observations. */
  readonly horizonMax: number;
  /** Levels of the output's last axis, ascending, among them 0.5. */
  readonly quantiles: readonly number[];
  readonly inputs: {
    readonly values: string;
    readonly observed: string;
    readonly future: string;
    readonly group?: string;
  };
  /** Most members of a group; only where `inputs` has a `group`. */
  readonly membersMax?: number;
  readonly output: string;
  /** null if the model cannot be fine-tuned. */
  readonly tuning: TuningGraphs | null;
  readonly parameters: number;
  readonly license: string;
  /** Training and evaluation, as documentation; not read by code. */
  readonly trained: Readonly<Record<string, unknown>>;
  readonly quality: Readonly<Record<string, unknown>>;
}

interface MedianGraph extends GraphFile {
  /** The rows of its runs are a multiple of this. */
  readonly rowsUnit: number;
}

/**
 * The rows of a run are a multiple of this, unless the manifest has another number. The runtime uses other instructions
 * for a remainder of less than four numbers; they round differently, and a forecast must not depend on other rows.
 */
export const ROWS_UNIT = 4;

type ManifestReading =
  | { readonly kind: 'manifest'; readonly manifest: ModelManifest }
  | { readonly kind: 'problems'; readonly problems: readonly string[] };

const MANIFEST_FORMAT = 1;
/** Longest context and horizon, observations. It bounds the memory of a mistyped manifest. */
const LENGTH_MAX = 65_536;
/** The same limit as in detectors files and requests. */
const NAME = /^[\w.-]{1,36}$/;

/** Checks the parsed content of a manifest.json. Reports every problem, with its key and the expected value. */
export function checkManifest(json: unknown): ManifestReading {
  if (!isRecord(json)) return { kind: 'problems', problems: [`the manifest must be an object, got ${show(json)}`] };
  const problems: string[] = [];
  const need = <T>(key: string, expected: string, holds: (value: unknown) => boolean, from = json): T => {
    const value = from[key.slice(key.lastIndexOf('.') + 1)];
    if (!holds(value)) problems.push(`${key} must be ${expected}, got ${show(value)}`);
    return value as T;
  };
  if (isCount(json.format) && json.format > MANIFEST_FORMAT) {
    problems.push(`format ${json.format} is newer than what this version reads, which is ${MANIFEST_FORMAT}`);
  } else {
    need('format', `${MANIFEST_FORMAT}`, (value) => value === MANIFEST_FORMAT);
  }
  const patch = need<number>('patch', 'an integer from 1', isCount);
  const multiple = (value: unknown) =>
    isCount(value) && value <= LENGTH_MAX && (!isCount(patch) || value % patch === 0);
  const length = `a multiple of patch from 1 to ${LENGTH_MAX}`;
  const context = need<number>('context', length, multiple);
  const inputs = need<Record<string, unknown>>('inputs', 'an object of input names', isRecord);
  const inputName = (key: string) => (isRecord(inputs) ? need<string>(`inputs.${key}`, 'a name', isText, inputs) : '');
  const groups = isRecord(inputs) && inputs.group !== undefined;
  const manifest: ModelManifest = {
    name: need('name', 'letters, digits, ".", "-" and "_" (1 to 36)', (v) => isText(v) && NAME.test(v)),
    version: need('version', 'a text', isText),
    graph: need('graph', 'the name of a file in the same folder', (v) => isText(v) && basename(v) === v && v !== '..'),
    sha256: need('sha256', '64 lower-case hex digits', isDigest),
    median: checkMedian(json.median, problems),
    state: json.state === undefined ? null : need('state', '64 lower-case hex digits', isDigest),
    patch,
    context,
    contextBuckets: need(
      'context_buckets',
      'ascending multiples of patch that end at context',
      (v) => isAscending(v) && v.every(multiple) && v.at(-1) === context,
    ),
    horizonMax: need('horizon_max', length, multiple),
    quantiles: need(
      'quantiles',
      'two or more ascending levels between 0 and 1, among them 0.5',
      (v) => isAscending(v) && v.length > 1 && v[0] > 0 && v.at(-1)! < 1 && v.includes(0.5),
    ),
    inputs: {
      values: inputName('values'),
      observed: inputName('observed'),
      future: inputName('future'),
      ...(groups && { group: inputName('group') }),
    },
    ...(groups && { membersMax: need<number>('members_max', 'an integer from 1', isCount) }),
    output: need('output', 'a name', isText),
    tuning: json.tuning === undefined ? null : checkTuning(json.tuning, problems),
    parameters: need('parameters', 'an integer from 1', isCount),
    license: need('license', 'a text', isText),
    trained: need('trained', 'an object', isRecord),
    quality: need('quality', 'an object', isRecord),
  };
  const names = Object.values(manifest.inputs).filter(isText);
  if (new Set(names).size < names.length) problems.push(`inputs must have different names, got ${show(inputs)}`);
  return problems.length > 0 ? { kind: 'problems', problems } : { kind: 'manifest', manifest };
}

function checkMedian(median: unknown, problems: string[]): MedianGraph | null {
  if (median === undefined) return null;
  const { rows_unit: rowsUnit = ROWS_UNIT } = (median ?? {}) as { readonly rows_unit?: unknown };
  if (isGraphFile(median) && isCount(rowsUnit) && ROWS_UNIT % rowsUnit === 0) {
    return { ...(median as GraphFile), rowsUnit };
  }
  const expected = 'graph and sha256 of a file in the same folder, and rows_unit, if any, 1, 2 or 4';
  problems.push(`median must be ${expected}, got ${show(median)}`);
  return null;
}

/** Medians were compared with their quantiles on it. Other processors may add in another order, bit for bit. */
const MEDIAN_ARCHITECTURE = 'x64';

/**
 * Reads the manifest of a model folder and verifies the digests of its files. On processors other than x64 it has no
 * graph of medians.
 * Throws ServiceError `model-invalid` with every problem.
 */
export async function readModelFolder(folder: string, architecture: string = process.arch): Promise<ModelManifest> {
  const invalid = (reasons: readonly string[], cause?: unknown) =>
    new ServiceError('model-invalid', `model folder ${folder}: ${reasons.join('; ')}`, { cause });
  let json: unknown;
  try {
    json = JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8'));
  } catch (error) {
    throw invalid([`manifest.json cannot be read: ${(error as Error).message}`], error);
  }
  const reading = checkManifest(json);
  if (reading.kind === 'problems') throw invalid(reading.problems);
  const { name, graph, sha256, median, tuning } = reading.manifest;
  const problems: string[] = [];
  if (name !== basename(folder)) problems.push(`name must be that of the folder, got ${show(name)}`);
  const files = [
    { graph, sha256 },
    ...(median === null ? [] : [median]),
    ...(tuning === null ? [] : [tuning.step, tuning.forecast, tuning.source]),
  ];
  for (const file of files) {
    const problem = await fileProblem(folder, file);
    if (problem !== null) problems.push(problem);
  }
  if (problems.length > 0) throw invalid(problems);
  return architecture === MEDIAN_ARCHITECTURE ? reading.manifest : { ...reading.manifest, median: null };
}

/** The problem of a file with a known digest; null if there is none. */
async function fileProblem(folder: string, { graph, sha256 }: GraphFile): Promise<string | null> {
  try {
    const digest = createHash('sha256');
    await pipeline(createReadStream(join(folder, graph)), digest);
    const found = digest.digest('hex');
    return found === sha256 ? null : `${graph} is damaged or was replaced: its sha256 is ${found}, not ${sha256}`;
  } catch (error) {
    return `${graph} cannot be read: ${(error as Error).message}`;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

function isDigest(value: unknown): boolean {
  return isText(value) && /^[0-9a-f]{64}$/.test(value);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 1;
}

function isAscending(value: unknown): value is number[] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((item, index) => Number.isFinite(item) && (index === 0 || value[index - 1] < item))
  );
}

/** A value in JSON, truncated, for messages. */
function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 80 ? `${text.slice(0, 80)}...` : text;
}
