import assert from 'node:assert/strict';
import test from 'node:test';
import { recordBytesMax } from '../../../../src/kafka/batch/record-batch-encoder.ts';
import type { OutputRecord } from '../../../../src/kafka/batch/records.ts';
import { planRounds } from '../../../../src/kafka/produce/transaction-plan.ts';
import { fc } from '../../../fixture/fast-check.ts';

const output = fc.record({
  topic: fc.constantFrom('scores', 'changelog'),
  partition: fc.nat(2),
  key: fc.constant(null),
  value: fc.nat(400).map((size): Buffer => Buffer.alloc(size)),
});

test('rounds keep every record in its partition and order, one batch a partition, none above the bound', () => {
  const bytesMax = 1_000;
  fc.assert(
    fc.property(fc.array(output, { maxLength: 60 }), (outputs: OutputRecord[]) => {
      const rounds = planRounds(outputs, bytesMax);
      const sent = new Map<string, OutputRecord[]>();
      for (const round of rounds) {
        const places = round.map(({ topic, partition }) => `${topic}/${partition}`);
        assert.equal(new Set(places).size, places.length);
        for (const [at, { records }] of round.entries()) {
          const bytes = records.reduce((sum, record) => sum + recordBytesMax(record), 0);
          assert.ok(records.length === 1 || bytes <= bytesMax);
          sent.set(places[at], [...(sent.get(places[at]) ?? []), ...records]);
        }
      }
      const expected = Map.groupBy(outputs, ({ topic, partition }) => `${topic}/${partition}`);
      assert.deepEqual(sent, expected);
    }),
  );
});

test('every partition of a transaction is in its first round, before which it is added to the transaction', () => {
  fc.assert(
    fc.property(fc.array(output, { maxLength: 60 }), (outputs) => {
      const [first = [], ...rest] = planRounds(outputs, 500);
      const announced = new Set(first.map(({ topic, partition }) => `${topic}/${partition}`));
      for (const { topic, partition } of rest.flat()) assert.ok(announced.has(`${topic}/${partition}`));
    }),
  );
});

test('a key of four zero bytes, which kafkajs takes for an abort marker, is written as none', () => {
  const keys = [Buffer.alloc(4), Buffer.alloc(3), Buffer.alloc(5), Buffer.from([0, 0, 0, 1]), null];
  const outputs = keys.map((key) => ({ topic: 'scores', partition: 0, key, value: null }));
  const [round] = planRounds(outputs);
  const actual = round?.[0]?.records.map(({ key }) => key);
  assert.deepEqual(actual, [null, ...keys.slice(1)]);
});
