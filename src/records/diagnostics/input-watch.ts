import type { Frequency } from '../../time/frequency.ts';
import { Arrivals } from './arrivals.ts';
import { DIAGNOSTICS_MAX, type Diagnostic, EXAMPLES_MAX, type Suspicion } from './diagnostic.ts';
import { encodeDiagnostics } from './offset-metadata.ts';
import { stepAlias } from './step-alias.ts';

/** Another step, when at least this share of the distances between arrivals has it. */
const OTHER_STEP_SHARE = 0.5;
/** Duplicates are found above this share of the observations. */
const DUPLICATE_SHARE_MAX = 0.2;
/** Gaps are found above this share of the time steps. */
const GAP_SHARE_MAX = 0.5;
/** A diagnostic stays until its share is below this share of its bound. */
const STAYS_SHARE = 0.75;
/** A detector is judged from so many observations on. */
export const JUDGED_MIN = 30;
/** Judged are the newest records: between one and two blocks of so many. */
export const BLOCK_RECORDS = 1_000;
/** An id that is named as an example is cut after so many characters. */
const EXAMPLE_LENGTH_MAX = 64;

interface DroppedRecord {
  readonly reason: string;
  readonly series?: string | null;
  readonly detector?: string | null;
  readonly wasScored?: boolean;
}

export class InputCounts {
  readonly late = new Map<string, number>();
  readonly arrivals = new Map<string, Arrivals>();
  unwatched = 0;
  /** Unwatched ones of series that were scored before. */
  unwatchedBefore = 0;
  readonly examples = new Set<string>();
  /** Series that ended before they were calibrated. */
  readonly shortLived: ShortLivedSeries = new Map();
  /** Series by what is wrong with them, and by detector. */
  readonly suspects = new Map<Suspicion, ShortLivedSeries>();
  /** The detector of the record before: most often the same one. */
  #last: { readonly detector: string; readonly arrivals: Arrivals } | null = null;

  of(detector: string, freq: Frequency): Arrivals {
    if (this.#last?.detector === detector) return this.#last.arrivals;
    let arrivals = this.arrivals.get(detector);
    if (arrivals === undefined) {
      arrivals = new Arrivals(freq);
      this.arrivals.set(detector, arrivals);
    }
    this.#last = { detector, arrivals };
    return arrivals;
  }

  leave(series: string, wasScored: boolean): void {
    this.unwatched++;
    if (wasScored) this.unwatchedBefore++;
    if (this.examples.size < EXAMPLES_MAX) this.examples.add(series.slice(0, EXAMPLE_LENGTH_MAX));
  }

  drop({ reason, series, detector, wasScored = false }: DroppedRecord): void {
    if (reason === 'series-unknown' && series) this.leave(series, wasScored);
    else if (reason === 'late' && detector) this.addLate(detector);
  }

  addLate(detector: string, observations = 1): void {
    this.late.set(detector, (this.late.get(detector) ?? 0) + observations);
  }

  endShortLived(detector: string, series: string): void {
    addShortLived(this.shortLived, detector, [series.slice(0, EXAMPLE_LENGTH_MAX)]);
  }

  suspect(kind: Suspicion, detector: string, series: Iterable<string>): void {
    const known = this.suspects.get(kind) ?? new Map();
    this.suspects.set(kind, known);
    addShortLived(known, detector, series);
  }

  get records(): number {
    let sum = this.unwatched;
    for (const { observations } of this.arrivals.values()) sum += observations;
    return sum;
  }

  add(other: InputCounts): void {
    for (const [detector, arrivals] of other.arrivals) this.of(detector, arrivals.freq).add(arrivals);
    for (const [detector, late] of other.late) this.addLate(detector, late);
    this.unwatched += other.unwatched;
    this.unwatchedBefore += other.unwatchedBefore;
    for (const series of other.examples) if (this.examples.size < EXAMPLES_MAX) this.examples.add(series);
    for (const [kind, detectors] of other.suspects) {
      for (const [detector, series] of detectors) this.suspect(kind, detector, series);
    }
  }
}

/** Problems of an input, worst first. What was found before has to be clearly over to be gone. */
export function judgeInput(counts: InputCounts, before: readonly Diagnostic[] = []): Diagnostic[] {
  const wasFound = (kind: Diagnostic['kind'], detector: string) =>
    before.some(
      (diagnostic) => diagnostic.kind === kind && 'detector' in diagnostic && diagnostic.detector === detector,
    );
  const diagnostics = [...counts.arrivals].flatMap(([detector, arrivals]) =>
    judgeArrivals(detector, { arrivals, late: counts.late.get(detector) ?? 0 }, (kind) =>
      wasFound(kind, detector) ? STAYS_SHARE : 1,
    ),
  );
  const { unwatched: records, unwatchedBefore, examples } = counts;
  if (records > 0) {
    const of = counts.records;
    diagnostics.push({ kind: 'unwatched', records, before: unwatchedBefore, of, examples: [...examples].sort() });
  }
  for (const [kind, detectors] of counts.suspects) {
    for (const [detector, series] of detectors) {
      const examples = [...series].slice(0, EXAMPLES_MAX).map((one) => one.slice(0, EXAMPLE_LENGTH_MAX));
      diagnostics.push({ kind, detector, series: series.size, examples });
    }
  }
  return diagnostics.sort((a, b) => weight(b) - weight(a)).slice(0, DIAGNOSTICS_MAX);
}

function judgeArrivals(
  detector: string,
  { arrivals, late }: { readonly arrivals: Arrivals; readonly late: number },
  easing: (kind: Diagnostic['kind']) => number,
): Diagnostic[] {
  const { observations, duplicates, missing, accepted, freq } = arrivals;
  if (observations < JUDGED_MIN) return [];
  const found = { detector, freq: freq.alias, observations, duplicates, missing, ...(late > 0 && { late }) };
  const other = arrivals.otherStep();
  if (other !== null && other.share >= OTHER_STEP_SHARE * easing('step')) {
    return [{ kind: 'step', step: stepAlias(other.stepMs), ...found }];
  }
  const repeats = duplicates / observations > DUPLICATE_SHARE_MAX * easing('duplicates');
  const gaps = missing / (accepted + missing) > GAP_SHARE_MAX * easing('gaps');
  return [
    ...(repeats ? [{ kind: 'duplicates' as const, ...found }] : []),
    ...(gaps ? [{ kind: 'gaps' as const, ...found }] : []),
  ];
}

function weight(diagnostic: Diagnostic): number {
  if (diagnostic.kind === 'shadowed') return 0;
  if (diagnostic.kind === 'young') return diagnostic.series;
  // Their values are wrong.
  if ('series' in diagnostic) return Number.MAX_SAFE_INTEGER;
  return diagnostic.kind === 'unwatched' ? diagnostic.records : diagnostic.observations;
}

interface JudgedInput {
  /** null until there were enough records. */
  readonly diagnostics: readonly Diagnostic[] | null;
  /** Metadata of the offset that is committed with them; null if nothing was found. */
  readonly metadata: string | null;
}

/** The diagnostics of the newest records of one input, kept up to date. Bounded by the detectors. */
export class InputWatch {
  #earlier = new InputCounts();
  #counts = new InputCounts();
  #unjudged = 0;
  readonly #shortLived = new EndedShortLived();
  #judged: JudgedInput = { diagnostics: null, metadata: null };

  /** Counts records. They are judged once there are enough new ones. `clockMs` is the event time of the input. */
  add(counts: InputCounts, clockMs: number): JudgedInput {
    const { records } = counts;
    this.#shortLived.add(counts.shortLived, clockMs);
    const isSuspect = counts.suspects.size > 0;
    if (records === 0 && !isSuspect) return this.#judged;
    this.#counts.add(counts);
    this.#unjudged += records;
    if (this.#unjudged < JUDGED_MIN && !isSuspect) return this.#judged;
    this.#unjudged = 0;
    const judged = new InputCounts();
    judged.add(this.#earlier);
    judged.add(this.#counts);
    const ofRecords = judgeInput(judged, this.#judged.diagnostics ?? []);
    const diagnostics = [...this.#shortLived.diagnostics(), ...ofRecords]
      .sort((a, b) => weight(b) - weight(a))
      .slice(0, DIAGNOSTICS_MAX);
    this.#judged = { diagnostics, metadata: encodeDiagnostics(diagnostics) };
    if (this.#counts.records >= BLOCK_RECORDS) [this.#earlier, this.#counts] = [this.#counts, new InputCounts()];
    return this.#judged;
  }
}

/** Counted are the series of the newest days: between one and two. */
export const SHORT_LIVED_PERIOD_MS = 86_400_000;
export const SHORT_LIVED_MIN = 10;
/** Series of one detector that are remembered in a period; more are as many. */
export const SHORT_LIVED_MAX = 1_000;

/** Series that ended before they were calibrated, by detector. */
export type ShortLivedSeries = Map<string, Set<string>>;

export function addShortLived(shortLived: ShortLivedSeries, detector: string, series: Iterable<string>): void {
  let known = shortLived.get(detector);
  if (known === undefined) {
    known = new Set();
    shortLived.set(detector, known);
  }
  for (const one of series) if (known.size < SHORT_LIVED_MAX) known.add(one);
}

/** Series of the newest days that ended before they were calibrated. Bounded by the detectors. */
export class EndedShortLived {
  #sinceMs = Number.NEGATIVE_INFINITY;
  #earlier: ShortLivedSeries = new Map();
  #newest: ShortLivedSeries = new Map();

  /** @param clockMs event time */
  add(shortLived: ShortLivedSeries, clockMs: number): void {
    if (clockMs >= this.#sinceMs + SHORT_LIVED_PERIOD_MS) {
      this.#earlier = clockMs >= this.#sinceMs + 2 * SHORT_LIVED_PERIOD_MS ? new Map() : this.#newest;
      this.#newest = new Map();
      this.#sinceMs = clockMs;
    }
    for (const [detector, series] of shortLived) addShortLived(this.#newest, detector, series);
  }

  diagnostics(): Diagnostic[] {
    return [...new Set([...this.#earlier.keys(), ...this.#newest.keys()])].flatMap((detector): Diagnostic[] => {
      const series = new Set([...(this.#newest.get(detector) ?? []), ...(this.#earlier.get(detector) ?? [])]);
      const examples = [...series].slice(0, EXAMPLES_MAX);
      return series.size < SHORT_LIVED_MIN ? [] : [{ kind: 'young', detector, series: series.size, examples }];
    });
  }
}
