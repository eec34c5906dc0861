import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import test from 'node:test';
import '../../../../src/kafka/cluster/kafkajs-mends.ts';
import type { EncodedRequest } from '../../../../src/kafka/cluster/kafkajs-connections.ts';

const frame = createRequire(import.meta.url)('kafkajs/src/protocol/request.js') as (of: {
  readonly correlationId: number;
  readonly clientId: string;
  readonly request: { readonly apiKey: number; readonly apiVersion: number; encode(): Promise<EncodedRequest> };
}) => Promise<{ readonly buffer: Buffer }>;

async function framed(encoded: EncodedRequest, clientId = 'client'): Promise<Buffer> {
  const request = { apiKey: 0, apiVersion: 7, encode: async () => encoded };
  return Buffer.from((await frame({ correlationId: 5, clientId, request })).buffer);
}

function withHeadroom(body: Buffer, at: number): EncodedRequest {
  const whole = Buffer.concat([Buffer.alloc(at, 0xff), body]);
  return { buf: body, buffer: body, headroom: { whole, at } };
}

test('a body with headroom is sent as one without, and is not copied', async () => {
  const body = Buffer.from('records '.repeat(1_000));
  const copied = await framed({ buf: body, buffer: body });
  const inPlace = withHeadroom(body, 64);
  assert.deepEqual(await framed(inPlace), copied);
  // Size, api key, version, correlation id, length and name of the client.
  const header = copied.subarray(0, 4 + 2 + 2 + 4 + 2 + 'client'.length);
  assert.deepEqual(inPlace.headroom?.whole.subarray(64 - header.length, 64), header);
});

test('a body whose headroom is too small for the name of the client is sent nevertheless', async () => {
  const body = Buffer.from('records');
  for (const room of [0, 13, 14, 15, 16, 17, 18, 19, 20]) {
    assert.deepEqual(await framed(withHeadroom(body, room)), await framed({ buf: body, buffer: body }), String(room));
  }
});
