import { setTimeout as sleep } from 'node:timers/promises';

const TICK_MS = 100;
/** Metrics of one host, which fail together. */
const METRICS = 10;
/** One host fails at a time, for so many steps. */
const FAULT_STEPS = 40;
const RETRY_MS = 200;

export interface PointFeed {
  readonly url: string;
  readonly key: string;
  readonly series: number;
  readonly perSecond: number;
  /** When the first of them is fed. */
  readonly startMs: number;
}

export interface PointFeeder {
  /** Observations that were accepted. */
  readonly fed: number;
  /** Bodies that were sent again. */
  readonly repeated: number;
  stop(): Promise<void>;
}

/** Posts the points of series to `receive` as they are due, one after the other, whatever becomes of the workers. */
export function startPointFeeder(feed: PointFeed): PointFeeder {
  let [fed, repeated, stopped] = [0, 0, false];
  const post = async (count: number) => {
    const body = Array.from({ length: count }, (_, i) => lineAt(fed + i, feed)).join('\n');
    for (;;) {
      const headers = { authorization: `Bearer ${feed.key}`, 'content-type': 'application/x-ndjson' };
      const answer = await fetch(`${feed.url}/v1/observations`, { method: 'POST', headers, body }).catch(() => null);
      const text = await answer?.text();
      if (answer?.ok) return assertAccepted(String(text), count);
      if (answer !== null && answer.status !== 429 && answer.status !== 503)
        throw new Error(`${answer.status} ${text}`);
      repeated++;
      await sleep(RETRY_MS);
    }
  };
  const run = async () => {
    while (!stopped) {
      const due = Math.floor(((Date.now() - feed.startMs) / 1_000) * feed.perSecond);
      // After a pause it catches up in bodies of a second.
      const count = Math.min(due - fed, feed.perSecond);
      if (count > 0) {
        await post(count);
        fed += count;
      }
      await sleep(count < feed.perSecond ? TICK_MS : 0);
    }
  };
  const running = run();
  return {
    get fed() {
      return fed;
    },
    get repeated() {
      return repeated;
    },
    async stop() {
      stopped = true;
      await running;
    },
  };
}

function assertAccepted(answer: string, count: number): void {
  const { accepted } = JSON.parse(answer) as { readonly accepted: number };
  if (accepted !== count) throw new Error(`${accepted} of ${count} points were accepted: ${answer.slice(0, 500)}`);
}

/** Its time is when it is due. */
function lineAt(at: number, { series, perSecond, startMs }: PointFeed): string {
  const which = at % series;
  const step = Math.floor(at / series);
  const host = Math.floor(which / METRICS);
  const failing = (Math.floor(step / FAULT_STEPS) * 7_919) % Math.ceil(series / METRICS);
  const noise = ((step * 7_919 + which * 104_729) % 101) / 25;
  const value = 100 + Math.sin(step / (3 + (which % 17))) * 10 + noise + (host === failing ? 60 : 0);
  const timestamp = startMs + Math.floor((at * 1_000) / perSecond);
  return JSON.stringify({ series: `host-${host}/metric-${which % METRICS}`, timestamp, value });
}
