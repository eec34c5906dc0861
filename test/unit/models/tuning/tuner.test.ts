import assert from 'node:assert/strict';
import { readdir, symlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { openCatalog } from '../../../../src/models/catalog.ts';
import { Tuner } from '../../../../src/models/tuning/tuner.ts';
import type { TuningRequest } from '../../../../src/models/tuning/tuning-bytes.ts';
import { freshFolder } from '../../../fixture/fresh-folder.ts';

const catalog = await openCatalog({ modelsDir: null });
const models = catalog.names.map(catalog.get);
/** Nobody waits for the answers of these tests. */
const PATIENT = { answerMsMax: Number.POSITIVE_INFINITY };
const tuner = new Tuner(models, PATIENT);
after(() => tuner.close());

const request: TuningRequest = {
  series: [Float64Array.from({ length: 800 }, (_, t) => Math.sin((2 * Math.PI * t) / 17.3))],
  horizon: 24,
  contexts: [512],
  steps: 2,
  loss: 'default',
  depth: 1,
};
const never = new AbortController().signal;
const call = { model: models[0].name, base: null, request, signal: never };

test('an aborted tuning is stopped, and the next one runs', async () => {
  const stop = new AbortController();
  const steps: number[] = [];
  const onStep = (step: number) => {
    steps.push(step);
    if (step > 0) stop.abort(new Error('not wanted any more'));
  };
  const endless = { ...request, steps: 1_000_000 };
  await assert.rejects(tuner.tune({ ...call, request: endless, signal: stop.signal, onStep }), /not wanted any more/);
  assert.deepEqual(steps.slice(0, 2), [0, 1]);
  assert.equal((await tuner.tune({ ...call, request: { ...request, steps: 1 } })).kind, 'tuned');
});

test('a tuning beyond the limit of time or memory is stopped, and the outcome names the limit', async () => {
  const endless = { ...request, steps: 1_000_000 };
  for (const [limits, kind] of [
    [{ tuningMsMax: 1 }, 'too-long'],
    [{ memoryMbMax: 1 }, 'too-large'],
  ] as const) {
    const limited = new Tuner(models, { ...PATIENT, ...limits });
    assert.deepEqual(await limited.tune({ ...call, request: endless }), { kind });
    await limited.close();
  }
});

test('a tuning beyond the queue is rejected as retryable', async () => {
  const limited = new Tuner(models, { ...PATIENT, waitingMax: 0 });
  const stop = new AbortController();
  const endless = limited.tune({ ...call, request: { ...request, steps: 1_000_000 }, signal: stop.signal });
  await assert.rejects(limited.tune(call), { code: 'overloaded', retryable: true });
  stop.abort(new Error('enough'));
  await assert.rejects(endless, /enough/);
  await limited.close();
});

test('a tuning that its client would not wait for is refused by its first steps, and then at once', async () => {
  const limited = new Tuner(models, { answerMsMax: 2_000 });
  const long = { ...call, request: { ...request, steps: 5_000 } };
  const steps: number[] = [];
  const first = await limited.tune({ ...long, onStep: (step) => void steps.push(step) });
  assert.equal(first.kind, 'too-late');
  assert.ok(first.kind === 'too-late' && first.ms > 2_000 && steps.at(-1)! <= 1_000);
  let begun = false;
  const again = await limited.tune({ ...long, onStep: () => (begun = true) });
  assert.deepEqual([again.kind, again.kind === 'too-late' && again.busy, begun], ['too-late', false, false]);
  await limited.close();
});

test('a tuning that would wait too long for others is rejected at once, as retryable', async () => {
  const startedMs = performance.now();
  await tuner.tune(call);
  // One alone is in time, and so are a few of them, also where the machine is busy; all of them are not.
  const answerMsMax = 50 * (performance.now() - startedMs);
  const limited = new Tuner(models, { answerMsMax, waitingMax: 1_000 });
  await limited.tune(call);
  const stop = new AbortController();
  const all = Array.from({ length: 1_000 }, () => limited.tune({ ...call, signal: stop.signal }));
  const settled = Promise.allSettled(all);
  stop.abort(new Error('enough'));
  const messages = (await settled).map((each) => (each.status === 'rejected' ? (each.reason as Error).message : ''));
  assert.equal(messages[0], 'enough');
  assert.match(messages[999], /^a tuning would wait \d+ s for others/);
  await limited.close();
});

test('close aborts the running tuning and those in the queue', async () => {
  const closing = new Tuner(models, PATIENT);
  const both = [1, 2].map(() => closing.tune({ ...call, request: { ...request, steps: 1_000_000 } }));
  const settled = Promise.allSettled(both);
  await closing.close();
  for (const one of await settled) assert.equal(one.status, 'rejected');
});

test('weights that could not be read are read again by the next tuning', async (t) => {
  const folder = freshFolder();
  const [{ graphPath, manifest }] = models;
  assert.ok(manifest.tuning !== null);
  const missing = manifest.tuning.source.graph;
  const link = (name: string) => symlink(join(dirname(graphPath), name), join(folder, name));
  const names = await readdir(dirname(graphPath));
  await Promise.all(names.filter((name) => name !== missing).map(link));
  const moved = new Tuner([{ ...models[0], graphPath: join(folder, basename(graphPath)) }]);
  t.after(() => moved.close());
  const short = { ...call, request: { ...request, steps: 1 } };
  await assert.rejects(moved.tune(short), /ENOENT/);
  await link(missing);
  assert.equal((await moved.tune(short)).kind, 'tuned');
});
