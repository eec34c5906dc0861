import type { Detection } from '../../detection/alarm/detection.ts';
import { earlierValue } from '../../detection/series/earlier-value.ts';
import type { SeriesDetector } from '../../detection/series/series-detector.ts';
import type { ReceivedObservation } from './received-observation.ts';
import type { ScoreSink } from './score-sink.ts';
import type { UnitEvents } from './unit-events.ts';

/** A row that may change the events of its series. */
interface FollowedRow extends Pick<ReceivedObservation, 'record' | 'timestampMs' | 'value'> {
  readonly detection: Detection;
  /** Rows that lie between it and the observation that filled it in. */
  readonly missing: number;
}

interface FollowedSeries {
  readonly key: string;
  readonly detector: SeriesDetector;
  readonly events: UnitEvents;
}

export function followRow({ key, detector, events }: FollowedSeries, row: FollowedRow, sink: ScoreSink): void {
  const { value, record, missing, detection } = row;
  const { position, forecast, lo, hi, unusual } = detection;
  const { rings, origin } = detector;
  const earlier = (before: number) => earlierValue(detector, before);
  const judged = { value, expected: forecast, lo, hi, sharp: unusual?.sharp ?? 0 };
  const seen = { series: key, ...judged, rings, origin, earlier };
  events.track(
    {
      position,
      timestampMs: row.timestampMs - Math.round(missing * events.stepMs),
      offset: record.offset,
      verdict: detection,
      seen: Number.isNaN(value) ? [] : [seen],
      keptOf: () => detector,
    },
    record.key,
    sink,
  );
}
