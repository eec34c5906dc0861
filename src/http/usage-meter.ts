import type { Tokens } from './tokens.ts';

const MINUTE_MS = 60_000;

export interface Usage {
  /** Requests and tokens of the minute, and of the month (UTC), that run now. */
  readonly minute: UsageCounts;
  readonly month: UsageCounts;
}

export interface UsageCounts {
  readonly requests: number;
  readonly tokens: number;
}

const NOTHING: UsageCounts = { requests: 0, tokens: 0 };

/** Counts what was asked for since the service started. */
export class UsageMeter {
  readonly #nowMs: () => number;
  #period = { minute: Number.NaN, month: '' };
  #usage: Usage = { minute: NOTHING, month: NOTHING };

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  count({ input_tokens: input, output_tokens: output, finetune_tokens: finetune }: Tokens): void {
    const tokens = input + output + finetune;
    const { minute, month } = this.usage();
    this.#usage = { minute: plus(minute, tokens), month: plus(month, tokens) };
  }

  usage(): Usage {
    const nowMs = this.#nowMs();
    const period = { minute: Math.floor(nowMs / MINUTE_MS), month: new Date(nowMs).toISOString().slice(0, 7) };
    if (period.minute !== this.#period.minute) this.#usage = { ...this.#usage, minute: NOTHING };
    if (period.month !== this.#period.month) this.#usage = { ...this.#usage, month: NOTHING };
    this.#period = period;
    return this.#usage;
  }
}

function plus({ requests, tokens }: UsageCounts, more: number): UsageCounts {
  return { requests: requests + 1, tokens: tokens + more };
}
