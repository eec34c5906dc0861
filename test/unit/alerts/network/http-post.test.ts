/** Receivers that mean harm, and receivers that are broken. */
import assert from 'node:assert/strict';
import type { LookupAddress } from 'node:dns';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { test } from 'node:test';
import type { AddressGuard } from '../../../../src/alerts/network/guarded-lookup.ts';
import { HttpPoster } from '../../../../src/alerts/network/http-post.ts';
import { type AnswerPost, startHttpReceiver } from '../../../fixture/alerts/http-receiver.ts';
import { certificateOf, noOpenssl } from '../../../fixture/certificate.ts';
import { freshFolder } from '../../../fixture/fresh-folder.ts';
import { listening } from '../../../fixture/http/listening.ts';

const LOCAL = new Set(['127.0.0.1']);

async function postTo(url: string, guard: AddressGuard = { allowPrivate: LOCAL }, timeoutMs = 60_000) {
  const poster = new HttpPoster(guard);
  const signal = new AbortController().signal;
  const answer = await poster.post({ url, headers: {}, body: '{}', timeoutMs, signal });
  poster.close();
  return answer;
}

async function answerOf(answer: AnswerPost, timeoutMs?: number) {
  const { url } = await startHttpReceiver(answer);
  return postTo(url, undefined, timeoutMs);
}

/** A guard whose names lead to these addresses, one list after the other. */
function resolving(...answers: readonly (readonly string[])[]) {
  const left = [...answers];
  const asked: string[] = [];
  const guard: AddressGuard = {
    allowPrivate: new Set(['allowed.example']),
    resolve: (host, callback) => {
      asked.push(host);
      const addresses = left.length > 1 ? left.shift() : left[0];
      callback(
        null,
        addresses!.map((address): LookupAddress => ({ address, family: address.includes(':') ? 6 : 4 })),
      );
    },
  };
  return { guard, asked };
}

test('an answer of any status is an answer; of a long one only the beginning is kept, in whole words', async () => {
  const answer = await answerOf((response) =>
    response
      .writeHead(503, { 'retry-after': '7' })
      .end(`${'x '.repeat(1_020)}beginning-of-a-secret ${'x'.repeat(10_000_000)}`),
  );
  assert.equal(answer.kind, 'answer');
  if (answer.kind !== 'answer') return;
  assert.deepEqual([answer.status, answer.retryAfterMs, answer.excerpt.length], [503, 7_000, 2_040]);
});

test('an endless answer ends at its beginning', async () => {
  const answer = await answerOf((response) => {
    response.writeHead(500);
    const timer = setInterval(() => response.write('x'.repeat(1_000)), 1);
    response.on('close', () => clearInterval(timer));
  });
  assert.equal(answer.kind, 'answer');
});

test('a redirect is an answer and is not followed', async () => {
  const inner = await startHttpReceiver();
  const answer = await answerOf((response) =>
    response.writeHead(307, { location: `${inner.url}/latest/meta-data` }).end(),
  );
  assert.equal(answer.kind === 'answer' && answer.status, 307);
  assert.equal(inner.posts.length, 0);
});

test('whoever does not answer, or answers one byte at a time, is left at the time-out', async () => {
  const silent = await answerOf(() => {}, 200);
  assert.deepEqual(silent, { kind: 'unreachable', detail: 'no answer within 200 ms' });
  const slow = await answerOf((response) => {
    response.writeHead(500);
    const timer = setInterval(() => response.write('.'), 20);
    response.on('close', () => clearInterval(timer));
  }, 200);
  assert.deepEqual(slow, { kind: 'unreachable', detail: 'no answer within 200 ms' });
});

test('an acceptance counts from its status, however long its answer takes', async () => {
  const answer = await answerOf((response) => {
    response.writeHead(202);
    response.write('x'.repeat(100_000));
  }, 2_000);
  assert.equal(answer.kind === 'answer' && answer.status, 202);
});

test('a receiver that hangs up is unreachable', async () => {
  const answer = await answerOf((response) => response.socket?.destroy());
  assert.equal(answer.kind, 'unreachable');
});

test('a receiver whose certificate nobody vouches for gets nothing', { skip: noOpenssl }, async () => {
  const { keyPath, certPath } = certificateOf(freshFolder(), 'it');
  let requests = 0;
  const server = createServer({ key: readFileSync(keyPath), cert: readFileSync(certPath) }, (_, response) => {
    requests++;
    response.end();
  });
  const answer = await postTo(`https://127.0.0.1:${await listening(server)}/`);
  assert.match(answer.kind === 'unreachable' ? answer.detail : '', /self-signed certificate/);
  assert.equal(requests, 0);
});

test('private addresses are refused in every spelling, and nothing is sent', async () => {
  const { port, posts } = await startHttpReceiver();
  const nobody = { allowPrivate: new Set<string>() };
  for (const host of [
    '127.0.0.1',
    '127.1',
    '0x7f000001',
    '2130706433',
    'localhost',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '0.0.0.0',
  ]) {
    const answer = await postTo(`http://${host}:${port}/`, nobody);
    assert.equal(answer.kind, 'address-refused', host);
  }
  assert.equal(posts.length, 0);
});

test('a name that leads to a private address is refused, also where it has public ones', async () => {
  const { port, posts } = await startHttpReceiver();
  for (const addresses of [['127.0.0.1'], ['93.184.216.34', '127.0.0.1'], ['::ffff:127.0.0.1'], ['169.254.169.254']]) {
    const answer = await postTo(`http://evil.example:${port}/`, resolving(addresses).guard);
    assert.equal(answer.kind, 'address-refused', addresses.join());
    assert.match(answer.kind === 'address-refused' ? answer.detail : '', /allow_private/);
  }
  assert.equal(posts.length, 0);
});

test('a name that leads elsewhere each time is checked at each connection, by its only lookup', async () => {
  const { port, posts } = await startHttpReceiver();
  const rebinding = resolving(['192.0.2.1'], ['127.0.0.1']);
  const first = await postTo(`http://rebind.example:${port}/`, rebinding.guard);
  assert.equal(first.kind, 'address-refused');
  assert.deepEqual(rebinding.asked, ['rebind.example']);
  const second = await postTo(`http://rebind.example:${port}/`, rebinding.guard);
  assert.equal(second.kind, 'address-refused');
  assert.equal(posts.length, 0);
});

test('a name that is allowed may lead to a private address', async () => {
  const { port, posts } = await startHttpReceiver();
  const answer = await postTo(`http://allowed.example:${port}/in`, resolving(['127.0.0.1']).guard);
  assert.equal(answer.kind === 'answer' && answer.status, 202);
  const paths = posts.map(({ path }) => path);
  assert.deepEqual(paths, ['/in']);
});

test('a failure names no path, which may be a secret', async () => {
  const { url, close } = await startHttpReceiver();
  await close();
  const answer = await postTo(`${url}/services/T0PSECRET`);
  assert.equal(answer.kind, 'unreachable');
  assert.doesNotMatch(JSON.stringify(answer), /T0PSECRET/);
});
