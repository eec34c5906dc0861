import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '../../ops/service-error.ts';
import { nextPoll, polled, type SourceState, sourceState, tooLarge } from '../../pipelines/poll/poll-plan.ts';
import { prometheusRanges } from '../../pipelines/poll/query-range.ts';
import type { SeriesColumns } from '../../tools/suggest/series-columns.ts';

interface PrometheusOfSuggestion {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly query: string;
  readonly stepMs: number;
  readonly historyMs: number;
}

/** Failures in a row after which it is given up. */
const ATTEMPTS_MAX = 3;
const RETRY_MS = 1_000;

/** Reads the values of a query over weeks, in requests as `poll` makes them. Throws a ServiceError. */
export async function addPrometheus(
  columns: SeriesColumns,
  { url, headers, query, stepMs, historyMs }: PrometheusOfSuggestion,
  { stop, onShare }: { readonly stop: AbortSignal; onShare(share: number): void },
): Promise<void> {
  const ask = prometheusRanges({ url, headers });
  const nowMs = Date.now();
  const source = { name: 'suggest', url, headers: {}, query, stepMs, delayMs: 0, historyMs };
  let state: SourceState = sourceState(source, null, nowMs);
  for (let attempts = 1; ; ) {
    const plan = nextPoll([state], nowMs);
    if (plan.kind === 'wait') return;
    const [{ fromMs, toMs }] = plan.asked;
    const answer = await ask({ name: source.name, query, stepMs, fromMs, toMs }, stop);
    if (answer.kind === 'answered') {
      for (const { id, timestampsMs, values } of answer.points.series) {
        for (let i = 0; i < values.length; i++) {
          if (!columns.add(id, timestampsMs[i], values[i])) throw tooMany(columns);
        }
      }
      state = polled(state, toMs);
      onShare(1 - (nowMs - toMs) / historyMs);
      attempts = 1;
    } else if (answer.kind === 'too-large' && fromMs < toMs) {
      state = tooLarge(state, (toMs - fromMs) / stepMs + 1, { detail: answer.detail, nowMs });
    } else if (answer.kind === 'failed' && attempts++ < ATTEMPTS_MAX)
      await sleep(RETRY_MS, undefined, { signal: stop });
    else throw new ServiceError('configuration', `${url} does not answer the query: ${answer.detail}`);
  }
}

export function tooMany({ observations }: SeriesColumns): ServiceError {
  return new ServiceError('configuration', `At most ${observations} observations are read: give fewer`);
}
