/** Changelogs as releases wrote them. Later versions must restore each of them and continue to the recorded scores. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { STATE_FORMAT } from '../../src/checkpoint/state-bytes.ts';
import { type GoldenChangelogRecord, goldenNames, hasGolden, readGolden } from './changelog/golden-file.ts';
import { continueFrom, makeGolden } from './changelog/golden-run.ts';
import { SCENARIOS } from './changelog/scenarios.ts';

for (const { format, name } of goldenNames()) {
  test(`a restored changelog of format ${format} continues to the recorded scores: ${name}`, async () => {
    const golden = readGolden(format, name);
    const scores = await continueFrom(golden);
    assert.deepEqual(scores, golden.scores);
    assert.ok(scores.some(({ state }) => state === 'scored'));
  });
}

/** Kinds of whole entries in a delta log: those of format 5, which the golden files hold, and those of format 4. */
const KINDS_OF_FORMAT_4 = new Map([
  [11, 8],
  [12, 9],
]);

/** The changelog with the open states of its first record of its delta log declared as format 4. */
function withEarlierStates(changelog: readonly GoldenChangelogRecord[]): GoldenChangelogRecord[] {
  return changelog.map(([key, value]) => {
    if (!key.startsWith('j') || value === null) return [key, value];
    const bytes = Buffer.from(value, 'base64');
    for (let at = 1; at < bytes.length; at += 4 + bytes.readUInt32LE(at)) {
      bytes[at + 4] = KINDS_OF_FORMAT_4.get(bytes[at + 4]) ?? bytes[at + 4];
    }
    return [key, bytes.toString('base64')];
  });
}

test('series whose open state precedes the formats that are read start over, and their next scores report it', async () => {
  const golden = readGolden(5, 'plain');
  const scores = await continueFrom({ ...golden, changelog: withEarlierStates(golden.changelog) });
  const first = scores.find(({ series }) => series === 'steady');
  assert.deepEqual([first?.position, first?.restarted], [0, true]);
});

for (const [name, scenario] of Object.entries(SCENARIOS)) {
  test(`the present format has a golden changelog, written byte for byte, and a restore changes no score: ${name}`, async () => {
    assert.ok(hasGolden(STATE_FORMAT, name), '`npm run generate -- golden`, and commit the new files');
    const golden = readGolden(STATE_FORMAT, name);
    assert.deepEqual(await makeGolden(scenario), golden);
  });
}
