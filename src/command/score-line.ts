import type { ScoreRecord } from '../stream/record/score-record.ts';

export interface ScoreLineStyle {
  /** Escape sequences for colours are written. */
  readonly colour: boolean;
  /** Characters of the series column; a longer id keeps its end. */
  readonly seriesWidth: number;
}

export const SCORE_LINE_STYLE: ScoreLineStyle = { colour: false, seriesWidth: 24 };

const NUMBER_WIDTH = 11;
const INTERVAL_WIDTH = 2 * NUMBER_WIDTH + 2;
const SCORE_WIDTH = 9;
const SIGNIFICANT_DIGITS = 6;
const NOTHING = '-';

const RED_BOLD = '\u001b[1;31m';
const DIM = '\u001b[2m';
const RESET = '\u001b[0m';

/** The names of the columns of `scoreLine`, as wide as they are. */
export function scoreLineHeader(style: ScoreLineStyle): string {
  const header = columns(' ', 'time (UTC)', 'series', 'value', 'forecast', 'interval', 'score', 'state', style);
  return style.colour ? `${DIM}${header}${RESET}` : header;
}

/**
 * One score as a line for people: time, series, value, forecast, interval, score, state. An anomaly begins with `!` and says ANOMALY in
 * place of its state; what was not judged is dim. The score of a group's member is the group's, marked by a `g`.
 */
export function scoreLine(score: ScoreRecord, style: ScoreLineStyle = SCORE_LINE_STYLE): string {
  const { anomaly, state, lo, hi, accumulatedAnomalyScore: ofGroup, anomalyScore } = score;
  const z = ofGroup === null ? shownScore(anomalyScore) : `g ${shownScore(ofGroup)}`;
  const line = columns(
    anomaly ? '!' : ' ',
    shownTime(score.timestampMs),
    score.series,
    shownNumber(score.value),
    shownNumber(score.forecast),
    lo === null || hi === null ? NOTHING : `${shownNumber(lo)}..${shownNumber(hi)}`,
    z,
    anomaly ? 'ANOMALY' : state,
    style,
  );
  const marked = score.restarted ? `${line}, started over` : line;
  if (!style.colour) return marked;
  if (anomaly) return `${RED_BOLD}${marked}${RESET}`;
  return state === 'scored' ? marked : `${DIM}${marked}${RESET}`;
}

/** `2014-02-14 14:30:00`, with milliseconds only where there are any. UTC. */
export function shownTime(timestampMs: number): string {
  return new Date(timestampMs)
    .toISOString()
    .replace('T', ' ')
    .replace(/\.000Z$|Z$/, '');
}

/** Six significant digits; `-` for what does not exist. */
function shownNumber(value: number | null): string {
  return value === null ? NOTHING : String(Number(value.toPrecision(SIGNIFICANT_DIGITS)));
}

/** A standardised score with its sign, two decimals. */
export function shownScore(score: number | null): string {
  if (score === null) return NOTHING;
  const shown = Math.abs(score) >= 1e6 ? score.toExponential(2) : score.toFixed(2);
  return score > 0 ? `+${shown}` : shown;
}

/** A foreign text must not move the cursor, or anything else that control characters do to a terminal. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '\uFFFD');
}

function columns(
  mark: string,
  time: string,
  series: string,
  value: string,
  forecast: string,
  interval: string,
  score: string,
  state: string,
  { seriesWidth }: ScoreLineStyle,
): string {
  const cells = [
    `${mark} ${time.padEnd(19)}`,
    fitted(printable(series), seriesWidth),
    value.padStart(NUMBER_WIDTH),
    forecast.padStart(NUMBER_WIDTH),
    interval.padStart(INTERVAL_WIDTH),
    score.padStart(SCORE_WIDTH),
    state,
  ];
  return cells.join('  ');
}

function fitted(text: string, width: number): string {
  return text.length <= width ? text.padEnd(width) : `~${text.slice(text.length - width + 1)}`;
}
