/** Counts of one detector, in the newest observations that were judged. */
interface ArrivalDiagnostic {
  readonly detector: string;
  readonly freq: string;
  readonly observations: number;
  /** Judged observations that were dropped, because their time step was filled. */
  readonly duplicates: number;
  /** Time steps between them without an observation. */
  readonly missing: number;
  /** Observations that were late; absent if there was none. */
  readonly late?: number;
}

/**
 * Series that are written in a way that makes their values wrong: start times of several senders in turn, a counter
 * that falls again and again, other values at one time.
 */
export type Suspicion = 'senders' | 'resets' | 'conflicts';

/** Settings that watch nothing, or not what was meant, as far as the input shows it. */
export type Diagnostic =
  /** The series arrive `step` apart, not `freq`. */
  | ({ readonly kind: 'step'; readonly step: string } & ArrivalDiagnostic)
  | ({ readonly kind: 'duplicates' } & ArrivalDiagnostic)
  | ({ readonly kind: 'gaps' } & ArrivalDiagnostic)
  /** Records whose series no detector watches. */
  | {
      readonly kind: 'unwatched';
      readonly records: number;
      /** Unwatched records of series that were scored before. */
      readonly before: number;
      /** Records that were judged. */
      readonly of: number;
      readonly examples: readonly string[];
    }
  /** Series that ended before they were calibrated, in the newest days. Nothing was reported about them. */
  | SeriesDiagnostic<'young'>
  | SeriesDiagnostic<Suspicion>
  /** A glob that takes no series: every one that it matches goes to detectors before it. */
  | { readonly kind: 'shadowed'; readonly detector: string; readonly glob: string; readonly by: string };

/** Series of a detector, some of them by name. */
interface SeriesDiagnostic<K extends string> {
  readonly kind: K;
  readonly detector: string;
  readonly series: number;
  readonly examples: readonly string[];
}

export const DIAGNOSTIC_KINDS: readonly Diagnostic['kind'][] = [
  'step',
  'duplicates',
  'gaps',
  'unwatched',
  'young',
  'senders',
  'resets',
  'conflicts',
  'shadowed',
];

/** Diagnostics of one place, worst first; more are omitted. */
export const DIAGNOSTICS_MAX = 16;
export const EXAMPLES_MAX = 3;

/** The identity of a diagnostic: its numbers change all the time. */
export function diagnosticKey(diagnostic: Diagnostic): string {
  switch (diagnostic.kind) {
    case 'step':
      return JSON.stringify([diagnostic.kind, diagnostic.detector, diagnostic.freq, diagnostic.step]);
    case 'shadowed':
      return JSON.stringify([diagnostic.kind, diagnostic.detector, diagnostic.glob]);
    case 'unwatched':
      return diagnostic.kind;
    default:
      return JSON.stringify([diagnostic.kind, diagnostic.detector]);
  }
}

/** The diagnostics of several partitions as one list. Those of one kind and detector become one, with the sums. */
export function mergeDiagnostics(lists: readonly (readonly Diagnostic[])[]): Diagnostic[] {
  const merged = new Map<string, Diagnostic>();
  for (const diagnostic of lists.flat()) {
    const known = merged.get(diagnosticKey(diagnostic));
    merged.set(diagnosticKey(diagnostic), known === undefined ? diagnostic : together(known, diagnostic));
  }
  return [...merged.values()];
}

function together(a: Diagnostic, b: Diagnostic): Diagnostic {
  if (a.kind === 'shadowed' || b.kind === 'shadowed') return a;
  if (a.kind === 'unwatched' || b.kind === 'unwatched') {
    if (a.kind !== 'unwatched' || b.kind !== 'unwatched') return a;
    const examples = mergedExamples(a, b);
    return { ...a, records: a.records + b.records, before: a.before + b.before, of: a.of + b.of, examples };
  }
  if ('series' in a || 'series' in b) {
    if (!('series' in a) || !('series' in b)) return a;
    return { ...a, series: a.series + b.series, examples: mergedExamples(a, b) };
  }
  const observations = a.observations + b.observations;
  const late = (a.late ?? 0) + (b.late ?? 0);
  const merged = { ...a, observations, duplicates: a.duplicates + b.duplicates, missing: a.missing + b.missing };
  return late === 0 ? merged : { ...merged, late };
}

function mergedExamples(...found: readonly { readonly examples: readonly string[] }[]): string[] {
  return [...new Set(found.flatMap(({ examples }) => examples))].slice(0, EXAMPLES_MAX);
}

/** Counts and a remedy, which depends on where the observations come from: one sentence for the operator. */
export function diagnosticText(diagnostic: Diagnostic, source: keyof typeof REMEDIES = 'stream'): string {
  const remedies = REMEDIES[source];
  switch (diagnostic.kind) {
    case 'step': {
      const { detector, freq, step, duplicates } = diagnostic;
      const several = duplicates > 0 ? ', or set aggregate' : '';
      const sent = source === 'stream' ? `, or send them every ${freq}` : '';
      const remedy = isDisordered(diagnostic) ? remedies.order : `set freq: ${step}${sent}${several}`;
      return `detector ${detector}: series arrive every ${step}, freq is ${freq}: ${outcome(diagnostic)}; ${remedy}`;
    }
    case 'duplicates': {
      const remedy = `set freq to the step of the series, or ${remedies.duplicates}`;
      return `detector ${diagnostic.detector}: ${outcome(diagnostic)} at freq ${diagnostic.freq}; ${remedy}`;
    }
    case 'gaps': {
      const other = `set freq to the step of the series, or ${remedies.gaps}`;
      const remedy = isDisordered(diagnostic) ? remedies.order : other;
      return `detector ${diagnostic.detector}: ${outcome(diagnostic)} at freq ${diagnostic.freq}; ${remedy}`;
    }
    case 'unwatched': {
      const { records, of, before, examples } = diagnostic;
      const earlier = before === 0 ? '' : `, ${numberText(before)} of them of series that were scored before`;
      const named = namesText(examples);
      const found = `${numberText(records)} of ${numberText(of)} records are of series that no detector watches`;
      return `${found}${earlier} (${named}); add a glob for them to a detector`;
    }
    case 'young': {
      const { detector, series, examples } = diagnostic;
      const found = `${numberText(series)} series ended before they were calibrated (${namesText(examples)})`;
      return `detector ${detector}: ${found}; ${remedies.young}`;
    }
    case 'senders':
    case 'resets':
    case 'conflicts': {
      const { kind, detector, series, examples } = diagnostic;
      const found = `${numberText(series)} series ${SUSPICIONS[kind]} (${namesText(examples)})`;
      return `detector ${detector}: ${found}; ${remedies[kind]}`;
    }
    case 'shadowed': {
      const { detector, glob, by } = diagnostic;
      const found = `detector ${detector}: glob ${JSON.stringify(glob)} takes no series`;
      return `${found}: detector ${by} comes first and takes all of them; put ${detector} before ${by}`;
    }
  }
}

const SUSPICIONS: Readonly<Record<Suspicion, string>> = {
  senders: 'have points of several senders, whose start times alternate',
  resets: 'decrease in a fifth of their points or more, and are read as counters',
  conflicts: 'have two values at one time, and the second is dropped',
};

/** Remedies of diagnostics, in observations that senders send and in the rows of a file. */
const REMEDIES = {
  stream: {
    order:
      'keep each series in one partition (partition_metrics_by_resource_attributes of the Collector), ' +
      'or run one worker until the lag is gone',
    duplicates: 'look for a producer that sends twice',
    gaps: 'look for missing data',
    young: 'if a label names short-lived objects, list it in input.drop_labels, or send sums without it',
    senders: 'give each process its own service.instance.id, or name what distinguishes them in input.resource_labels',
    resets:
      'give each process its own service.instance.id if several send one series, or remove `as` if it is no counter',
    conflicts:
      'name what distinguishes their senders in input.resource_labels, or the label of an HA pair in ' +
      'input.replica_label',
  },
  file: {
    order: 'sort the rows of each series by time',
    duplicates: 'remove the rows that repeat a time',
    gaps: 'look for the rows that are missing',
    young: 'if part of an id names short-lived objects, leave it out of the ids',
    senders: 'give the rows of each sender a series of its own',
    resets: 'give each counter a series of its own, or remove `as` if the values are no counter',
    conflicts: 'give the rows a series for each value: name the column that distinguishes them (--series-column)',
  },
} as const satisfies Record<string, Readonly<Record<Suspicion | 'order' | 'duplicates' | 'gaps' | 'young', string>>>;

/** Late observations beyond this share are in the wrong order, and do not show the step. */
const LATE_SHARE_MAX = 0.2;
const isDisordered = ({ late = 0, observations }: ArrivalDiagnostic) => late > LATE_SHARE_MAX * observations;

function namesText(series: readonly string[]): string {
  return series.map((one) => JSON.stringify(one)).join(', ');
}

function outcome({ observations, duplicates, missing, late = 0 }: ArrivalDiagnostic): string {
  const all = numberText(observations);
  const parts = [
    ...(late > 0 ? [`${numberText(late)} observations late, ${all} in order`] : []),
    ...(duplicates > 0 ? [`${numberText(duplicates)} of ${all} observations dropped as duplicates`] : []),
    ...(missing > 0 ? [`${numberText(missing)} steps missing between ${numberText(observations - duplicates)}`] : []),
  ];
  return parts.length === 0 ? `${all} observations` : parts.join(', ');
}

function numberText(count: number): string {
  return count.toLocaleString('en-US');
}
