import type { Envelope } from '../../api/jobs/envelope.ts';
import { backtestTokens, OBSERVATIONS_MAX } from '../../api/operations/scoring-price.ts';
import type { BacktestAnswer } from '../../api/wire/schema/operations/backtest-schema.ts';
import { type PastObservation, scoreHistory } from '../../engine/commit/score-history.ts';
import { loadDetector } from '../../engine/detector-models.ts';
import { inferFrequency } from '../../time/infer-frequency.ts';
import { csvReading } from '../csv/flags.ts';
import { pullObservations, readObservations } from '../csv/observations.ts';
import { BacktestPages } from './backtest-pages.ts';
import {
  boundedTexts,
  detectorOfText,
  forecastProblems,
  type ProblemsHeader,
  problemsHeader,
  type ScoringModels,
} from './scoring-models.ts';

/** The bytes of the file follow. */
export interface BacktestHeader {
  readonly kind: 'backtest';
  readonly name: string;
  /** Keys of a detector, as a detectors file has them. */
  readonly settings: Readonly<Record<string, string | number>>;
}

/** The answer as JSON follows. */
export interface BacktestAnswerHeader {
  readonly kind: 'backtest';
  readonly observations: number;
}

const WINDOW_DEFAULT = 24;
/** The file is read in pieces: reading ends where it has too many observations. */
const PIECE_BYTES = 64 * 1024;

/** Reads a CSV file that somebody sent, and scores it as the stream would. */
export async function scoreBacktest(
  { header, bytes }: Envelope<BacktestHeader>,
  models: ScoringModels,
  signal: AbortSignal,
): Promise<Envelope<BacktestAnswerHeader | ProblemsHeader>> {
  const { history, notes, problems } = await readHistory(header, bytes, signal);
  const found =
    problems.length > 0 ? { kind: 'problems' as const, problems } : detectorFor(header, history, models.byName);
  if (found.kind === 'problems') return { header: problemsHeader(found.problems), bytes: new Uint8Array() };
  const remedy = 'send fewer observations, or a larger h';
  const tooMany = forecastProblems(history.length, found.detector.settings, remedy);
  if (tooMany.length > 0) return { header: problemsHeader(tooMany), bytes: new Uint8Array() };
  const bound = loadDetector(found.detector, models, models.forecasterFor);
  const pages = new BacktestPages([found.detector]);
  const options = {
    source: header.name,
    detectors: [bound],
    group: null,
    onScores: (scores: Parameters<typeof pages.add>[0]) => pages.add(scores),
    onEvent: (event: Parameters<typeof pages.addEvent>[0]) => pages.addEvent(event),
  };
  await scoreHistory(history, options, signal);
  const report = pages.data(`Backtest of ${header.name}`);
  const { length: observations } = history;
  const tokens = backtestTokens(observations);
  const answer: BacktestAnswer = { kind: 'report', report, notes: [...boundedTexts(notes)], ...tokens };
  return { header: { kind: 'backtest', observations }, bytes: Buffer.from(JSON.stringify(answer)) };
}

async function readHistory({ name, settings }: BacktestHeader, bytes: Uint8Array, signal: AbortSignal) {
  const notes: string[] = [];
  const observations = readObservations(inPieces(bytes, signal), csvReading(name, {}));
  const pull = pullObservations(observations, (remark) => notes.push(remark));
  const history: PastObservation[] = [];
  const problems: string[] = [];
  for await (const { line, series, timestampMs, value, extras } of pull.observations) {
    if (history.length >= OBSERVATIONS_MAX) {
      problems.push(`at most ${OBSERVATIONS_MAX} observations are scored here: npm start -- backtest takes more`);
      break;
    }
    if (settings.as !== undefined && extras?.problem !== undefined) pull.refusals.add(line, extras.problem);
    else history.push({ series, timestampMs, value, extras });
  }
  problems.push(...pull.problems);
  if (history.length === 0 && problems.length === 0) {
    problems.push('there is nothing to score', ...pull.refusals.lines());
  }
  return { history, notes: [...notes, ...pull.refusals.lines()], problems };
}

async function* inPieces(bytes: Uint8Array, signal: AbortSignal): AsyncGenerator<Buffer> {
  for (let start = 0; start < bytes.length; start += PIECE_BYTES) {
    signal.throwIfAborted();
    yield Buffer.from(bytes.subarray(start, start + PIECE_BYTES));
  }
}

/** One detector for all series, of the settings given and the step of the file. */
function detectorFor(
  { settings }: BacktestHeader,
  history: readonly PastObservation[],
  models: ScoringModels['byName'],
) {
  if (settings.aggregate !== undefined && settings.freq === undefined) {
    const problems = ['freq must be the step whose points become one value, as aggregate is given'];
    return { kind: 'problems' as const, problems };
  }
  const bySeries = [...Map.groupBy(history, ({ series }) => series).values()];
  const freq =
    settings.freq ?? inferFrequency(bySeries.map((past) => past.map(({ timestampMs }) => timestampMs)))?.alias;
  if (freq === undefined) {
    const problems = ['no two observations of a series follow each other: give their step'];
    return { kind: 'problems' as const, problems };
  }
  const detectionSize = settings.detection_size ?? settings.h ?? WINDOW_DEFAULT;
  const lengths = { h: detectionSize, detection_size: detectionSize };
  const detector = { name: 'backtest', series: '*', ...lengths, ...settings, freq };
  // JSON is YAML.
  return detectorOfText(JSON.stringify({ detectors: [detector] }), history[0].series, models);
}
