import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CsvItem } from '../../../../src/tools/csv/csv-item.ts';
import { type CsvReading, Refusals, readObservations, timeUnitOf } from '../../../../src/tools/csv/observations.ts';
import { timeFormat } from '../../../../src/tools/csv/time-format.ts';

/** Rows are passed on as they are read, whatever their times. */
const AS_READ = { onlySeries: 'only', timeZone: 'UTC', live: { olderMsMax: Number.POSITIVE_INFINITY } };

async function read(text: string | readonly string[], reading: Partial<CsvReading> = {}): Promise<CsvItem[]> {
  async function* source() {
    yield* typeof text === 'string' ? [text] : text;
  }
  const items: CsvItem[] = [];
  for await (const item of readObservations(source(), { ...AS_READ, ...reading })) items.push(item);
  return items;
}

const NOON = Date.UTC(2014, 1, 14, 12);
const observation = (line: number, value: number, series = 'only', timestampMs = NOON) => {
  return { kind: 'observation', line, series, timestampMs, value } as const;
};
const remark = (text: string) => ({ kind: 'remark', text }) as const;
const COMMA = remark('Numbers are read with a decimal comma: 1,5 is one and a half');
const refused = (line: number, reason: string) => ({ kind: 'refused', line, reason }) as const;

test('dates without a zone are UTC, and a file without a series column is one series', async () => {
  assert.deepEqual(await read('timestamp,value\n2014-02-14 12:00:00,1.5\n2014-02-14T13:00:00+01:00,-2e3\n'), [
    observation(2, 1.5),
    observation(3, -2_000),
  ]);
});

test('times of any form of strptime are read, and others refused', async () => {
  const readAs = async (format: string, ...times: string[]) =>
    (
      await read(['ds,y', ...times.map((time) => `"${time}",1`)].join('\n'), { timeFormat: timeFormat.parse(format)! })
    ).flatMap((item) => (item.kind === 'observation' ? [new Date(item.timestampMs).toJSON()] : item.kind));
  const noon = new Date(NOON).toJSON();
  assert.deepEqual(await readAs('%d/%m/%Y %H:%M', '14/02/2014 12:00', '14.02.2014 12:00'), [noon, 'refused']);
  assert.deepEqual(await readAs('%b %d, %y %I:%M:%S.%f %p', 'Feb 14, 14 12:00:00.000 PM'), [noon]);
  assert.deepEqual(await readAs('%m-%d-%Y %H:%M %z', '2-14-2014 13:00 +0100', '14-02-2014 13:00 +0100'), [
    noon,
    'refused',
  ]);
  for (const wrong of ['%d/%m', '%q %Y %m %d', '%Y-%m-%d %d', '%Y-%m-%d %I']) {
    assert.equal(timeFormat.parse(wrong), undefined, wrong);
  }
});

test('the bytes may be split anywhere', async () => {
  const text = '\uFEFFunique_id,ds,y\r\n"web, 1",2014-02-14 12:00,7\r\n\r\nb,2014-02-14 12:00,8';
  assert.deepEqual(await read([...text]), await read(text));
  assert.deepEqual(await read(text), [observation(2, 7, 'web, 1'), observation(4, 8, 'b')]);
});

test('columns of start and temporality, and integers beyond 2^53, are read as those of a record', async () => {
  const rows = [`${2n ** 60n + 1n},2014-02-14 11:00,`, '3,,delta', '4,,', '5,soon,'];
  const items = await read(
    ['timestamp,value,Start,temporality', ...rows.map((row) => `2014-02-14 12:00,${row}`)].join('\n'),
  );
  assert.deepEqual(items, [
    { ...observation(2, 2 ** 60), extras: { startMs: NOON - 3_600_000, low: 1 } },
    { ...observation(3, 3), extras: { isDelta: true } },
    observation(4, 4),
    { ...observation(5, 5), extras: { problem: 'the start is "soon", no time from 1980 on in iso' } },
  ]);
});

test('the first plausible time decides the unit of numeric times', async () => {
  for (const [unit, factor] of [
    ['s', 1e-3],
    ['ms', 1],
    ['us', 1e3],
    ['ns', 1e6],
  ] as const) {
    assert.equal(timeUnitOf(String(NOON * factor)), unit);
    const items = await read(`time,value\nsoon,1\n${NOON * factor},2\n`);
    assert.deepEqual(items.slice(1), [
      remark(`The numbers in the time column are read as ${unit} (--time-unit)`),
      observation(3, 2),
    ]);
  }
  assert.equal(timeUnitOf('20140214'), null);
});

test('a row that is no observation is refused with line and reason, and the others are read', async () => {
  const at = '2014-02-14 12:00:00';
  const rows = [`${at},`, `${at},NaN`, `${at},1e39`, `${at},0x10`, `${at},1,2`, ',1', '14.2.2014,1', '1392379200,1'];
  const items = await read(['timestamp,value', `${at},1`, ...rows, `${at},2`].join('\n'));
  assert.deepEqual(items, [
    observation(2, 1),
    refused(3, 'the record has no value'),
    refused(4, 'the value is NaN, which is no value'),
    refused(5, 'the value is "1e39": its magnitude is beyond 1.7014117e+38'),
    refused(6, 'the value is "0x10", not a decimal number'),
    refused(7, 'the row has 3 fields, the header 2'),
    refused(8, 'the record has no time'),
    refused(9, 'the time is "14.2.2014": not an ISO 8601 date'),
    refused(10, 'the time is "1392379200": not an ISO 8601 date; it would make sense in s'),
    observation(11, 2),
  ]);
});

test('a series id that cannot be a record key is refused', async () => {
  const items = await read(`series,timestamp,value\n,2014-02-14,1\n${'x'.repeat(1_025)},2014-02-14,1\n`);
  assert.deepEqual(items, [
    refused(2, 'the series id at "series" is empty'),
    refused(3, 'the series id at "series" has 1025 bytes, more than 1024'),
  ]);
});

test('a quote that is never closed ends the reading, and earlier rows are read', async () => {
  const [first, broken, ...rest] = await read('timestamp,value\n2014-02-14 12:00,1\n"2014-02-14,2\n2014-02-14,3\n');
  assert.deepEqual([first, rest], [observation(2, 1), []]);
  assert.equal(broken?.kind, 'broken');
});

test('a quote that is never closed does not fill the memory', async () => {
  async function* endless() {
    yield 'timestamp,value\n2014-02-14 12:00,1\n"';
    for (;;) yield 'x'.repeat(65_536);
  }
  const kinds: string[] = [];
  for await (const { kind } of readObservations(endless(), AS_READ)) kinds.push(kind);
  assert.deepEqual(kinds, ['observation', 'broken']);
});

test('a name for the only series contradicts a series column', async () => {
  assert.deepEqual(await read('series,time,value\na,2014-02-14,1\n', { onlySeriesNamed: true }), [
    { kind: 'no-columns', problems: ['--series cannot be used with a series column, and there is "series"'] },
  ]);
});

test('without its columns a file is not read', async () => {
  assert.deepEqual(await read(''), [
    { kind: 'no-observations', problems: ['the file is empty: its first line must name the columns'] },
  ]);
  const [missing, ...rest] = await read('a,value\n1,2\n');
  assert.deepEqual([missing?.kind, rest], ['no-columns', []]);
});

test('columns by semicolon or tab, and numbers with a decimal comma, are read, and reported', async () => {
  const rows = ['serie 1;2014-02-14 12:00;21,5', 'serie 1;2014-02-14 12:00;-,25', 'serie 1;2014-02-14 12:00;1,5e3'];
  const text = `series;timestamp;value\n${rows.join('\n')}\n`;
  const found = [
    COMMA,
    observation(2, 21.5, 'serie 1'),
    observation(3, -0.25, 'serie 1'),
    observation(4, 1_500, 'serie 1'),
  ];
  assert.deepEqual(await read(text), [remark('The columns are separated by semicolons'), ...found]);
  assert.deepEqual(await read([...text]), await read(text), 'the bytes may be split anywhere');
  assert.deepEqual(await read(text.replaceAll(';', '\t')), [remark('The columns are separated by tabs'), ...found]);
  const quoted = '\uFEFF\r\n"series";"timestamp";"value, in C"\r\na;2014-02-14 12:00;"1,5"\r\n';
  assert.deepEqual((await read(quoted, { value: 'value, in C' })).at(-1), observation(3, 1.5, 'a'));
  assert.deepEqual((await read('timestamp;value;a,b\n2014-02-14 12:00;7;x\n')).at(-1), observation(2, 7));
});

test('a number with another decimal mark than those before it is refused: it could be wrong by a thousand', async () => {
  const at = '2014-02-14 12:00';
  const items = await read(`timestamp;value\n${at};7\n${at};1,5\n${at};1.234\n${at};1.234,5\n${at};2,5\n`);
  assert.deepEqual(items.slice(1), [
    observation(2, 7),
    COMMA,
    observation(3, 1.5),
    refused(4, 'the value is "1.234", and numbers before it have a decimal comma'),
    refused(5, 'the value is "1.234,5", not a decimal number'),
    observation(6, 2.5),
  ]);
  const points = await read(`timestamp;value\n${at};1.5\n${at};1,234\n`);
  assert.deepEqual(points.at(-1), refused(3, 'the value is "1,234", and numbers before it have a decimal point'));
  const commas = await read(`timestamp,value\n${at},"1,5"\n`);
  assert.deepEqual(commas.at(-1), refused(2, 'the value is "1,5", not a decimal number'));
});

test('messages quote a file in part: a header and a field of a megabyte give short problems', async () => {
  const names = Array.from({ length: 100_000 }, (_, i) => `column-${i}-${'x'.repeat(60)}`);
  const [problem] = await read(names.slice(0, 10_000).join(','));
  assert.ok(problem.kind === 'no-columns' && problem.problems.join('').length < 5_000);
  const refusals = new Refusals();
  refusals.add(1, `the value is "${'9'.repeat(1_000_000)}x"`);
  assert.ok(refusals.lines().join('').length < 1_000);
});

/** Berlin set its clock back from 03:00 to 02:00 at 01:00 UTC. */
const FIRST_MS = Date.UTC(2026, 9, 25, 0);
const local = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Europe/Berlin', dateStyle: 'short', timeStyle: 'medium' });

async function timesOf(rows: readonly string[], reading: Partial<CsvReading>): Promise<(number | string)[]> {
  async function* source() {
    yield ['timestamp,value', ...rows.map((time) => `${time},1`)].join('\n');
  }
  const found: (number | string)[] = [];
  for await (const item of readObservations(source(), { onlySeries: 's', ...reading })) {
    if (item.kind === 'observation') found.push((item.timestampMs - FIRST_MS) / 60_000);
    if (item.kind === 'refused') found.push(item.reason);
    if (item.kind === 'remark' && item.text.includes('zone')) found.push('no zone');
  }
  return found;
}

for (const stepMin of [5, 30, 60]) {
  const minutes = Array.from({ length: 300 / stepMin }, (_, i) => (i - 60 / stepMin) * stepMin);
  const rows = minutes.map((minute) => local.format(FIRST_MS + minute * 60_000));
  test(`the order of rows distinguishes the two instants of a time, at steps of ${stepMin} minutes`, async () => {
    assert.deepEqual(await timesOf(rows, { timeZone: 'Europe/Berlin' }), minutes);
    assert.deepEqual(await timesOf(rows.toReversed(), { timeZone: 'Europe/Berlin' }), minutes, 'newest first');
    assert.notDeepEqual(await timesOf(rows, {}), minutes, 'as UTC they have a gap and duplicates');
  });
}

test('of rows in no order none is lost: a time that comes twice has both of its instants', async () => {
  const minutes = Array.from({ length: 36 }, (_, i) => (i - 12) * 5);
  const shuffled = minutes.map((_, i) => local.format(FIRST_MS + minutes[(i * 23) % 36] * 60_000));
  assert.deepEqual(new Set(await timesOf(shuffled, { timeZone: 'Europe/Berlin' })), new Set(minutes));
});

test('a time that names its zone keeps it; one that the clock never shows is refused', async () => {
  const timeZone = 'Europe/Berlin';
  assert.deepEqual(await timesOf(['2026-10-25T02:00:00Z', '2026-10-25T04:30:00+02:00'], { timeZone }), [120, 150]);
  const [refused] = await timesOf(['2026-03-29 02:30:00'], { timeZone, timeUnit: 'iso' });
  assert.match(String(refused), /the clock of Europe\/Berlin skips it, because it is set forward/);
});

test('that times without a zone are read as UTC is remarked once', async () => {
  assert.deepEqual(await timesOf(['2026-10-25 00:00:00', '2026-10-25 00:05:00'], {}), ['no zone', 0, 5]);
  assert.deepEqual(await timesOf(['2026-10-25T00:00:00Z'], {}), [0]);
});
