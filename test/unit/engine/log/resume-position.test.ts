import assert from 'node:assert/strict';
import { planResume } from '../../../../src/engine/log/resume-position.ts';
import { type Fed, lines, type StreamRun, streamRun, TOPICS } from '../../../fixture/stream/stream-run.ts';
import { virtualTest as test } from '../../../fixture/virtual-time.ts';

const stored = { nextOffset: 10, topicId: 'a', watermark: null };

test('the later of the group offset and the state decides where reading continues', () => {
  const from = (committedOffset: number | null) => {
    const { offset, from: source } = planResume({ committedOffset, inputTopicId: 'a' }, stored);
    return [offset, source];
  };
  assert.deepEqual(from(null), [10, 'state']);
  assert.deepEqual(from(9), [10, 'state']);
  assert.deepEqual(from(10), [10, 'committed']);
  assert.deepEqual(from(11), [11, 'committed']);
});

test('without a stored position the group decides, and without both reading starts at the oldest record', () => {
  assert.equal(planResume({ committedOffset: 7, inputTopicId: 'a' }, null).offset, 7);
  assert.equal(planResume({ committedOffset: null, inputTopicId: 'a' }, null).offset, null);
});

test('the group offset ahead of the state skips the records between, and names them', () => {
  const resume = (committedOffset: number) => planResume({ committedOffset, inputTopicId: 'a' }, stored);
  assert.deepEqual(resume(13).skipped, { first: 10, last: 12, reason: 'records-skipped' });
  assert.equal(resume(10).skipped, null);
  assert.equal(resume(9).skipped, null);
});

test('another topic id starts over at the oldest record; an unknown one does not', () => {
  const other = planResume({ committedOffset: 12, inputTopicId: 'b' }, stored);
  assert.deepEqual([other.offset, other.from, other.topicId], [null, 'start-over', 'b']);
  assert.deepEqual(other.skipped, { first: 10, last: 10, reason: 'topic-recreated' });
  const unknown = planResume({ committedOffset: 10, inputTopicId: null }, stored);
  assert.deepEqual([unknown.from, unknown.topicId], ['committed', 'a']);
  assert.equal(planResume({ committedOffset: 10, inputTopicId: 'b' }, { ...stored, topicId: null }).from, 'committed');
});

const WINDOW = 4;

function append(run: StreamRun, series: string, from: number, to: number): void {
  run.feed(Array.from({ length: to - from }, (_, i): Fed => [series, from + i, (from + i) % 3]));
}

const restarts = (run: StreamRun) => run.total(({ restarted }) => restarted['topic-recreated'] ?? 0);

for (const [what, offset] of [
  ['lost', null],
  ['older', 5],
] as const) {
  test(`a group offset that is ${what} floods nothing as late: the state's position wins`, async () => {
    const run = streamRun();
    append(run, 's', 0, 20);
    await run.scoreAll();
    run.broker.moveOffset(0, offset);
    append(run, 's', 20, 24);
    const resumed: unknown[] = [];
    await run.scoreAll({}, { resumedFromState: (_: number, resume: unknown) => resumed.push(resume) });
    assert.deepEqual(resumed, [{ offset: 20, committedOffset: offset }]);
    assert.deepEqual(run.deadLetters(), []);
    assert.deepEqual(lines(run.scores(), 'position'), [...Array(24).keys()].map(String));
  });
}

test('a group offset that was moved ahead of the state is reported in the log, a metric and one dead letter, once', async () => {
  const run = streamRun();
  append(run, 's', 0, 20);
  await run.scoreAll();
  append(run, 's', 20, 28);
  run.broker.moveOffset(0, 23);
  const skipped: unknown[] = [];
  const events = { recordsSkipped: (_: number, range: unknown) => skipped.push(range) };
  await run.scoreAll({}, events);
  append(run, 's', 28, 30);
  await run.scoreAll({}, events);
  assert.deepEqual(skipped, [{ first: 20, last: 22, reason: 'records-skipped' }]);
  const actual = run.deadLetters().map(({ reason, input }) => [reason, input]);
  assert.deepEqual(actual, [
    ['records-skipped', { topic: TOPICS.observations, partition: 0, offset: 20, lastOffset: 22, timestampMs: -1 }],
  ]);
  assert.deepEqual(
    run.scores().map(({ input, position }) => [input.offset, position]),
    [...Array(20).keys(), 23, 24, 25, 26, 27, 28, 29].map((offset) => [offset, offset]),
    'the steps between are missing values of the series',
  );
  assert.deepEqual([run.total('skippedRanges'), run.total('skippedOffsets')], [1, 3]);
});

test('a topic recreated while no worker runs starts over and reports it, also after a further restore', async () => {
  const run = streamRun();
  append(run, 's', 0, 20);
  append(run, 'other', 0, 20);
  await run.scoreAll();
  run.broker.recreateInput();
  append(run, 's', 30, 32);
  const recreated: number[] = [];
  await run.scoreAll({}, { topicRecreated: (_: number, units: number) => recreated.push(units) });
  assert.deepEqual(recreated, [2]);
  assert.deepEqual(run.letters('offset'), ['topic-recreated 40']);
  append(run, 'other', 30, 31);
  append(run, 's', 32, 33);
  await run.scoreAll();
  const after = lines(run.scores().slice(40), 'series', 'position', 'restarted');
  assert.deepEqual(after, ['s 0 true', 's 1 false', 'other 0 true', 's 2 false']);
  assert.equal(restarts(run), 2);
  const newest = new Map(run.broker.read(TOPICS.changelog, 0).map(({ key, value }) => [String(key), value]));
  const windows = [...newest].filter(([key, value]) => key.startsWith('w/') && value !== null);
  assert.deepEqual(windows, [], 'closed windows of the old topic are deleted');
});

test('a changelog recreated under a worker has a part of the state: its series start over and report it, once', async () => {
  const run = streamRun();
  for (const series of ['s', 'other']) append(run, series, 0, 20);
  const worker = await run.start();
  await run.settled();
  run.broker.recreateChangelog();
  append(run, 's', 20, 26);
  await run.settled();
  await worker.stop();
  const recreated: number[] = [];
  for (const [start, end] of [
    [26, 28],
    [28, 30],
  ]) {
    for (const series of ['s', 'other']) append(run, series, start, end);
    await run.scoreAll({}, { topicRecreated: (_: number, units: number) => recreated.push(units) });
  }
  assert.deepEqual(recreated, [1]);
  assert.deepEqual(run.deadLetters(), []);
  const positions = (name: string) => run.scores().flatMap(({ series, position }) => (series === name ? position : []));
  assert.deepEqual(positions('s'), [...Array(26).keys(), 0, 1, 2, 3]);
  assert.deepEqual(positions('other'), [...Array(20).keys(), 0, 1, 2, 3]);
  assert.equal(restarts(run), 1);
});

test('a topic recreated under a worker: what was read of the old one is committed, then the state starts over', async () => {
  const run = streamRun();
  append(run, 's', 0, 3 * WINDOW);
  const log = run.broker.openLog();
  let deliver: (() => void) | null = null;
  const subscribe: typeof log.subscribe = (handlers) => {
    deliver = () => {
      run.broker.recreateInput();
      const skipped = { first: 12, last: 12, reason: 'topic-recreated' } as const;
      const place = { partition: 0, offset: -1, timestampMs: -1, key: null, value: null };
      handlers.onRecords(0, [{ ...place, skipped }], 0);
    };
    return log.subscribe(handlers);
  };
  const worker = await run.start({ log: { ...log, subscribe } });
  await run.settled();
  deliver!();
  append(run, 's', 30, 31);
  while (run.scores().length < 13) await new Promise((resolve) => setTimeout(resolve, 2));
  await worker.stop();
  const [last] = run.scores().slice(12);
  assert.deepEqual([last.position, last.restarted, last.input.offset], [0, true, 0]);
  assert.deepEqual(lines(run.deadLetters(), 'reason'), ['topic-recreated']);
});
