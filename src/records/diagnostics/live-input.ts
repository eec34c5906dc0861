import { type Frequency, meanStepMs } from '../../time/frequency.ts';
import { stepAlias } from './step-alias.ts';

/** Without a record for so many steps, and so long, an input has stopped. */
const STOP_STEPS = 5.5;
const STOP_MS_MIN = 300_000;
/** An input is live once records were near the present for so many steps of the clock, and so long. */
const LIVE_STEPS = 2;
const LIVE_MS_MIN = 60_000;

interface Stopped {
  /** Event time of the newest record. */
  readonly newestMs: number;
  /** Time since the last arrival. */
  readonly forMs: number;
  /** The shortest step that is due, as a frequency. */
  readonly due: string;
}

/**
 * Finds that a live input has stopped as a whole: nothing arrives, though records were near the present before. A file
 * that is fed, a backlog and the first records behind a restart pass too fast, or lie too far back, to be live. Records
 * that come in batches farther apart than the time that makes a stop are not live either.
 */
export class LiveInput {
  #stepMs = Number.NaN;
  #arrivedMs = Number.NaN;
  #newestMs = Number.NEGATIVE_INFINITY;
  #nearSinceMs = Number.NaN;
  #isLive = false;

  /** @param freqs of the detectors; the shortest step counts */
  expect(freqs: readonly Frequency[]): void {
    this.expectStep(freqs.length === 0 ? Number.NaN : Math.min(...freqs.map(meanStepMs)));
    this.forget();
  }

  /** @param stepMs NaN while it is not known: nothing is due */
  expectStep(stepMs: number): void {
    this.#stepMs = stepMs;
  }

  /** Other records are due from now on. */
  forget(): void {
    [this.#nearSinceMs, this.#isLive, this.#newestMs] = [Number.NaN, false, Number.NEGATIVE_INFINITY];
  }

  /** Records arrived, the newest of this event time. */
  arrived(eventMs: number, nowMs: number): void {
    const limitMs = this.#limitMs();
    if (Number.isNaN(limitMs)) return;
    if (nowMs - this.#arrivedMs > limitMs) this.#nearSinceMs = Number.NaN;
    this.#arrivedMs = nowMs;
    this.#newestMs = Math.max(this.#newestMs, eventMs);
    if (Math.abs(nowMs - eventMs) > limitMs) return;
    if (Number.isNaN(this.#nearSinceMs)) this.#nearSinceMs = nowMs;
    this.#isLive ||= nowMs - this.#nearSinceMs >= Math.max(LIVE_MS_MIN, LIVE_STEPS * this.#stepMs);
  }

  /** Nothing could be read until now: the wait for the next record begins again. */
  readable(nowMs: number): void {
    this.#arrivedMs = nowMs;
  }

  /** null while records arrive, and where the input was not live. */
  stopped(nowMs: number): Stopped | null {
    const forMs = nowMs - this.#arrivedMs;
    if (!this.#isLive || !(forMs > this.#limitMs())) return null;
    return { newestMs: this.#newestMs, forMs, due: stepAlias(this.#stepMs) };
  }

  #limitMs(): number {
    return Math.max(STOP_MS_MIN, STOP_STEPS * this.#stepMs);
  }
}

export function stoppedText({ newestMs, due }: Pick<Stopped, 'newestMs' | 'due'>): string {
  return `nothing arrived since ${new Date(newestMs).toISOString()}, due every ${due}`;
}
