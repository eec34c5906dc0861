/** Delays with a shorter pause between them belong together. */
const PAUSE_MS_MAX = 5_000;
/** A client is held up once it was delayed for so long, and for such a share of the time. */
const DELAYED_MS_MIN = 3_000;
const SHARE_MIN = 0.2;

/** Delays of a client by the quotas of its brokers. Delays of several connections at one time count once. */
export class QuotaDelays {
  #sinceMs = Number.NEGATIVE_INFINITY;
  #untilMs = Number.NEGATIVE_INFINITY;
  #delayedMs = 0;

  /** Returns whether the client has become held up. */
  add(ms: number, nowMs: number): boolean {
    const wasHeldUp = this.share(nowMs) !== null;
    if (nowMs > this.#untilMs + PAUSE_MS_MAX) {
      this.#sinceMs = nowMs;
      this.#delayedMs = 0;
    }
    const untilMs = Math.max(this.#untilMs, nowMs + ms);
    this.#delayedMs += untilMs - Math.max(this.#untilMs, nowMs);
    this.#untilMs = untilMs;
    return !wasHeldUp && this.share(nowMs) !== null;
  }

  /** The share of the time since the first of these delays; null if the client is not held up. */
  share(nowMs: number): number | null {
    if (nowMs > this.#untilMs + PAUSE_MS_MAX || this.#delayedMs < DELAYED_MS_MIN) return null;
    const share = this.#delayedMs / (Math.max(nowMs, this.#untilMs) - this.#sinceMs);
    return share < SHARE_MIN ? null : share;
  }
}
