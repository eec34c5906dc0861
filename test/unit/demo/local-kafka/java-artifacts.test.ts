import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fetchOnce } from '../../../../src/demo/local-kafka/java-artifacts.ts';
import { freshFolder } from '../../../fixture/fresh-folder.ts';

test('artifacts are fetched on a machine whose cache folder does not exist yet, once', async () => {
  const folder = join(freshFolder(), 'cache', 'tidewatch', 'kafka-4.3.1');
  let fetches = 0;
  const fetch = async (target: string) => writeFileSync(join(target, 'kafka.jar'), String(++fetches));
  await fetchOnce(folder, fetch);
  await fetchOnce(folder, fetch);
  assert.equal(readFileSync(join(folder, 'kafka.jar'), 'utf8'), '1');
});
