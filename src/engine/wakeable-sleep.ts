export class WakeableSleep {
  #wake: () => void = () => {};

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
