import assert from 'node:assert/strict';
import { kafkaConnection, kafkaTest } from '../../fixture/kafka/kafka.ts';
import { kafkaStream } from '../../fixture/kafka/kafka-stream.ts';
import { PASSWORD, securedKafka, USER } from '../../fixture/kafka/secured-kafka.ts';
import { assertScoredOnce, QUICK_DETECTOR, waves } from '../../fixture/stream/scored-stream.ts';

const WRONG_PASSWORD = 'battery-staple';
const MECHANISMS = ['plain', 'scram-sha-256', 'scram-sha-512'];

async function secured() {
  const env = await securedKafka();
  const login = { KAFKA_SASL_MECHANISM: 'plain', KAFKA_SASL_USERNAME: USER, KAFKA_SASL_PASSWORD: PASSWORD };
  return { stream: await kafkaStream(1, [QUICK_DETECTOR]), env: { ...env, ...login } };
}

kafkaTest('a worker scores over TLS as a user of any SASL mechanism', async () => {
  const { stream, env } = await secured();
  const records = waves(2, 30, 1);
  const share = records.length / MECHANISMS.length;
  for (const [i, mechanism] of MECHANISMS.entries()) {
    await stream.feed(records.slice(i * share, (i + 1) * share));
    const worker = await stream.startWorker({ ...env, KAFKA_SASL_MECHANISM: mechanism });
    await stream.settled();
    assert.deepEqual(await worker.stop(), { code: 0, signal: null });
    assert.doesNotMatch(worker.said(), new RegExp(PASSWORD));
  }
  assertScoredOnce(await stream.scores(), records);
});

const REFUSED: readonly (readonly [string, Record<string, string>, RegExp])[] = [
  ...MECHANISMS.map((mechanism) => {
    const env = { KAFKA_SASL_MECHANISM: mechanism, KAFKA_SASL_PASSWORD: WRONG_PASSWORD };
    return [`a wrong password for ${mechanism}`, env, /Kafka .*[Aa]uthentication failed/] as const;
  }),
  ['a certificate of an authority that is not known', { KAFKA_TLS_CA: '' }, /certificate.*KAFKA_TLS_CA/],
  ['no TLS where the broker wants it', { KAFKA_TLS: '', KAFKA_TLS_CA: '' }, /KAFKA_TLS=true/],
  [
    'no login where the broker wants one',
    { KAFKA_SASL_MECHANISM: '', KAFKA_SASL_USERNAME: '', KAFKA_SASL_PASSWORD: '' },
    /want a login, set KAFKA_SASL_MECHANISM$/,
  ],
  ['TLS where the broker does not speak it', { KAFKA_BROKERS: 'the open listener' }, /unset KAFKA_TLS/],
];
for (const [fault, changes, sentence] of REFUSED) {
  kafkaTest(`${fault} ends the worker with one sentence`, async () => {
    const { stream, env } = await secured();
    const open = (await kafkaConnection()).config.brokers.join();
    const brokers = changes.KAFKA_BROKERS === undefined ? {} : { KAFKA_BROKERS: open };
    const worker = await stream.startWorker({ ...env, ...changes, ...brokers, START_WAIT_MS: '0' });
    const { code } = await worker.ended;
    assert.ok(code === 1 || code === 2, `it ends with ${code}`);
    const sentences = worker.sentences();
    assert.equal(sentences.length, 1, worker.said());
    assert.match(sentences[0], sentence);
    for (const password of [PASSWORD, WRONG_PASSWORD]) assert.ok(!worker.said().includes(password));
  });
}
