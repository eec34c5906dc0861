import type { Freshness } from '../../api/wire/schema/operations/freshness-schema.ts';
import { counted, elapsedText } from './number-words.ts';
import { timeText } from './time-words.ts';

/** What the console knows of how current it is. */
interface KnownFreshness {
  /** The newest answer; undefined until there is one, null where there is no stream. */
  readonly freshness: Freshness | null | undefined;
  /** Why there is no newer one. */
  readonly freshnessFailure: string | null;
}

/** Whether what is shown is how things are now. */
export interface ShownFreshness {
  readonly isCurrent: boolean;
  /** Two words. */
  readonly mark: string;
  /** One sentence: why it is not current; where it is, of which series that is so. */
  readonly reason: string;
  /** What works nevertheless; empty where it is current. */
  readonly remains: string;
}

const PAST_WORKS = 'What was read before stays: events, series, backtests.';

/** null in the first moment, in a report, and where the service has no stream. */
export function shownFreshness({ freshness, freshnessFailure }: KnownFreshness, nowMs: number): ShownFreshness | null {
  if (freshnessFailure !== null) {
    const since = !freshness ? '' : ` since ${timeText(freshness.at, nowMs)}`;
    return notCurrent('Not connected', `Nothing is known${since}: ${freshnessFailure}`, '');
  }
  if (!freshness) return null;
  const { problem, workers, series, newest } = freshness;
  const until = newest === null ? '' : ` The newest observation is of ${timeText(newest, nowMs)}.`;
  if (problem !== null && problem.due === null) {
    const since = timeText(problem.since, nowMs);
    return notCurrent('Not current', `Nothing new is read since ${since}: ${problem.reason}.${until}`);
  }
  if (workers === null) return notCurrent('Not known', `Kafka does not say whether anything is scored.${until}`);
  const waiting = `${counted(workers.lag, 'observation waits', 'observations wait')}`;
  if (workers.members === 0) {
    return notCurrent('No worker', `Nothing is scored: no worker runs, and ${waiting}.${until}`);
  }
  if (workers.stalled_since !== null) {
    const ago = elapsedText(freshness.at - workers.stalled_since);
    return notCurrent('Behind', `Nothing was scored for ${ago}, and ${waiting}.${until}`);
  }
  if (problem !== null) {
    return notCurrent('No input', `Nothing arrived since ${timeText(problem.since, nowMs)}, due every ${problem.due}.`);
  }
  if (series.judged === 0) {
    const calibrating = series.calibrating > 0 ? `: ${countsText(freshness)}` : ', and none is calibrating';
    return notCurrent('Not judged', `No series is judged yet${calibrating}.`, '');
  }
  return { isCurrent: true, mark: 'Live', reason: `${countsText(freshness)}.${until}`, remains: '' };
}

function notCurrent(mark: string, reason: string, remains = PAST_WORKS): ShownFreshness {
  return { isCurrent: false, mark, reason, remains };
}

/** `12 series judged, 3 calibrating, 1 silent; of 40 records no detector watches 5`. */
function countsText({ series: { judged, calibrating, silent }, unwatched }: Freshness): string {
  const parts = [
    ...(judged > 0 ? [`${counted(judged, 'series', 'series')} judged`] : []),
    ...(calibrating > 0 ? [`${counted(calibrating, 'series', 'series')} calibrating`] : []),
    ...(silent > 0 ? [`${counted(silent, 'series', 'series')} silent`] : []),
  ];
  if (unwatched !== null) {
    parts.push(`${counted(unwatched.records, 'record')} of the newest ${unwatched.of} not watched by any detector`);
  }
  return parts.join(', ');
}
