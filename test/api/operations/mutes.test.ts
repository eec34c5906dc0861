import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startOperations } from '../../fixture/history/fake-operations.ts';
import { anomalyEvent, batchOf, keptEvent } from '../../fixture/history/kept-records.ts';

const NOW = Date.UTC(2026, 4, 2, 12);
const UNTIL = NOW + 60_000;

async function start() {
  const clock = { nowMs: NOW };
  return { clock, ...(await startOperations(() => clock.nowMs)) };
}

test('series and detectors are muted until a time, listed with who did it, and their events are shown as muted', async () => {
  const { operations, clock, send } = await start();
  const ids = ['a', 'b', 'c'].map((letter) => letter.repeat(32));
  const events = ['cpu{host="web-1"}', 'cpu{host="web-2"}', 'load'].map((series, i) => {
    return keptEvent(i, anomalyEvent(ids[i], { series, detector: i === 2 ? 'loads' : 'hosts' }));
  });
  await operations.history.append(batchOf({ events }));
  const labels = { match: '{host="web-1"}', until: UNTIL, reason: 'move' };
  const { status, body: mute } = await send('POST', '/v1/mutes', labels);
  assert.equal(status, 200);
  const { id, ...made } = mute;
  assert.deepEqual(made, { ...labels, detector: null, at: NOW, by: 'ann', ended: null });
  clock.nowMs += 1;
  assert.deepEqual((await send('POST', '/v1/mutes', labels)).body, mute, 'the same mute again is the one that holds');
  clock.nowMs = NOW;
  await send('POST', '/v1/mutes', { detector: 'load*', until: UNTIL + 1, reason: 'known' });
  const mutedBy = async () => {
    const { events: shown } = (await send('GET', '/v1/events')).body;
    return ids.map((eventId) => shown.find((event: typeof mute) => event.eventId === eventId).muted?.reason ?? null);
  };
  assert.deepEqual(await mutedBy(), ['move', null, 'known']);
  const one = (await send('GET', `/v1/events/${ids[0]}`)).body;
  assert.deepEqual(one.muted, { at: NOW, by: 'ann', until: UNTIL, reason: 'move', mute_id: id });
  assert.deepEqual((await send('DELETE', `/v1/mutes/${id}`)).body.ended, { at: NOW, by: 'ann' });
  assert.equal((await send('DELETE', `/v1/mutes/${id}`)).status, 404);
  assert.deepEqual(await mutedBy(), [null, null, 'known']);
  clock.nowMs = UNTIL + 1;
  assert.deepEqual(await mutedBy(), [null, null, null]);
  assert.deepEqual((await send('GET', '/v1/mutes')).body, { mutes: [] });
  const ended = (await send('GET', '/v1/mutes?ended=true')).body.mutes;
  const reasons = ended.map(({ reason }: { reason: string }) => reason);
  assert.deepEqual(reasons, ['known', 'move']);
});

test('a mute that names nothing, a wrong pattern or a past end is refused with its field', async () => {
  const { send } = await start();
  for (const [body, field] of [
    [{ until: UNTIL, reason: 'x' }, 'match'],
    [{ match: '{host=}', until: UNTIL, reason: 'x' }, 'match'],
    [{ match: '', until: UNTIL, reason: 'x' }, 'match'],
    [{ match: 'a', until: NOW, reason: 'x' }, 'until'],
    [{ match: 'a', until: 9e15, reason: 'x' }, 'until'],
    [{ match: 'a', until: 1e20, reason: 'x' }, 'until'],
    [{ match: ' ', until: UNTIL, reason: 'x' }, 'match'],
    [{ match: 'a', until: UNTIL, reason: ' ' }, 'reason'],
    [{ match: 'a', until: UNTIL }, 'reason'],
    [{ match: 'a', until: UNTIL, reason: 'x', labels: {} }, 'labels'],
  ] as const) {
    const { status, body: problem } = await send('POST', '/v1/mutes', body);
    assert.equal(status, 422, JSON.stringify(body));
    assert.equal(problem.detail[0].loc[1], field, JSON.stringify(problem));
  }
});
