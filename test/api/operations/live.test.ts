import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { KEY_CACHED_MS } from '../../../src/api/accounts/keys/key-ring.ts';
import { READERS_OF_OWNER_MAX } from '../../../src/api/operations/live-readers.ts';
import { consoleFiles } from '../../../src/console/page-files.ts';
import { fakeOperations } from '../../fixture/history/fake-operations.ts';
import { anomalyEvent, keptScore } from '../../fixture/history/kept-records.ts';
import { ask } from '../../fixture/http/ask.ts';
import { AUTHORIZED, startApp } from '../../fixture/http/http-service.ts';
import { incident } from '../../fixture/incidents/incident.ts';
import { until } from '../../fixture/until.ts';

async function start(clock = { nowMs: 0 }) {
  const operations = await fakeOperations();
  const nowMs = () => clock.nowMs;
  const app = await startApp(undefined, { operations, consolePage: consoleFiles(), key: { role: 'admin' }, nowMs });
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  const read = async (query = '', headers: Readonly<Record<string, string>> = AUTHORIZED) => {
    const [answer] = (await once(get(`${url}/v1/live${query}`, { headers: { ...headers } }), 'response')) as [
      IncomingMessage,
    ];
    const received = { text: '', ended: false };
    answer.setEncoding('utf8').on('data', (text: string) => {
      received.text += text;
    });
    answer.once('close', () => {
      received.ended = true;
    });
    return { answer, received };
  };
  return { app, operations, read };
}

/** The messages of a kind, parsed. */
function messages(text: string, kind: string) {
  return [...text.matchAll(/^event: (\w+)\ndata: (.*)\n\n/gm)].flatMap(([, event, data]) =>
    event === kind ? [JSON.parse(data)] : [],
  );
}

test('a reader gets the worst series of each second, the scores of the one it follows, and events', async () => {
  const { app, operations, read } = await start();
  const { answer, received } = await read('?limit=2&series=b');
  assert.match(String(answer.headers['content-type']), /^text\/event-stream/);
  await until('it is subscribed', () => operations.listeners.size === 1);
  assert.deepEqual([...operations.listeners.values()], ['b']);
  const newest = ['a', 'b', 'c'].map((series, i) => keptScore(i, { series, grade: i / 4 }));
  const followed = [keptScore(1, { series: 'b' }), keptScore(2, { series: 'other' })];
  operations.send({ observations: 5, alarms: 1, newest, followed, events: [anomalyEvent('e')] });
  await until('the event is there', () => messages(received.text, 'event').length === 1);
  const [score] = messages(received.text, 'score');
  assert.deepEqual([score.observations, score.alarms, score.series_observed], [5, 1, 3]);
  const actual = score.series.map(({ series: id }: { series: string }) => id);
  assert.deepEqual(actual, ['c', 'b']);
  const [series] = messages(received.text, 'series');
  assert.deepEqual([series.series, series.scores.length], ['b', 1]);
  assert.equal(messages(received.text, 'event')[0].eventId, 'e');
  answer.destroy();
  await until('it is gone', () => operations.listeners.size === 0);
  await app.close();
});

test('a reader gets the series and events whose labels it asks for, while another one reads', async () => {
  const { app, operations, read } = await start();
  const [chosen, every] = [await read(`?match=${encodeURIComponent('{job="a"}')}`), await read()];
  await until('both are subscribed', () => operations.listeners.size === 2);
  const newest = ['up{job="a"}', 'up{job="b"}'].map((series, i) => keptScore(i, { series }));
  const group = anomalyEvent('g', { series: null, group: 'g', members: [{ series: 'up{job="a"}', share: 1 }] });
  const events = [anomalyEvent('other'), anomalyEvent('short', { series: 's', seriesLabels: { job: 'a' } }), group];
  const began = { ...incident().events[0], series: 'up{job="a"}' };
  const incidents = [incident({ incidentId: 'a', origins: [], events: [began] }), incident({ incidentId: 'b' })];
  operations.send({ newest, events, incidents });
  await until('both have read', () =>
    [chosen, every].every(({ received }) => messages(received.text, 'incident').length > 0),
  );
  const [score] = messages(chosen.received.text, 'score');
  assert.deepEqual([score.series_observed, score.series[0].series], [1, 'up{job="a"}']);
  const ids = ({ received }: typeof chosen) => messages(received.text, 'event').map(({ eventId }) => eventId);
  assert.deepEqual(ids(chosen), ['short', 'g']);
  assert.deepEqual(ids(every), ['other', 'short', 'g']);
  const incidentsOf = ({ received }: typeof chosen) =>
    messages(received.text, 'incident').map(({ incidentId }) => incidentId);
  assert.deepEqual([incidentsOf(chosen), incidentsOf(every)], [['a'], ['a', 'b']]);
  await app.close();
});

test('a reader that does not keep up is dropped with a notice; others stay', async () => {
  const { app, operations, read } = await start();
  const [slow, quick] = [await read('?limit=1000'), await read('?limit=1')];
  await until('both are subscribed', () => operations.listeners.size === 2);
  slow.answer.pause();
  const newest = Array.from({ length: 1_000 }, (_, i) => keptScore(i, { series: `${i} ${'x'.repeat(500)}` }));
  await until('one is dropped', () => {
    operations.send({ newest });
    return operations.listeners.size === 1;
  });
  operations.send({ observations: 77 });
  await until('the other reads on', () => messages(quick.received.text, 'score').at(-1)?.observations === 77);
  assert.equal(slow.received.ended, false);
  slow.answer.resume();
  await until('the slow one has ended', () => slow.received.ended);
  quick.answer.destroy();
  await app.close();
});

test('readers of live do not hold up the end of the service', async () => {
  const { app, operations, read } = await start();
  const { received } = await read();
  await until('it is subscribed', () => operations.listeners.size === 1);
  await app.close();
  await until('the reader is notified', () => received.ended);
  assert.equal(messages(received.text, 'notice')[0].reason, 'ending');
});

const SITE = { host: 'watch.example', origin: 'http://watch.example', 'sec-fetch-site': 'same-origin' };

for (const change of ['revocation', 'change of role', 'sign-out', 'end of all sessions'] as const) {
  test(`live ends at the ${change} of its reader, and others read on`, async () => {
    const clock = { nowMs: 0 };
    const { app, read } = await start(clock);
    const made = (await ask(app, '/v1/keys', { name: 'reader', role: 'operator' })).body;
    const bearer = { authorization: `Bearer ${made.key}` };
    const { cookies } = await app.inject({ method: 'POST', url: '/console/session', headers: { ...SITE, ...bearer } });
    const session = { ...SITE, cookie: `${cookies[0].name}=${cookies[0].value}` };
    const [own, bySession, byKey] = [await read(), await read('', session), await read('', bearer)];
    const ending = (url: string) => app.inject({ method: 'DELETE', url, headers: session });
    if (change === 'revocation') await ask(app, `/v1/keys/${made.id}/revoke`, {});
    if (change === 'change of role') await ask(app, `/v1/keys/${made.id}/role`, { role: 'viewer' });
    if (change === 'sign-out') await ending('/console/session');
    if (change === 'end of all sessions') await ending('/v1/sessions');
    clock.nowMs += KEY_CACHED_MS;
    await until('it has ended', () => bySession.received.ended);
    const ofKey = change === 'revocation' || change === 'change of role';
    if (ofKey) await until('that of the key, too', () => byKey.received.ended);
    assert.equal(messages(bySession.received.text, 'notice')[0].reason, 'not-admitted');
    assert.deepEqual([own.received.ended, byKey.received.ended], [false, ofKey]);
    own.answer.destroy();
    byKey.answer.destroy();
    await app.close();
  });
}

test('one owner has a share of the places of live, and leaves others theirs', async () => {
  const { app, read } = await start();
  const { body } = await ask(app, '/v1/keys', { name: 'other', role: 'viewer' });
  const reading = await Promise.all(Array.from({ length: READERS_OF_OWNER_MAX }, () => read()));
  const { answer } = await read();
  assert.deepEqual([answer.statusCode, answer.headers['retry-after']], [429, '5']);
  const other = await read('', { authorization: `Bearer ${body.key}` });
  assert.equal(other.answer.statusCode, 200);
  reading[0].answer.destroy();
  await until('its place is free', async () => {
    const next = await read();
    next.answer.destroy();
    return next.answer.statusCode === 200;
  });
  for (const { answer: open } of [...reading, other]) open.destroy();
  await app.close();
});
