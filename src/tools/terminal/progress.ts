import type { CommandIo } from './command-io.ts';

const AFTER_MS = 2_000;
const EVERY_MS = 200;
const WIDTH = 24;

/** A bar on a terminal, for work that takes more than two seconds. */
export class Progress {
  readonly #io: Pick<CommandIo, 'status'>;
  readonly #nowMs: () => number;
  #nextMs: number;

  constructor(io: Pick<CommandIo, 'status'>, nowMs: () => number = () => performance.now()) {
    this.#io = io;
    this.#nowMs = nowMs;
    this.#nextMs = nowMs() + AFTER_MS;
  }

  /** @param share done, 0 to 1; null if the size of the work is not known */
  show(what: string, share: number | null, detail = ''): void {
    const nowMs = this.#nowMs();
    if (this.#io.status === undefined || nowMs < this.#nextMs) return;
    this.#nextMs = nowMs + EVERY_MS;
    this.#io.status([what, share === null ? '' : barText(share), detail].filter((part) => part !== '').join('  '));
  }

  end(): void {
    this.#io.status?.('');
  }
}

function barText(share: number): string {
  const filled = Math.round(WIDTH * Math.min(1, share));
  return `[${'#'.repeat(filled)}${'.'.repeat(WIDTH - filled)}] ${shareText(share)}`;
}

export function shareText(share: number): string {
  return `${Math.floor(100 * Math.min(1, share))} %`;
}
