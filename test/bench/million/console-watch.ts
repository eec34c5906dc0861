import { setTimeout as sleep } from 'node:timers/promises';
import { Latencies } from '../../fault/soak/latencies.ts';
import { until } from '../../fixture/until.ts';
import type { Figures } from '../bench.ts';
import { API_KEY, startSidecar } from '../http/sidecar-process.ts';
import { rounded } from '../table.ts';
import { idOf } from './fleet.ts';

const PAUSE_MS = 1_000;
/** What the console asks for, by the figure that it is. */
const ASKED: Readonly<Record<string, (at: number, series: number) => string>> = {
  first_page: () => '/v1/series?sort=grade&limit=24&recent=60',
  search: (at, series) =>
    `/v1/series?limit=50&search=${encodeURIComponent(idOf((at * 7_919) % series).slice(-16, -2))}`,
  worst_50: () => '/v1/series?sort=grade&limit=50',
};

/** `serve` keeps the history of a fleet, and answers what the console asks for once a second. */
export async function startConsoleWatch(series: number, env: Readonly<Record<string, string>>) {
  const sidecar = await startSidecar(env);
  const tookMs = new Map(Object.keys(ASKED).map((name) => [name, new Latencies()]));
  const ending = new AbortController();
  const headers = { authorization: `Bearer ${API_KEY}` };
  await until('the history is open', async () => {
    return (await fetch(new URL(ASKED.worst_50(0, series), sidecar.url), { headers })).ok;
  });
  const ask = async () => {
    for (let at = 0; !ending.signal.aborted; at++) {
      for (const [name, path] of Object.entries(ASKED)) {
        const startedMs = performance.now();
        const answer = await fetch(new URL(path(at, series), sidecar.url), { headers });
        if (!answer.ok) throw new Error(`${path(at, series)}: ${answer.status} ${await answer.text()}`);
        await answer.arrayBuffer();
        tookMs.get(name)!.add(performance.now() - startedMs);
      }
      await sleep(PAUSE_MS);
    }
  };
  const asking = ask();
  return {
    async conclude(): Promise<Figures> {
      ending.abort();
      await asking;
      const rssPeakBytes = await sidecar.rssPeakBytes();
      await sidecar.stop();
      const quantiles = [...tookMs].flatMap(([name, took]) => [
        [`${name}_p50_ms`, rounded(took.quantile(0.5) ?? Number.NaN)],
        [`${name}_p99_ms`, rounded(took.quantile(0.99) ?? Number.NaN)],
      ]);
      return { ...Object.fromEntries(quantiles), serve_rss_peak_mb: rounded(rssPeakBytes / 1e6) };
    },
  };
}
