import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import test from 'node:test';
import { refuseBadConnections } from '../../../../../src/api/http/exchange/failures.ts';
import { listening } from '../../../../fixture/http/listening.ts';

test('an incomplete request gets 408 in JSON', async () => {
  const server = createServer({ requestTimeout: 50, headersTimeout: 50, connectionsCheckingInterval: 10 });
  server.on('clientError', refuseBadConnections);
  const socket = connect(await listening(server), '127.0.0.1').setEncoding('utf8');
  socket.write('POST /v2/forecast HTTP/1.1\r\nhost: here\r\ncontent-length: 5\r\n');
  let answer = '';
  for await (const piece of socket) answer += piece;
  const [head, body] = answer.split('\r\n\r\n');
  assert.match(head!, /^HTTP\/1.1 408 Request Timeout\r\ncontent-type: application\/json/);
  assert.deepEqual(JSON.parse(body!), { detail: 'Request Timeout' });
});
