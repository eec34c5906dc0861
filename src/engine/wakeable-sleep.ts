/** Sleeps until it is woken. */
export class WakeableSleep {
  #wake: () => void = () => {};

  /** Ends the present sleep, where there is one. */
  wake(): void {
    this.#wake();
  }

  /** Sleeps at most `ms`; null: until it is woken. */
  sleep(ms: number | null): Promise<void> {
    return new Promise((resolve) => {
      const timer = ms === null ? undefined : setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
