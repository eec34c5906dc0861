import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { serveScores } from '../../../../../src/app/processes/prometheus/serve-scores.ts';
import { keptScore } from '../../../../fixture/history/kept-records.ts';
import { listening } from '../../../../fixture/http/listening.ts';

const SCORES = { port: 0, series: 'web*', seriesMax: 1 };

test('each scrape asks the history, what exceeds the limit is logged once, and a failing history fails it', async (t) => {
  const warnings: object[] = [];
  const asked: object[] = [];
  let total = 2;
  const reader = {
    async published(selection: object) {
      asked.push(selection);
      if (total === 0) throw new Error('the history is away');
      return { series: [{ ...keptScore(0), recent: [] }], seriesTotal: total, events: [], eventsTotal: 0 };
    },
  };
  const logger = { warn: (detail: object) => void warnings.push(detail) };
  const scores = await serveScores({ opsHost: '127.0.0.1', scores: SCORES }, { reader, logger });
  t.after(() => scores?.close());
  const scrape = async () => {
    const answer = await fetch(`${scores?.url}/metrics`);
    return { status: answer.status, type: answer.headers.get('content-type'), text: await answer.text() };
  };
  const first = await scrape();
  assert.deepEqual([first.status, first.type], [200, 'text/plain; version=0.0.4; charset=utf-8']);
  assert.match(first.text, /^tidewatch_grade\{detector="metrics",metric="a",instance="",job=""\} 0.25$/m);
  assert.match(first.text, /^tidewatch_scores_left_out\{what="series"\} 1$/m);
  await scrape();
  assert.deepEqual([warnings, asked[1]], [[{ series: 2, events: 0, limit: 1 }], { series: 'web*', limit: 1 }]);
  total = 1;
  await scrape();
  total = 2;
  await scrape();
  assert.equal(warnings.length, 2);
  total = 0;
  assert.equal((await scrape()).status, 500);
});

test('without a port nothing listens, and a port that is taken names its setting', async () => {
  const reader = { published: () => assert.fail('nothing is scraped') };
  const serve = (port: number | null) =>
    serveScores({ opsHost: '127.0.0.1', scores: { ...SCORES, port } }, { reader, logger: { warn: () => undefined } });
  assert.equal(await serve(null), null);
  const taken = await listening(createServer());
  await assert.rejects(serve(taken), { code: 'configuration', message: /SCORES_PORT/ });
});
