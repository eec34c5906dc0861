import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compilePointRecords } from '../../../src/codecs/points/point-records.ts';
import { ServiceError } from '../../../src/ops/service-error.ts';
import { Poller } from '../../../src/pipelines/poll/poller.ts';
import { readRangeAnswer } from '../../../src/pipelines/poll/range-answer.ts';
import { fc } from '../../fixture/fast-check.ts';
import { recordMapping } from '../../fixture/stream/record-mapping.ts';
import { MemoryBroker } from '../../fixture/stream-log/memory-log.ts';

const MIN = 60_000;
const BEGIN = 1_767_225_600_000;
const HOURS = 20;
const TOPICS = {
  observations: 'input',
  scores: 'input',
  events: 'input',
  changelog: 'positions',
  deadLetters: 'input',
};
const recordsOf = compilePointRecords({ mapping: recordMapping({ futureMsMax: null }), groupPathOf: () => null });

const source = (name: string, stepMs: number) => ({
  name,
  url: 'http://prometheus:9090',
  query: name,
  stepMs,
  delayMs: 30_000,
  historyMs: HOURS * 60 * MIN,
  headers: {},
});
const SOURCES = [source('a', MIN), source('b', 5 * MIN)];

/** What goes wrong at a request or before a commit. */
const trouble = fc.constantFrom(
  'nothing',
  'nothing',
  'nothing',
  'away',
  'partial',
  'large',
  'before',
  'after',
  'kill',
  'second',
);

test('whatever fails, whenever pollers end or take over: each step of each source is written once, in its order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(trouble, { maxLength: 40 }), async (troubles) => {
      const broker = new MemoryBroker(TOPICS, 1);
      const left = [...troubles];
      const killed = troubles.includes('kill') || troubles.includes('second');
      let nowMs = BEGIN + HOURS * 60 * MIN;
      const endMs = nowMs + 30 * MIN;
      const running = new Set<Promise<void>>();
      const begin = (): void => {
        const stop = new AbortController();
        const poller = new Poller({
          sources: SOURCES,
          log: broker.openLog(),
          positionsTopic: TOPICS.changelog,
          inputTopic: TOPICS.observations,
          partitioner: async () => () => 0,
          recordsOf: () => recordsOf,
          nowMs: () => nowMs,
          async wait(ms) {
            await new Promise<void>((resolve) => void setImmediate(resolve));
            nowMs += ms;
            if (nowMs > endMs) stop.abort();
          },
          reports: { written() {}, behind() {}, failed() {}, annotated() {}, acceptedPartial() {}, log() {} },
          rangesOf: () => async (request) => {
            const next = left.shift() ?? 'nothing';
            if (next === 'before' || next === 'after') broker.failNextCommit(next);
            if (next === 'kill') {
              stop.abort();
              begin();
            }
            if (next === 'second') begin();
            if (next === 'away') return { kind: 'failed', detail: 'away' };
            if (next === 'large') return { kind: 'too-large', detail: 'large' };
            const values: [number, string][] = [];
            for (let ms = request.fromMs; ms <= request.toMs; ms += request.stepMs) values.push([ms / 1_000, '1']);
            const data = { resultType: 'matrix', result: [{ metric: {}, values }] };
            const warnings = next === 'partial' ? ['a part'] : [];
            return readRangeAnswer(200, JSON.stringify({ status: 'success', data, warnings }), request);
          },
        });
        const run = poller.run(stop.signal).catch((error: unknown) => {
          assert.ok(error instanceof ServiceError && error.code === 'fenced', String(error));
        });
        running.add(run);
      };
      begin();
      for (const run of running) await run;
      const times = new Map<string, number[]>();
      for (const { value } of broker.read(TOPICS.observations, 0)) {
        const { series, timestamp } = JSON.parse(String(value)) as { series: string; timestamp: number };
        times.set(series, [...(times.get(series) ?? []), timestamp]);
      }
      for (const { name, stepMs } of SOURCES) {
        const found = times.get(name) ?? [];
        // A poller that was killed before its first commit left nothing behind: the next one begins by its own clock.
        assert.ok(found[0] >= BEGIN && found[0] <= BEGIN + (killed ? 30 * MIN : 0));
        assert.ok((found.at(-1) ?? 0) >= endMs - 30_000 - stepMs);
        const expected = found.map((_, i) => found[0] + i * stepMs);
        assert.deepEqual(found, expected);
      }
    }),
    { numRuns: 60 },
  );
});
