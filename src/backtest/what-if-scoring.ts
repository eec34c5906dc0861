import { withChangedDetector } from '../config/changed-detector.ts';
import { type DetectorConfig, groupSourceOf } from '../config/config.ts';
import { bindToModel } from '../detector-models.ts';
import { shareWeights } from '../model/tuned-weights.ts';
import type { Envelope } from '../sidecar/jobs/envelope.ts';
import type { RaisedEvents, WhatIfScores } from '../sidecar/operations/backtests.ts';
import { type PastObservation, scoreHistory } from '../stream/engine/commit/score-history.ts';
import { detectorOfText } from './detector-of-text.ts';
import { forecastProblems, type ProblemsHeader, problemsHeader, type ScoringModels } from './scoring-models.ts';

/** Timestamps and values follow, then the weights of a fine-tuned model, if any. */
export interface WhatIfHeader {
  readonly kind: 'what-if';
  readonly series: string;
  readonly count: number;
  /** The detectors file. */
  readonly text: string;
  /** Settings that are changed, by their keys. */
  readonly changes: Readonly<Record<string, string | number>>;
  /** Name of a fine-tuned model, and of the one below it; null where the detector has none. */
  readonly tuned: { readonly name: string; readonly base: string } | null;
}

export interface WhatIfAnswerHeader {
  readonly kind: 'what-if';
  readonly scored: WhatIfScores;
}

const WEEK_MS = 7 * 86_400_000;
const NUMBER_BYTES = Float64Array.BYTES_PER_ELEMENT;
const NO_BYTES = new Uint8Array();
/** Keys of the detectors file that stand below `events`. */
const EVENT_KEYS: ReadonlySet<string> = new Set(['direction', 'min_deviation', 'min_deviation_share']);

/** Scores kept values twice: by the settings as they are, and as they would be. */
export async function scoreWhatIf(
  { header, bytes }: Envelope<WhatIfHeader>,
  models: ScoringModels,
  signal: AbortSignal,
): Promise<Envelope<WhatIfAnswerHeader | ProblemsHeader>> {
  const { series, count: observations, tuned } = header;
  const scoring = tuned === null ? models : withTuned(models, tuned, bytes.subarray(2 * observations * NUMBER_BYTES));
  const written = detectorOfText(header.text, series, scoring.byName);
  if (written.kind === 'problems') return { header: problemsHeader(written.problems), bytes: NO_BYTES };
  if (groupSourceOf(written.detector) !== null) {
    const text = `${written.detector.name} scores groups, and other settings are tried on single series`;
    return { header: problemsHeader([text]), bytes: NO_BYTES };
  }
  const text = withChangedDetector(header.text, written.index, keysInFile(header.changes));
  const changed = detectorOfText(text, series, scoring.byName);
  if (changed.kind === 'problems') return { header: problemsHeader(changed.problems), bytes: NO_BYTES };
  const tooMany = [written, changed].flatMap(({ detector }) => {
    return forecastProblems(observations, detector.settings, 'shorten the range, or take a larger step_size');
  });
  if (tooMany.length > 0) return { header: problemsHeader([...new Set(tooMany)]), bytes: NO_BYTES };
  const past = pastOf(header, bytes);
  const before = await raisedBy(ofKeptValues(written.detector), { past, models: scoring, signal });
  const after = await raisedBy(ofKeptValues(changed.detector), { past, models: scoring, signal });
  return { header: { kind: 'what-if', scored: { observations, before, after, text } }, bytes: NO_BYTES };
}

/** What was kept is what the points of a step, or a counter, had come to: it is scored as it is. */
function ofKeptValues(detector: DetectorConfig): DetectorConfig {
  const { aggregate: _, as: __, ...settings } = detector.settings;
  return { ...detector, settings };
}

function withTuned(
  models: ScoringModels,
  { name, base }: NonNullable<WhatIfHeader['tuned']>,
  bytes: Uint8Array,
): ScoringModels {
  const weights = shareWeights(bytes);
  const model = { model: models.catalog.get(base), weights, digest: weights.digest };
  return { ...models, byName: new Map([...models.byName, [name, model]]) };
}

/** `5%` is a share of the forecast, `5` a distance in its units. */
function keysInFile(changes: WhatIfHeader['changes']): Readonly<Record<string, string | number>> {
  const entries = Object.entries(changes).map(([key, value]): [string, string | number] => {
    if (key !== 'min_deviation' || typeof value !== 'string') return [key, value];
    return value.endsWith('%') ? ['min_deviation_share', value] : [key, Number(value)];
  });
  return Object.fromEntries(entries.map(([key, value]) => [EVENT_KEYS.has(key) ? `events.${key}` : key, value]));
}

function pastOf({ series, count }: WhatIfHeader, bytes: Uint8Array): PastObservation[] {
  // A copy: numbers of an envelope are not aligned.
  const numbers = new Float64Array(new Uint8Array(bytes.subarray(0, 2 * count * NUMBER_BYTES)).buffer);
  return Array.from({ length: count }, (_, i) => ({
    series,
    timestampMs: numbers[i],
    value: numbers[count + i],
  })).filter(({ value }) => Number.isFinite(value));
}

interface RaisedScoring {
  readonly past: readonly PastObservation[];
  readonly models: ScoringModels;
  readonly signal: AbortSignal;
}

async function raisedBy(detector: DetectorConfig, { past, models, signal }: RaisedScoring): Promise<RaisedEvents> {
  const events = new Map<string, RaisedEvents['events'][number]>();
  let alarms = 0;
  let [firstMs, lastMs] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  const options = {
    source: 'what-if',
    detectors: [bindToModel(detector, models, models.forecasterFor)],
    group: null,
    onScores(scores: readonly { alarm: boolean; timestampMs: number; state: string }[]) {
      for (const { alarm, timestampMs, state } of scores) {
        if (alarm) alarms++;
        if (state !== 'scored') continue;
        firstMs = Math.min(firstMs, timestampMs);
        lastMs = Math.max(lastMs, timestampMs);
      }
    },
    onEvent: (event: RaisedEvents['events'][number]) => void events.set(event.eventId, event),
  };
  await scoreHistory(past, options, signal);
  const weeks = (lastMs - firstMs) / WEEK_MS;
  return { events: [...events.values()], alarms, alarmsPerWeek: weeks > 0 ? alarms / weeks : null };
}
