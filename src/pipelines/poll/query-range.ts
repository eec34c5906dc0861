import { type RangeAnswer, type RangeRequest, readRangeAnswer } from './range-answer.ts';

/** Bytes of an answer, uncompressed; a longer one is requested in parts. */
export const ANSWER_BYTES_MAX = 16 * 1024 * 1024;
/** The longest wait for an answer. */
const ANSWER_MS_MAX = 30_000;

interface PrometheusPlace {
  readonly url: string;
  /** Further headers, such as a login or a tenant. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Asks for the values of a query at some steps. Rejects only when `signal` aborts, with its reason. */
export type QueryRange = (request: RangeRequest, signal: AbortSignal) => Promise<RangeAnswer>;

/** The HTTP API of Prometheus. Redirects are not followed: they could carry the login elsewhere. */
export function prometheusRanges({ url, headers: given }: PrometheusPlace): QueryRange {
  const endpoint = new URL('api/v1/query_range', url.endsWith('/') ? url : `${url}/`);
  const headers = { ...given, accept: 'application/json' };
  return async (request, signal) => {
    const { query, fromMs, toMs, stepMs } = request;
    const body = new URLSearchParams({
      query,
      start: String(fromMs / 1_000),
      end: String(toMs / 1_000),
      step: String(stepMs / 1_000),
      timeout: `${ANSWER_MS_MAX / 1_000}s`,
    });
    const until = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS_MAX)]);
    try {
      const response = await fetch(endpoint, { method: 'POST', headers, body, redirect: 'manual', signal: until });
      if (response.status >= 300 && response.status < 400) {
        await response.body?.cancel();
        return {
          kind: 'failed',
          detail: `it answers ${response.status}, a redirect: name the address that it leads to`,
        };
      }
      const text = await boundedText(response);
      if (text === null) return { kind: 'too-large', detail: `its answer has more than ${ANSWER_BYTES_MAX} bytes` };
      return readRangeAnswer(response.status, text, request);
    } catch (error) {
      signal.throwIfAborted();
      if (until.aborted) return { kind: 'too-large', detail: `it did not answer within ${ANSWER_MS_MAX / 1_000} s` };
      return { kind: 'failed', detail: `it cannot be reached: ${reasonOf(error)}` };
    }
  };
}

/** null if it is longer than it may be. */
async function boundedText({ body }: Response): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    // Leaving the loop cancels the rest.
    if (bytes > ANSWER_BYTES_MAX) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** The cause of `fetch failed` has the reason. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? cause.message || String((cause as NodeJS.ErrnoException).code) : message;
}
