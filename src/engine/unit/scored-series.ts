import type { ArrivalState } from '../../checkpoint/arrival-state.ts';
import type { ChangelogSeries, DeltaLogRecord } from '../../checkpoint/delta-log.ts';
import {
  readSeriesChange,
  readSeriesState,
  type SeriesState,
  writeSeriesChange,
  writeSeriesState,
} from '../../checkpoint/series/series-entry.ts';
import type { StateReader, StateWriter } from '../../checkpoint/state-bytes.ts';
import type { Detection } from '../../detection/alarm/detection.ts';
import { contextValues } from '../../detection/series/context-values.ts';
import { earlierValue } from '../../detection/series/earlier-value.ts';
import { SeriesDetector } from '../../detection/series/series-detector.ts';
import { inputAt, type RestartReason } from '../../records/score-record.ts';
import { gridTime } from '../../time/frequency.ts';
import { followPhase, placeOnGrid } from '../../time/grid-placement.ts';
import { learn, learnedOf } from './learned-profile.ts';
import { phaseOf } from './loaded-detector.ts';
import { PackedSeries, type SeriesPast } from './packed-series.ts';
import type { ReceivedObservation } from './received-observation.ts';
import { dropBeforeBase, dropRepeated, isScorable, refuseLate, refuseValue } from './refused-observations.ts';
import type { Scorable, ScorableOptions } from './scorable.ts';
import type { ReplaySink, ScoreSink } from './score-sink.ts';
import { scoreOfRow } from './series-score.ts';
import { fallSilent, isNewsSilent, returnFromSilence } from './silence.ts';
import { type EventOwner, UnitEvents } from './unit-events.ts';
import { type ArrivalOwner, WaitingArrivals } from './waiting-arrivals.ts';

type Row = Pick<ReceivedObservation, 'record' | 'timestampMs' | 'value'> & {
  /** Rows that are between it and the observation that filled it in. */
  readonly missing: number;
};

/** A series that is scored alone. It exists from its first observation on. What it keeps is packed: PackedSeries. */
export class ScoredSeries extends PackedSeries implements Scorable, SeriesState, EventOwner, ArrivalOwner {
  readonly key: string;
  startOffset = -1;
  newestOffset = -1;
  deltaLogRecord: DeltaLogRecord | null = null;
  openStateBytes = 0;
  changeBytes = 0;
  written = -1;
  watches = 0;

  constructor({ key, context, source = null }: ScorableOptions) {
    super(context, source);
    this.key = key;
  }

  get events(): UnitEvents {
    return new UnitEvents(this);
  }

  get waiting(): WaitingArrivals {
    return new WaitingArrivals(this);
  }

  /** The values it would forecast from, from the first observed one on; null if there are none. */
  past(): SeriesPast | null {
    const { detector, originMs } = this;
    const { freq } = this.loaded.config.settings;
    const [start, values] = contextValues(detector);
    if (values.length === 0) return null;
    return {
      values,
      originMs: gridTime(freq, originMs, start),
      newestMs: this.acceptedMs,
      profile: learnedOf(detector),
    };
  }

  /** A fresh unit begins with values that another one kept: they are its history from position 0. */
  continueFrom(kept: SeriesPast): void {
    this.unseen = { kept, next: 0 };
  }

  startOver(reason: RestartReason | null): void {
    if (this.detector.positions > 0) {
      const { arrivedMs, acceptedMs } = this;
      const learned = reason === 'gap' ? learnedOf(this.detector) : null;
      this.release();
      this.detector = new SeriesDetector(this.context.memory);
      this.arrivedMs = arrivedMs;
      learn(this.detector, learned, acceptedMs);
    }
    this.restartUnreported = reason !== null;
    [this.startOffset, this.written] = [-1, -1];
  }

  ingest(observation: ReceivedObservation, sink: ScoreSink): boolean {
    if (!this.replay(observation, sink)) return false;
    if (observation.silence !== undefined) {
      fallSilent(this, { ...observation, silence: observation.silence }, sink);
      return true;
    }
    if (this.detector.forecastDue) return false;
    const { freq, gapLimit, jitterMs } = this.loaded.config.settings;
    if (dropBeforeBase(this, observation, sink)) return true;
    if (this.startOffset === -1) {
      if (this.isWithoutValue(observation, sink)) return true;
      this.begin(observation);
    }
    const { detector, originMs, acceptedMs: newestMs } = this;
    const { timestampMs } = observation;
    const apartMs = timestampMs - newestMs;
    const grid = { freq, originMs, positions: detector.positions, newestMs, jitterMs, gapLimit };
    const placed = placeOnGrid(grid, timestampMs);
    switch (placed.kind) {
      case 'duplicate':
        dropRepeated(this, observation, { apartMs, sink });
        this.noteNewest(observation);
        return true;
      case 'late':
        refuseLate(observation, this.loaded, sink);
        return true;
      case 'restart':
        sink.lifecycle.restarted('gap');
        this.events.startOver({ ...observation, offset: observation.record.offset }, sink);
        this.startOver('gap');
        // The distance to it still counts.
        this.detector.rings.newestMs = timestampMs - apartMs;
        return this.ingest(observation, sink);
      case 'next':
        if (this.isWithoutValue(observation, sink)) return true;
        for (let missing = placed.missing; missing > 0; missing--) {
          if (!this.passCutoff(missing)) return false;
          this.pass({ ...observation, value: Number.NaN, missing }, sink);
          sink.counters.gapFilled();
        }
        if (detector.forecastDue) return false;
        sink.counters.placed(this.loaded, apartMs, placed.missing);
        this.noteNewest(observation);
        this.originMs = followPhase(freq, originMs, { position: detector.positions, timestampMs });
        this.score(observation, sink);
        return true;
    }
  }

  /** A counter begins with it: there is no difference so far; or the difference is too large. */
  private isWithoutValue(observation: ReceivedObservation, sink: ScoreSink): boolean {
    const { steps } = this;
    if (steps === null) return false;
    const value = steps.valueAt(observation);
    if (isScorable(value)) return false;
    steps.passed(observation, this.loaded, sink);
    refuseValue(value, observation, this.loaded, sink);
    return true;
  }

  private score(observation: ReceivedObservation, sink: ScoreSink): void {
    const value = this.steps?.valueAt(observation) ?? observation.value;
    this.steps?.passed(observation, this.loaded, sink);
    const seen = value === observation.value ? observation : { ...observation, value };
    this.publish(this.detect(value, sink, observation.timestampMs), seen, sink);
  }

  settle(): boolean {
    return true;
  }

  replay(first: ReceivedObservation, sink: ReplaySink): boolean {
    const past = this.unseen;
    if (past === null) return true;
    if (this.startOffset === -1) this.begin(first);
    const { values, originMs, profile } = past.kept;
    const { h, freq } = this.loaded.config.settings;
    const isLearned = profile !== null;
    while (past.next < values.length) {
      const ahead = values.subarray(past.next, past.next + h);
      if (!this.passCutoff(ahead.length === h && ahead.every(Number.isNaN) ? h : 0)) return false;
      const timestampMs = isLearned ? undefined : gridTime(freq, originMs, past.next);
      this.detect(values[past.next++], sink, timestampMs);
    }
    this.unseen = null;
    sink.counters.backfilled(values.length);
    return true;
  }

  silenceSinceMs(): number {
    return Math.max(this.arrivedMs, this.lastSeenMs);
  }

  isSilenceDue(): boolean {
    return true;
  }

  seriesAwaited(silenceAfter: number | null): number {
    return silenceAfter !== null && !this.silent && isNewsSilent(this.detector, silenceAfter) ? 1 : 0;
  }

  forecastsDue(): readonly SeriesDetector[] {
    return this.detector.forecastDue ? [this.detector] : [];
  }

  changelogSeries(): readonly ChangelogSeries[] {
    return [this];
  }

  release(): void {
    this.detector.release();
  }

  writeOpenState(writer: StateWriter): void {
    writeSeriesState(writer, this, this.loaded.digest);
  }

  writeChange(writer: StateWriter): boolean {
    return writeSeriesChange(writer, this);
  }

  readOpenState(reader: StateReader): void {
    readSeriesState(reader, this);
  }

  readChange(reader: StateReader): void {
    readSeriesChange(reader, this);
  }

  resumeArrivals(arrivals: ArrivalState): void {
    this.waiting.resume(arrivals.waiting, { group: null, partition: this.place.partition });
    this.lastSeenMs = arrivals.lastSeenMs ?? Number.NEGATIVE_INFINITY;
    this.silent = arrivals.silent;
    this.restartUnreported = arrivals.restartUnreported ?? false;
    const { freq } = this.loaded.config.settings;
    const newest = freq.kind === 'fixed' ? this.originMs + (this.detector.positions - 1) * freq.stepMs : Number.NaN;
    this.arrivedMs = Number.isNaN(arrivals.arrivedMs) ? newest : arrivals.arrivedMs;
    this.detector.rings.newestMs = arrivals.acceptedMs ?? this.arrivedMs;
  }

  private begin({ record, timestampMs }: ReceivedObservation): void {
    this.startOffset = Math.abs(record.offset);
    this.detector.phase = phaseOf(this.loaded, this.key);
    const { unseen } = this;
    this.originMs = unseen?.kept.originMs ?? timestampMs;
    if (unseen === null) return;
    const { newestMs, profile } = unseen.kept;
    this.detector.rings.newestMs = newestMs;
    learn(this.detector, profile, newestMs);
  }

  /** Returns false when a forecast is due. One that covers missing steps alone is not made. */
  private passCutoff(missing: number): boolean {
    const { detector } = this;
    if (detector.forecastDue && missing >= this.loaded.config.settings.h) detector.forecasted(null);
    return !detector.forecastDue;
  }

  private noteNewest({ timestampMs }: ReceivedObservation): void {
    if (!(timestampMs <= this.acceptedMs)) this.detector.rings.newestMs = timestampMs;
  }

  private detect(value: number, sink: ReplaySink, timestampMs?: number): Detection {
    const { detector } = this;
    const { closedWindows } = detector;
    const detection = detector.score(value, timestampMs);
    if (detector.closedWindows !== closedWindows) sink.state.windowClosed(this);
    return detection;
  }

  /** A step without an observation. */
  private pass(row: Row, sink: ScoreSink): void {
    const detection = this.detect(Number.NaN, sink);
    if (this.events.wants(false, Number.NaN)) this.track(row, detection, sink);
  }

  private publish(detection: Detection, observation: ReceivedObservation, sink: ScoreSink): void {
    const { record, timestampMs, value } = observation;
    if (this.silent) returnFromSilence(this, observation, sink);
    const { loaded, restartUnreported: restarted } = this;
    const input = inputAt(this.place, record.offset);
    const context = { loaded, cause: null, restarted, input, accumulatedScore: Number.NaN };
    sink.outputs.score(scoreOfRow(detection, observation, context), record.key, record.headers);
    this.restartUnreported = false;
    if (!this.events.wants(detection.alarm, value)) return;
    this.track({ record, timestampMs, value, missing: 0 }, detection, sink);
  }

  /** A row that may change its events. */
  private track({ record, timestampMs, value, missing }: Row, detection: Detection, sink: ScoreSink): void {
    const { key: series, detector, events } = this;
    const { position, forecast: expected, lo, hi, unusual } = detection;
    const { rings, origin } = detector;
    const earlier = (before: number) => earlierValue(detector, before);
    const seen = { series, value, expected, lo, hi, sharp: unusual?.sharp ?? 0, rings, origin, earlier };
    const row = {
      position,
      timestampMs: timestampMs - Math.round(missing * events.stepMs),
      offset: record.offset,
      verdict: detection,
      seen: Number.isNaN(value) ? [] : [seen],
      keptOf: () => detector,
    };
    events.track(row, record.key, sink);
  }
}
