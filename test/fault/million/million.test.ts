import assert from 'node:assert/strict';
import { run } from '../../bench/million/run.ts';
import { freshFolder } from '../../fixture/fresh-folder.ts';
import { kafkaTest } from '../../fixture/kafka/kafka.ts';

kafkaTest('a seeded fleet is scored as backtest scores it, over a killed worker and a stop of the broker', async () => {
  const folder = freshFolder();
  const seeded = await run(['--part', 'seed', '--series', '640', '--folder', folder]);
  assert.equal(seeded.series, 640);
  const figures = await run(['--part', 'kill', '--minutes', '0.2', '--per-second', '320', '--folder', folder]);
  const { scores, lost, twice, different, not_compared, crashes } = figures;
  assert.deepEqual(
    { scores, lost, twice, different, not_compared, crashes },
    { scores: 3_840, lost: 0, twice: 0, different: 0, not_compared: 0, crashes: 0 },
  );
  assert.equal(figures.compared, 48);
});
