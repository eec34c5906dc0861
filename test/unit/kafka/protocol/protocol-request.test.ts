import assert from 'node:assert/strict';
import { test } from 'node:test';
import { i8, i32, since } from '../../../../src/kafka/protocol/protocol-fields.ts';
import { sendRequest } from '../../../../src/kafka/protocol/protocol-request.ts';
import { ServiceError } from '../../../../src/ops/service-error.ts';
import { fakeBroker } from '../../../fixture/kafka/fake-broker.ts';

const SCHEMA = {
  name: 'Example',
  key: 7,
  versions: [2, 5],
  compactSince: 4,
  request: { number: i8, added: since(5, i8, 0) },
  answer: { clientSideThrottleTime: i32, number: i8 },
};
const VALUES = { number: 1, added: 2 };

async function sentTo(range: readonly [number, number]): Promise<string> {
  let sent = '';
  const broker = fakeBroker({ [SCHEMA.key]: range }, ({ version, body }) => {
    sent = `${version}: ${body.toString('hex')}`;
    return Buffer.from(version === 2 ? '0000000009' : '000000000009', 'hex');
  });
  assert.equal((await sendRequest(broker, SCHEMA, VALUES)).number, 9);
  return sent;
}

test('a request is sent in the newest version that both sides know', async () => {
  assert.equal(await sentTo([0, 2]), '2: 01');
  assert.equal(await sentTo([0, 4]), '2: 01');
  assert.equal(await sentTo([0, 5]), '5: 00' + '0102' + '00');
  assert.equal(await sentTo([3, 9]), '5: 00' + '0102' + '00');
});

test('a broker that knows none of the versions is named, with those that it knows', async () => {
  const refused = async (versions: Readonly<Record<number, readonly [number, number]>>) => {
    const broker = fakeBroker(versions, () => assert.fail('nothing is sent'));
    const error = await sendRequest(broker, SCHEMA, VALUES).catch((each: unknown) => each);
    assert.ok(error instanceof ServiceError);
    assert.deepEqual([error.code, error.retryable], ['configuration', false]);
    return error.message;
  };
  const text = 'Tidewatch needs version 2 or 5 of the request Example, and the broker at 127.0.0.1:9092';
  const oldest = 'The oldest release that works is Kafka 2.5';
  assert.equal(await refused({ 7: [0, 1] }), `${text} has 0 to 1. ${oldest}`);
  assert.equal(await refused({ 7: [6, 8] }), `${text} has 6 to 8. ${oldest}`);
  assert.equal(await refused({}), `${text} does not have it. ${oldest}`);
});

test('a request to a broker that is not connected yet may be repeated', async () => {
  const broker = { ...fakeBroker({}, () => assert.fail('nothing is sent')), versions: null };
  await assert.rejects(sendRequest(broker, SCHEMA, VALUES), { message: 'Broker not connected' });
});
