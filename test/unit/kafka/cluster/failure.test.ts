import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { explainFailure, isConnectionFailure } from '../../../../src/kafka/cluster/failure.ts';

function protocolError(type: string): Error {
  return Object.assign(new Error(type), { name: 'KafkaJSProtocolError', type, code: 1, retriable: false });
}

test('an error that no retry can cure is `configuration` and not retryable', () => {
  const types = [
    ...['SASL_AUTHENTICATION_FAILED', 'INCONSISTENT_GROUP_PROTOCOL'],
    ...['INVALID_SESSION_TIMEOUT', 'INVALID_TRANSACTION_TIMEOUT'],
  ];
  for (const type of types) {
    const { code, retryable } = explainFailure(protocolError(type), 'it joined');
    assert.deepEqual([type, code, retryable], [type, 'configuration', false]);
  }
});

test('any other protocol error ends the session and is retryable', () => {
  const { code, retryable } = explainFailure(protocolError('ILLEGAL_GENERATION'), 'it joined');
  assert.deepEqual([code, retryable], ['internal', true]);
});

test('a connection that is lost during a login is not a refused login', () => {
  const login = (message: string) =>
    Object.assign(new Error(`SASL SCRAM SHA512 authentication failed: ${message}`), {
      name: 'KafkaJSSASLAuthenticationError',
    });
  for (const message of [
    'Not connected',
    'Closed connection',
    'Request SaslAuthenticate timed out',
    'read ECONNRESET',
  ]) {
    const failure = explainFailure(login(message), 'testing');
    assert.deepEqual([failure.code, failure.retryable], ['broker-unavailable', true], message);
  }
  const refused = explainFailure(login('Authentication failed: invalid credentials'), 'testing');
  assert.deepEqual([refused.code, refused.retryable], ['configuration', false]);
});

test('a request to a broker whose connection is just being opened does not end the worker', () => {
  const { code, retryable } = explainFailure(new Error('Broker not connected'), 'testing');
  assert.deepEqual([code, retryable], ['broker-unavailable', true]);
});

test('the error of a topic that Kafka refuses to create has the reason', () => {
  const errors = [protocolError('INVALID_REPLICATION_FACTOR'), protocolError('INVALID_REPLICATION_FACTOR')];
  const refused = Object.assign(new Error('Topic creation errors'), { name: 'KafkaJSAggregateError', errors });
  const { code, message } = explainFailure(refused, 'creating topics');
  const text =
    'Kafka failed while creating topics: INVALID_REPLICATION_FACTOR: ' +
    'a partition has at most as many copies as there are brokers';
  assert.deepEqual([code, message], ['configuration', text]);
});

function thrownBy(work: () => unknown): Error {
  try {
    work();
  } catch (error) {
    return error as Error;
  }
  return assert.fail('nothing was thrown');
}

test('an error of Node is a lost connection only where the network raised it', () => {
  for (const code of ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH']) {
    const lost = Object.assign(new Error(code), { code });
    assert.deepEqual([code, isConnectionFailure(lost)], [code, true]);
  }
  const others = [
    thrownBy(() => Buffer.alloc(1).readInt32BE(0)),
    thrownBy(() => Buffer.alloc(4).writeInt32BE(2 ** 40)),
    thrownBy(() => gunzipSync(Buffer.from('damaged'))),
    thrownBy(() => gunzipSync(Buffer.alloc(0))),
  ];
  for (const error of others) {
    assert.equal(typeof (error as NodeJS.ErrnoException).code, 'string');
    const { code, retryable } = explainFailure(error, 'a batch was read');
    assert.deepEqual([error.message, code, retryable], [error.message, 'internal', false]);
  }
});
