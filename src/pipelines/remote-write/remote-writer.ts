import { setTimeout as sleep } from 'node:timers/promises';
import { encodeWriteRequest, encodeWriteRequest2, type WrittenSeries } from '../../codecs/write-request.ts';
import type { RemoteWriteConfig } from '../../config/connections.ts';
import { deflateSnappy } from '../../kafka/batch/snappy.ts';
import { halvesOf, newerThan, samplesIn } from './score-series.ts';

const REQUEST_MS_MAX = 30_000;
/** Characters of an answer that are repeated. */
const REASON_CHARACTERS_MAX = 200;
const RETRY_AFTER_MS_MAX = 3_600_000;
/** Statuses of requests with a sample that is refused, now or later. */
const REFUSALS = new Set([400, 409, 413, 422]);
/** Statuses of receivers that do not know the protocol of a request. */
const UNKNOWN_PROTOCOL = new Set([400, 404, 406, 415, 501]);
/** Reasons that concern all that is not newer than the refused sample. One in the future is out of bounds, too. */
const TOO_OLD = /^(?!.*in the future).*(?:out of bounds|too old)/i;
/** A receiver of remote write 2.0 answers how many samples of a request it has written. */
const WRITTEN_HEADER = 'x-prometheus-remote-write-samples-written';
/** Content type and version header of each protocol. */
const PROTOCOLS = {
  v1: { 'content-type': 'application/x-protobuf', 'x-prometheus-remote-write-version': '0.1.0' },
  v2: {
    'content-type': 'application/x-protobuf;proto=io.prometheus.write.v2.Request',
    'x-prometheus-remote-write-version': '2.0.0',
  },
} as const;
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

/** `written` is null if the receiver does not report how many samples it has written. */
type Answer =
  | { readonly kind: 'accepted'; readonly written: number | null }
  | { readonly kind: 'refused'; readonly reason: string; readonly status: number; readonly written: number | null }
  | { readonly kind: 'failed'; readonly reason: string; readonly retryAfterMs: number };

/**
 * Writes samples by remote write 2.0, whose receivers store the good samples of a request and answer how many, or by
 * 1.0 if the receiver does not answer so. What the receiver does not take now is repeated. By 1.0 one bad sample fails
 * its whole request: one that is too old is dropped with all older ones, other bad ones are found by halves.
 */
export class RemoteWriter {
  readonly #options: RemoteWriterOptions;
  readonly #headers: Readonly<Record<string, string>>;
  #protocol: keyof typeof PROTOCOLS = 'v2';

  constructor(options: RemoteWriterOptions) {
    this.#options = options;
    const { authorization, headers } = options.config;
    this.#headers = {
      ...headers,
      ...(authorization !== null && { authorization }),
      'content-encoding': 'snappy',
      'user-agent': 'tidewatch',
    };
  }

  /** Resolves once each sample was accepted or refused. Rejects with the reason of `signal`. */
  async write(series: readonly WrittenSeries[], signal: AbortSignal): Promise<void> {
    if (series.length === 0) return;
    if (this.#protocol === 'v2' && (await this.#writeTogether(series, signal))) return;
    await this.#search(series, signal);
  }

  /** Writes by 2.0. Returns false, and changes to 1.0, if the receiver does not know 2.0. */
  async #writeTogether(series: readonly WrittenSeries[], signal: AbortSignal): Promise<boolean> {
    const { reports } = this.#options;
    const answer = await this.#untilAnswered(series, signal);
    if (answer.written === null && (answer.kind === 'accepted' || UNKNOWN_PROTOCOL.has(answer.status))) {
      this.#protocol = 'v1';
      return false;
    }
    const refused = samplesIn(series) - (answer.written ?? 0);
    if (refused < samplesIn(series)) reports.accepted(samplesIn(series) - refused);
    if (refused > 0) reports.refused(refused, answer.kind === 'refused' ? answer.reason : 'not among those written');
    return true;
  }

  /** Writes by 1.0. */
  async #search(series: readonly WrittenSeries[], signal: AbortSignal): Promise<void> {
    const { reports } = this.#options;
    const waiting = [series];
    let isCut = false;
    for (let searches = 0, batch = waiting.pop(); batch !== undefined; batch = waiting.pop()) {
      const answer = await this.#untilAnswered(batch, signal);
      if (answer.kind === 'accepted') {
        reports.accepted(samplesIn(batch));
        continue;
      }
      if (TOO_OLD.test(answer.reason) && !isCut && samplesIn(batch) > 1) {
        isCut = true;
        const kept = await this.#withoutTooOld(batch, answer.reason, signal);
        if (kept.length > 0) waiting.push(kept);
        continue;
      }
      const halves = searches < SEARCHES_MAX ? halvesOf(batch) : null;
      if (halves === null) reports.refused(samplesIn(batch), answer.reason);
      // The first half is next: samples of a series are accepted in their order only.
      else waiting.push(halves[1], halves[0]);
      searches++;
    }
  }

  /** Drops all samples that are not newer than the newest one of the longest series that is refused for its age. */
  async #withoutTooOld(batch: readonly WrittenSeries[], reason: string, signal: AbortSignal): Promise<WrittenSeries[]> {
    const { reports } = this.#options;
    const probed = batch.reduce((one, other) => (other.samples.length > one.samples.length ? other : one));
    const { labels, samples } = probed;
    let [tooOld, inBounds] = [-1, samples.length];
    let writtenMs = Number.NEGATIVE_INFINITY;
    while (inBounds - tooOld > 1) {
      const middle = (tooOld + inBounds) >>> 1;
      const answer = await this.#untilAnswered([{ labels, samples: [samples[middle]] }], signal);
      if (answer.kind === 'refused' && TOO_OLD.test(answer.reason)) tooOld = middle;
      else inBounds = middle;
      if (answer.kind !== 'accepted') continue;
      reports.accepted(1);
      writtenMs = Math.max(writtenMs, samples[middle][0]);
    }
    const oldestMs = tooOld < 0 ? Number.NEGATIVE_INFINITY : samples[tooOld][0];
    // A receiver that accepted a probe refuses what is older in the same series.
    const kept = batch.flatMap((each) => newerThan(each, each === probed ? Math.max(oldestMs, writtenMs) : oldestMs));
    const probes = Number.isFinite(writtenMs) ? 1 : 0;
    const refused = samplesIn(batch) - samplesIn(kept) - probes;
    if (refused > 0) reports.refused(refused, reason);
    return kept;
  }

  async #untilAnswered(
    series: readonly WrittenSeries[],
    signal: AbortSignal,
  ): Promise<Exclude<Answer, { kind: 'failed' }>> {
    const { reports, random, wait = waitFor } = this.#options;
    const body = deflateSnappy(this.#protocol === 'v2' ? encodeWriteRequest2(series) : encodeWriteRequest(series));
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
        headers: { ...this.#headers, ...PROTOCOLS[this.#protocol] },
        body,
        redirect: 'manual',
        signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_MS_MAX)]),
      });
      const header = answer.headers.get(WRITTEN_HEADER) ?? '';
      const written = /^\d{1,15}$/.test(header) ? Number(header) : null;
      if (answer.ok) {
        await answer.body?.cancel();
        return { kind: 'accepted', written };
      }
      const reason = `status ${answer.status}${await this.#excerpt(answer)}`;
      const isUnknown = this.#protocol === 'v2' && UNKNOWN_PROTOCOL.has(answer.status);
      if (isUnknown || REFUSALS.has(answer.status)) return { kind: 'refused', reason, status: answer.status, written };
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
