/** Requests that no client of good will sends, byte by byte. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, test } from 'node:test';
import { CONNECTION_LIMITS } from '../../../src/api/http/connection-limits.ts';
import { ROUTE_TABLE } from '../../../src/api/http/route-table.ts';
import { consoleFiles } from '../../../src/console/page-files.ts';
import { fakeOperations } from '../../fixture/history/fake-operations.ts';
import { AUTHORIZED, startApp } from '../../fixture/http/http-service.ts';

const app = await startApp(undefined, { consolePage: consoleFiles(), key: { role: 'admin' } });
const port = Number(new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port);
after(() => app.close());

const KEY_LINES = `authorization: ${AUTHORIZED.authorization}\r\ncontent-type: application/json\r\n`;
const CHUNKS = 'c\r\n{"freq":"D"}\r\n0\r\n\r\n';

/** Sends the bytes and resolves with all that comes back until the service closes the connection. */
async function sent(bytes: string | Buffer): Promise<string> {
  const socket = connect(port, '127.0.0.1').setEncoding('latin1');
  let answer = '';
  socket.on('data', (text: string) => (answer += text)).on('error', () => undefined);
  socket.write(bytes);
  await once(socket, 'close');
  return answer;
}

/** A request for the parameters of a model, with these header lines. */
const posted = (lines: string, body = CHUNKS, version = '1.1') =>
  `POST /model_params HTTP/${version}\r\nhost: here\r\n${KEY_LINES}${lines}\r\n${body}`;

const AMBIGUOUS: Readonly<Record<string, string>> = {
  'two Host headers': 'GET /health HTTP/1.1\r\nhost: one\r\nHost: other\r\n\r\n',
  'no Host header': 'GET /health HTTP/1.1\r\n\r\n',
  'a Host that is none': 'GET /health HTTP/1.1\r\nhost: one/two\r\n\r\n',
  'Transfer-Encoding: identity, chunked': posted('transfer-encoding: identity, chunked\r\n'),
  'Transfer-Encoding: gzip, chunked': posted('transfer-encoding: gzip, chunked\r\n'),
  'two Transfer-Encodings': posted('transfer-encoding: identity\r\ntransfer-encoding: chunked\r\n'),
  'Transfer-Encoding: identity': posted('transfer-encoding: identity\r\n'),
  'Transfer-Encoding in HTTP/1.0': posted('transfer-encoding: chunked\r\n', CHUNKS, '1.0'),
  'Transfer-Encoding beside Content-Length': posted('transfer-encoding: chunked\r\ncontent-length: 12\r\n'),
  'two Content-Lengths': posted('content-length: 12\r\ncontent-length: 12\r\n'),
  'a folded header': 'GET /health HTTP/1.1\r\nhost: here\r\nx: a\r\n b\r\n\r\n',
  'lines without carriage returns': 'GET /health HTTP/1.1\nhost: here\n\n',
  'a zero byte in a header': 'GET /health HTTP/1.1\r\nhost: here\r\nx: a\0b\r\n\r\n',
};

for (const [name, bytes] of Object.entries(AMBIGUOUS)) {
  test(`${name}: 400, and the connection is closed`, async () => {
    const answer = await sent(`${bytes}GET /health HTTP/1.1\r\nhost: here\r\n\r\n`);
    assert.match(answer, /^HTTP\/1\.1 400 .*connection: close.*\{"detail":".+"\}$/is);
    for (const header of [/x-content-type-options: nosniff/i, /cache-control: no-store/i]) assert.match(answer, header);
    assert.equal(answer.match(/HTTP\/1\.1/g)?.length, 1, 'what follows is not read as a request');
  });
}

test('chunked in any case is accepted, and HTTP/1.0 needs no Host', async () => {
  assert.match(await sent(posted('Transfer-Encoding: Chunked\r\nconnection: close\r\n')), /^HTTP\/1\.1 200 /);
  assert.match(await sent('GET /health HTTP/1.0\r\n\r\n'), /^HTTP\/1\.1 200 /);
});

test('invalid UTF-8 in a body is refused, not replaced, on the main thread and on the parser thread', async () => {
  for (const padding of ['', ' '.repeat(200_000)]) {
    for (const bytes of [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xc0, 0xaf], [0xf5, 0x80, 0x80, 0x80]]) {
      const text = Buffer.from(`{"series":{"y":[1,2,3],"sizes":[3]},"freq":"D","h":1,"other":"${padding}`);
      const body = Buffer.concat([text, Buffer.from(bytes), Buffer.from('"}')]);
      const head = `POST /v2/forecast HTTP/1.1\r\nhost: here\r\nconnection: close\r\n${KEY_LINES}`;
      const answer = await sent(Buffer.concat([Buffer.from(`${head}content-length: ${body.length}\r\n\r\n`), body]));
      assert.match(answer, /^HTTP\/1\.1 400 .*The body is no JSON: it is not UTF-8/s, String(bytes));
    }
  }
});

test('headers of any number or length are refused at 16 KiB', async () => {
  const many = Array.from({ length: 5_000 }, (_, i) => `x${i}: 1\r\n`).join('');
  for (const lines of [many, `x: ${'a'.repeat(100_000)}\r\n`, `cookie: ${'a=b; '.repeat(20_000)}\r\n`]) {
    assert.match(await sent(`GET /health HTTP/1.1\r\nhost: here\r\n${lines}\r\n`), /^HTTP\/1\.1 431 /);
  }
});

test('requests in one piece are answered in their order', async () => {
  const one = (path: string, last = '') => `GET ${path} HTTP/1.1\r\nhost: here\r\n${last}\r\n`;
  const answers = await sent(`${one('/health').repeat(2)}${one('/nothing')}${one('/health', 'connection: close\r\n')}`);
  const statuses = [...answers.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
  assert.deepEqual([statuses.length, statuses.indexOf('404'), statuses.at(-1)], [4, 2, '200']);
});

test('a connection that sends requests faster than they are answered is closed, and others are answered', async () => {
  const flood = 'GET /openapi.json HTTP/1.1\r\nhost: here\r\n\r\n'.repeat(1_000);
  const answers = await Promise.all(Array.from({ length: 20 }, () => sent(flood)));
  const answered = answers.map((text) => text.match(/HTTP\/1\.1 200/g)?.length ?? 0);
  assert.ok(Math.max(...answered) <= CONNECTION_LIMITS.waitingMax, String(answered));
  assert.equal((await app.inject({ url: '/health' })).statusCode, 200);
});

test('HEAD is answered as GET is, without the body', async () => {
  const operations = await fakeOperations();
  const whole = await startApp(undefined, { consolePage: consoleFiles(), operations, key: { role: 'admin' } });
  after(() => whole.close());
  const gets = Object.keys(ROUTE_TABLE).filter((row) => /^GET [^*]*$/.test(row));
  for (const row of gets) {
    const url = row.slice('GET '.length).replace(':id', 'x');
    const head = await whole.inject({ method: 'HEAD', url, headers: AUTHORIZED });
    if (row === 'GET /v1/live') {
      // GET does not end.
      assert.deepEqual([head.statusCode, head.headers['content-type']], [200, 'text/event-stream; charset=utf-8']);
      continue;
    }
    const get = await whole.inject({ url, headers: AUTHORIZED });
    assert.deepEqual([head.statusCode, head.body], [get.statusCode, ''], row);
    assert.equal(head.headers['content-type'], get.headers['content-type'], row);
  }
});
