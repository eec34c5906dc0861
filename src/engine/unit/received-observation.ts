import type { FoundSilence } from '../../checkpoint/arrival-state.ts';
import type { PointExtras } from '../../records/point-extras.ts';
import type { InputRecord } from '../log/log.ts';

/** An observation and the input record it was decoded from. */
export interface ReceivedObservation {
  readonly series: string;
  /** As in `DecodedObservation`. */
  readonly source?: string | undefined;
  readonly group: string | null;
  readonly timestampMs: number;
  readonly value: number;
  readonly extras?: PointExtras | undefined;
  readonly record: InputRecord;
  /** Set where this is no observation, but reports that the series was silent until `timestampMs`. */
  readonly silence?: FoundSilence | undefined;
  /** Set where it is what so many points of a time step came to; `record` is the last of theirs, without its value. */
  readonly points?: number;
}
