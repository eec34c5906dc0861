import type { SeriesDetector } from '../../detector/series-detector.ts';
import type { Track } from '../changelog/changelog-series.ts';
import type { JournalEntry } from '../changelog/journal.ts';
import type { StateReader } from '../changelog/state-bytes.ts';
import type { RestartReason } from '../record/score-record.ts';
import type { Arrival, ScoreSink } from './batch-outcome.ts';
import type { WatchedDetector } from './bound-detector.ts';

/** What is judged by itself: a series, or a group of series. */
export interface WatchedUnit extends JournalEntry {
  readonly key: string;
  readonly watched: WatchedDetector;
  /** Input offset of the newest record taken: the longest idle unit has the smallest. */
  newestOffset: number;
  /** Arrivals that wait until forecasts are there; null while nothing waits. */
  waiting: Arrival[] | null;
  /** false: forecasts are due first. Offer the same arrival again after they were supplied. */
  take(arrival: Arrival, sink: ScoreSink): boolean;
  /** Goes on with what was taken before; false while forecasts are due first. */
  settle(sink: ScoreSink): boolean;
  /** Those that wait for a forecast. */
  forecastsDue(): readonly SeriesDetector[];
  /** Begins at position 0 with the next arrival; the next score says why. */
  startOver(reason: RestartReason | null): void;
  /** Takes up what `writeHead` wrote after key and digest. */
  readHead(reader: StateReader): void;
  /** The series it consists of. */
  tracks(): readonly Track[];
  /** Gives the memory back. */
  release(): void;
}
