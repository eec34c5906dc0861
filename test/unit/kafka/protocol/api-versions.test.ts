import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fetchVersions } from '../../../../src/kafka/protocol/api-versions.ts';
import { ServiceError } from '../../../../src/ops/service-error.ts';
import { fakeBroker, type SentRequest } from '../../../fixture/kafka/fake-broker.ts';

const MS_MAX = 5_000;
const UNSUPPORTED_VERSION = 35;

type Known = readonly (readonly [key: number, min: number, max: number])[];

/** As version 0. */
function plainAnswer(errorCode: number, known: Known): Buffer {
  const answer = Buffer.alloc(6 + 6 * known.length);
  answer.writeInt16BE(errorCode);
  answer.writeInt32BE(known.length, 2);
  for (const [at, numbers] of known.entries()) {
    for (const [field, number] of numbers.entries()) answer.writeInt16BE(number, 6 + 6 * at + 2 * field);
  }
  return answer;
}

const ask = (answer: (request: SentRequest) => Buffer) => fetchVersions(fakeBroker({}, answer), MS_MAX);

test('a broker that does not know the newest question answers the oldest one', async () => {
  const asked: number[] = [];
  const { versions, features } = await ask(({ version }) => {
    asked.push(version);
    return version === 0 ? plainAnswer(0, [[9, 0, 7]]) : plainAnswer(UNSUPPORTED_VERSION, [[18, 0, 2]]);
  });
  assert.deepEqual(asked, [3, 0]);
  assert.deepEqual(versions, { 9: { minVersion: 0, maxVersion: 7 } });
  assert.equal(features.size, 0);
});

test('a broker without finalized features, as Redpanda, has none', async () => {
  // Error 0 | one request: 9, 0 to 8 | its tags | throttle time | no tagged fields
  const answer = Buffer.from('0000' + '02' + '0009' + '0000' + '0008' + '00' + '00000000' + '00', 'hex');
  const { versions, features } = await ask(() => answer);
  assert.deepEqual(versions, { 9: { minVersion: 0, maxVersion: 8 } });
  assert.equal(features.size, 0);
});

test('a broker that is too old is named, with the oldest release that works', async () => {
  const refused = async (known: Known) => {
    const error = await ask(({ version }) =>
      version === 0 ? plainAnswer(0, known) : plainAnswer(UNSUPPORTED_VERSION, []),
    ).catch((each: unknown) => each);
    assert.ok(error instanceof ServiceError);
    assert.deepEqual([error.code, error.retryable], ['configuration', false]);
    return error.message;
  };
  const text = 'The broker at 127.0.0.1:9092 is older than Kafka 2.5, the oldest release that works';
  assert.equal(await refused([[9, 0, 6]]), `${text}: its newest OffsetFetch is 6, and 7 is needed`);
  assert.equal(await refused([[0, 0, 8]]), `${text}: it does not have OffsetFetch, and 7 is needed`);
});

test('an error of another kind is passed on', async () => {
  // Error 34 | no requests | throttle time | no tagged fields
  const answer = Buffer.from('0022' + '01' + '00000000' + '00', 'hex');
  assert.equal((await ask(() => answer)).errorCode, 34);
});
