import assert from 'node:assert/strict';
import { kafkaTest } from '../../fixture/kafka/kafka.ts';
import { runFaults } from './fault-run.ts';

/** About 90 seconds with the start of the brokers and the retention that overtakes the group. */
const MINUTES = 0.6;
/** Begins with a worker that is killed. `npm run fault` chooses others. */
const SEED = 0;

kafkaTest('through faults of workers, brokers and links nothing is lost, twice or different', async (t) => {
  const figures = await runFaults({ minutes: MINUTES, perSecond: 300, seed: SEED, log: (text) => t.diagnostic(text) });
  t.diagnostic(`${figures.compared} outcomes compared in ${figures.cycles} cycles`);
  const { lost, twice, different, crashes, examples } = figures;
  assert.deepEqual(
    { lost, twice, different, crashes },
    { lost: 0, twice: 0, different: 0, crashes: [] },
    String(examples),
  );
  assert.ok(figures.cycles > 0 && figures.compared > 1_000 && figures.overtaken > 0);
});
