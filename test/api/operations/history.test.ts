import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Operations } from '../../../src/api/operations/operations.ts';
import { SETTINGS_ALIASES_MAX } from '../../../src/config/schema/settings-text.ts';
import type { KeyRole } from '../../../src/store/keys/key-role.ts';
import { type FakeOperations, fakeOperations, startOperations } from '../../fixture/history/fake-operations.ts';
import {
  anomalyEvent,
  batchOf,
  keptEvent,
  keptLetter,
  keptScore,
  MINUTE_MS,
  START_MS,
} from '../../fixture/history/kept-records.ts';
import { AUTHORIZED, startApp } from '../../fixture/http/http-service.ts';

const NOW = START_MS + 60 * MINUTE_MS;

const start = (changes?: Partial<Operations>, role?: KeyRole) => startOperations(() => NOW, changes, role);

const EVENT = 'ab'.repeat(16);

async function filled({ history }: FakeOperations): Promise<void> {
  const scores = Array.from({ length: 40 }, (_, i) => {
    return keptScore(i, {
      series: `host/${i % 4} <b>`,
      grade: (i % 4) / 4,
      alarm: i === 39,
      group: i % 2 ? 'g' : null,
    });
  });
  const group = { series: null, group: 'g', members: [{ series: 'host/1 <b>', share: 1 }] };
  const events = [
    keptEvent(0, anomalyEvent(EVENT, { series: 'host/3 <b>' })),
    keptEvent(
      1,
      anomalyEvent('cd'.repeat(16), { ...group, endedAtMs: START_MS + MINUTE_MS, type: 'closed', revision: 1 }),
    ),
  ];
  await history.append(batchOf({ scores, events, deadLetters: [keptLetter(0), keptLetter(1)] }));
}

test('series are listed worst first with their newest values, a page after the other', async () => {
  const { operations, send } = await start();
  await filled(operations);
  const first = (await send('GET', '/v1/series?limit=3&recent=2')).body;
  const actual = first.series.map(({ series }: { series: string }) => series);
  assert.deepEqual(actual, ['host/3 <b>', 'host/2 <b>', 'host/1 <b>']);
  assert.deepEqual(first.series[0], {
    series: 'host/3 <b>',
    detector: 'metrics',
    group: 'g',
    timestampMs: START_MS + 39 * MINUTE_MS,
    value: 39,
    forecast: 39.5,
    lo: 38,
    hi: 41,
    anomalyScore: -0.5,
    grade: 0.75,
    severity: 1.5,
    alarm: true,
    anomaly: false,
    state: 'scored',
    recent: [35, 39],
    ended: false,
  });
  assert.equal(first.total, 4);
  const rest = (await send('GET', `/v1/series?limit=3&cursor=${first.next_cursor}`)).body;
  assert.deepEqual([rest.series.length, rest.next_cursor], [1, null]);
  assert.equal((await send('GET', '/v1/series?group=g&sort=name')).body.total, 2);
  assert.equal((await send('GET', '/v1/series?alarm=true&search=HOST')).body.total, 1);
  assert.equal((await send('GET', '/v1/series?cursor=abc')).status, 422);
});

test('scores of a series come in columns; a long range in buckets', async () => {
  const { operations, send } = await start();
  await filled(operations);
  const url = `/v1/series/${encodeURIComponent('host/3 <b>')}/scores`;
  const { body } = await send('GET', url);
  assert.deepEqual(
    [body.series, body.group, body.bucket_ms, body.value],
    ['host/3 <b>', 'g', null, [3, 7, 11, 15, 19, 23, 27, 31, 35, 39]],
  );
  assert.equal(
    new Set(
      Object.values(body)
        .filter(Array.isArray)
        .map(({ length }) => length),
    ).size,
    1,
  );
  const buckets = (await send('GET', `${url}?points=2`)).body;
  assert.deepEqual([buckets.bucket_ms, buckets.observations], [30 * MINUTE_MS, [7, 3]]);
  const part = (await send('GET', `${url}?from=${START_MS + 7 * MINUTE_MS}&to=${START_MS + 15 * MINUTE_MS}`)).body;
  assert.deepEqual(part.value, [7, 11]);
  assert.equal((await send('GET', '/v1/series/unheard/scores')).status, 404);
  assert.deepEqual((await send('GET', '/v1/groups')).body, {
    groups: [
      {
        group: 'g',
        detector: 'metrics',
        members: 2,
        timestampMs: START_MS + 39 * MINUTE_MS,
        grade: 0.75,
        severity: 1.5,
        alarms: 1,
      },
    ],
  });
});

test('events are acknowledged, muted and labelled; labels are exported', async () => {
  const { operations, send, app } = await start();
  await filled(operations);
  const { events, total_open: open } = (await send('GET', '/v1/events')).body;
  assert.deepEqual([events.length, open, events[0].eventId, events[0].endedAtMs], [2, 1, EVENT, null]);
  assert.ok(!('event_id' in events[0]), 'names of 0.1.0 are gone');
  assert.deepEqual(events[1].members, [{ series: 'host/1 <b>', share: 1 }]);
  assert.deepEqual([events[0].acknowledged, events[0].muted, events[0].label], [null, null, null]);
  const by = { at: NOW, by: 'ann' };
  const said = await send('POST', `/v1/events/${EVENT}/acknowledge`, { note: 'looking' });
  const review = { acknowledged: { ...by, note: 'looking' }, muted: null, label: null };
  assert.deepEqual(said.body, { eventId: EVENT, ...review });
  const until = NOW + MINUTE_MS;
  assert.equal((await send('POST', `/v1/events/${EVENT}/mute`, { until, reason: 'release' })).status, 200);
  assert.equal((await send('POST', `/v1/events/${EVENT}/label`, { real: true, note: '=cmd, "x"' })).status, 200);
  const one = (await send('GET', `/v1/events/${EVENT}`)).body;
  assert.deepEqual(one.muted, { ...by, until, reason: 'release', mute_id: null });
  assert.deepEqual(one.label, { ...by, real: true, note: '=cmd, "x"' });
  assert.equal((await send('GET', '/v1/events?acknowledged=false')).body.events.length, 1);
  assert.equal((await send('GET', `/v1/events?series=${encodeURIComponent('host/1 <b>')}`)).body.events.length, 1);
  const csv = await app.inject({ url: '/v1/labels', headers: AUTHORIZED });
  assert.match(String(csv.headers['content-type']), /^text\/csv/);
  const [header, row, end] = csv.body.split('\r\n');
  assert.match(
    header,
    /^eventId,series,group,detector,kind,direction,startedAtMs,peakAtMs,endedAtMs,severity,real,.*,note$/,
  );
  const labelled = `${EVENT},host/3 <b>,,metrics,spike,up,${START_MS},${START_MS},,12,1,${NOW},ann,"'=cmd, ""x"""`;
  assert.equal(row, labelled);
  assert.equal(end, '');
  const back = await send('POST', `/v1/events/${EVENT}/label`, { real: null });
  assert.equal(back.body.label, null);
  assert.equal((await send('POST', `/v1/events/${EVENT}/mute`, { until: null })).body.muted, null);
  assert.equal(
    (await send('POST', `/v1/events/${EVENT}/acknowledge`, { acknowledged: false })).body.acknowledged,
    null,
  );
  for (const [path, body, status] of [
    [`${EVENT}/mute`, { until }, 422],
    [`${EVENT}/mute`, { until: NOW, reason: 'late' }, 422],
    [`${EVENT}/label`, {}, 422],
    ['none/label', { real: true }, 404],
  ] as const) {
    assert.equal((await send('POST', `/v1/events/${path}`, body)).status, status, path);
  }
});

test('settings that watch nothing are shown with the detectors, and before they are saved', async () => {
  const found = {
    kind: 'gaps',
    detector: 'metrics',
    freq: 'h',
    observations: 100,
    duplicates: 0,
    missing: 300,
  } as const;
  const { operations, send } = await start({}, 'admin');
  const text = (await send('GET', '/v1/detectors')).body.text as string;
  const first = '  - { name: first, series: "*", freq: h, h: 4, detection_size: 4 }\n';
  const shadowed = text.replace('detectors:\n', `detectors:\n${first}`);
  const warning = /^detector metrics: glob ".*" takes no series: detector first comes first and takes all of them; /;
  const checked = await send('PUT', '/v1/detectors', { text: shadowed, base_version: null, dry_run: true });
  assert.match(checked.body.warnings[0], warning);
  const { fileText: _, ...rest } = operations.detectors;
  const cluster = { ...operations.cluster, diagnostics: async () => [found] };
  const other = await start({ detectors: { ...rest, fileText: async () => shadowed }, cluster });
  const { findings } = (await other.send('GET', '/v1/detectors')).body;
  assert.match(findings[0].text, warning);
  assert.deepEqual(findings.at(-1), {
    kind: 'gaps',
    detector: 'metrics',
    text:
      'detector metrics: 300 steps missing between 100 at freq h; ' +
      'set freq to the step of the series, or look for missing data',
  });
});

test('detectors are shown, compared, saved as the next version, and rolled back; 60,000 aliases are refused', async () => {
  const { operations, send } = await start({}, 'admin');
  await filled(operations);
  const shown = (await send('GET', '/v1/detectors')).body;
  assert.deepEqual([shown.version, shown.can_save, shown.versions], [null, true, []]);
  const [detector] = shown.detectors;
  assert.deepEqual(
    [detector.name, detector.series_count, detector.observations, detector.events_open],
    ['metrics', 4, 40, 1],
  );
  assert.deepEqual([detector.settings.h, detector.settings.false_alarms], [4, '1/week']);
  assert.ok(Math.abs(detector.alarms_promised_per_week - 1) < 1e-9);
  const text = shown.text.replace('h: 4', 'h: 2');
  const put = (body: object) => send('PUT', '/v1/detectors', body);
  const compared = await put({ text, base_version: null, dry_run: true });
  const changes = [
    { detector: 'metrics', field: 'h', before: '4', after: '2', starts_over: true },
    { detector: 'metrics', field: 'step_size', before: '4', after: '2', starts_over: true },
  ];
  assert.deepEqual(compared.body, { version: null, changes, warnings: [] });
  assert.deepEqual(operations.published, []);
  assert.deepEqual((await put({ text, base_version: null, comment: 'shorter' })).body, {
    version: 1,
    changes,
    warnings: [],
  });
  assert.equal((await put({ text, base_version: null })).status, 409);
  const back = await put({ text: String(shown.text), base_version: 1 });
  assert.equal(back.body.version, 2);
  const rolled = await put({ roll_back_to: 1, base_version: 2 });
  assert.deepEqual([rolled.body.version, operations.published.map(({ version }) => version).at(-1)], [3, 3]);
  assert.deepEqual((await send('GET', '/v1/detectors')).body.versions.at(-1), {
    version: 1,
    saved_at: NOW,
    saved_by: 'ann',
    comment: 'shorter',
  });
  for (const wrong of [{ text: 'detectors: 7' }, { roll_back_to: 9 }, {}, { text, roll_back_to: 1 }]) {
    assert.equal((await put({ ...wrong, base_version: 3 })).status, 422, JSON.stringify(wrong));
  }
  const aliased = `a: &a x\ndetectors: [${'*a,'.repeat(SETTINGS_ALIASES_MAX + 1)}]`;
  for (const dryRun of [true, false]) {
    const refused = await put({ text: aliased, base_version: 3, dry_run: dryRun });
    assert.deepEqual([refused.status, refused.body.detail.length], [422, 1]);
    assert.match(refused.body.detail[0].msg, /at most 1000 aliases/);
  }
  const fixed = await start({ detectors: { ...operations.detectors, publish: null } }, 'admin');
  assert.equal((await fixed.send('PUT', '/v1/detectors', { text, base_version: null })).status, 409);
  assert.equal((await fixed.send('GET', '/v1/detectors')).body.can_save, false);
});

test('the service shows lag, dead letters and workers, also where Kafka does not answer', async () => {
  const { operations, send } = await start();
  await filled(operations);
  const { body } = await send('GET', '/v1/service');
  assert.deepEqual(body.history.partitions[1], {
    topic: 'anomaly-events',
    partition: 0,
    next_offset: 2,
    end_offset: null,
    lag: null,
  });
  const workers = {
    group: 'tidewatch',
    members: 1,
    partitions: [
      { topic: 'observations', partition: 0, next_offset: 7, end_offset: 9, lag: 2, owner: 'tidewatch at here' },
    ],
  };
  assert.deepEqual(body.workers, workers);
  assert.deepEqual(body.dead_letters, [{ reason: 'record-unreadable', letters: 2, newest_at: START_MS + 1 }]);
  const { dead_letters: letters } = (await send('GET', '/v1/dead-letters?limit=1')).body;
  assert.deepEqual([letters[0].id, letters[0].value, letters[0].redriven], ['0-1', '{"series":', false]);
  assert.equal((await send('POST', '/v1/dead-letters/0-1/redrive', {})).status, 200);
  assert.deepEqual(operations.redriven, [{ partition: 3, key: Buffer.from('a'), value: Buffer.from('{"series":') }]);
  assert.equal((await send('POST', '/v1/dead-letters/0-1/redrive', {})).status, 409);
  assert.equal((await send('GET', '/v1/dead-letters?limit=1')).body.dead_letters[0].redriven, true);
  assert.equal((await send('POST', '/v1/dead-letters/0-9/redrive', {})).status, 404);
  const away = () => Promise.reject(new Error('Kafka is unavailable'));
  const alone = await start({ cluster: { historyEnds: away, workers: away, diagnostics: away, redrive: away } });
  await filled(alone.operations);
  assert.equal((await alone.send('GET', '/v1/service')).body.workers, null);
  assert.equal((await alone.send('POST', '/v1/dead-letters/0-1/redrive', {})).status, 500);
  assert.equal(
    (await alone.send('GET', '/v1/dead-letters')).body.dead_letters[0].redriven,
    false,
    'it may be sent later',
  );
});

test('an input that has stopped is a problem of freshness with what is due, and none of the history', async () => {
  const reason = 'nothing arrived since 2026-08-20T12:00:00.000Z, due every 5min';
  const partition = { topic: 'observations', partition: 0, nextOffset: 9, owner: null };
  const startWith = async (endOffset: number) => {
    const { cluster } = await fakeOperations();
    const workers = async () => ({ group: 'tidewatch', members: 1, partitions: [{ ...partition, endOffset }] });
    const problem = () => ({ reason, sinceMs: START_MS, due: '5min' });
    return (await start({ problem, cluster: { ...cluster, workers } })).send;
  };
  const send = await startWith(9);
  const { status, body } = await send('GET', '/v1/freshness');
  assert.deepEqual([status, body.problem], [200, { reason, since: START_MS, due: '5min' }]);
  assert.equal((await send('GET', '/v1/service')).body.history.problem, null);
  assert.equal((await (await startWith(20))('GET', '/v1/freshness')).body.problem, null, 'a backlog');
});

test('a service without Kafka reports that', async () => {
  const app = await startApp();
  for (const url of ['/v1/series', '/v1/groups', '/v1/events', '/v1/detectors', '/v1/live', '/v1/dead-letters']) {
    const answer = await app.inject({ url, headers: AUTHORIZED });
    assert.deepEqual([answer.statusCode, /KAFKA_BROKERS/.test(answer.json().detail)], [404, true], url);
  }
  const { history, workers } = (await app.inject({ url: '/v1/service', headers: AUTHORIZED })).json();
  assert.deepEqual([history.kept, workers], [false, null]);
});

test('a pause of a detector has the number of its series, and no series; events kept by earlier versions have neither', async () => {
  const { operations, send } = await start();
  const pause = anomalyEvent(EVENT, { kind: 'silence', series: null, group: null, seriesCount: 1_500 });
  const { seriesCount: _, ...earlier } = anomalyEvent('cd'.repeat(16), { startedAtMs: START_MS - MINUTE_MS });
  await operations.history.append(batchOf({ events: [keptEvent(0, pause), keptEvent(1, earlier as typeof pause)] }));
  const { events } = (await send('GET', '/v1/events')).body;
  const actual = events.map((event: Record<string, unknown>) => [event.series, event.group, event.seriesCount]);
  assert.deepEqual(actual, [
    [null, null, 1_500],
    [earlier.series, null, null],
  ]);
  assert.equal((await send('GET', '/v1/events?detector=cpu')).status, 200);
});

test('series and events are chosen by labels, which events show', async () => {
  const { operations, send } = await start();
  const series = 'up{instance="a:1",job="web-1"}';
  const seriesLabels = { __name__: 'up', instance: 'a:1', job: 'web-1' };
  const events = [
    keptEvent(0, anomalyEvent(EVENT, { series, seriesLabels })),
    keptEvent(1, anomalyEvent('cd'.repeat(16))),
  ];
  await operations.history.append(batchOf({ scores: [keptScore(0, { series }), keptScore(1)], events }));
  const match = encodeURIComponent('{job=~"web-.*"}');
  const listed = (await send('GET', `/v1/events?match=${match}`)).body.events;
  const actual = listed.map((event: Record<string, unknown>) => [event.series, event.seriesLabels]);
  assert.deepEqual(actual, [[series, seriesLabels]]);
  assert.deepEqual(
    (await send('GET', `/v1/series?match=${match}`)).body.series.map(({ series: id }: { series: string }) => id),
    [series],
  );
  assert.deepEqual((await send('GET', `/v1/groups?match=${match}`)).body.groups, []);
  for (const url of ['/v1/events', '/v1/series', '/v1/groups', '/v1/live']) {
    const { status, body } = await send('GET', `${url}?match=${encodeURIComponent('{job=~"[a]"}')}`);
    assert.deepEqual([status, /match must be matchers .* has "\["/.test(body.detail[0].msg)], [422, true], url);
  }
});

test('labels that ids do not give are refused in a list of series, and globs are not', async () => {
  const { operations, send } = await start({ idsHideLabels: true });
  await filled(operations);
  const match = (text: string) => send('GET', `/v1/series?match=${encodeURIComponent(text)}`);
  const { status, body } = await match('{job="web"}');
  assert.equal(status, 422);
  assert.match(body.detail[0].msg, /match must be a glob over ids: input\.id/);
  assert.equal((await match('host/1*')).body.total, 1);
  assert.equal((await send('GET', `/v1/events?match=${encodeURIComponent('{job="web"}')}`)).status, 200);
});
