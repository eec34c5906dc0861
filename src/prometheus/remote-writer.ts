import { setTimeout as sleep } from 'node:timers/promises';
import type { RemoteWriteConfig } from '../config/config.ts';
import { deflateSnappy } from '../kafka/batch/snappy.ts';
import { encodeWriteRequest, type WrittenSeries } from '../stream/codec/points/write-request.ts';
import { halvesOf, samplesIn } from './score-series.ts';

const REQUEST_MS_MAX = 30_000;
/** Characters of an answer that are repeated. */
const REASON_CHARACTERS_MAX = 200;
const RETRY_AFTER_MS_MAX = 3_600_000;
/** Statuses that say that a sample of the request cannot be taken, now or later. */
const REFUSALS = new Set([400, 409, 413, 422]);
/** Requests that look for the samples that are refused; beyond them the rest of the batch is refused, too. */
const SEARCHES_MAX = 200;

const DELAY_MS_MIN = 500;
const DELAY_MS_MAX = 30_000;

export interface WriterReports {
  accepted(samples: number): void;
  /** The receiver will not take them. */
  refused(samples: number, reason: string): void;
  /** Nothing is accepted for now (the reason), or again (null). */
  stalled(reason: string | null): void;
}

interface RemoteWriterOptions {
  readonly config: Omit<RemoteWriteConfig, 'series'>;
  readonly reports: WriterReports;
  readonly random: () => number;
  readonly nowMs: () => number;
  /** Resolves after the delay; rejects when the signal aborts. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
}

type Answer =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'failed'; readonly reason: string; readonly retryAfterMs: number };

/**
 * Writes samples by remote write 1.0. What the receiver does not take now is repeated; what it refuses, such as samples
 * that are too old, is looked for by halves, since one of them fails its whole request.
 */
export class RemoteWriter {
  readonly #options: RemoteWriterOptions;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(options: RemoteWriterOptions) {
    this.#options = options;
    const { authorization, headers } = options.config;
    this.#headers = {
      ...headers,
      ...(authorization !== null && { authorization }),
      'content-type': 'application/x-protobuf',
      'content-encoding': 'snappy',
      'user-agent': 'tidewatch',
      'x-prometheus-remote-write-version': '0.1.0',
    };
  }

  /** Resolves once each sample was accepted or refused. Rejects with the reason of `signal`. */
  async write(series: readonly WrittenSeries[], signal: AbortSignal): Promise<void> {
    const { reports } = this.#options;
    const waiting = series.length === 0 ? [] : [series];
    for (let searches = 0, batch = waiting.pop(); batch !== undefined; batch = waiting.pop()) {
      const answer = await this.#untilAnswered(batch, signal);
      if (answer.kind === 'accepted') {
        reports.accepted(samplesIn(batch));
        continue;
      }
      const halves = searches < SEARCHES_MAX ? halvesOf(batch) : null;
      if (halves === null) reports.refused(samplesIn(batch), answer.reason);
      // The first half is next: samples of a series are accepted in their order only.
      else waiting.push(halves[1], halves[0]);
      searches++;
    }
  }

  async #untilAnswered(series: readonly WrittenSeries[], signal: AbortSignal) {
    const { reports, random, wait = waitFor } = this.#options;
    const body = deflateSnappy(encodeWriteRequest(series));
    for (let delayMs = DELAY_MS_MIN; ; delayMs = Math.min(2 * delayMs, DELAY_MS_MAX)) {
      signal.throwIfAborted();
      const answer = await this.#post(body, signal);
      if (answer.kind !== 'failed') {
        reports.stalled(null);
        return answer;
      }
      reports.stalled(answer.reason);
      await wait(Math.max(answer.retryAfterMs, delayMs * (0.5 + random() / 2)), signal);
    }
  }

  async #post(body: Buffer, signal: AbortSignal): Promise<Answer> {
    const { config, nowMs } = this.#options;
    try {
      const answer = await fetch(config.url, {
        method: 'POST',
        headers: this.#headers,
        body,
        redirect: 'manual',
        signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_MS_MAX)]),
      });
      if (answer.ok) {
        await answer.body?.cancel();
        return { kind: 'accepted' };
      }
      const reason = `status ${answer.status}${await this.#excerpt(answer)}`;
      if (REFUSALS.has(answer.status)) return { kind: 'refused', reason };
      return { kind: 'failed', reason, retryAfterMs: retryAfterMs(answer.headers.get('retry-after'), nowMs()) };
    } catch (error) {
      signal.throwIfAborted();
      const { message, cause } = error as Error;
      const reason = cause instanceof Error && cause.message !== '' ? cause.message : message;
      return { kind: 'failed', reason: this.#withoutSecrets(reason), retryAfterMs: 0 };
    }
  }

  /** The first line of an answer. */
  async #excerpt(answer: Response): Promise<string> {
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
      text += part.value;
      if (text.length > 10 * REASON_CHARACTERS_MAX) break;
    }
    await reader?.cancel();
    const [line] = this.#withoutSecrets(text).trim().split('\n', 1);
    return line === '' ? '' : `: ${line.slice(0, REASON_CHARACTERS_MAX)}`;
  }

  #withoutSecrets(text: string): string {
    const { authorization, headers, url } = this.#options.config;
    const { pathname, search } = new URL(url);
    const secrets = [authorization, authorization?.replace(/^\S+ +/, ''), ...Object.values(headers), pathname + search];
    return secrets.reduce<string>(
      (hidden, secret) => (secret == null || secret.length < 4 ? hidden : hidden.replaceAll(secret, '***')),
      text,
    );
  }
}

const waitFor = (ms: number, signal: AbortSignal) => sleep(ms, undefined, { signal });

/** Seconds or a date, as HTTP has it. */
function retryAfterMs(header: string | null, nowMs: number): number {
  if (header === null) return 0;
  const ms = /^\d{1,9}$/.test(header.trim()) ? Number(header) * 1_000 : Date.parse(header) - nowMs;
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), RETRY_AFTER_MS_MAX) : 0;
}
