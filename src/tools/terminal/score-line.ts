import { isFlagged, type ScoreRecord } from '../../records/score-record.ts';
import type { SeriesPattern } from '../../records/series/series-pattern.ts';
import { quantityText } from '../../records/text/quantity-text.ts';

export interface ScoreLineStyle {
  /** True to write escape sequences for colours. */
  readonly colour: boolean;
  /** Characters of the series column. A longer id is whole: its end may be what it has in common with others. */
  readonly seriesWidth: number;
  /** Units of values by the names of detectors. */
  readonly units?: ReadonlyMap<string, string>;
}

export const SCORE_LINE_STYLE: ScoreLineStyle = { colour: false, seriesWidth: 24 };

const NUMBER_WIDTH = 11;
const INTERVAL_WIDTH = 2 * NUMBER_WIDTH + 2;
const SCORE_WIDTH = 9;
export const GRADE_WIDTH = 5;
const SIGNIFICANT_DIGITS = 6;
const NOTHING = '-';

/** Text that a terminal shows red and bold, or dim. */
export const marked = (line: string) => `\u001b[1;31m${line}\u001b[0m`;
export const dimmed = (line: string) => `\u001b[2m${line}\u001b[0m`;

/** The columns of a line by their titles; a score fills them in this order. */
const COLUMNS = {
  'time (UTC)': (cell: string) => cell.padEnd(19),
  series: (cell: string, { seriesWidth }: ScoreLineStyle) => cell.padEnd(seriesWidth),
  value: (cell: string) => cell.padStart(NUMBER_WIDTH),
  forecast: (cell: string) => cell.padStart(NUMBER_WIDTH),
  interval: (cell: string) => cell.padStart(INTERVAL_WIDTH),
  score: (cell: string) => cell.padStart(SCORE_WIDTH),
  grade: (cell: string) => cell.padStart(GRADE_WIDTH),
  state: (cell: string) => cell,
};

function lineOf(mark: string, cells: readonly string[], style: ScoreLineStyle): string {
  return `${mark} ${Object.values(COLUMNS)
    .map((pad, i) => pad(cells[i], style))
    .join('  ')}`;
}

export function scoreLineHeader(style: ScoreLineStyle): string {
  const header = lineOf(' ', Object.keys(COLUMNS), style);
  return style.colour ? dimmed(header) : header;
}

/**
 * One score as a line for people: time, series, value, forecast, interval, score, grade, state. An alarm begins with
 * `!` and has ALARM instead of its state, a value outside its interval ANOMALY. What is not scored yet is dim. A
 * member of a group shows the group's score, marked by `g`.
 */
export function scoreLine(score: ScoreRecord, style: ScoreLineStyle = SCORE_LINE_STYLE): string {
  const { alarm, anomaly, state, lo, hi, accumulatedAnomalyScore: ofGroup, anomalyScore } = score;
  const unit = style.units?.get(score.detector) ?? null;
  const flagged = isFlagged(score);
  const shownScore = ofGroup === null ? formatScore(anomalyScore) : `g ${formatScore(ofGroup)}`;
  const cells = [
    formatTime(score.timestampMs),
    printable(score.series),
    formatNumber(score.value, unit),
    formatNumber(score.forecast, unit),
    lo === null || hi === null ? NOTHING : `${formatNumber(lo, unit)}..${formatNumber(hi, unit)}`,
    shownScore,
    formatGrade(score.grade),
    alarm ? 'ALARM' : anomaly ? 'ANOMALY' : state,
  ];
  const line = lineOf(flagged ? '!' : ' ', cells, style);
  const text = score.restarted ? `${line}, started over` : line;
  if (!style.colour) return text;
  if (flagged) return marked(text);
  return state === 'scored' ? text : dimmed(text);
}

/** `2014-02-14 14:30:00`, with milliseconds only where there are any. UTC. */
export function formatTime(timestampMs: number): string {
  return new Date(timestampMs)
    .toISOString()
    .replace('T', ' ')
    .replace(/\.000Z$|Z$/, '');
}

/** Six significant digits, or as the unit is read; `-` for null. */
function formatNumber(value: number | null, unit: string | null): string {
  if (value === null) return NOTHING;
  return unit === null ? String(Number(value.toPrecision(SIGNIFICANT_DIGITS))) : quantityText(value, unit);
}

/** Two decimals after the point, without the zero before it: `.93`. */
export function formatGrade(grade: number | null): string {
  return grade === null ? NOTHING : grade.toFixed(2).replace(/^0/, '');
}

/** A standardised score with its sign, two decimals. */
export function formatScore(score: number | null): string {
  if (score === null) return NOTHING;
  const shown = Math.abs(score) >= 1e6 ? score.toExponential(2) : score.toFixed(2);
  return score > 0 ? `+${shown}` : shown;
}

/** Replaces control characters: text from records must not control the terminal. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '\uFFFD');
}

/** `flagged`: alarms, and every second the number of other scores. `anomalies`: what is outside its interval. */
export type ScoreSelection = 'flagged' | 'anomalies' | 'all';

export interface ScoreViewOptions {
  readonly selection: ScoreSelection;
  readonly series: SeriesPattern;
  /** Print one JSON record a line. */
  readonly json: boolean;
  readonly style: ScoreLineStyle;
}

export class ScoreView {
  readonly #options: ScoreViewOptions;
  #scored = 0;
  #others = 0;
  #flagged = 0;

  constructor(options: ScoreViewOptions) {
    this.#options = options;
  }

  /** The line of a score; null if it is not shown. */
  show(score: ScoreRecord): string | null {
    const { selection, series, json, style } = this.#options;
    if (!series.test(score.series)) return null;
    if (score.state === 'scored') this.#scored++;
    else this.#others++;
    const flagged = isFlagged(score);
    if (flagged) this.#flagged++;
    const shown = selection === 'anomalies' ? score.anomaly : flagged;
    if (selection !== 'all' && !shown) return null;
    return json ? JSON.stringify(score) : scoreLine(score, style);
  }

  /** Counts since the last call, as a sentence; null if there was nothing, or every score is shown. */
  summary(): string | null {
    const [scored, others, flagged] = [this.#scored, this.#others, this.#flagged];
    this.#scored = this.#others = this.#flagged = 0;
    if (this.#options.selection !== 'flagged' || scored + others === 0) return null;
    const notYet = others === 0 ? '' : `, ${others} not judged yet`;
    return `  ${scored} scored, ${flagged} flagged${notYet}`;
  }
}
