/** Messages that wait while updates are paused. With more the page is read again when they are resumed. */
const WAITING_MAX = 5_000;
/** A count that changes more often cannot be read. */
const SHOW_MS = 500;

export interface PauseState {
  readonly paused: boolean;
  /** Revisions of events and incidents, and scores of the shown series. */
  readonly waiting: number;
}

/** Holds messages back, so that a page does not change while somebody reads it. */
class LivePause {
  state: PauseState = { paused: false, waiting: 0 };
  #updates: (() => void)[] = [];
  #lost = false;
  readonly #listeners = new Set<(state: PauseState) => void>();
  #showing: ReturnType<typeof setTimeout> | null = null;

  /** Does it now, or when updates are resumed. `count` is of what it shows. */
  accept(count: number, update: () => void): void {
    if (!this.state.paused) {
      update();
      return;
    }
    if (this.#updates.length < WAITING_MAX) this.#updates.push(update);
    else this.#lost = true;
    this.state = { paused: true, waiting: this.state.waiting + count };
    this.#showing ??= setTimeout(() => this.#show(), SHOW_MS);
  }

  toggle(): void {
    const [updates, paused] = [this.#updates, !this.state.paused];
    this.#updates = [];
    this.state = { paused, waiting: 0 };
    if (this.#lost) location.reload();
    for (const update of updates) update();
    this.#show();
  }

  subscribe(listener: (state: PauseState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #show(): void {
    if (this.#showing !== null) clearTimeout(this.#showing);
    this.#showing = null;
    for (const listener of this.#listeners) listener(this.state);
  }
}

/** One for the whole page. */
export const livePause = new LivePause();
