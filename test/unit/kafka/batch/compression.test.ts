import assert from 'node:assert/strict';
import test from 'node:test';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { decompress } from '../../../../src/kafka/batch/compression.ts';

const [gzip, snappy, lz4, zstd] = [1, 2, 3, 4];
const frame = { snappy: '82534e4150505900 00000001 00000001', lz4: '04224d18 60 40 82' };

function hex(text: string): Buffer {
  return Buffer.from(text.replaceAll(' ', ''), 'hex');
}

test('Snappy: literals, short and long copies, framed or not', () => {
  // "abcd", then 4 bytes from 4 back, then 10 from 1 back by a two-byte and 2 from 18 back by a four-byte distance.
  const block = '14 0c61626364 0104 260100 0712000000';
  const inflated = `abcdabcd${'d'.repeat(10)}ab`;
  assert.equal(String(decompress(snappy!, hex(block), 100)), inflated);
  const framed = hex(`${frame.snappy} 00000000 ${block} 00000000 ${block}`);
  framed.writeInt32BE(hex(block).length, 16);
  framed.writeInt32BE(hex(block).length, 20 + hex(block).length);
  assert.equal(String(decompress(snappy!, framed, 100)), inflated + inflated);
});

test('Snappy: a literal whose length takes a byte of its own', () => {
  const text = 'x'.repeat(100);
  const block = Buffer.concat([hex('64 f0 63'), Buffer.from(text)]);
  assert.equal(String(decompress(snappy!, block, 100)), text);
});

test('LZ4: sequences, long lengths, stored blocks, and copies from the block before', () => {
  // "ab", then 4 + 15 + 1 bytes from 2 back; the last sequence holds literals only.
  const packed = '2f 6162 0200 01 20 7879';
  const stored = '7a7a';
  const linked = '10 21 0500';
  const sized = (text: string, flag = 0) => {
    const bytes = hex(text);
    const size = Buffer.alloc(4);
    size.writeUInt32LE((bytes.length | flag) >>> 0);
    return Buffer.concat([size, bytes]);
  };
  const blocks = [sized(packed), sized(stored, 0x8000_0000), sized(linked)];
  const whole = Buffer.concat([hex(frame.lz4), ...blocks, hex('00000000')]);
  assert.equal(String(decompress(lz4!, whole, 100)), `${'ab'.repeat(11)}xyzz!xyzz`);
});

test('a batch that inflates beyond its bound is refused, whatever the codec', () => {
  const plain = Buffer.alloc(10_000, 'x');
  const snappyBomb = hex(`814e 0078 ${'fe0100'.repeat(156)}`);
  const lz4Bomb = Buffer.concat([
    hex(frame.lz4),
    hex('2c000000 1f 78 0100'),
    Buffer.alloc(39, 255),
    hex('00 00000000'),
  ]);
  for (const [codec, bytes] of [
    [gzip, gzipSync(plain)],
    [snappy, snappyBomb],
    [lz4, lz4Bomb],
    [zstd, zstdCompressSync(plain)],
  ] as const) {
    assert.throws(() => decompress(codec!, bytes, 1_000), /larger|more than/, `codec ${codec}`);
    assert.ok(decompress(codec!, bytes, 20_000).length > 9_000, `codec ${codec}`);
  }
});

test('damaged bytes are refused and read nothing beyond themselves', () => {
  assert.throws(() => decompress(snappy!, hex('04 0c6162'), 100), /cut off/);
  assert.throws(() => decompress(snappy!, hex('08 0061 0105'), 100), /before their begin/);
  // Cut off between two elements.
  assert.throws(() => decompress(snappy!, hex('05 0c61626364'), 100), /not as long as in its header/);
  assert.throws(() => decompress(lz4!, hex('00112233445566778899'), 100), /Not an LZ4 frame/);
  assert.throws(() => decompress(lz4!, hex(`${frame.lz4} 10000000 2f`), 100), /cut off/);
  assert.throws(() => decompress(7, Buffer.alloc(1), 100), /codec 7/);
});
