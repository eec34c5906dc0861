import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withRareCollections } from '../../../src/checkpoint/rare-collections.ts';
import { WindowRecords } from '../../../src/checkpoint/window-records.ts';

const MIB = 1024 * 1024;
const FILLED = 40 * MIB;
const value = Buffer.alloc(MIB / 2);

function fillAndRelease(): void {
  const windows = new WindowRecords();
  for (let at = 0; at < FILLED / value.length; at++) windows.keep(Buffer.from(`w/${at}/a`), value);
  windows.release();
}

test('partitions that are restored in turn use the same memory, which the last returns', async () => {
  const bytes = () => process.memoryUsage().arrayBuffers;
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
