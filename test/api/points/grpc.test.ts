import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { Client, credentials, type ServiceError as GrpcError, Metadata, status } from '@grpc/grpc-js';
import { EXPORT_PATH, startOtlpServer } from '../../../src/api/grpc/otlp-server.ts';
import { BodyBudget } from '../../../src/api/wire/body/body-budget.ts';
import { createLogger } from '../../../src/ops/logger.ts';
import { createMetrics } from '../../../src/ops/metrics.ts';
import { ServiceError } from '../../../src/ops/service-error.ts';
import type { ReceivedPoints, ReceiveOutcome } from '../../../src/records/received-points.ts';
import { certificateOf, noOpenssl } from '../../fixture/certificate.ts';
import { freshFolder } from '../../fixture/fresh-folder.ts';
import { KEY } from '../../fixture/http/http-service.ts';
import { memoryAccounts } from '../../fixture/store/memory-store.ts';
import { until } from '../../fixture/until.ts';

const MIB = 1024 * 1024;
const RECEIVED: ReceiveOutcome = { kind: 'received', accepted: 2, unwatched: 1, missing: 0, refused: 0, reasons: [] };

interface Changes {
  readonly answer?: ReceiveOutcome | Error;
  readonly bodies?: BodyBudget;
  readonly role?: 'viewer' | 'operator';
  readonly wait?: Promise<void>;
  readonly limits?: { readonly messageMsMax: number; readonly shareMsMax: number };
  readonly tls?: { readonly certPath: string; readonly keyPath: string };
}

async function world({
  answer = RECEIVED,
  bodies = new BodyBudget(800 * MIB),
  role = 'operator',
  ...rest
}: Changes = {}) {
  const received: ReceivedPoints[] = [];
  const { keys } = await memoryAccounts({ secret: KEY, role });
  const metrics = createMetrics({ collectProcess: false });
  const server = await startOtlpServer({
    host: '127.0.0.1',
    port: 0,
    keys,
    metrics,
    logger: createLogger('silent'),
    bodies,
    async receivePoints(points) {
      received.push({ ...points, bytes: Buffer.from(points.bytes) });
      await rest.wait;
      if (answer instanceof Error) throw answer;
      return answer;
    },
    ...(rest.limits && { limits: rest.limits }),
    ...(rest.tls && { tls: rest.tls }),
  });
  const counted = async () => {
    const { values } = await metrics.httpRequests.get();
    return Object.fromEntries(values.map(({ labels, value }) => [labels.status, value]));
  };
  return { server, received, bodies, counted };
}

type World = Awaited<ReturnType<typeof world>>;
type Answered =
  | { readonly message: string }
  | { readonly code: status; readonly details: string; readonly info: string };

function clientOf({ server }: World, channel = credentials.createInsecure(), options = {}): Client {
  return new Client(server.address, channel, { 'grpc.max_send_message_length': -1, ...options });
}

function exported(client: Client, message: Buffer, authorization = `Bearer ${KEY}`): Promise<Answered> {
  const metadata = new Metadata();
  if (authorization !== '') metadata.set('authorization', authorization);
  const asIs = (bytes: Buffer) => bytes;
  return new Promise((resolve) => {
    client.makeUnaryRequest(EXPORT_PATH, asIs, asIs, message, metadata, (error: GrpcError | null, bytes?: Buffer) => {
      if (error === null) return resolve({ message: bytes!.toString('latin1') });
      const info = String(error.metadata.get('grpc-status-details-bin')[0] ?? '');
      return resolve({ code: error.code, details: error.details, info });
    });
  });
}

async function closed({ server }: World, client: Client): Promise<void> {
  client.close();
  await server.close(1_000);
}

test('a message over gRPC reaches the receiver as it is, gzipped or not, and is answered and counted', async () => {
  const one = await world();
  const client = clientOf(one);
  assert.deepEqual(await exported(client, Buffer.from('abc')), { message: '' });
  const zipped = clientOf(one, undefined, { 'grpc.default_compression_algorithm': 2 });
  assert.deepEqual(await exported(zipped, Buffer.alloc(2 * MIB, 'x'), `Token ${KEY}`), { message: '' });
  const { format, snappy, bytes } = one.received[0];
  assert.deepEqual([format, snappy, String(bytes)], ['otlp-protobuf', false, 'abc']);
  assert.equal(one.received[1].bytes.length, 2 * MIB);
  await until('both calls are counted', async () => (await one.counted())['200'] === 2);
  assert.equal(one.bodies.held, 0);
  zipped.close();
  await closed(one, client);
});

test('points that are refused are a partial success, and INVALID_ARGUMENT where nothing can be used', async () => {
  const partly = await world({ answer: { ...RECEIVED, refused: 3, reasons: ['a: late', 'b: late'] } });
  const client = clientOf(partly);
  assert.deepEqual(await exported(client, Buffer.from('x')), { message: '\n\x14\b\x03\x12\x10a: late; b: late' });
  await closed(partly, client);
  const nothing = await world({ answer: { kind: 'unreadable', detail: 'not an ExportMetricsServiceRequest' } });
  const other = clientOf(nothing);
  const refused = { code: status.INVALID_ARGUMENT, details: 'not an ExportMetricsServiceRequest', info: '' };
  assert.deepEqual(await exported(other, Buffer.from('x')), refused);
  await until('it is counted as 400', async () => (await nothing.counted())['400'] === 1);
  await closed(nothing, other);
});

test('a call without a key, with an unknown one or without the role is refused before its message is read', async () => {
  const one = await world({ role: 'viewer' });
  const client = clientOf(one);
  const codes = [];
  for (const header of ['', 'Bearer no-such-key-of-this-service', `Bearer ${KEY}`]) {
    const answer = await exported(client, Buffer.alloc(MIB), header);
    codes.push('code' in answer && status[answer.code]);
  }
  assert.deepEqual(codes, ['UNAUTHENTICATED', 'UNAUTHENTICATED', 'PERMISSION_DENIED']);
  assert.equal(one.received.length, 0);
  await until('they are counted', async () => (await one.counted())['403'] === 1);
  await closed(one, client);
});

test('what HTTP answers with 503 is UNAVAILABLE or RESOURCE_EXHAUSTED with RetryInfo, and nothing else has it', async () => {
  const away = await world({ answer: new ServiceError('broker-unavailable', 'away', { retryable: true }) });
  const client = clientOf(away, undefined, { 'grpc.enable_retries': 0 });
  const answer = await exported(client, Buffer.from('x'));
  assert('code' in answer);
  assert.deepEqual([answer.code, answer.details], [status.UNAVAILABLE, 'Kafka is unavailable, try again']);
  assert(answer.info.endsWith('google.rpc.RetryInfo\x12\x04\n\x02\b\x02'), answer.info);
  await until('it is counted as 503', async () => (await away.counted())['503'] === 1);
  await closed(away, client);

  const { promise: wait, resolve: go } = Promise.withResolvers<void>();
  const full = await world({ wait });
  const clients = [clientOf(full), clientOf(full, undefined, { 'grpc.use_local_subchannel_pool': 1 })];
  const open = Array.from({ length: 64 }, () => exported(clients[0], Buffer.from('x')));
  await until('64 calls are open', () => full.received.length === 64);
  const more = await exported(clients[1], Buffer.from('x'));
  assert('code' in more);
  assert.deepEqual([more.code, /RetryInfo/.test(more.info)], [status.RESOURCE_EXHAUSTED, true]);
  go();
  assert.deepEqual(new Set((await Promise.all(open)).map((each) => 'message' in each)), new Set([true]));
  clients[1].close();
  await closed(full, clients[0]);
});

test('a message beyond the limit is refused without RetryInfo, inflated or not; damaged gzip is no internal error', async () => {
  const one = await world();
  const client = clientOf(one);
  const zipped = clientOf(one, undefined, { 'grpc.default_compression_algorithm': 2 });
  for (const each of [client, zipped]) {
    const answer = await exported(each, Buffer.alloc(33 * MIB));
    assert('code' in answer);
    assert.deepEqual([status[answer.code], answer.info], ['RESOURCE_EXHAUSTED', '']);
  }
  await until('both are counted as 413', async () => (await one.counted())['413'] === 2);
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${KEY}`);
  const frame = Buffer.concat([Buffer.from([1, 0, 0, 0, 20]), gzipSync('x').subarray(0, 10), Buffer.alloc(10, 7)]);
  assert.equal(await rawStatus(one, frame), String(status.INVALID_ARGUMENT));
  assert.equal(one.received.length, 0);
  await until('nothing of the budget is held', () => one.bodies.held === 0);
  zipped.close();
  await closed(one, client);
});

test('a message that no share of the budget is left for is UNAVAILABLE; another key has its own share', async () => {
  const bodies = new BodyBudget(96 * MIB);
  const one = await world({ bodies, limits: { messageMsMax: 30_000, shareMsMax: 40 } });
  const client = clientOf(one, undefined, { 'grpc.enable_retries': 0 });
  assert(bodies.reserve('the-key', 32 * MIB));
  const answer = await exported(client, Buffer.from('x'));
  assert('code' in answer);
  assert.deepEqual([status[answer.code], /RetryInfo/.test(answer.info)], ['UNAVAILABLE', true]);
  bodies.release('the-key', 32 * MIB);
  assert(bodies.reserve('another', 32 * MIB));
  assert.deepEqual(await exported(client, Buffer.from('x')), { message: '' });
  await closed(one, client);
});

test('a message that does not arrive is refused for now, and its share is free again', async () => {
  const one = await world({ limits: { messageMsMax: 50, shareMsMax: 50 } });
  assert.equal(await rawStatus(one, Buffer.from([0, 0, 0, 1, 0])), String(status.UNAVAILABLE));
  await until('nothing of the budget is held', () => one.bodies.held === 0);
  await one.server.close(1_000);
});

test('on closing, open calls are answered and new connections are refused', async () => {
  const { promise: wait, resolve: go } = Promise.withResolvers<void>();
  const one = await world({ wait });
  const client = clientOf(one);
  const open = exported(client, Buffer.from('x'));
  await until('the call is open', () => one.received.length === 1);
  const closing = one.server.close(60_000);
  const late = clientOf(one, undefined, { 'grpc.enable_retries': 0, 'grpc.use_local_subchannel_pool': 1 });
  const refused = await exported(late, Buffer.from('x'));
  assert.equal('code' in refused && refused.code, status.UNAVAILABLE);
  go();
  assert.deepEqual(await open, { message: '' });
  client.close();
  late.close();
  await closing;
});

test('a taken port is a problem of the configuration that names the setting', async () => {
  const one = await world();
  const { port } = new URL(`http://${one.server.address}`);
  const options = { keys: {} as never, metrics: {} as never, logger: createLogger('silent'), bodies: one.bodies };
  const receivePoints = async () => RECEIVED;
  const starting = startOtlpServer({ host: '127.0.0.1', port: Number(port), receivePoints, ...options });
  await assert.rejects(starting, { code: 'configuration', message: /cannot be listened on .*GRPC_PORT/ });
  await one.server.close(1_000);
});

test('gRPC uses the certificate of HTTP', { skip: noOpenssl }, async () => {
  const paths = certificateOf(freshFolder(), 'localhost');
  const one = await world({ tls: paths });
  const client = clientOf(one, credentials.createSsl(readFileSync(paths.certPath)));
  assert.deepEqual(await exported(client, Buffer.from('abc')), { message: '' });
  const plain = clientOf(one, undefined, { 'grpc.enable_retries': 0 });
  assert('code' in (await exported(plain, Buffer.from('x'))));
  plain.close();
  await closed(one, client);
});

/** The status of a call whose bytes are these, and which stays open. */
async function rawStatus({ server }: World, bytes: Buffer): Promise<string> {
  const { connect } = await import('node:http2');
  const session = connect(`http://${server.address}`);
  const headers = { 'content-type': 'application/grpc', te: 'trailers', 'grpc-encoding': 'gzip' };
  const call = session.request({ ':method': 'POST', ':path': EXPORT_PATH, ...headers, authorization: `Bearer ${KEY}` });
  call.write(bytes);
  const found = await new Promise<string>((resolve) => {
    call.on('response', (answer) => resolve(String(answer['grpc-status'])));
  });
  call.close();
  session.close();
  return found;
}
