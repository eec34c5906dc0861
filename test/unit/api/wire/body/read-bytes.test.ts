import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import test from 'node:test';
import { deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { BodyBudget } from '../../../../../src/api/wire/body/body-budget.ts';
import {
  BODIES_BYTES_MAX,
  BODY_BYTES_MAX as bytesMax,
  readBytes,
} from '../../../../../src/api/wire/body/read-bytes.ts';
import { HttpProblem } from '../../../../../src/api/wire/problem.ts';

const text = Buffer.from(JSON.stringify({ y: Array.from({ length: 5_000 }, (_, i) => i) }));
const streamOf = (bytes: Buffer) => Readable.from([bytes.subarray(0, 100), bytes.subarray(100)]);
const status = (expected: number) => (error: unknown) => error instanceof HttpProblem && error.status === expected;

test('every content encoding decodes to the same body', async () => {
  const budget = new BodyBudget(BODIES_BYTES_MAX);
  for (const [encoding, bytes] of [
    [undefined, text],
    ['gzip', gzipSync(text)],
    ['deflate', deflateSync(text)],
    ['zstd', zstdCompressSync(text)],
  ] as const) {
    assert.deepEqual(await readBytes(streamOf(bytes), { encoding, budget, keyId: 'k', bytesMax }), text, encoding);
  }
  assert.equal(budget.held, 4 * text.length);
});

test('a large body of declared length lies in memory of that length, and has every byte', async () => {
  const large = Buffer.from(Uint8Array.from({ length: 9_000_001 }, (_, i) => i * 7));
  const sizes = [1, 65_536, 4_194_304, 3, 700_000];
  const chunks: Buffer[] = [];
  for (let at = 0; at < large.length; ) {
    const size = sizes[chunks.length % sizes.length];
    chunks.push(large.subarray(at, at + size));
    at += size;
  }
  for (const length of [large.length, undefined]) {
    const budget = new BodyBudget(BODIES_BYTES_MAX);
    const options = { encoding: undefined, budget, keyId: 'k', bytesMax, length };
    const read = await readBytes(Readable.from(chunks), options);
    assert.ok(read.equals(large));
    assert.equal(read.buffer.byteLength, large.length);
    assert.equal(budget.held, large.length);
  }
});

test('a body that is shorter than declared has the bytes that were sent, and no others', async () => {
  const sent = Buffer.alloc(9_000_000, 7);
  const budget = new BodyBudget(BODIES_BYTES_MAX);
  const options = { encoding: undefined, budget, keyId: 'k', bytesMax, length: 2 * sent.length };
  const chunks = [sent.subarray(0, 5_000_000), sent.subarray(5_000_000)];
  assert.ok((await readBytes(Readable.from(chunks), options)).equals(sent));
});

test('a body beyond the limit while decompressing gets 413 and releases its budget', async () => {
  const bomb = Buffer.alloc(50_000_000, 32);
  for (const [encoding, bytes] of [
    ['gzip', gzipSync(bomb)],
    ['zstd', zstdCompressSync(bomb)],
  ] as const) {
    const budget = new BodyBudget(BODIES_BYTES_MAX);
    await assert.rejects(
      readBytes(streamOf(bytes), { encoding, budget, keyId: 'k', bytesMax: 1_000_000 }),
      status(413),
    );
    assert.equal(budget.held, 0);
  }
});

test('a body without budget gets 503', async () => {
  const budget = new BodyBudget(2 * text.length);
  await readBytes(streamOf(text), { encoding: undefined, budget, keyId: 'k', bytesMax });
  await assert.rejects(readBytes(streamOf(text), { encoding: undefined, budget, keyId: 'k', bytesMax }), status(503));
  budget.release('k', text.length);
  assert.deepEqual(await readBytes(streamOf(text), { encoding: undefined, budget, keyId: 'k', bytesMax }), text);
});

test('an unknown encoding gets 415, a damaged body 400', async () => {
  await assert.rejects(
    readBytes(streamOf(text), { encoding: 'br', budget: new BodyBudget(BODIES_BYTES_MAX), keyId: 'k', bytesMax }),
    status(415),
  );
  await assert.rejects(
    readBytes(streamOf(text), { encoding: 'zstd', budget: new BodyBudget(BODIES_BYTES_MAX), keyId: 'k', bytesMax }),
    status(400),
  );
  await assert.rejects(
    readBytes(streamOf(gzipSync(text).subarray(0, 200)), {
      encoding: 'gzip',
      budget: new BodyBudget(BODIES_BYTES_MAX),
      keyId: 'k',
      bytesMax,
    }),
    status(400),
  );
});
