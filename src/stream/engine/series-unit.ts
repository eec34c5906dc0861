import { placeOnGrid } from '../../calendar/grid-placement.ts';
import { type Detection, SeriesDetector } from '../../detector/series-detector.ts';
import type { SeriesMemory } from '../../detector/series-memory.ts';
import { twoSidedThreshold } from '../../detector/threshold.ts';
import type { Track } from '../changelog/changelog-series.ts';
import type { JournalRecord } from '../changelog/journal.ts';
import { readDetectorState, writeDetectorState } from '../changelog/series-state.ts';
import { SERIES_ENTRY, type StateReader, type StateWriter } from '../changelog/state-bytes.ts';
import { type InputPlace, numberOrNull, type RestartReason, type ScoreRecord } from '../record/score-record.ts';
import type { Arrival, ScoreSink } from './batch-outcome.ts';
import type { WatchedDetector } from './bound-detector.ts';
import type { WatchedUnit } from './detection-unit.ts';

/** A series that is judged alone. It exists from its first observation on. */
export class SeriesUnit implements WatchedUnit, Track {
  readonly key: string;
  readonly watched: WatchedDetector;
  readonly #memory: SeriesMemory;
  readonly #place: InputPlace;
  detector: SeriesDetector;
  era = -1;
  /** Event time of position 0. */
  originMs = 0;
  newestOffset = -1;
  waiting: Arrival[] | null = null;
  journalRecord: JournalRecord | null = null;
  headBytes = 0;
  /** What the next score says about a new beginning. */
  #restarted: RestartReason | null = null;

  constructor(key: string, watched: WatchedDetector, memory: SeriesMemory, place: InputPlace) {
    this.key = key;
    this.watched = watched;
    this.#memory = memory;
    this.#place = place;
    this.detector = this.#freshDetector();
  }

  /** Begins at position 0 with the next arrival. */
  startOver(reason: RestartReason | null): void {
    if (this.detector.positions > 0) {
      this.release();
      this.detector = this.#freshDetector();
    }
    this.#restarted = reason;
    this.era = -1;
  }

  take(arrival: Arrival, sink: ScoreSink): boolean {
    const { freq, gapLimit } = this.watched.config.settings;
    if (this.era < 0) this.#begin(arrival);
    const { detector } = this;
    const placed = placeOnGrid(freq, this.originMs, detector.positions, arrival.timestampMs, gapLimit);
    switch (placed.kind) {
      case 'duplicate':
        sink.duplicate();
        return true;
      case 'late':
        sink.deadLetter('late', lateness(arrival.timestampMs), arrival, this.watched.config.name);
        return true;
      case 'restart':
        sink.restarted('gap');
        this.startOver('gap');
        return this.take(arrival, sink);
      case 'next':
        for (let missing = placed.missing; missing > 0; missing--) {
          if (detector.forecastDue) return false;
          this.#observe(Number.NaN, sink);
          sink.gapFilled();
        }
        if (detector.forecastDue) return false;
        this.#publish(this.#observe(arrival.value, sink), arrival, sink);
        return true;
    }
  }

  settle(): boolean {
    return true;
  }

  forecastsDue(): readonly SeriesDetector[] {
    return this.detector.forecastDue ? [this.detector] : [];
  }

  tracks(): readonly Track[] {
    return [this];
  }

  release(): void {
    this.detector.release(this.#memory);
  }

  writeHead(writer: StateWriter): void {
    writer.u8(SERIES_ENTRY);
    writer.text(this.key);
    writer.text(this.watched.digest);
    writer.f64(this.era);
    writer.f64(this.originMs);
    writer.f64(this.newestOffset);
    writeDetectorState(writer, this.detector);
  }

  /** Takes up what `writeHead` wrote after key and digest. Closed windows are to follow, then `detector.recalibrate()`. */
  readHead(reader: StateReader): void {
    this.era = reader.f64();
    this.originMs = reader.f64();
    this.newestOffset = reader.f64();
    readDetectorState(reader, this.detector);
  }

  #freshDetector(): SeriesDetector {
    const { settings } = this.watched.config;
    return new SeriesDetector(settings, this.#memory, twoSidedThreshold(settings.level));
  }

  #begin({ record, timestampMs }: Arrival): void {
    this.era = record.offset;
    this.originMs = timestampMs;
  }

  #observe(value: number, sink: ScoreSink): Detection {
    const { detector } = this;
    const { windowStart } = detector;
    const detection = detector.observe(value);
    if (detector.windowStart !== windowStart) sink.windowClosed(this);
    return detection;
  }

  #publish(detection: Detection, { record, timestampMs, value }: Arrival, sink: ScoreSink): void {
    const { config, modelDigest } = this.watched;
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
