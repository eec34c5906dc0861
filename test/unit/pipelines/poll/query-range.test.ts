import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { test } from 'node:test';
import { ANSWER_BYTES_MAX, prometheusRanges } from '../../../../src/pipelines/poll/query-range.ts';
import { listening } from '../../../fixture/http/listening.ts';

const REQUEST = { query: 'sum(rate(a[5m]))', fromMs: 60_000, toMs: 120_000, stepMs: 500, name: 'a' };
const NEVER = new AbortController().signal;

async function served(answer: (request: IncomingMessage, response: ServerResponse) => unknown): Promise<string> {
  return `http://127.0.0.1:${await listening(createServer((request, response) => void answer(request, response)))}`;
}

test('a range is asked for below the path of the URL, as a form, with the header', async () => {
  let seen = '';
  const url = await served(async (request, response) => {
    const { method, url, headers } = request;
    seen = `${method} ${url} ${headers.authorization} ${headers['x-scope-orgid']} ${Buffer.concat(await request.toArray())}`;
    response.end('{"status":"success","data":{"resultType":"matrix","result":[]}}');
  });
  const ask = prometheusRanges({
    url: `${url}/select/0/prometheus`,
    headers: { authorization: 'Bearer abc', 'x-scope-orgid': 'a' },
  });
  assert.equal((await ask(REQUEST, NEVER)).kind, 'answered');
  const form = 'query=sum%28rate%28a%5B5m%5D%29%29&start=60&end=120&step=0.5&timeout=30s';
  assert.equal(seen, `POST /select/0/prometheus/api/v1/query_range Bearer abc a ${form}`);
});

test('a redirect is not followed, so that the header stays', async () => {
  let asked = 0;
  const other = await served((_, response) => {
    asked++;
    response.end();
  });
  const url = await served((_, response) => response.writeHead(307, { location: other }).end());
  const answer = await prometheusRanges({ url, headers: { authorization: 'Bearer abc' } })(REQUEST, NEVER);
  assert.ok(answer.kind === 'failed');
  assert.match(answer.detail, /307, a redirect/);
  assert.equal(asked, 0);
});

test('an answer that is too long is not read to its end', async () => {
  const piece = Buffer.alloc(1024 * 1024, 0x20);
  let written = 0;
  const url = await served(async (_, response) => {
    response.on('error', () => {});
    while (!response.destroyed && written < 8 * ANSWER_BYTES_MAX) {
      written += piece.length;
      await new Promise((resolve) => response.write(piece, resolve));
    }
  });
  const answer = await prometheusRanges({ url, headers: {} })(REQUEST, NEVER);
  assert.equal(answer.kind, 'too-large');
  assert.ok(written < 8 * ANSWER_BYTES_MAX);
});

test('what cannot be reached is reported without the header, and stopping rejects', async () => {
  const gone = await prometheusRanges({ url: 'http://127.0.0.1:1', headers: { authorization: 'Bearer abc' } })(
    REQUEST,
    NEVER,
  );
  assert.ok(gone.kind === 'failed');
  assert.match(gone.detail, /it cannot be reached/);
  assert.doesNotMatch(gone.detail, /abc/);
  const stop = new AbortController();
  const url = await served(() => stop.abort(new Error('stopped')));
  await assert.rejects(prometheusRanges({ url, headers: {} })(REQUEST, stop.signal), /stopped/);
});
