import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withRareCollections } from '../../../src/checkpoint/rare-collections.ts';
import { WindowRecords } from '../../../src/checkpoint/window-records.ts';

const MIB = 1024 * 1024;
const FILLED = 40 * MIB;
const value = Buffer.alloc(MIB / 2);

const bytes = () => process.memoryUsage().arrayBuffers;

function fillAndRelease(bytesMax = 2 * FILLED): void {
  const windows = new WindowRecords({ bytes: 0, bytesMax });
  for (let at = 0; at < FILLED / value.length; at++) windows.keep(Buffer.from(`w/${at}/a`), value);
  windows.release();
}

test('partitions that are restored in turn use the same memory, which the last returns', async () => {
  const before = bytes();
  await withRareCollections(async () => {
    fillAndRelease();
    const first = bytes();
    assert.ok(first - before > FILLED - MIB);
    fillAndRelease();
    assert.ok(bytes() - first < MIB);
  });
  assert.ok(bytes() - before < MIB);
});

test('windows that are too large leave no memory behind while the changelog is read again', async () => {
  await withRareCollections(async () => {
    const before = bytes();
    fillAndRelease(FILLED - 2 * MIB);
    assert.ok(bytes() - before < MIB);
  });
});
