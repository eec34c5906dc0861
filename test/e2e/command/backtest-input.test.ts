import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { startCommand } from '../../fixture/command.ts';
import { freshFolder } from '../../fixture/fresh-folder.ts';

test('a backtest drops the labels that the input drops, as the stream does', async () => {
  const folder = freshFolder();
  const [csv, out, file] = ['pair.csv', 'scores.csv', 'detectors.yaml'].map((name) => join(folder, name));
  const lines = Array.from({ length: 80 }, (_, i) => {
    const id = `"up{job=""web"",replica=""${i % 2 === 0 ? 'a' : 'b'}""}"`;
    return `${id},${1_767_225_600_000 + i * 60_000},${i % 5}`;
  });
  await writeFile(csv, `series,timestamp,value\n${lines.join('\n')}\n`);
  await writeFile(
    file,
    'input: { drop_labels: replica }\ndetectors: [{ name: all, series: "*", freq: min, h: 4, detection_size: 4 }]\n',
  );
  const command = startCommand(['backtest', csv, '--detectors', file, '--out', out], { INFERENCE_THREADS: '1' });
  assert.equal(await command.exitCode, 0, command.err.join('\n'));
  const rows = (await readFile(out, 'utf8')).trim().split('\n').slice(1);
  assert.equal(rows.length, 80);
  assert.ok(rows.every((row) => row.startsWith('"up{job=""web""}",')));
});
