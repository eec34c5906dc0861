import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explainFailure } from '../../../../src/kafka/cluster/failure.ts';

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

test('topics that Kafka refuses to make say why', () => {
  const errors = [protocolError('INVALID_REPLICATION_FACTOR'), protocolError('INVALID_REPLICATION_FACTOR')];
  const refused = Object.assign(new Error('Topic creation errors'), { name: 'KafkaJSAggregateError', errors });
  const { code, message } = explainFailure(refused, 'topics were made');
  const text =
    'Kafka failed while topics were made: INVALID_REPLICATION_FACTOR: ' +
    'a partition has at most as many copies as there are brokers';
  assert.deepEqual([code, message], ['configuration', text]);
});
