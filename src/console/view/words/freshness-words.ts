import type { Freshness } from '../../../api/wire/schema/operations/freshness-schema.ts';
import { counted, countText, elapsedText, timeText } from './value-words.ts';

/** Answers about freshness, as far as they are known. */
export interface KnownFreshness {
  /** The newest answer; undefined until there is one, null if there is no stream. */
  readonly freshness: Freshness | null | undefined;
  /** Why there is no newer one. */
  readonly freshnessFailure: string | null;
}

export interface ShownFreshness {
  readonly isCurrent: boolean;
  readonly mark: string;
  /** One sentence: why it is not current, or else the series that are. */
  readonly reason: string;
  /** The part that still works; empty while all does. */
  readonly remains: string;
}

/** While more observations of each series wait, what is shown may be the past. One step may be on its way. */
const WAITING_STEPS = 2;
/** If the newest observation is younger, the page is current, however many wait for the next commit. */
const PRESENT_MS = 300_000;
const PAST_WORKS = 'Stored events, series and backtests are still available.';

/**
 * null in the first moment, in a report, and if the service has no stream.
 * @param nowMs the present in event time
 */
export function shownFreshness(
  { freshness, freshnessFailure }: KnownFreshness,
  nowMs: number,
  wallMs: number,
): ShownFreshness | null {
  const since = (atMs: number) => `since ${timeText(atMs, nowMs)}, ${elapsedText(wallMs - atMs)} ago`;
  if (freshnessFailure !== null) {
    const last = freshness ? ` ${since(freshness.at)}` : '';
    return notCurrent('Not connected', `No answer from the service${last}: ${freshnessFailure}`, '');
  }
  if (!freshness) return null;
  const { problem, workers, series, newest } = freshness;
  const until = newest === null ? '' : ` The newest observation is of ${timeText(newest, nowMs)}.`;
  if (problem !== null && problem.due === null) {
    return notCurrent('Not current', `Nothing was read from Kafka ${since(problem.since)}: ${problem.reason}.${until}`);
  }
  if (workers === null) return notCurrent('Not known', `The state of the workers is unknown.${until}`);
  const waiting = counted(workers.lag, 'observation is waiting', 'observations are waiting');
  if (workers.members === 0) return notCurrent('No worker', `No worker is running, and ${waiting}.${until}`);
  if (workers.stalled_since !== null) {
    return notCurrent('Behind', `Nothing was scored ${since(workers.stalled_since)}, and ${waiting}.${until}`);
  }
  if (problem !== null) {
    return notCurrent('No input', `No observation ${since(problem.since)}; one is due every ${problem.due}.`);
  }
  if (series.judged === 0) {
    const calibrating = series.calibrating > 0 ? `: ${countsText(freshness)}` : ', and none is calibrating';
    return notCurrent('Not scored', `No series is scored yet${calibrating}.`, '');
  }
  const known = series.judged + series.calibrating + series.silent + series.ended;
  const isPresent = newest !== null && freshness.at - newest < PRESENT_MS;
  if (!isPresent && freshness.unwatched === null && workers.lag > WAITING_STEPS * known) {
    return notCurrent('Catching up', `${waiting[0].toUpperCase()}${waiting.slice(1)} to be scored.${until}`);
  }
  return { isCurrent: true, mark: 'Live', reason: `${countsText(freshness)}.${until}`, remains: '' };
}

function notCurrent(mark: string, reason: string, remains = PAST_WORKS): ShownFreshness {
  return { isCurrent: false, mark, reason, remains };
}

/** `12 series scored, 3 calibrating, 1 silent, 2 ended; 5 of the newest 40 records match no detector`. */
function countsText({ series: { judged, calibrating, silent, ended }, unwatched }: Freshness): string {
  const counts = { scored: judged, calibrating, silent, ended };
  const parts = Object.entries(counts).flatMap(([state, count]) => (count > 0 ? [`${countText(count)} ${state}`] : []));
  const text = parts.join(', ').replace(' ', ' series ');
  if (unwatched === null) return text;
  return `${text}; ${unwatched.records} of the newest ${unwatched.of} records match no detector`;
}
