import { Agent, request } from 'node:http';
import { API_KEY } from './sidecar-process.ts';

export interface Question {
  readonly path: string;
  /** Bytes, made once: the client shares the machine with what it measures. */
  readonly body: Buffer;
}

export interface Latencies {
  readonly answers: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/**
 * Sends one request and drops the answer. Resolves to the milliseconds until its last byte. Rejects when the status is
 * not 200.
 */
export function ask(url: string, { path, body }: Question, agent: Agent, signal?: AbortSignal): Promise<number> {
  const headers = {
    authorization: `Bearer ${API_KEY}`,
    'content-type': 'application/json',
    'content-length': body.length,
  };
  const begun = performance.now();
  return new Promise((resolve, reject) => {
    const asked = request(new URL(path, url), { method: 'POST', headers, agent, signal }, (answer) => {
      let problem = '';
      answer.on('data', (bytes: Buffer) => {
        if (answer.statusCode !== 200) problem += bytes;
      });
      answer.on('error', reject);
      answer.on('end', () => {
        if (answer.statusCode === 200) resolve(performance.now() - begun);
        else reject(new Error(`${answer.statusCode} ${problem.slice(0, 500)}`));
      });
    });
    asked.on('error', reject);
    asked.end(body);
  });
}

/**
 * Asks again and again for `ms`, over as many connections, kept alive, as said; each asks again as soon as it is
 * answered. What the plain loop does is all that is needed of a load generator here: no pipelining, no rate.
 */
export async function askAgain(url: string, question: Question, connections: number, ms: number): Promise<Latencies> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const times: number[] = [];
  const begun = performance.now();
  const connection = async () => {
    while (performance.now() - begun < ms) times.push(await ask(url, question, agent));
  };
  await Promise.all(Array.from({ length: connections }, connection));
  const took = performance.now() - begun;
  agent.destroy();
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(share * times.length))];
  return { answers: times.length, perSecond: (times.length / took) * 1_000, p50Ms: at(0.5), p99Ms: at(0.99) };
}
