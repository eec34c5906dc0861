import type { MutedSeries } from '../records/series/muted-series.ts';
import type { AlertReports } from './alert-reports.ts';
import type { AlertState } from './state/alert-state.ts';
import type { SettledNotification } from './state/outbox.ts';

/** Interval of reading mutes. If they cannot be read, the last ones apply until their ends. */
const MUTES_EVERY_MS = 2_000;

export interface PeopleOptions {
  readonly reports: AlertReports;
  readonly nowMs: () => number;
  /** Stores sent messages for the console; null without a store. */
  readonly keepSent: ((settled: readonly SettledNotification[]) => Promise<void>) | null;
  /** Reads active mutes; null without a store. */
  readonly mutes: (() => Promise<readonly MutedSeries[]>) | null;
}

/** Reads mutes from the store, and writes sent messages to it. If that fails, messages are sent as without a store. */
export class AlertPeople {
  readonly #options: PeopleOptions;
  readonly #state: AlertState;
  #mutedMs = Number.NEGATIVE_INFINITY;

  constructor(options: PeopleOptions, state: AlertState) {
    this.#options = options;
    this.#state = state;
  }

  async exchange(): Promise<void> {
    await this.readMutes();
    await this.keepSent();
  }

  /** Stores what was sent. Entries are missing if that fails; delivery continues. */
  async keepSent(): Promise<void> {
    const { keepSent, reports } = this.#options;
    const settled = this.#state.outbox.drainSettled();
    if (keepSent === null || settled.length === 0) return;
    await keepSent(settled).catch((error: Error) => reports.unkept(error));
  }

  async readMutes(): Promise<void> {
    const { mutes, nowMs, reports } = this.#options;
    if (mutes === null || nowMs() - this.#mutedMs < MUTES_EVERY_MS) return;
    this.#mutedMs = nowMs();
    await mutes().then(
      (holding) => this.#state.muted.choose(holding),
      (error: Error) => reports.unmuted(error),
    );
  }
}
