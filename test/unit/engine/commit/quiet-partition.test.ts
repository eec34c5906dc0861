import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settingsDigest } from '../../../../src/config/config.ts';
import { DetectorTimes } from '../../../../src/engine/arrival/detector-times.ts';
import { QuietPartition } from '../../../../src/engine/commit/quiet-partition.ts';
import { PartitionState } from '../../../../src/engine/state/partition-state.ts';
import { loadedDetector } from '../../../../src/engine/unit/loaded-detector.ts';
import { arithmeticForecaster } from '../../../fixture/models/arithmetic-forecaster.ts';
import { recordingSink } from '../../../fixture/stream/recording-sink.ts';
import { detectorConfig, START_MS, STEP_MS, streamSettings } from '../../../fixture/stream/stream-run.ts';

const { signal } = new AbortController();
const config = detectorConfig({ settings: streamSettings({ context: 300, gapLimit: 300, silenceAfter: 5 }) });
const model = { forecaster: arithmeticForecaster(), digest: 'arithmetic' };
const loaded = loadedDetector(config, model, settingsDigest(config));

/** Partition 0 has two series that have stopped; partition 1 may go on with others of their detector. */
async function stoppedPartition() {
  let nowMs = 0;
  let end: { answers: number } | null = { answers: 0 };
  let answering = true;
  const times = new DetectorTimes(() => nowMs);
  const state = new PartitionState({ topic: 'observations', partition: 0 }, 10);
  const sink = recordingSink();
  let offset = 0;
  const observationOf = (series: string, step: number) => {
    const timestampMs = START_MS + step * STEP_MS;
    const record = { partition: 0, offset: offset++, timestampMs, key: null, value: null };
    return { series, group: null, timestampMs, value: step % 3, record, loaded };
  };
  const send = async (steps: readonly number[]) => {
    const sent = steps.flatMap((step) => [observationOf('a', step), observationOf('b', step)]);
    await state.score(sent, sink, signal);
    times.reach(0, sent, state.watermark.ms);
    quiet.reset();
  };
  const quiet = new QuietPartition({ partition: 0, nowMs: () => nowMs, times, inputEnd: () => end });
  /** As the task of the partition, which asks again once the log has answered. */
  const look = async () => {
    for (let turns = 0; turns < 20; turns++) {
      if (end !== null && answering) end.answers++;
      if (quiet.waitMs !== null && quiet.waitMs <= 0) await quiet.report(state, { offset, sink }, signal);
    }
  };
  await send(Array.from({ length: 40 }, (_, step) => step));
  await look();
  let othersMs = START_MS + 39 * STEP_MS;
  /** Half a minute after half a minute, in which others have so many steps a minute. */
  const pass = async (minutes: number, stepsAMinute = 1) => {
    for (let half = 0; half < 2 * minutes; half++) {
      nowMs += STEP_MS / 2;
      othersMs += (stepsAMinute * STEP_MS) / 2;
      const other = { ...observationOf('c', 0), timestampMs: othersMs };
      if (stepsAMinute > 0) times.reach(1, [other], othersMs);
      await look();
    }
  };
  const setEnd = (next: 'away' | 'silent' | 'read') => {
    if (next === 'away') end = null;
    else end ??= { answers: 0 };
    answering = next === 'read';
  };
  const shiftOthers = (steps: number) => {
    othersMs += steps * STEP_MS;
  };
  const silent = () => sink.states.filter((one) => one === 'silent').length;
  return { send, pass, look, setEnd, shiftOthers, silent, quiet };
}

test('series are silent one by one while their detector continues in other partitions', async () => {
  const { pass, silent } = await stoppedPartition();
  await pass(5);
  assert.equal(silent(), 0);
  await pass(2);
  assert.equal(silent(), 2);
  await pass(20);
  assert.equal(silent(), 2);
});

test('where the others stop soon after, it is one pause', async () => {
  const { pass, silent, quiet } = await stoppedPartition();
  await pass(3);
  await pass(30, 0);
  assert.equal(silent(), 0);
  assert.equal(quiet.waitMs, null);
});

test('a partition that cannot be read has no silent series, and has time to show them once it can', async () => {
  for (const how of ['away', 'silent'] as const) {
    const { pass, send, setEnd, silent } = await stoppedPartition();
    await pass(2);
    setEnd(how);
    await pass(60);
    assert.equal(silent(), 0, how);
    setEnd('read');
    await pass(4);
    assert.equal(silent(), 0, `${how}, then read`);
    await send([40]);
    await pass(5);
    assert.equal(silent(), 0, `${how}, then with a record`);
    await pass(3);
    assert.equal(silent(), 2, `${how}, then stopped`);
  }
});

test('a failure between two looks counts, too', async () => {
  const { pass, setEnd, silent } = await stoppedPartition();
  await pass(5);
  setEnd('away');
  setEnd('read');
  await pass(5);
  assert.equal(silent(), 0);
});

test('a partition whose source is late, or early, is not silent for that', async () => {
  for (const steps of [600, -600]) {
    const { pass, send, shiftOthers, silent } = await stoppedPartition();
    shiftOthers(steps);
    await pass(4);
    assert.equal(silent(), 0, `${steps}`);
    await send([40]);
    await pass(4);
    assert.equal(silent(), 0, `${steps}`);
    await pass(4);
    assert.equal(silent(), 2, `${steps}`);
  }
});

test('where the others catch up no series is silent before it is due by the clock', async () => {
  const { pass, silent } = await stoppedPartition();
  await pass(5, 600);
  assert.equal(silent(), 0);
});
