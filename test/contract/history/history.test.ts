import assert from 'node:assert/strict';
import type { HistoryStore, KeptScore } from '../../../src/history/port/history-port.ts';
import { historyTest, openedHistoryTest } from '../../fixture/history/histories.ts';
import {
  anomalyEvent,
  batchOf,
  EVERY_EVENT,
  EVERY_SERIES,
  keptEvent,
  keptLetter,
  keptScore,
  MINUTE_MS,
  START_MS,
} from '../../fixture/history/kept-records.ts';

const DAY_MS = 86_400_000;
const all = (series: string, pointsMax = 10_000) => ({ series, fromMs: null, toMs: null, pointsMax });
const scoresOf = (count: number, of: (i: number) => Partial<KeptScore> = () => ({})) =>
  Array.from({ length: count }, (_, i) => keptScore(i, of(i)));
const valuesOf = async (history: HistoryStore, series: string) => {
  const scores = await history.scores(all(series));
  return scores === null ? null : [...scores.columns.value];
};

historyTest('what is appended is read, also after it was opened again', async (kept) => {
  const history = await kept.open();
  const odd = { forecast: null, lo: null, hi: null, anomalyScore: null, grade: null, severity: null };
  const scores = [
    keptScore(0, { ...odd, state: 'warming-up' }),
    keptScore(1, { alarm: true, anomaly: true, grade: 0.75 }),
    keptScore(2, { series: 'b "quoted\\', detector: 'other', value: 5 }),
  ];
  await history.append(batchOf({ scores }));
  await history.close();
  const again = await kept.open();
  const read = await again.scores(all('a'));
  assert.deepEqual(
    { ...read, columns: null },
    {
      series: 'a',
      detector: 'metrics',
      group: null,
      columns: null,
      fromMs: START_MS,
      toMs: START_MS + MINUTE_MS + 1,
      bucketMs: null,
    },
  );
  const { timestamp, value, forecast, grade, alarms, observations } = read!.columns;
  assert.deepEqual([...timestamp], [START_MS, START_MS + MINUTE_MS]);
  assert.deepEqual([...value], [0, 1]);
  assert.deepEqual([...forecast], [Number.NaN, 1.5]);
  assert.deepEqual([...grade], [Number.NaN, 0.75]);
  assert.deepEqual(
    [[...alarms], [...observations]],
    [
      [0, 1],
      [1, 1],
    ],
  );
  const { series, total, next } = await again.listSeries(EVERY_SERIES);
  assert.deepEqual([series.map((row) => row.series), total, next], [['a', 'b "quoted\\'], 2, null]);
  const [{ alarm, anomaly, state, recent, ...newest }] = series;
  assert.deepEqual([alarm, anomaly, state, recent, newest.grade], [true, true, 'scored', [], 0.75]);
  assert.equal(await again.scores(all('unheard of')), null);
});

historyTest('a batch that is repeated, whole or in part, is stored once', async (kept) => {
  const history = await kept.open();
  const first = batchOf({
    scores: scoresOf(5),
    events: [keptEvent(0, anomalyEvent('e'))],
    deadLetters: [keptLetter(0)],
  });
  assert.equal((await history.append(first)).scores.length, 5);
  assert.deepEqual(await history.append(first), {
    scores: [],
    events: [],
    incidents: [],
    deadLetters: [],
    positions: [],
  });
  const overlapping = await history.append(batchOf({ scores: scoresOf(8) }));
  assert.equal(overlapping.scores.length, 3);
  await history.close();
  const again = await kept.open();
  assert.equal((await again.append(batchOf({ scores: scoresOf(8) }))).scores.length, 0);
  assert.deepEqual(await valuesOf(again, 'a'), [0, 1, 2, 3, 4, 5, 6, 7]);
  assert.equal((await again.state()).scores, 8);
});

openedHistoryTest('partitions and sources have their own offsets, also without records', async (history) => {
  await history.append(batchOf({ scores: [keptScore(4), keptScore(1, { partition: 7, series: 'b' })] }));
  const marker = { source: 'scores', topicId: 'one', partition: 0, nextOffset: 9 } as const;
  await history.append({ ...batchOf({ deadLetters: [keptLetter(2)] }), positions: [marker] });
  assert.deepEqual(await history.positions(), [
    { source: 'scores', topicId: 'one', partition: 0, nextOffset: 9 },
    { source: 'scores', topicId: 'one', partition: 7, nextOffset: 2 },
  ]);
});

openedHistoryTest('a topic that was created again is read from its first offset', async (history) => {
  await history.append(batchOf({ scores: scoresOf(5) }));
  const anew = batchOf({ scores: [keptScore(0, { timestampMs: START_MS + DAY_MS, value: 77 })], topicId: 'two' });
  assert.equal((await history.append(anew)).scores.length, 1);
  assert.equal((await history.append(anew)).scores.length, 0);
  assert.deepEqual(await valuesOf(history, 'a'), [0, 1, 2, 3, 4, 77]);
});

openedHistoryTest('a series that stopped is silent now, and has no observation for it', async (history) => {
  const silent = { state: 'silent' as const, grade: null, timestampMs: START_MS + 9 * MINUTE_MS, value: 1 };
  await history.append(batchOf({ scores: [keptScore(0), keptScore(1), keptScore(2, silent)] }));
  assert.deepEqual(await valuesOf(history, 'a'), [0, 1]);
  assert.equal((await history.listSeries(EVERY_SERIES)).series[0].state, 'silent');
  const returned = keptScore(3, { ...silent, state: 'returned', timestampMs: START_MS + 20 * MINUTE_MS });
  await history.append(batchOf({ scores: [returned, keptScore(4, { timestampMs: START_MS + 20 * MINUTE_MS })] }));
  assert.deepEqual(await valuesOf(history, 'a'), [0, 1, 4]);
  const { series } = await history.listSeries(EVERY_SERIES);
  assert.deepEqual([series[0].state, series[0].value], ['scored', 4]);
  assert.equal((await history.detectors())[0].observations, 3);
});

openedHistoryTest('a long range is downsampled: mean, least, greatest, worst, and how many', async (history) => {
  const scores = scoresOf(120, (i) => ({
    value: i % 10,
    grade: i === 61 ? 1 : 0.25,
    anomalyScore: i === 62 ? -9 : 3,
    alarm: i === 61 || i === 62,
  }));
  await history.append(batchOf({ scores }));
  const read = await history.scores(all('a', 12));
  assert.equal(read!.bucketMs, 10 * MINUTE_MS);
  const { columns } = read!;
  assert.equal(columns.timestamp.length, 12);
  assert.deepEqual([columns.value[6], columns.valueMin[6], columns.valueMax[6]], [4.5, 0, 9]);
  assert.deepEqual([columns.grade[5], columns.grade[6], columns.anomalyScore[6], columns.alarms[6]], [0.25, 1, -9, 2]);
  assert.deepEqual([...columns.observations], Array(12).fill(10));
  const part = await history.scores({
    series: 'a',
    fromMs: START_MS + 5 * MINUTE_MS,
    toMs: START_MS + 8 * MINUTE_MS,
    pointsMax: 5,
  });
  assert.deepEqual([...part!.columns.value], [5, 6, 7]);
});

historyTest('sealing parts changes nothing that is read', async (kept) => {
  const history = await kept.open({ parts: { rowsMax: 1, ageMsMax: DAY_MS }, bounds: { days: 14, gb: 0.001 } });
  const scores = Array.from({ length: 5_000 }, (_, i) => {
    return keptScore(i, { series: `s${i % 7}`, timestampMs: START_MS + Math.floor(i / 7) * MINUTE_MS });
  });
  for (let i = 0; i < 5; i++) await history.append(batchOf({ scores: scores.slice(i * 1_000, i * 1_000 + 1_000) }));
  for (const series of ['s0', 's6']) {
    const expected = scores.filter((score) => score.series === series).map(({ value }) => value);
    assert.deepEqual(await valuesOf(history, series), expected);
  }
  const { series } = await history.listSeries({ ...EVERY_SERIES, sort: 'name', recent: 3 });
  assert.deepEqual(series[0].recent, [4_984, 4_991, 4_998]);
});

historyTest('what is older than the bound is dropped, and the rest stays', async (kept) => {
  const clock = { nowMs: START_MS };
  const history = await kept.open({ nowMs: () => clock.nowMs });
  const closed = anomalyEvent('closed', { type: 'closed', endedAtMs: START_MS });
  const events = [keptEvent(0, closed), keptEvent(1, anomalyEvent('open'))];
  await history.append(batchOf({ scores: scoresOf(3), events, deadLetters: [keptLetter(0)] }));
  clock.nowMs += 2 * DAY_MS;
  await history.maintain();
  await history.append(batchOf({ scores: [keptScore(3), keptScore(4, { series: 'new' })] }));
  clock.nowMs += 13 * DAY_MS;
  await history.maintain();
  assert.deepEqual(await valuesOf(history, 'a'), [3]);
  const state = await history.state();
  assert.deepEqual([state.scores, state.series, state.events, state.deadLetters], [2, 2, 1, []]);
  clock.nowMs += 3 * DAY_MS;
  await history.maintain();
  assert.deepEqual([(await history.state()).scores, (await history.state()).series], [0, 0]);
  // Ids of dropped series are not used for rows of new ones.
  await history.append(batchOf({ scores: [keptScore(5)] }));
  assert.deepEqual(await valuesOf(history, 'a'), [5]);
});

historyTest('what is more than the bound is dropped, oldest first', async (kept) => {
  const history = await kept.open({ bounds: { days: 14, gb: 0.008 } });
  const [batches, rows] = [12, 20_000];
  for (let i = 0; i < batches; i++) {
    const scores = Array.from({ length: rows }, (_, k) => {
      const at = i * rows + k;
      return keptScore(at, { series: `s${k % 50}`, value: Math.sin(at) * 1e6, forecast: Math.cos(at), lo: at / 3 });
    });
    await history.append(batchOf({ scores }));
  }
  await history.maintain();
  const { scores, bytes, oldestMs } = await history.state();
  assert.ok(bytes <= 8e6, `${bytes} bytes`);
  assert.ok(scores > rows && scores < batches * rows, `${scores} scores`);
  assert.ok(oldestMs! > START_MS);
  const last = batches * rows - 1;
  assert.equal((await history.scores(all(`s${(rows - 1) % 50}`)))!.columns.value.at(-1), Math.sin(last) * 1e6);
});

openedHistoryTest('series are listed worst first or by name, in pages, by every filter', async (history) => {
  const scores = scoresOf(30, (i) => ({
    series: `Series-${String(i).padStart(2, '0')}`,
    grade: i === 7 ? null : (i % 5) / 8,
    detector: i < 20 ? 'metrics' : 'groups',
    group: i < 20 ? null : `g${i % 2}`,
    alarm: i === 4,
  }));
  await history.append(batchOf({ scores }));
  const listed = async (changes: object) => {
    const names: string[] = [];
    for (let after: readonly (string | number)[] | null = null; ; ) {
      const page = await history.listSeries({ ...EVERY_SERIES, limit: 4, ...changes, after });
      names.push(...page.series.map(({ series }) => series.slice(7)));
      if (page.next === null) return names;
      after = page.next;
    }
  };
  const byGrade = await listed({});
  assert.equal(new Set(byGrade).size, 30);
  assert.deepEqual(byGrade.slice(0, 6), ['04', '09', '14', '19', '24', '29']);
  assert.equal(byGrade.at(-1), '07');
  assert.deepEqual(await listed({ sort: 'name', detector: 'groups' }), [
    '20',
    '21',
    '22',
    '23',
    '24',
    '25',
    '26',
    '27',
    '28',
    '29',
  ]);
  assert.deepEqual((await listed({ group: 'g1', sort: 'name' })).slice(0, 2), ['21', '23']);
  assert.deepEqual(await listed({ search: 'SERIES-0', sort: 'name', limit: 100 }), [
    '00',
    '01',
    '02',
    '03',
    '04',
    '05',
    '06',
    '07',
    '08',
    '09',
  ]);
  assert.deepEqual(await listed({ alarm: true }), ['04']);
  const groups = await history.listGroups({ detector: null, match: null, limit: 10 });
  const actual = groups.map(({ group, members, grade }) => [group, members, grade]);
  assert.deepEqual(actual, [
    ['g0', 5, 0.5],
    ['g1', 5, 0.5],
  ]);
  const detectors = await history.detectors();
  assert.deepEqual(
    detectors.map(({ detector, series, groups, observations, judgedMs, eventsJudged }) => [
      detector,
      series,
      groups,
      observations,
      judgedMs,
      eventsJudged,
    ]),
    [
      ['groups', 10, 2, 10, 2 * 8 * MINUTE_MS, 0],
      ['metrics', 20, 0, 20, 0, 0],
    ],
  );
});

openedHistoryTest('an event is its newest revision; open ones come first; filters and pages', async (history) => {
  const closed = { type: 'closed', revision: 2, endedAtMs: START_MS + 5 * MINUTE_MS } as const;
  const members = [
    { series: 'm1', share: 0.75 },
    { series: 'm2', share: 0.25 },
  ];
  const events = [
    keptEvent(0, anomalyEvent('one')),
    keptEvent(1, anomalyEvent('one', closed)),
    keptEvent(2, anomalyEvent('one', { revision: 1, type: 'updated' })),
    keptEvent(3, anomalyEvent('two', { startedAtMs: START_MS + DAY_MS, kind: 'dip' })),
    keptEvent(
      4,
      anomalyEvent('three', { ...closed, startedAtMs: START_MS + 2 * DAY_MS, endedAtMs: START_MS + 3 * DAY_MS }),
    ),
    keptEvent(
      5,
      anomalyEvent('group', {
        series: null,
        group: 'g',
        members,
        detector: 'groups',
        startedAtMs: START_MS - DAY_MS,
      }),
    ),
  ];
  await history.append(batchOf({ events }));
  const ids = async (changes: object) => {
    const found: string[] = [];
    for (let after: readonly (string | number)[] | null = null; ; ) {
      const page = await history.listEvents({ ...EVERY_EVENT, limit: 2, ...changes, after });
      found.push(...page.events.map(({ eventId }) => eventId));
      assert.equal(page.totalOpen, 2);
      if (page.next === null) return found;
      after = page.next;
    }
  };
  assert.deepEqual(await ids({}), ['two', 'group', 'three', 'one']);
  assert.deepEqual(await ids({ open: true }), ['two', 'group']);
  assert.deepEqual(await ids({ open: false }), ['three', 'one']);
  assert.deepEqual(await ids({ series: 'm2' }), ['group']);
  assert.deepEqual(await ids({ series: 'a', kind: 'spike' }), ['three', 'one']);
  assert.deepEqual(await ids({ group: 'g' }), ['group']);
  assert.deepEqual(await ids({ detector: 'groups' }), ['group']);
  assert.deepEqual(await ids({ fromMs: START_MS + 6 * MINUTE_MS, toMs: START_MS + 2 * DAY_MS }), ['two', 'group']);
  assert.deepEqual(await history.findEvent('one'), { ...anomalyEvent('one', closed), incidentId: null });
  assert.equal(await history.findEvent('none'), null);
});

openedHistoryTest('dead letters are listed newest first, by reason, in pages', async (history) => {
  const deadLetters = Array.from({ length: 5 }, (_, i) =>
    keptLetter(i, { reason: i === 1 ? 'late' : 'record-unreadable' }),
  );
  await history.append(batchOf({ deadLetters }));
  const first = await history.listDeadLetters({ reason: null, limit: 3, after: null });
  const rest = await history.listDeadLetters({ reason: null, limit: 3, after: first.next });
  const offsets = [...first.letters, ...rest.letters].map(({ offset }) => offset);
  assert.deepEqual(offsets, [4, 3, 2, 1, 0]);
  assert.equal(rest.next, null);
  assert.deepEqual((await history.listDeadLetters({ reason: 'late', limit: 3, after: null })).letters, [
    deadLetters[1],
  ]);
  assert.deepEqual(await history.findDeadLetter({ partition: 0, offset: 2 }), deadLetters[2]);
  assert.equal(await history.findDeadLetter({ partition: 1, offset: 2 }), null);
  assert.deepEqual((await history.state()).deadLetters, [
    { reason: 'record-unreadable', letters: 4, newestMs: START_MS + 4 },
    { reason: 'late', letters: 1, newestMs: START_MS + 1 },
  ]);
});

openedHistoryTest('series are current by the state and the time of their newest score', async (history) => {
  const empty = { states: new Map(), ended: 0, newestMs: null, storedAtMs: null, incidents: null };
  assert.deepEqual(await history.standing(), empty);
  const scores = [
    keptScore(0, { series: 'a', state: 'calibrating' }),
    keptScore(1, { series: 'a', state: 'scored', alarm: true }),
    keptScore(2, { series: 'b', state: 'scored' }),
    keptScore(3, { series: 'c', state: 'warming-up', anomaly: true }),
    keptScore(4, { series: 'd', state: 'silent' }),
  ];
  const beganMs = Date.now();
  await history.append(batchOf({ scores }));
  const { states, newestMs, storedAtMs } = await history.standing();
  assert.deepEqual(Object.fromEntries(states), { scored: 2, 'warming-up': 1, silent: 1 });
  assert.equal(newestMs, START_MS + 4 * MINUTE_MS);
  assert.ok(storedAtMs !== null && storedAtMs >= beganMs && storedAtMs <= Date.now());
});
