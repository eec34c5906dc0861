import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeSettings } from '../../../src/checkpoint/known-settings.ts';
import {
  decodePauses,
  decodePosition,
  decodeVersion,
  decodeWarmStarts,
} from '../../../src/checkpoint/partition-records.ts';
import { readStored, StateReader, StateWriter } from '../../../src/checkpoint/state-bytes.ts';
import { ServiceError } from '../../../src/ops/service-error.ts';
import { fc } from '../../fixture/fast-check.ts';

function written(numbers: readonly number[]): Buffer {
  const writer = new StateWriter();
  for (const number of numbers) writer.number(number);
  return writer.drain();
}

test('every number is read as it was written, to the last bit', () => {
  const edges = [0, -0, 247, 248, 65_535, 65_536, 2 ** 32, 2 ** 48 - 1, 2 ** 48, -1, 0.5, 0.1];
  const number = fc.oneof(fc.double(), fc.maxSafeInteger(), fc.constantFrom(...edges, Number.NaN, -Infinity, Infinity));
  fc.assert(
    fc.property(fc.array(number), (numbers) => {
      const bytes = written(numbers);
      const writer = new StateWriter();
      writer.numbers(Float64Array.from([0, ...numbers]), 1, [...numbers.keys()]);
      assert.deepEqual(writer.drain(), bytes);
      const reader = new StateReader(bytes);
      for (const expected of numbers) assert.ok(Object.is(reader.number(), expected), `${expected}`);
      assert.ok(reader.done);
    }),
  );
});

test('texts of every script and length are read as they were written', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary', maxLength: 200 })), (texts) => {
      const writer = new StateWriter();
      for (const text of texts) writer.text(text);
      const reader = new StateReader(writer.drain());
      for (const expected of texts) assert.equal(reader.text(), expected);
      assert.ok(reader.done);
    }),
  );
});

test('NaN has one pattern, whatever bits it had', () => {
  const bits = [0x7fc00000, 0xffc00000, 0xffffffff, 0x7fa00001];
  const values = [
    ...new Float32Array(Uint32Array.from(bits).buffer),
    ...new Float64Array(BigUint64Array.of(2n ** 64n - 1n).buffer),
  ];
  const patterns = values.map((value) => {
    const writer = new StateWriter();
    writer.f16(value);
    writer.f32(value);
    writer.f64(value);
    return writer.drain().toString('hex');
  });
  assert.deepEqual(new Set(patterns), new Set(['007e0000c07f000000000000f87f']));
});

test('small counts take one byte, offsets and times at most seven, and no number more than nine', () => {
  const sizes = [0, 247, 1_000, 70_000, 1_735_689_600_000, 0.5, 0.1].map((number) => written([number]).length);
  assert.deepEqual(sizes, [1, 1, 3, 5, 7, 5, 9]);
});

const isDamage = (name: string) => (error: unknown) =>
  error instanceof ServiceError &&
  error.code === 'configuration' &&
  error.message.startsWith(`the changelog holds a damaged value: ${name} (`) &&
  error.message.endsWith('reset the changelog topic');

test('a damaged value of the changelog ends the restore with its name, not with a TypeError', () => {
  const decoders = {
    position: decodePosition,
    'version of the detectors': decodeVersion,
    'pauses of detectors': decodePauses,
    'histories of warm starts': decodeWarmStarts,
    'settings of a detector': decodeSettings,
  };
  for (const [name, decode] of Object.entries(decoders)) {
    for (const text of ['', 'null', '7', '{"next', '"a"', name === 'histories of warm starts' ? '{}' : '[]']) {
      assert.throws(() => decode(Buffer.from(text)), isDamage(name), `${name}: ${text}`);
    }
  }
  const cutOff = () => new StateReader(Buffer.from([250]), 0, 5).number();
  assert.throws(() => readStored('state of web-1/cpu', cutOff), isDamage('state of web-1/cpu'));
});
