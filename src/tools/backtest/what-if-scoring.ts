import { createHash } from 'node:crypto';
import type { Envelope } from '../../api/jobs/envelope.ts';
import type { ChangedSettings, RaisedEvents, ScoredAlternative } from '../../api/operations/backtests.ts';
import { withChangedDetector } from '../../config/changed-detector.ts';
import type { DetectorConfig } from '../../config/config.ts';
import { type PastObservation, scoreHistory } from '../../engine/commit/score-history.ts';
import { loadDetector, tunedModel } from '../../engine/detector-models.ts';
import { shareWeights } from '../../models/tuned-weights.ts';
import type { AnomalyEvent } from '../../records/anomaly-event.ts';
import type { ScoreRecord } from '../../records/score-record.ts';
import {
  detectorOfText,
  forecastProblems,
  type ProblemsHeader,
  problemsHeader,
  type ScoringModels,
} from './scoring-models.ts';

/** Timestamps and values of each series follow, then the weights of a fine-tuned model, if any. */
export interface WhatIfHeader {
  readonly kind: 'what-if';
  readonly series: readonly { readonly name: string; readonly count: number }[];
  /** Id of their group; null if they have none. */
  readonly group: string | null;
  readonly text: string;
  readonly alternatives: readonly ChangedSettings[];
  readonly fromMs: number | null;
  /** Name of a fine-tuned model, and of the one below it; null if the detector has none. */
  readonly tuned: { readonly name: string; readonly base: string } | null;
}

export interface WhatIfAnswerHeader {
  readonly kind: 'what-if';
  readonly observations: number;
  readonly alternatives: readonly ScoredAlternative[];
}

const WEEK_MS = 7 * 86_400_000;
const NUMBER_BYTES = Float64Array.BYTES_PER_ELEMENT;
const NO_BYTES = new Uint8Array();
/** Keys of the detectors file below `events`. */
const EVENT_KEYS: ReadonlySet<string> = new Set(['direction', 'min_deviation', 'min_deviation_share', 'quiet']);

/** Scores kept values by each of several settings. */
export async function scoreWhatIf(
  { header, bytes }: Envelope<WhatIfHeader>,
  models: ScoringModels,
  signal: AbortSignal,
): Promise<Envelope<WhatIfAnswerHeader | ProblemsHeader>> {
  const { series, group, tuned, alternatives, fromMs } = header;
  const observations = series.reduce((sum, { count }) => sum + count, 0);
  const scoring = tuned === null ? models : withTuned(models, tuned, bytes.subarray(2 * observations * NUMBER_BYTES));
  const written = detectorOfText(header.text, series[0].name, scoring.byName);
  if (written.kind === 'problems') return { header: problemsHeader(written.problems), bytes: NO_BYTES };
  const changed = alternatives.map((changes) => {
    const text = withChangedDetector(header.text, written.index, keysInFile(changes));
    return { text, found: detectorOfText(text, series[0].name, scoring.byName) };
  });
  const remedy = 'shorten the range, or take a larger step_size';
  const problems = changed.flatMap(({ found }) =>
    found.kind === 'problems' ? found.problems : forecastProblems(observations, found.detector.settings, remedy),
  );
  if (problems.length > 0) return { header: problemsHeader([...new Set(problems)]), bytes: NO_BYTES };
  const past = pastOf(header, bytes);
  const forecasterFor = withMemory(scoring.forecasterFor);
  const scored: ScoredAlternative[] = [];
  for (const { text, found } of changed) {
    if (found.kind === 'problems') continue;
    const raising = { past, group, fromMs: fromMs ?? Number.NEGATIVE_INFINITY, models: scoring, forecasterFor, signal };
    scored.push({ ...(await raisedBy(ofKeptValues(found.detector), raising)), text });
  }
  return { header: { kind: 'what-if', observations, alternatives: scored }, bytes: NO_BYTES };
}

type ForecasterFor = Parameters<typeof loadDetector>[2];

/**
 * Forecasts of one question are made once: settings that change alarms alone ask for the same ones. A batch of the
 * same values has the same forecasts.
 */
function withMemory(forecasterFor: ForecasterFor): ForecasterFor {
  const remembered = new Map<string, Map<string, Promise<Float32Array>>>();
  return (name, h, weights) => {
    const forecaster = forecasterFor(name, h, weights);
    const made = remembered.get(`${name} ${h}`) ?? new Map<string, Promise<Float32Array>>();
    remembered.set(`${name} ${h}`, made);
    return {
      limits: forecaster.limits,
      forecast(batch, signal) {
        const { rows, contextLength, horizon, isGroup = false, values } = batch;
        const digest = createHash('sha256').update(JSON.stringify([rows, contextLength, horizon, isGroup]));
        const asked = digest.update(values).digest('base64');
        const forecast = made.get(asked) ?? forecaster.forecast(batch, signal);
        made.set(asked, forecast);
        return forecast;
      },
    };
  };
}

/** Kept values are those of steps and of rates already: they are scored as they are. */
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
  const model = tunedModel(models.catalog.get(base), weights);
  return { ...models, byName: new Map([...models.byName, [name, model]]) };
}

/** `5%` is a share of the forecast, `5` a distance in its units; `02:00-04:00 UTC` is one more quiet time. */
function keysInFile(changes: ChangedSettings): Readonly<Record<string, string | number | object>> {
  const entries = Object.entries(changes).map(([key, value]): [string, string | number | object] => {
    if (key === 'quiet') {
      const [, from, to, zone] = /^(.*)-(\S*) (.*)$/.exec(String(value)) ?? [];
      return [key, { from, to, time_zone: zone }];
    }
    if (key !== 'min_deviation' || typeof value !== 'string') return [key, value];
    return value.endsWith('%') ? ['min_deviation_share', value] : [key, Number(value)];
  });
  return Object.fromEntries(entries.map(([key, value]) => [EVENT_KEYS.has(key) ? `events.${key}` : key, value]));
}

function pastOf({ series }: WhatIfHeader, bytes: Uint8Array): PastObservation[] {
  // A copy: numbers of an envelope are not aligned.
  const count = series.reduce((sum, one) => sum + one.count, 0);
  const numbers = new Float64Array(new Uint8Array(bytes.subarray(0, 2 * count * NUMBER_BYTES)).buffer);
  let at = 0;
  return series.flatMap(({ name, count }) => {
    const from = at;
    at += 2 * count;
    return Array.from({ length: count }, (_, i) => {
      return { series: name, timestampMs: numbers[from + i], value: numbers[from + count + i] };
    }).filter(({ value }) => Number.isFinite(value));
  });
}

interface RaisedScoring {
  readonly past: readonly PastObservation[];
  readonly group: string | null;
  readonly fromMs: number;
  readonly models: ScoringModels;
  readonly forecasterFor: ForecasterFor;
  readonly signal: AbortSignal;
}

async function raisedBy(
  detector: DetectorConfig,
  { past, group, fromMs, models, forecasterFor, signal }: RaisedScoring,
): Promise<RaisedEvents> {
  const events = new Map<string, AnomalyEvent>();
  const spans = new Map<string, { firstMs: number; lastMs: number }>();
  let alarms = 0;
  const options = {
    source: 'what-if',
    detectors: [loadDetector(detector, models, forecasterFor)],
    group,
    onScores(scores: readonly ScoreRecord[]) {
      for (const { series, group: of, alarm, timestampMs, state } of scores) {
        if (timestampMs < fromMs) continue;
        if (alarm) alarms++;
        if (state !== 'scored') continue;
        const span = spans.get(of ?? series) ?? { firstMs: timestampMs, lastMs: timestampMs };
        spans.set(of ?? series, {
          firstMs: Math.min(span.firstMs, timestampMs),
          lastMs: Math.max(span.lastMs, timestampMs),
        });
      }
    },
    onEvent: (event: AnomalyEvent) => void events.set(event.eventId, event),
  };
  await scoreHistory(past, options, signal);
  const weeks = [...spans.values()].reduce((sum, { firstMs, lastMs }) => sum + (lastMs - firstMs) / WEEK_MS, 0);
  const firsts = [...spans.values()].map(({ firstMs }) => firstMs);
  return {
    events: [...events.values()].filter(({ startedAtMs }) => startedAtMs >= fromMs),
    alarms,
    weeks,
    scoredFromMs: firsts.length === 0 ? null : Math.min(...firsts),
  };
}
