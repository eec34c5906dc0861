import assert from 'node:assert/strict';
import { test } from 'node:test';
import { processorClock } from '../../../src/models/processor-clock.ts';

const TICK = 4_000;

/** Readings of a thread that runs for `run` microseconds and sleeps, again and again: whole ticks, until it sleeps. */
function runsOf(run: number) {
  let time = 0;
  let shown = 0;
  return {
    read: () => ({ user: shown, system: 0 }),
    run() {
      shown = time + Math.floor(run / TICK) * TICK;
      time += run;
    },
    sleep() {
      shown = time;
    },
  };
}

test('runs that are shorter than a tick of the scheduler are not lost: each is counted with the next one', () => {
  const thread = runsOf(700);
  const sinceLastMs = processorClock(thread.read);
  const runs = Array.from({ length: 5 }, () => {
    thread.run();
    const ms = sinceLastMs();
    thread.sleep();
    return ms;
  });
  assert.deepEqual(runs, [0, 0.7, 0.7, 0.7, 0.7]);
});

test('a clock begins where it is made, and counts time of the system, too', () => {
  const reading = { user: 900_000, system: 50_000 };
  const sinceLastMs = processorClock(() => ({ ...reading }));
  reading.user += 3_000;
  reading.system += 500;
  assert.equal(sinceLastMs(), 3.5);
  assert.equal(sinceLastMs(), 0);
});
