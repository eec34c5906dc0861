import type { ScoreRecord } from '../stream/record/score-record.ts';
import { type ScoreLineStyle, scoreLine } from './score-line.ts';

/** `flagged`: anomalies, and from time to time how many were scored between them. */
export type ScoreSelection = 'flagged' | 'anomalies' | 'all';

export interface ScoreViewOptions {
  readonly selection: ScoreSelection;
  /** Matches the series that are shown. */
  readonly series: RegExp;
  /** One JSON record a line in place of lines for people. */
  readonly json: boolean;
  readonly style: ScoreLineStyle;
}

/** What of a stream of scores is shown. */
export class ScoreView {
  readonly #options: ScoreViewOptions;
  #scored = 0;
  #others = 0;
  #flagged = 0;

  constructor(options: ScoreViewOptions) {
    this.#options = options;
  }

  /** The line of a score; null where it is not shown. */
  show(score: ScoreRecord): string | null {
    const { selection, series, json, style } = this.#options;
    if (!series.test(score.series)) return null;
    if (score.state === 'scored') this.#scored++;
    else this.#others++;
    if (score.anomaly) this.#flagged++;
    if (selection !== 'all' && !score.anomaly) return null;
    return json ? JSON.stringify(score) : scoreLine(score, style);
  }

  /** What came since the last call, in a sentence; null where nothing came or every score is shown anyway. */
  summary(): string | null {
    const [scored, others, flagged] = [this.#scored, this.#others, this.#flagged];
    this.#scored = this.#others = this.#flagged = 0;
    if (this.#options.selection !== 'flagged' || scored + others === 0) return null;
    const notYet = others === 0 ? '' : `, ${others} not judged yet`;
    return `  ${scored} scored, ${flagged} flagged${notYet}`;
  }
}
