import type { ChangelogSeries, DeltaLogEntry } from '../../checkpoint/delta-log.ts';
import type { StateReader } from '../../checkpoint/state-bytes.ts';
import type { SeriesMemory } from '../../detection/memory/series-memory.ts';
import type { SeriesDetector } from '../../detection/series/series-detector.ts';
import type { InputPlace, RestartReason } from '../../records/score-record.ts';
import type { LoadedDetector } from './loaded-detector.ts';
import type { ReceivedObservation } from './received-observation.ts';
import type { ReplaySink, ScoreSink } from './score-sink.ts';
import type { UnitEvents } from './unit-events.ts';
import type { WaitingArrivals } from './waiting-arrivals.ts';

/** Context that the units of a detector in a partition share. */
export interface DetectorContext {
  readonly loaded: LoadedDetector;
  readonly memory: SeriesMemory;
  /** The partition that owns the units. */
  readonly place: InputPlace;
}

export interface ScorableOptions {
  readonly key: string;
  readonly context: DetectorContext;
  /** For a series the id of its name and labels, where a template made its key. */
  readonly source?: string | null;
}

/** A series that is scored alone, or a group of series. */
export interface Scorable extends DeltaLogEntry {
  readonly key: string;
  /** null for a series. */
  readonly group: string | null;
  readonly loaded: LoadedDetector;
  readonly events: UnitEvents;
  /** Input offset of the newest record. The unit that was idle for longest has the smallest. */
  newestOffset: number;
  /** A bit for each watch of deadlines that has an entry of it. */
  watches: number;
  /** Newest event time of any record whose time is confirmed; NaN if it is not known. */
  arrivedMs: number;
  /** Event time of the partition at the newest record of a unit that was far behind it; -Infinity for others. */
  lastSeenMs: number;
  /** True if the silence of the unit was reported. */
  silent: boolean;
  readonly waiting: WaitingArrivals;
  /** Returns false when forecasts are due first: offer the same observation again after they were supplied. */
  ingest(observation: ReceivedObservation, sink: ScoreSink): boolean;
  /** Scores what was accepted, and if this `isLast` what waits for others. Returns false while forecasts are due. */
  settle(sink: ScoreSink, isLast?: boolean): boolean;
  /** Calibrates on what it continues. Returns false when forecasts are due; `first` is its first record. */
  replay(first: ReceivedObservation, sink: ReplaySink): boolean;
  /** Event time of the newest step of a member; NaN before the first. Omitted of a series. */
  newestMsOf?(series: string): number;
  /** The event time that its next silence counts from; Infinity if there is none to wait for. */
  silenceSinceMs(): number;
  /** True if it, or a member, is silent at an event time of the partition that required a check. */
  isSilenceDue(watermarkMs: number): boolean;
  /** Its series that are not silent, and whose silence after so many steps would be news. */
  seriesAwaited(silenceAfter: number | null): number;
  /** The detectors that wait for a forecast. */
  forecastsDue(): readonly SeriesDetector[];
  /** Starts over: the next observation has position 0, and its score reports it. */
  startOver(reason: RestartReason | null): void;
  /**
   * Reads what `writeOpenState` wrote after key and digest. Changes and closed windows are restored next, then
   * `restored()` of its detectors is called.
   */
  readOpenState(reader: StateReader): void;
  /** Reads what `writeChange` wrote after the key. */
  readChange(reader: StateReader): void;
  /** Its series: one, or the members of the group. */
  changelogSeries(): readonly ChangelogSeries[];
  release(): void;
}
