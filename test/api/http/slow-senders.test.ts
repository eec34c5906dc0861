/** Senders that are slow, stall or open connections cost themselves, not the other clients. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { BodyBudget } from '../../../src/api/wire/body/body-budget.ts';
import type { QuantileForecaster } from '../../../src/forecasting/forecaster.ts';
import { createLogger } from '../../../src/ops/logger.ts';
import { createApiKey } from '../../../src/store/keys/api-keys.ts';
import { AUTHORIZED, quantileForecaster, startApp } from '../../fixture/http/http-service.ts';
import { openMemoryStore } from '../../fixture/store/memory-store.ts';
import { newKey } from '../../fixture/store/new-key.ts';
import { until } from '../../fixture/until.ts';

const TEXT = JSON.stringify({
  series: { y: Array.from({ length: 40 }, (_, i) => i % 7), sizes: [40] },
  freq: 'D',
  h: 2,
});
const OTHER = { authorization: 'Bearer the-key-of-somebody-else' };
const open: Socket[] = [];

type Changes = NonNullable<Parameters<typeof startApp>[1]>;

async function listening(changes: Changes, forecaster?: QuantileForecaster) {
  const store = await openMemoryStore();
  const app = await startApp(forecaster, { ...changes, store });
  await createApiKey(store, newKey('other', { secret: 'the-key-of-somebody-else' }), 'operator');
  after(async () => {
    for (const socket of open.splice(0)) socket.destroy();
    await app.close();
  });
  return { app, port: Number(new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port) };
}

function connected(port: number): Socket {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  socket.on('error', () => undefined);
  open.push(socket);
  return socket;
}

/** Sends the beginning of a body, and then nothing. */
function stall(port: number, bytes: Buffer, headers = ''): Socket {
  const socket = connected(port);
  socket.write(`POST /v2/forecast HTTP/1.1\r\nhost: here\r\n${headers}content-type: application/json\r\n`);
  socket.write(`authorization: ${AUTHORIZED.authorization}\r\ncontent-length: ${bytes.length + 100}\r\n\r\n`);
  socket.write(bytes);
  return socket;
}

test('stalled bodies of one key do not keep those of another key out', async () => {
  const bodies = new BodyBudget(4_000_000);
  const { app, port } = await listening({ bodies });
  const small = gzipSync(Buffer.alloc(1_900_000, ' ')).subarray(0, -20);
  for (let i = 0; i < 6; i++) stall(port, small, 'content-encoding: gzip\r\n');
  await until('bodies are held', () => bodies.held > 1_800_000);
  const headers = { ...OTHER, 'content-type': 'application/json' };
  const padded = TEXT + ' '.repeat(900_000);
  for (let i = 0; i < 3; i++) {
    const answer = await app.inject({ method: 'POST', url: '/v2/forecast', headers, payload: padded });
    assert.equal(answer.statusCode, 200, answer.body);
  }
});

test('a sender below the minimum rate gets 408, plain or compressed, and its share back', async () => {
  const bodies = new BodyBudget(4_000_000);
  const { port } = await listening({ bodies, transferRate: { bytesMin: 1_000, periodMs: 50 } });
  for (const [bytes, headers] of [
    [Buffer.from(TEXT), ''],
    [gzipSync(Buffer.alloc(1_000_000, ' ')), 'content-encoding: gzip\r\n'],
  ] as const) {
    const [answer] = await once(stall(port, bytes, headers), 'data');
    assert.match(answer, /^HTTP\/1.1 408 .*connection: close/is);
    assert.match(answer, /"detail":"The body arrives too slowly/);
  }
  await until('nothing is held', () => bodies.held === 0);
});

test('a request whose headers or body do not end gets 408 after its time limit', async () => {
  const { port } = await listening({ limits: { headersMsMax: 50, requestMsMax: 200, checkMs: 20 } });
  const socket = connected(port);
  socket.write('POST /v2/forecast HTTP/1.1\r\nhost: here\r\n');
  assert.match((await once(socket, 'data'))[0], /^HTTP\/1.1 408 /);
  assert.match((await once(stall(port, Buffer.from(TEXT)), 'data'))[0], /^HTTP\/1.1 408 /);
});

test('a refused connection is freed, though its client never closes its side', async () => {
  const limits = { connectionsMax: 20, perAddressMax: 4 };
  const hasty = await listening({ limits: { ...limits, headersMsMax: 50, checkMs: 20 } });
  const patient = await listening({ limits });
  for (const [{ app, port }, bytes, status] of [
    [hasty, 'GET /hea', 408],
    [hasty, 'GET /health HTTP/1.1\r\nhost: he', 408],
    [patient, 'no HTTP at all\r\n\r\n', 400],
    [patient, `GET /${'a'.repeat(20_000)}`, 431],
  ] as const) {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).setEncoding('utf8');
    open.push(socket.on('error', () => undefined));
    socket.write(bytes);
    assert.equal((await once(socket, 'data'))[0].slice(0, 12), `HTTP/1.1 ${status}`);
    const connections = promisify(app.server.getConnections.bind(app.server));
    await until('no connection is left', async () => (await connections()) === 0);
  }
});

test('a connection whose client reads nothing of its answers is freed', async () => {
  const { app, port } = await listening({ limits: { stalledMsMax: 200 } });
  const opened = once(app.server, 'connection');
  const socket = connected(port).pause();
  socket.write('GET /docs/static/swagger-ui-bundle.js HTTP/1.1\r\nhost: here\r\n\r\n'.repeat(4));
  const connections = promisify(app.server.getConnections.bind(app.server));
  await opened;
  await until('no connection is left', async () => (await connections()) === 0);
});

test('a request that takes longer than a client may read nothing is answered', async () => {
  const slow: QuantileForecaster = {
    ...quantileForecaster(),
    async forecast(batch, signal) {
      await new Promise((resolve) => setTimeout(resolve, 500));
      return quantileForecaster().forecast(batch, signal);
    },
  };
  const { port } = await listening({ limits: { stalledMsMax: 100 } }, slow);
  const url = `http://127.0.0.1:${port}/v2/forecast`;
  const headers = { ...AUTHORIZED, 'content-type': 'application/json' };
  for (let i = 0; i < 2; i++) {
    assert.equal((await fetch(url, { method: 'POST', headers, body: TEXT })).status, 200);
  }
});

test('two addresses leave connections for a third one', async () => {
  const { port } = await listening({ limits: { connectionsMax: 16, perAddressMax: 8 } });
  const openFrom = async (localAddress: string, left: number) => {
    const sockets = Array.from({ length: 20 }, () => connect({ port, host: '127.0.0.1', localAddress }));
    for (const socket of sockets) open.push(socket.on('error', () => undefined).resume());
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    sockets[0].write('GET /health HTTP/1.1\r\nhost: here\r\n\r\n');
    const openNow = () => sockets.filter(({ closed }) => !closed).length;
    await until('those beyond are closed', () => openNow() <= left);
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.equal(openNow(), left);
  };
  await openFrom('127.0.0.2', 8);
  await openFrom('127.0.0.3', 4);
  assert.equal((await fetch(`http://127.0.0.1:${port}/health`)).status, 200);
});

test('connections beyond the maximum are closed, and the service continues', async () => {
  const { app, port } = await listening({ limits: { connectionsMax: 20, perAddressMax: 4 } });
  const sockets = Array.from({ length: 12 }, () => connected(port));
  await until('all but four are closed', () => sockets.filter(({ closed }) => closed).length === 8);
  assert.equal((await app.inject({ url: '/health' })).statusCode, 200);
  for (const socket of sockets) socket.destroy();
  await until('a closed connection makes room', async () => {
    return fetch(`http://127.0.0.1:${port}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
  });
});

test('a request whose client hung up is logged as 499, whether its body or its answer was on the way', async () => {
  const statuses: number[] = [];
  const logger = createLogger('info', {
    write(line) {
      const { msg, route, status } = JSON.parse(line);
      if (msg === 'request' && route === '/v2/forecast') statuses.push(status);
    },
  });
  const { app, port } = await listening({ logger });
  const arrived = once(app.server, 'request');
  const socket = stall(port, Buffer.from(TEXT));
  await arrived;
  socket.destroy();
  await until('the request is logged', () => statuses.length === 1);
  assert.deepEqual(statuses, [499]);
});
