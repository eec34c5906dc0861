import assert from 'node:assert/strict';

/** A stack of booleans, eight to a byte. */
export class BitStack {
  #bits = new Uint8Array(0);
  size = 0;

  get top(): boolean {
    assert(this.size > 0);
    const at = this.size - 1;
    return ((this.#bits[at >> 3] >> (at & 7)) & 1) === 1;
  }

  push(bit: boolean): void {
    if (this.size >> 3 >= this.#bits.length) {
      const wider = new Uint8Array(Math.max(8, this.#bits.length * 2));
      wider.set(this.#bits);
      this.#bits = wider;
    }
    const mask = 1 << (this.size & 7);
    if (bit) this.#bits[this.size >> 3] |= mask;
    else this.#bits[this.size >> 3] &= ~mask;
    this.size++;
  }

  pop(): void {
    this.size--;
  }
}
