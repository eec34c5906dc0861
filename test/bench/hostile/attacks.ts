/** Hostile uses of the service, each as a function of its address; they return what they were answered with. */
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { globPattern } from '../../../src/series/glob.ts';
import { API_KEY } from '../sidecar-process.ts';

export interface Attack {
  readonly name: string;
  /** Whether its memory counts as that of a bomb. */
  readonly bomb?: boolean;
  /** Makes what is sent, before anything is timed. */
  readonly prepare?: () => Buffer;
  run(url: string, sent: Buffer): Promise<string>;
}

const BOMB_BYTES = 200e6;
const START = '{"series":{"y":[1,2,3,4,5,6,7,8,9,10],"sizes":[10]},"freq":"h","h":2';
const ENCODINGS = { gzip: gzipSync, deflate: deflateSync, zstd: zstdCompressSync } as const;

const filled = (prefix: string, item: string, end: string) =>
  Buffer.from(prefix + item.repeat(Math.floor(BOMB_BYTES / item.length)) + end);

interface Sending {
  readonly path?: string;
  readonly encoding?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function post(url: string, sent: Buffer, { path = '/v2/forecast', encoding, headers }: Sending = {}): Promise<string> {
  const own = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json', ...headers };
  const all = { ...own, ...(encoding !== undefined && { 'content-encoding': encoding }) };
  return new Promise((resolve) => {
    const asked = request(new URL(path, url), { method: 'POST', headers: all, agent: false }, (answer) => {
      answer.resume().on('end', () => resolve(String(answer.statusCode)));
    });
    asked.on('error', ({ message }) => resolve(message)).end(sent);
  });
}

/** How often each answer came: `422 x3, 200`. */
function counted(answers: readonly string[]): string {
  const groups = [...Map.groupBy(answers, (answer) => answer)];
  return groups.map(([answer, { length }]) => (length === 1 ? answer : `${answer} x${length}`)).join(', ');
}

const bombs: readonly Attack[] = Object.entries(ENCODINGS).map(([encoding, compress]) => ({
  name: `bomb, ${encoding}: 200 MB of unknown objects`,
  bomb: true,
  prepare: () => compress(filled(`${START},"z":[`, '{},', '{}]}')),
  run: (url, sent) => post(url, sent, { encoding }),
}));

const bodies: readonly Attack[] = [
  {
    name: 'bomb: 200 MB of objects for values',
    bomb: true,
    prepare: () => gzipSync(filled('{"series":{"y":[', '{},', '1],"sizes":[1]},"freq":"h","h":1}'), { level: 1 }),
    run: (url, sent) => post(url, sent, { encoding: 'gzip' }),
  },
  {
    name: 'depth: 20 million levels',
    prepare: () => gzipSync(`${START},"z":${'['.repeat(2e7)}${']'.repeat(2e7)}}`, { level: 1 }),
    run: (url, sent) => post(url, sent, { encoding: 'gzip' }),
  },
  {
    name: 'width: 900 variables of text',
    prepare: () => {
      const columns = Array.from({ length: 900 }, () => '["a"]').join();
      return Buffer.from(`${START.replace('"series":{', `"series":{"X":[${columns}],`)}}`);
    },
    run: post,
  },
  {
    name: 'n_windows 380,000',
    prepare: () => {
      const y = `${'0,'.repeat(389_999)}0`;
      const rest = '"freq":"h","h":100,"n_windows":380000,"step_size":1}';
      return gzipSync(`{"series":{"y":[${y}],"sizes":[390000]},${rest}`);
    },
    run: (url, sent) => post(url, sent, { path: '/v2/cross_validation', encoding: 'gzip' }),
  },
  {
    name: '40 invalid bodies of 200 KB at once',
    prepare: () => Buffer.from(`{"series":{"y":[${'"x",'.repeat(50_000)}1],"sizes":[1]},"freq":"h","h":1}`),
    run: async (url, sent) => counted(await Promise.all(Array.from({ length: 40 }, () => post(url, sent)))),
  },
  {
    name: 'prototype pollution',
    prepare: () => {
      const named = '"__proto__":{"h":9,"level":[5]},"constructor":{"prototype":{"h":9}}';
      return Buffer.from(`${START.replace('"series":{', `"series":{${named},`)},${named},"job_options":{${named}}}`);
    },
    run: async (url, sent) => {
      const own = ({} as { readonly h?: number }).h;
      const answers = await Promise.all(
        ['/v2/forecast', '/v2/forecast/async'].map((path) => post(url, sent, { path })),
      );
      return counted([...answers, own === undefined ? 'clean' : 'polluted']);
    },
  },
];

/** Opens connections that each write something now and then, for a while. */
async function hold(
  url: string,
  {
    connections,
    ms,
    everyMs = ms,
    first,
    more,
  }: Readonly<Record<'connections' | 'ms', number>> & {
    readonly everyMs?: number;
    readonly first: string;
    readonly more: string;
  },
): Promise<string> {
  const { hostname, port } = new URL(url);
  const answers: string[] = [];
  const sockets = Array.from({ length: connections }, (_, i): Socket => {
    const socket = connect(Number(port), hostname);
    answers[i] = 'open';
    socket
      .on('error', () => {})
      .on('close', () => {
        if (answers[i] === 'open') answers[i] = 'closed';
      });
    socket.on('data', (data) => {
      answers[i] = /^HTTP\/1\.1 (\d+)/.exec(data.toString('latin1'))?.[1] ?? answers[i];
    });
    if (first !== '') socket.write(first);
    return socket;
  });
  for (let waited = 0; waited < ms; waited += everyMs) {
    await wait(everyMs);
    for (const socket of sockets) if (socket.writable && more !== '') socket.write(more);
  }
  for (const socket of sockets) socket.destroy();
  return counted(answers);
}

const AUTHORIZATION = `authorization: Bearer ${API_KEY}\r\ncontent-type: application/json\r\n`;
const POST = `POST /v2/forecast HTTP/1.1\r\nhost: x\r\n${AUTHORIZATION}`;

const connections: readonly Attack[] = [
  {
    name: '60 senders of 200 KB, a byte a second, 22 s',
    run: (url) => {
      const first = `${POST}content-length: 200000\r\n\r\n{"series":`;
      return hold(url, { connections: 60, ms: 22_000, everyMs: 1_000, first, more: ' ' });
    },
  },
  {
    name: '400 connections that say nothing, 5 s',
    run: (url) => hold(url, { connections: 400, ms: 5_000, first: '', more: '' }),
  },
  {
    name: '400 requests that end in the middle of their headers, 22 s',
    run: (url) => hold(url, { connections: 400, ms: 22_000, first: POST, more: '' }),
  },
  {
    name: '500 requests with 60 KB of headers',
    run: async (url) => {
      const headers = { 'x-flood': 'x'.repeat(60_000) };
      const waves = Array.from({ length: 10 }, () =>
        Array.from({ length: 50 }, () => post(url, Buffer.from('{}'), { headers })),
      );
      return counted((await Promise.all(waves.flat())).map((answer) => (/^\d+$/.test(answer) ? answer : 'closed')));
    },
  },
  {
    name: '2,000 guesses of keys',
    run: async (url) => {
      const answers: string[] = [];
      for (let i = 0; i < 40; i++) {
        const wave = Array.from({ length: 50 }, (_, j) => {
          return post(url, Buffer.from('{}'), { headers: { authorization: `Bearer guess-${i}-${j}` } });
        });
        answers.push(...(await Promise.all(wave)));
      }
      return counted(answers);
    },
  },
];

const PATHS = [
  '/v2/finetuned_models/..%2f..%2fetc%2fpasswd',
  '/v2/finetuned_models/%00',
  '/v2/finetuned_models/__proto__',
  `/v2/finetuned_models/${'a'.repeat(15_000)}`,
  '/v2/forecast/jobs/%2e%2e',
  '/v2/forecast/jobs/constructor',
  '/docs/../../../etc/passwd',
  '/docs/static/..%2f..%2f..%2f..%2fetc%2fpasswd',
  '/%c0%ae%c0%ae/',
  "/v2/async/jobs?page_token=' OR 1=1--",
  '/v2/async/jobs?page_size=99999999999999999999',
];

const texts: readonly Attack[] = [
  {
    name: 'tricks with paths and ids',
    run: async (url) => {
      const { hostname, port } = new URL(url);
      const answers = PATHS.map((path) => {
        const { promise, resolve } = Promise.withResolvers<string>();
        const socket = connect(Number(port), hostname);
        socket.write(
          `GET ${path.replaceAll(' ', '%20')} HTTP/1.1\r\nhost: x\r\n${AUTHORIZATION}connection: close\r\n\r\n`,
        );
        let text = '';
        socket.on('data', (data) => (text += data.toString('latin1'))).on('error', () => resolve('closed'));
        socket.on('close', () => resolve(/root:/.test(text) ? 'leaked' : text.slice(9, 12) || 'closed'));
        return promise;
      });
      return counted(await Promise.all(answers));
    },
  },
  {
    name: 'a glob of 60 stars over 512 letters',
    run: async () => String(globPattern([`${'*a'.repeat(60)}*b`]).test('a'.repeat(512))),
  },
];

export const ATTACKS: readonly Attack[] = [...bombs, ...bodies, ...connections, ...texts];
