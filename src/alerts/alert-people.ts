import type { MutedSeries } from '../records/series/muted-series.ts';
import type { AlertReports } from './alert-reports.ts';
import type { AlertState } from './state/alert-state.ts';
import type { SettledNotification } from './state/outbox.ts';

/** How often mutes of people are read. Where they cannot be, those that were read hold until their ends. */
const MUTES_EVERY_MS = 2_000;

export interface PeopleOptions {
  readonly reports: AlertReports;
  readonly nowMs: () => number;
  /** Keeps what was sent for looking at; null where nobody looks. */
  readonly keepSent: ((settled: readonly SettledNotification[]) => Promise<void>) | null;
  /** Mutes of people that hold; null where nobody can mute. */
  readonly mutes: (() => Promise<readonly MutedSeries[]>) | null;
}

/** What people say of alerts is read, and what they look at is kept. Where that fails, all is sent as without them. */
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

  /** For people alone: what cannot be kept is missing from the list, and holds nothing up. */
  async keepSent(): Promise<void> {
    const { keepSent, reports } = this.#options;
    const settled = this.#state.outbox.takeSettled();
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
