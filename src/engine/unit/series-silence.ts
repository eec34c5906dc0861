import type { FoundSilence } from '../../checkpoint/arrival-state.ts';
import { SCALARS } from '../../detection/memory/series-memory.ts';
import type { SeriesDetector } from '../../detection/series/series-detector.ts';
import { type InputPlace, inputAt } from '../../records/input-place.ts';
import type { SilenceCause } from '../../records/score-record.ts';
import type { LoadedDetector } from './loaded-detector.ts';
import type { OpenSteps } from './open-steps.ts';
import type { ReceivedObservation } from './received-observation.ts';
import type { ScoreSink } from './score-sink.ts';
import { isNewsSilent, isShortLived, silenceRecord } from './silence-records.ts';
import type { UnitEvents } from './unit-events.ts';

/** A series that may fall silent. */
interface SilentSeries {
  readonly key: string;
  readonly loaded: LoadedDetector;
  readonly place: InputPlace;
  readonly detector: SeriesDetector;
  readonly events: UnitEvents;
  readonly steps: OpenSteps | null;
  silent: boolean;
}

interface ReportedSilence extends Pick<ReceivedObservation, 'record' | 'timestampMs' | 'value'> {
  readonly state: 'silent' | 'returned';
  readonly cause: SilenceCause | null;
  readonly lastOffset: number;
}

type SilenceOfSeries = Pick<ReceivedObservation, 'record' | 'timestampMs'> & { readonly silence: FoundSilence };

/** The series has stopped: it is reported where that is news. */
export function fallSilent(series: SilentSeries, observation: SilenceOfSeries, sink: ScoreSink): void {
  const { record, timestampMs, silence } = observation;
  const { loaded, detector, steps } = series;
  const { silenceAfter } = loaded.config.settings;
  if (isShortLived(detector)) sink.lifecycle.endedEarly(loaded, series.key);
  if (series.silent || silenceAfter === null || !isNewsSilent(detector, silenceAfter)) return;
  if (steps !== null) steps.silentOffset = silence.lastOffset;
  const value = detector.rings.scalar(SCALARS.resolution);
  report(series, { state: 'silent', record, timestampMs, value, ...silence }, sink);
}

/** An observation of a silent series: it sends again. */
export function returnFromSilence(series: SilentSeries, observation: ReceivedObservation, sink: ScoreSink): void {
  const { record, timestampMs, value } = observation;
  // A step that was open as its series fell silent, and has no point since, does not show that it is back.
  if (record.offset <= (series.steps?.silentOffset ?? Number.NaN)) return;
  const lastOffset = record.offset;
  report(series, { state: 'returned', record, timestampMs, value, cause: null, lastOffset }, sink);
}

function report(series: SilentSeries, found: ReportedSilence, sink: ScoreSink): void {
  const { key, loaded, detector, events } = series;
  const { state, timestampMs, cause, record, lastOffset } = found;
  series.silent = state === 'silent';
  const at = { timestampMs, offset: record.offset, position: detector.positions };
  if (series.silent) events.fallSilent({ ...at, lastOffset, member: null, allSilent: true }, sink);
  else events.returned(at, sink);
  const input = inputAt(series.place, lastOffset);
  const silence = silenceRecord({ state, cause, series: key, timestampMs, loaded, detector, input }, found.value);
  sink.outputs.silence(silence, record.offset);
}
