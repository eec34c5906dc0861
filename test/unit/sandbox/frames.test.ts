import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FrameReader, frameBytes } from '../../../src/sandbox/frames.ts';

const written = (...texts: readonly string[]) =>
  Buffer.concat(texts.flatMap((text) => frameBytes('progress', Buffer.from(text))));

function read(reader: FrameReader, bytes: Buffer, pieceBytes: number): string[] {
  const texts: string[] = [];
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    const reading = reader.accept(bytes.subarray(at, at + pieceBytes));
    assert.ok(reading.kind === 'frames');
    for (const { kind, payload } of reading.frames) {
      assert.equal(kind, 'progress');
      texts.push(payload.toString());
    }
  }
  return texts;
}

test('frames are reassembled from chunks of any size', () => {
  const texts = ['one', '', 'a longer one', '', ''];
  const bytes = written(...texts);
  for (let pieceBytes = 1; pieceBytes <= bytes.length; pieceBytes++) {
    assert.deepEqual(read(new FrameReader(12), bytes, pieceBytes), texts, `pieces of ${pieceBytes} bytes`);
  }
});

test('a frame with an announced length above the limit is refused before memory is allocated', () => {
  const [header] = frameBytes('output', { length: 4_000_000_000 } as Uint8Array);
  assert.deepEqual(new FrameReader(10).accept(header), { kind: 'too-large', bytes: 4_000_000_000 });
  assert.equal(new FrameReader(3).accept(written('four')).kind, 'too-large');
});

test('bytes that are no frame are unreadable', () => {
  assert.deepEqual(new FrameReader(10).accept(Buffer.from('no frame')), { kind: 'unreadable' });
});
