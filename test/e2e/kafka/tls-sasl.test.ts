import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { freePort } from '../../../src/local-kafka/free-port.ts';
import { makeCertificate } from '../../fixture/kafka/certificate.ts';
import { kafkaTest, sharedKafka } from '../../fixture/kafka/kafka.ts';
import { type KafkaStream, kafkaStream } from '../../fixture/kafka/kafka-stream.ts';
import { assertScoredOnce, QUICK_DETECTOR, waves } from '../../fixture/stream/scored-stream.ts';

const PASSWORD = 'correct-horse';
const WRONG_PASSWORD = 'battery-staple';
const MECHANISMS = ['plain', 'scram-sha-256', 'scram-sha-512'];
const folder = await mkdtemp(join(tmpdir(), 'tidewatch-tls-'));
after(() => rm(folder, { recursive: true }));

/** A stream on a broker with a secure listener, and the variables that lead a worker there. */
const secured = (() => {
  let made: Promise<{ stream: KafkaStream; env: Record<string, string> }> | null = null;
  const make = async () => {
    const port = await freePort();
    const { keyStore, certificate } = await makeCertificate(folder, PASSWORD);
    await sharedKafka({ port, keyStore, keyStorePassword: PASSWORD, username: 'ada', password: PASSWORD });
    const env = {
      KAFKA_BROKERS: `127.0.0.1:${port}`,
      KAFKA_TLS: 'true',
      KAFKA_TLS_CA: certificate,
      KAFKA_SASL_MECHANISM: 'plain',
      KAFKA_SASL_USERNAME: 'ada',
      KAFKA_SASL_PASSWORD: PASSWORD,
    };
    return { stream: await kafkaStream(1, [QUICK_DETECTOR]), env };
  };
  return () => {
    made ??= make();
    return made;
  };
})();

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
  ['TLS where the broker does not speak it', { KAFKA_BROKERS: 'the open listener' }, /unset KAFKA_TLS/],
];
for (const [fault, changes, sentence] of REFUSED) {
  kafkaTest(`${fault} ends the worker with one sentence`, async () => {
    const { stream, env } = await secured();
    const open = (await sharedKafka()).brokers.join();
    const brokers = changes.KAFKA_BROKERS === undefined ? {} : { KAFKA_BROKERS: open };
    const worker = await stream.startWorker({ ...env, ...changes, ...brokers });
    const { code } = await worker.ended;
    assert.ok(code === 1 || code === 2, `it ends with ${code}`);
    const sentences = worker
      .said()
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('{'));
    assert.equal(sentences.length, 1, worker.said());
    assert.match(sentences[0], sentence);
    for (const password of [PASSWORD, WRONG_PASSWORD]) assert.ok(!worker.said().includes(password));
  });
}
