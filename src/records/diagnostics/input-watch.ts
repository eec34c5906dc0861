import type { Frequency } from '../../time/frequency.ts';
import { Arrivals } from './arrivals.ts';
import { EXAMPLES_MAX, FINDINGS_MAX, type Finding, type Suspicion } from './finding.ts';
import { encodeFindings } from './offset-metadata.ts';
import { stepAlias } from './step-alias.ts';

/** Another step, when at least this share of the distances between arrivals has it. */
const OTHER_STEP_SHARE = 0.5;
/** Duplicates are found above this share of the observations. */
const DUPLICATE_SHARE_MAX = 0.2;
/** Gaps are found above this share of the time steps. */
const GAP_SHARE_MAX = 0.5;
/** A finding stays until its share is below this share of its bound. */
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
  readonly young: YoungSeries = new Map();
  /** Series by what is wrong with them, and by detector. */
  readonly suspects = new Map<Suspicion, YoungSeries>();
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

  endYoung(detector: string, series: string): void {
    addYoung(this.young, detector, [series.slice(0, EXAMPLE_LENGTH_MAX)]);
  }

  suspect(kind: Suspicion, detector: string, series: Iterable<string>): void {
    const known = this.suspects.get(kind) ?? new Map();
    this.suspects.set(kind, known);
    addYoung(known, detector, series);
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
export function judgeInput(counts: InputCounts, before: readonly Finding[] = []): Finding[] {
  const wasFound = (kind: Finding['kind'], detector: string) =>
    before.some((finding) => finding.kind === kind && 'detector' in finding && finding.detector === detector);
  const findings = [...counts.arrivals].flatMap(([detector, arrivals]) =>
    judgeArrivals(detector, { arrivals, late: counts.late.get(detector) ?? 0 }, (kind) =>
      wasFound(kind, detector) ? STAYS_SHARE : 1,
    ),
  );
  const { unwatched: records, unwatchedBefore, examples } = counts;
  if (records > 0) {
    const of = counts.records;
    findings.push({ kind: 'unwatched', records, before: unwatchedBefore, of, examples: [...examples].sort() });
  }
  for (const [kind, detectors] of counts.suspects) {
    for (const [detector, series] of detectors) {
      const examples = [...series].slice(0, EXAMPLES_MAX).map((one) => one.slice(0, EXAMPLE_LENGTH_MAX));
      findings.push({ kind, detector, series: series.size, examples });
    }
  }
  return findings.sort((a, b) => weight(b) - weight(a)).slice(0, FINDINGS_MAX);
}

function judgeArrivals(
  detector: string,
  { arrivals, late }: { readonly arrivals: Arrivals; readonly late: number },
  easing: (kind: Finding['kind']) => number,
): Finding[] {
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

function weight(finding: Finding): number {
  if (finding.kind === 'shadowed') return 0;
  if (finding.kind === 'young') return finding.series;
  // Their values are wrong.
  if ('series' in finding) return Number.MAX_SAFE_INTEGER;
  return finding.kind === 'unwatched' ? finding.records : finding.observations;
}

interface JudgedInput {
  /** null until there were enough records. */
  readonly findings: readonly Finding[] | null;
  /** Metadata of the offset that is committed with them; null where nothing was found. */
  readonly metadata: string | null;
}

/** The findings of the newest records of one input, kept up to date. Bounded by the detectors. */
export class InputWatch {
  #earlier = new InputCounts();
  #counts = new InputCounts();
  #unjudged = 0;
  readonly #young = new EndedYoung();
  #judged: JudgedInput = { findings: null, metadata: null };

  /** Counts records. They are judged once there are enough new ones. `clockMs` is the event time of the input. */
  add(counts: InputCounts, clockMs: number): JudgedInput {
    const { records } = counts;
    this.#young.add(counts.young, clockMs);
    const isSuspect = counts.suspects.size > 0;
    if (records === 0 && !isSuspect) return this.#judged;
    this.#counts.add(counts);
    this.#unjudged += records;
    if (this.#unjudged < JUDGED_MIN && !isSuspect) return this.#judged;
    this.#unjudged = 0;
    const judged = new InputCounts();
    judged.add(this.#earlier);
    judged.add(this.#counts);
    const ofRecords = judgeInput(judged, this.#judged.findings ?? []);
    const findings = [...this.#young.findings(), ...ofRecords]
      .sort((a, b) => weight(b) - weight(a))
      .slice(0, FINDINGS_MAX);
    this.#judged = { findings, metadata: encodeFindings(findings) };
    if (this.#counts.records >= BLOCK_RECORDS) [this.#earlier, this.#counts] = [this.#counts, new InputCounts()];
    return this.#judged;
  }
}

/** Counted are the series of the newest days: between one and two. */
export const YOUNG_PERIOD_MS = 86_400_000;
export const YOUNG_MIN = 10;
/** Series of one detector that are remembered in a period; more are as many. */
export const YOUNG_MAX = 1_000;

/** Series that ended before they were calibrated, by detector. */
export type YoungSeries = Map<string, Set<string>>;

export function addYoung(young: YoungSeries, detector: string, series: Iterable<string>): void {
  let known = young.get(detector);
  if (known === undefined) {
    known = new Set();
    young.set(detector, known);
  }
  for (const one of series) if (known.size < YOUNG_MAX) known.add(one);
}

/** Series of the newest days that ended before they were calibrated. Bounded by the detectors. */
export class EndedYoung {
  #sinceMs = Number.NEGATIVE_INFINITY;
  #earlier: YoungSeries = new Map();
  #newest: YoungSeries = new Map();

  /** @param clockMs event time */
  add(young: YoungSeries, clockMs: number): void {
    if (clockMs >= this.#sinceMs + YOUNG_PERIOD_MS) {
      this.#earlier = clockMs >= this.#sinceMs + 2 * YOUNG_PERIOD_MS ? new Map() : this.#newest;
      this.#newest = new Map();
      this.#sinceMs = clockMs;
    }
    for (const [detector, series] of young) addYoung(this.#newest, detector, series);
  }

  findings(): Finding[] {
    return [...new Set([...this.#earlier.keys(), ...this.#newest.keys()])].flatMap((detector): Finding[] => {
      const series = new Set([...(this.#newest.get(detector) ?? []), ...(this.#earlier.get(detector) ?? [])]);
      const examples = [...series].slice(0, EXAMPLES_MAX);
      return series.size < YOUNG_MIN ? [] : [{ kind: 'young', detector, series: series.size, examples }];
    });
  }
}
