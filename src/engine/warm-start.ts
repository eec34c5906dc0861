import { encodeWarmStarts, WARM_STARTS_KEY, type WatermarkState } from '../checkpoint/partition-records.ts';
import { closedWindowKeys, closedWindowRecord } from '../checkpoint/series/series-state.ts';
import { hasValue } from '../codecs/formats/wire-header.ts';
import type { WorkerLimits } from '../config/options/options.ts';
import { meanStepMs } from '../time/frequency.ts';
import { type FirstCommitOptions, firstCommit, type RestoredState } from './commit/first-commit.ts';
import { PendingCommit } from './commit/pending-commit.ts';
import { byTime, type PastObservation } from './commit/score-history.ts';
import { type DecodingOptions, loadMissingSchemas } from './commit/score-records.ts';
import { TallyCounts } from './commit/tally.ts';
import type { EngineReports } from './engine-reports.ts';
import type { PartitionSession } from './log/log.ts';
import { PartitionState } from './state/partition-state.ts';
import type { SeriesSources } from './state/series-sources.ts';
import { extrasFor } from './unit/loaded-detector.ts';
import type { Scorable } from './unit/scorable.ts';
import { NO_STATE, type ScoreOutputs, type ScoreSink, type StateWrites } from './unit/score-sink.ts';

/** An observation of a history, and the group that it is scored with. */
export interface WarmObservation extends PastObservation {
  /** The id of its name and labels, where a template makes another one. */
  readonly source?: string | undefined;
  readonly group: string | null;
}

/** A history that series without a state begin with. */
export interface WarmStart {
  /** Identifies the history: each partition takes it up once. */
  readonly source: string;
  /** Those of the series whose records come in this partition. */
  observationsOf(partition: number): readonly WarmObservation[];
}

interface WarmStartOptions extends FirstCommitOptions, DecodingOptions {
  readonly warmStart: WarmStart | null;
  readonly reports: Pick<EngineReports, 'warmStarted'>;
  readonly limits: Pick<WorkerLimits, 'seriesMax'>;
  readonly signal: AbortSignal;
}

/** Observations in a batch: enough for full batches of the model. */
const BATCH_MAX = 8_192;
/** State of one transaction. */
const CHUNK_BYTES_MAX = 16 * 1024 * 1024;
/** The input begins at the first of the times of so many records that another one agrees with, within these steps. */
const FIRST_RECORDS = 9;
const AGREEMENT_STEPS = 3;

/**
 * Writes the state that series without one have after a history, scored by the code of the stream, to the changelog.
 * Their scores are not published. The partition must be restored afterwards. Returns false if nothing was to do.
 */
export async function fillFromHistory(
  session: PartitionSession,
  task: RestoredState,
  options: WarmStartOptions,
): Promise<boolean> {
  const { warmStart, place, reports } = options;
  if (warmStart === null) return false;
  const { state, restored, offset } = task;
  const given = warmStart.observationsOf(place.partition);
  if (given.length === 0 || restored.warmStarts.includes(warmStart.source)) return false;
  const beginMs = await beginOfInput(session, offset, options);
  const used = given.filter(({ timestampMs }) => timestampMs < beginMs);
  const past = await scorePast(used, options);
  const units = past.units.filter(({ key }) => !state.units.has(key) && !state.outdated.has(key));
  const ownClock = state.watermark.state;
  const watermark = Number.isFinite(ownClock.firstMs) ? ownClock : past.watermark;
  const commit = async (pending: PendingCommit) => {
    pending.watermark = watermark;
    await session.commit(pending.drain(restored.deltaLog, restored.resume.topicId), pending.nextOffset);
  };

  let pending = firstCommit(options, task);
  let bytes = 0;
  for (const unit of units) {
    bytes += writeUnit(unit, past, pending);
    if (bytes < CHUNK_BYTES_MAX) continue;
    await commit(pending);
    pending = new PendingCommit(options, options.nowMs, pending.nextOffset);
    bytes = 0;
  }
  // A worker that is killed before this fills the other series as it would have done.
  pending.state.write(WARM_STARTS_KEY, encodeWarmStarts([...restored.warmStarts, warmStart.source]));
  await commit(pending);
  const leftToInput = given.length - used.length;
  const { refused } = past;
  const { source } = warmStart;
  reports.warmStarted(place.partition, {
    source,
    units: units.length,
    observations: used.length,
    leftToInput,
    refused,
  });
  return true;
}

/** Event time at which the input begins that is to be read; Infinity where it is empty. */
async function beginOfInput(session: PartitionSession, offset: number, scoring: DecodingOptions): Promise<number> {
  const records = await session.readInput(offset, FIRST_RECORDS);
  await loadMissingSchemas(records, scoring);
  let stepMs = 0;
  const times = records.filter(hasValue).flatMap((record) => {
    const decoded = scoring.decoder.decode(record, scoring.nowMs());
    const loaded = decoded.kind === 'observation' ? scoring.detectorOf(decoded.source ?? decoded.series) : null;
    if (decoded.kind !== 'observation' || loaded === null) return [];
    stepMs = Math.max(stepMs, meanStepMs(loaded.config.settings.freq));
    return [decoded.timestampMs];
  });
  times.sort((a, b) => a - b);
  const agreed = times.find((time, i) => times[i + 1] - time <= AGREEMENT_STEPS * stepMs);
  return agreed ?? times[0] ?? Number.POSITIVE_INFINITY;
}

interface ScoredPast {
  readonly units: readonly Scorable[];
  /** Closed windows by their key. */
  readonly windows: ReadonlyMap<string, Buffer>;
  readonly sources: SeriesSources;
  readonly watermark: WatermarkState;
  readonly refused: Readonly<Record<string, number>>;
}

/** Offsets are below -1, so that they are none of the input. */
async function scorePast(
  history: readonly WarmObservation[],
  { place, limits, detectorOf, signal }: WarmStartOptions,
): Promise<ScoredPast> {
  const state = new PartitionState(place, limits.seriesMax);
  const windows = new Map<string, Buffer>();
  const counts = new TallyCounts('other');
  const { deadLetters } = counts.tally;
  const sink = stateSink(windows, counts);
  const ordered = byTime(history);
  for (let start = 0; start < ordered.length; start += BATCH_MAX) {
    signal.throwIfAborted();
    const observations = ordered.slice(start, start + BATCH_MAX).flatMap((observation, i) => {
      const { series, source, timestampMs } = observation;
      const loaded = detectorOf(source ?? series);
      const offset = start + i - ordered.length - 1;
      const record = { partition: place.partition, offset, timestampMs, key: null, value: null };
      if (loaded !== null) return [{ ...observation, extras: extrasFor(loaded, observation.extras), record, loaded }];
      deadLetters['series-unknown'] = (deadLetters['series-unknown'] ?? 0) + 1;
      return [];
    });
    await state.score(observations, sink, signal);
  }
  await state.finish(sink, signal);
  const units = [...state.units.values()];
  for (const unit of units) unit.events.forget();
  const { duplicates } = counts.tally;
  const refused = { ...deadLetters, ...(duplicates > 0 && { duplicate: duplicates }) };
  return { units, windows, sources: state.all.sources, watermark: state.watermark.state, refused };
}

/** Keeps what belongs to the state, and publishes nothing. */
function stateSink(windows: Map<string, Buffer>, counts: TallyCounts): ScoreSink {
  const ignore = () => {};
  const state: StateWrites = {
    ...NO_STATE,
    windowClosed(series) {
      const { key, value } = closedWindowRecord(series);
      windows.set(key.toString(), value);
    },
    windowsDeleted(keys) {
      for (const key of keys) windows.delete(key.toString());
    },
  };
  const deadLetter: ScoreOutputs['deadLetter'] = (record, cause) => counts.deadLetter(record, cause);
  const outputs = { score: ignore, silence: ignore, event: ignore, deadLetter };
  return { outputs, state, counters: counts, lifecycle: counts };
}

/** Adds a unit to the commit. Returns about how many bytes that are. */
function writeUnit(unit: Scorable, { windows, sources }: ScoredPast, pending: PendingCommit): number {
  let bytes = 0;
  pending.state.windowsWritten(sources.recordsOf(unit.key));
  for (const key of unit.changelogSeries().flatMap(closedWindowKeys)) {
    const window = windows.get(key.toString());
    if (window === undefined) continue;
    pending.state.write(key, window);
    bytes += window.length;
  }
  pending.state.touched(unit);
  return 2 * bytes;
}
