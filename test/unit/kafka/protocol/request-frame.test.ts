import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import test from 'node:test';
import type { EncodedRequest } from '../../../../src/kafka/protocol/broker-connection.ts';
import { frameRequest } from '../../../../src/kafka/protocol/request-frame.ts';

/** kafkajs's own. */
const frame = createRequire(import.meta.url)('kafkajs/src/protocol/request.js') as (of: {
  readonly correlationId: number;
  readonly clientId: string;
  readonly request: { readonly apiKey: number; readonly apiVersion: number; encode(): Promise<{ buf: Buffer }> };
}) => Promise<{ readonly buffer: Buffer }>;

const HEADER = { apiKey: 0, apiVersion: 7, correlationId: 5, clientId: 'client' };

async function expected(body: Buffer): Promise<Buffer> {
  const { apiKey, apiVersion, correlationId, clientId } = HEADER;
  const encode = async () => ({ buf: body, buffer: body });
  return Buffer.from((await frame({ correlationId, clientId, request: { apiKey, apiVersion, encode } })).buffer);
}

function withHeadroom(body: Buffer, at: number): EncodedRequest {
  const whole = Buffer.concat([Buffer.alloc(at, 0xff), body]);
  return { buffer: body, headroom: { whole, at } };
}

test('a body with headroom is sent as one without, and is not copied', async () => {
  const body = Buffer.from('records '.repeat(1_000));
  const copied = await expected(body);
  assert.deepEqual(frameRequest(HEADER, { buffer: body }), [copied]);
  const inPlace = withHeadroom(body, 64);
  assert.deepEqual(frameRequest(HEADER, inPlace), [copied]);
  // Size, api key, version, correlation id, length and name of the client.
  const header = copied.subarray(0, 4 + 2 + 2 + 4 + 2 + 'client'.length);
  assert.deepEqual(inPlace.headroom?.whole.subarray(64 - header.length, 64), header);
});

test('a body whose headroom is too small for the name of the client is sent nevertheless', async () => {
  const body = Buffer.from('records');
  for (const room of [0, 13, 14, 15, 16, 17, 18, 19, 20]) {
    assert.deepEqual(frameRequest(HEADER, withHeadroom(body, room)), [await expected(body)], String(room));
  }
});

test('a body in parts is sent as one of their bytes together', async () => {
  const [body, rest] = [Buffer.from('records'), [Buffer.alloc(20_000, 'x'), Buffer.alloc(0), Buffer.from('end')]];
  for (const room of [0, 64]) {
    const { buffer, headroom } = withHeadroom(body, room);
    const parts = frameRequest(HEADER, { buffer, ...(headroom && { headroom: { ...headroom, rest } }) });
    assert.deepEqual(Buffer.concat(parts), await expected(Buffer.concat([body, ...rest])));
  }
});
