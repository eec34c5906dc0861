export class OpenCounts {
  readonly #open = new Map<string, number>();

  of(name: string): number {
    return this.#open.get(name) ?? 0;
  }

  add(name: string): void {
    this.#open.set(name, this.of(name) + 1);
  }

  remove(name: string): void {
    const left = this.of(name) - 1;
    if (left > 0) this.#open.set(name, left);
    else this.#open.delete(name);
  }
}
