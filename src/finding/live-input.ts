import { type Frequency, meanStepMs } from '../calendar/frequency.ts';

/** Without a record for so many steps, and so long, an input has stopped. */
const STOP_STEPS = 5.5;
const STOP_MS_MIN = 300_000;
/** An input is live once records were near the present for so many steps of the clock. */
const LIVE_STEPS = 2;

interface Stopped {
  /** Event time of the newest record. */
  readonly newestMs: number;
  /** How long nothing has arrived. */
  readonly forMs: number;
  /** The shortest step that is due. */
  readonly freq: Frequency;
}

/**
 * Finds that a live input has stopped as a whole: nothing arrives, though records were near the present before. A file
 * that is fed, a backlog and the first records behind a restart pass too fast, or lie too far back, to be live.
 */
export class LiveInput {
  #freq: Frequency | null = null;
  #arrivedMs = Number.NaN;
  #newestMs = Number.NEGATIVE_INFINITY;
  #nearSinceMs = Number.NaN;
  #isLive = false;

  /** @param freqs of the detectors; the shortest step counts */
  expect(freqs: readonly Frequency[]): void {
    this.#freq = freqs.toSorted((a, b) => meanStepMs(a) - meanStepMs(b))[0] ?? null;
    this.forget();
  }

  /** Other records are due from now on. */
  forget(): void {
    [this.#nearSinceMs, this.#isLive, this.#newestMs] = [Number.NaN, false, Number.NEGATIVE_INFINITY];
  }

  /** Records arrived, the newest of this event time. */
  arrived(eventMs: number, nowMs: number): void {
    if (this.#freq === null) return;
    this.#arrivedMs = nowMs;
    this.#newestMs = Math.max(this.#newestMs, eventMs);
    if (Math.abs(nowMs - eventMs) > limitOf(this.#freq)) return;
    if (Number.isNaN(this.#nearSinceMs)) this.#nearSinceMs = nowMs;
    this.#isLive ||= nowMs - this.#nearSinceMs >= LIVE_STEPS * meanStepMs(this.#freq);
  }

  /** null while records arrive, and where the input was not live. */
  stopped(nowMs: number): Stopped | null {
    const forMs = nowMs - this.#arrivedMs;
    if (!this.#isLive || this.#freq === null || !(forMs > limitOf(this.#freq))) return null;
    return { newestMs: this.#newestMs, forMs, freq: this.#freq };
  }
}

export function stoppedText({ newestMs, freq }: Stopped): string {
  return `nothing arrived since ${new Date(newestMs).toISOString()}, due every ${freq.alias}`;
}

function limitOf(freq: Frequency): number {
  return Math.max(STOP_MS_MIN, STOP_STEPS * meanStepMs(freq));
}
