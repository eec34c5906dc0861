import assert from 'node:assert/strict';
import { historyTest, openedHistoryTest } from '../../fixture/history/histories.ts';
import {
  anomalyEvent,
  batchOf,
  EVERY_EVENT,
  EVERY_SERIES,
  keptEvent,
  keptScore,
  MINUTE_MS,
} from '../../fixture/history/kept-records.ts';

openedHistoryTest('series, groups and events are chosen by matchers of labels, or by a glob', async (history) => {
  const ids = [
    'up{instance="a:1",job="web-1"}',
    'up{instance="b:1",job="web-2"}',
    'up{job="db"}',
    'load{note="a \\"job=\\\\"}',
    'plant/line-7',
  ];
  const [one, two, db, load] = ids;
  const group = '{job="db"}';
  const events = [
    keptEvent(0, anomalyEvent('of one', { series: one })),
    keptEvent(1, anomalyEvent('of a group', { series: null, group, members: [{ series: two, share: 1 }] })),
  ];
  const scores = ids.map((series, i) => keptScore(i, { series, group: series === db ? group : null }));
  await history.append(batchOf({ scores, events }));
  const named = async (match: string) => {
    const { series, total } = await history.listSeries({ ...EVERY_SERIES, sort: 'name', match });
    assert.equal(series.length, total);
    return series.map((each) => each.series);
  };
  assert.deepEqual(await named('{job=~"web-.*"}'), [one, two]);
  assert.deepEqual(await named('{__name__="up", instance!~"a.*|b.*"}'), [db]);
  assert.deepEqual(await named('{instance="", job!=""}'), [db]);
  assert.deepEqual(await named('{note="a \\"job=\\\\"}'), [load]);
  assert.deepEqual(await named('plant/*'), ['plant/line-7']);
  assert.deepEqual(await named("x' OR 1=1 --"), []);
  const groups = async (match: string) => (await history.listGroups({ detector: null, match, limit: 9 })).length;
  assert.deepEqual([await groups('{job="db"}'), await groups('{job="web-1"}')], [1, 0]);
  const told = async (match: string) => {
    return (await history.listEvents({ ...EVERY_EVENT, match })).events.map(({ eventId }) => eventId).sort();
  };
  assert.deepEqual(await told('{job="web-1"}'), ['of one']);
  assert.deepEqual(await told('{job=~"web-2|db"}'), ['of a group']);
  assert.deepEqual(await told('{__name__="up"}'), ['of a group', 'of one']);
});

historyTest('a series that others lead by more than 5.5 of its steps has ended, and is last by grade', async (kept) => {
  let nowMs = Date.now();
  const history = await kept.open({ nowMs: () => nowMs });
  const rows = (series: string, minutes: readonly number[]) =>
    minutes.map((minute) => keptScore(minute, { series, grade: series === 'live' ? 0.1 : 0.9 }));
  const scores = [...rows('ended', [0, 1, 2]), ...rows('hourly', [0, 60]), ...rows('live', [0, 1, 60])];
  await history.append(batchOf({ scores }));
  const listed = async () => {
    const { series } = await history.listSeries({ ...EVERY_SERIES, sort: 'grade' });
    return series.map(({ series: id, hasEnded }) => [id, hasEnded]);
  };
  assert.deepEqual(
    await listed(),
    [
      ['ended', false],
      ['hourly', false],
      ['live', false],
    ],
    'a replay may reach it',
  );
  nowMs += 2 * MINUTE_MS;
  assert.deepEqual(await listed(), [
    ['hourly', false],
    ['live', false],
    ['ended', true],
  ]);
  const first = await history.listSeries({ ...EVERY_SERIES, sort: 'grade', limit: 2 });
  const second = await history.listSeries({ ...EVERY_SERIES, sort: 'grade', limit: 2, after: first.next });
  const names = second.series.map(({ series }) => series);
  assert.deepEqual(names, ['ended']);
  assert.equal((await history.standing()).ended, 1);
});

openedHistoryTest('a history stays that of its first Kafka cluster', async (history) => {
  assert.equal(await history.claim('one'), 'one');
  assert.equal(await history.claim('other'), 'one');
});
