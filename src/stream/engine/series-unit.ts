import { followPhase, placeOnGrid } from '../../calendar/grid-placement.ts';
import type { Detection } from '../../detector/detection.ts';
import { SeriesDetector } from '../../detector/series-detector.ts';
import type { SeriesMemory } from '../../detector/series-memory.ts';
import { NO_HELD, readArrivals, writeArrivals } from '../changelog/arrival-state.ts';
import type { ChangelogSeries } from '../changelog/changelog-series.ts';
import type { JournalRecord } from '../changelog/journal.ts';
import { readDetectorState, writeDetectorState } from '../changelog/series-state.ts';
import { SERIES_ENTRY, type StateReader, type StateWriter } from '../changelog/state-bytes.ts';
import { type InputPlace, numberOrNull, type RestartReason, type ScoreRecord } from '../record/score-record.ts';
import type { ReceivedObservation, ScoreSink } from './batch-outcome.ts';
import type { BoundDetector } from './bound-detector.ts';
import type { DetectionUnit, UnitOptions } from './detection-unit.ts';

/** A series that is scored alone. It exists from its first observation on. */
export class SeriesUnit implements DetectionUnit, ChangelogSeries {
  readonly key: string;
  readonly bound: BoundDetector;
  readonly #memory: SeriesMemory;
  readonly #place: InputPlace;
  detector: SeriesDetector;
  startOffset = -1;
  /** Event time of position 0. */
  originMs = 0;
  newestOffset = -1;
  arrivedMs = Number.NaN;
  held: readonly ReceivedObservation[] = NO_HELD;
  /** As `arrivedMs`, of the records that were taken. They are the same once nothing waits. */
  #takenMs = Number.NaN;
  waiting: ReceivedObservation[] | null = null;
  journalRecord: JournalRecord | null = null;
  openStateBytes = 0;
  /** Why the series started over, until its next score has said so. */
  #restarted: RestartReason | null = null;

  constructor({ key, bound, memory, place }: UnitOptions & { readonly key: string }) {
    this.key = key;
    this.bound = bound;
    this.#memory = memory;
    this.#place = place;
    this.detector = this.#freshDetector();
  }

  startOver(reason: RestartReason | null): void {
    if (this.detector.positions > 0) {
      this.release();
      this.detector = this.#freshDetector();
    }
    this.#restarted = reason;
    this.startOffset = -1;
  }

  take(observation: ReceivedObservation, sink: ScoreSink): boolean {
    if (this.detector.forecastDue) return false;
    const { freq, gapLimit, jitterMs } = this.bound.config.settings;
    if (this.startOffset < 0) this.#begin(observation);
    const { detector, originMs } = this;
    const { positions } = detector;
    const grid = { freq, originMs, positions, newestMs: this.#takenMs, jitterMs, gapLimit };
    const placed = placeOnGrid(grid, observation.timestampMs);
    switch (placed.kind) {
      case 'duplicate':
        this.#taken(observation);
        sink.duplicate();
        return true;
      case 'late':
        sink.deadLetter(observation.record, {
          reason: 'late',
          detail: lateness(observation.timestampMs),
          series: this.key,
          detector: this.bound.config.name,
        });
        return true;
      case 'restart':
        sink.restarted('gap');
        this.startOver('gap');
        return this.take(observation, sink);
      case 'next':
        for (let missing = placed.missing; missing > 0; missing--) {
          if (!this.#passCutoff(missing)) return false;
          this.#observe(Number.NaN, sink);
          sink.gapFilled();
        }
        if (detector.forecastDue) return false;
        this.#taken(observation);
        this.originMs = followPhase(freq, originMs, {
          position: detector.positions,
          timestampMs: observation.timestampMs,
        });
        this.#publish(this.#observe(observation.value, sink), observation, sink);
        return true;
    }
  }

  settle(): boolean {
    return true;
  }

  forecastsDue(): readonly SeriesDetector[] {
    return this.detector.forecastDue ? [this.detector] : [];
  }

  changelogSeries(): readonly ChangelogSeries[] {
    return [this];
  }

  release(): void {
    this.detector.release(this.#memory);
  }

  writeOpenState(writer: StateWriter): void {
    writer.u8(SERIES_ENTRY);
    writer.text(this.key);
    writer.text(this.bound.digest);
    writer.f64(this.startOffset);
    writer.f64(this.originMs);
    writer.f64(this.newestOffset);
    writeArrivals(writer, this);
    writeDetectorState(writer, this.detector);
  }

  /** Closed windows are restored next, then `detector.restored()` is called. */
  readOpenState(reader: StateReader): void {
    this.startOffset = reader.f64();
    this.originMs = reader.f64();
    this.newestOffset = reader.f64();
    const { arrivedMs, held } = readArrivals(reader);
    const { partition } = this.#place;
    this.held = held.map((one) => ({ ...one, group: null, record: { ...one.record, partition } }));
    readDetectorState(reader, this.detector);
    const { freq } = this.bound.config.settings;
    const newest = freq.kind === 'fixed' ? this.originMs + (this.detector.positions - 1) * freq.stepMs : Number.NaN;
    this.arrivedMs = Number.isNaN(arrivedMs) ? newest : arrivedMs;
    this.#takenMs = this.arrivedMs;
  }

  #freshDetector(): SeriesDetector {
    const { settings } = this.bound.config;
    return new SeriesDetector(settings, this.#memory);
  }

  #begin({ record, timestampMs }: ReceivedObservation): void {
    this.startOffset = record.offset;
    this.originMs = timestampMs;
  }

  /** Returns false when a forecast is due. One that covers missing steps alone is not made. */
  #passCutoff(missing: number): boolean {
    const { detector } = this;
    if (detector.forecastDue && missing >= this.bound.config.settings.h) detector.forecasted(null);
    return !detector.forecastDue;
  }

  #taken({ timestampMs }: ReceivedObservation): void {
    if (!(timestampMs <= this.#takenMs)) this.#takenMs = timestampMs;
  }

  #observe(value: number, sink: ScoreSink): Detection {
    const { detector } = this;
    const { windowStart } = detector;
    const detection = detector.observe(value);
    if (detector.windowStart !== windowStart) sink.windowClosed(this);
    return detection;
  }

  #publish(detection: Detection, { record, timestampMs, value }: ReceivedObservation, sink: ScoreSink): void {
    const { config, modelDigest } = this.bound;
    const { windowStart } = detection;
    const score: ScoreRecord = {
      series: this.key,
      detector: config.name,
      model: config.model,
      modelDigest,
      group: null,
      timestampMs,
      value,
      forecast: numberOrNull(detection.forecast),
      lo: numberOrNull(detection.lo),
      hi: numberOrNull(detection.hi),
      level: config.settings.level,
      anomalyScore: numberOrNull(detection.score),
      accumulatedAnomalyScore: null,
      anomaly: detection.anomaly,
      grade: numberOrNull(detection.grade),
      severity: numberOrNull(detection.severity),
      alarm: detection.alarm,
      state: detection.state,
      position: detection.position,
      window: { start: windowStart, end: windowStart + config.settings.detectionSize },
      restarted: this.#restarted !== null,
      input: { topic: this.#place.topic, partition: this.#place.partition, offset: record.offset },
    };
    this.#restarted = null;
    sink.score(score, record.key);
  }
}

export function lateness(timestampMs: number): string {
  return `${new Date(timestampMs).toISOString()} is older than the newest observation of its series`;
}
