import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { DuckDBInstance } from '@duckdb/node-api';
import { openDuckdb } from '../../../src/history/duckdb-history.ts';
import { openHistory } from '../../../src/history/kept-history.ts';
import { runCommand } from '../../fixture/command.ts';
import { freshFolder } from '../../fixture/fresh-folder.ts';
import { batchOf, keptScore, MINUTE_MS, START_MS } from '../../fixture/history/kept-records.ts';
import { KEY } from '../../fixture/http/http-service.ts';
import { pythonWith, runPython, whyNoPython } from '../../fixture/http/python.ts';
import { serve, stop } from '../../fixture/http/served.ts';
import { kafkaConnection, kafkaTest } from '../../fixture/kafka/kafka.ts';
import { until } from '../../fixture/until.ts';

const isoAt = (minute: number) => new Date(START_MS + minute * MINUTE_MS).toISOString();

/** A history of 60 scores of two series in three parts, the newest of them open. */
async function keptInFolder() {
  const DATA_DIR = freshFolder();
  const database = await openDuckdb(join(DATA_DIR, 'history.duckdb'), { memoryMb: 256 });
  const parts = { rowsMax: 25, ageMsMax: 86_400_000 };
  const history = await openHistory(database, { bounds: { days: 10_000, gb: 1 }, parts });
  for (let from = 0; from < 60; from += 10) {
    const scores = Array.from({ length: 10 }, (_, i) =>
      keptScore(from + i, {
        series: i % 2 === 0 ? `o'clock "é"` : 'b',
        alarm: from + i === 30,
        group: i % 2 === 0 ? null : 'g',
      }),
    );
    await history.append(batchOf({ scores }));
  }
  return { DATA_DIR, history };
}

async function rowsOf(path: string) {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  try {
    const rows = await connection.runAndReadAll(
      `SELECT *, epoch_ms("timestamp")::DOUBLE AS ms FROM read_parquet('${path.replaceAll("'", "''")}') ORDER BY ms`,
    );
    return rows.getRowObjectsJS();
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

test('history export writes the scores of a range, and a reader of Parquet has them as they were', async () => {
  const { DATA_DIR, history } = await keptInFolder();
  const locked = await runCommand(['history', 'export'], { DATA_DIR });
  assert.equal(locked.exitCode, 1);
  assert.match(locked.err.join('\n'), /open in another process: stop it first/);
  await history.close();
  const out = join(DATA_DIR, "it's.parquet");
  const all = await runCommand(['history', 'export', '--out', out], { DATA_DIR });
  assert.deepEqual([all.exitCode, all.out, all.err], [0, [`60 scores are in ${out}.`], []]);
  const rows = await rowsOf(out);
  const actual = rows.map(({ series, value, ms }) => [series, value, ms]);
  const expected = Array.from({ length: 60 }, (_, i) => [
    i % 2 === 0 ? `o'clock "é"` : 'b',
    i,
    START_MS + i * MINUTE_MS,
  ]);
  assert.deepEqual(actual, expected);
  const { timestamp: _, ms: __, ...row } = rows[30];
  assert.deepEqual(row, {
    series: `o'clock "é"`,
    detector: 'metrics',
    group: null,
    value: 30,
    forecast: 30.5,
    lo: 29,
    hi: 32,
    anomaly_score: -0.5,
    grade: 0.25,
    severity: 1.5,
    alarm: true,
    anomaly: false,
    state: 'scored',
  });
  assert.equal(rows[31].group, 'g');
  const range = ['--from', isoAt(10), '--to', isoAt(13)];
  assert.equal((await runCommand(['history', 'export', '--out', out, ...range], { DATA_DIR })).exitCode, 0);
  const values = (await rowsOf(out)).map(({ value }) => value);
  assert.deepEqual(values, [10, 11, 12]);
  const none = await runCommand(['history', 'export', '--out', out, '--to', '2000-01-01T00:00:00Z'], { DATA_DIR });
  assert.deepEqual([none.exitCode, none.out, await rowsOf(out)], [0, [`0 scores are in ${out}.`], []]);
});

/** Readers of Parquet that people use, for Python 3.10. */
const READERS_OF_PARQUET = ['pandas==2.3.3', 'pyarrow==22.0.0', 'polars==1.31.0', 'duckdb==1.4.2'];
const READ_PARQUET = fileURLToPath(new URL('./read-parquet.py', import.meta.url));

test('pandas, polars and DuckDB read times of history export as instants of UTC, wherever they run', {
  skip: (await whyNoPython()) ?? false,
}, async () => {
  const { DATA_DIR, history } = await keptInFolder();
  await history.close();
  const out = join(DATA_DIR, 'scores.parquet');
  assert.equal((await runCommand(['history', 'export', '--out', out], { DATA_DIR })).exitCode, 0);
  const python = await pythonWith(READERS_OF_PARQUET);
  const found = await runPython<{ reader: string; type: string; later: number[] }>(python, READ_PARQUET, [
    out,
    isoAt(57),
  ]);
  const later = [57, 58, 59].map((minute) => START_MS + minute * MINUTE_MS);
  assert.deepEqual(found, [
    { reader: 'pandas', type: 'datetime64[us, UTC]', later },
    { reader: 'polars', type: "Datetime(time_unit='us', time_zone='UTC')", later },
    { reader: 'duckdb', type: 'TIMESTAMP WITH TIME ZONE', later },
  ]);
});

test('history export names what it cannot do', async () => {
  const DATA_DIR = freshFolder();
  const cases: readonly (readonly [readonly string[], Record<string, string>, RegExp])[] = [
    [['history', 'import'], {}, /ACTION must be export, got import|ACTION must be export/],
    [['history', 'export'], {}, /There is no history .*: set DATA_DIR/],
    [
      ['history', 'export'],
      { HISTORY_URL: 'postgres://a:b@127.0.0.1:1/c' },
      /HISTORY_URL was removed: each serve keeps its own history in DATA_DIR and fills it from Kafka: unset it/,
    ],
    [['history', 'export', '--out', 's3://bucket/scores.parquet'], {}, /--out must be a path on this machine/],
    [['history', 'export', '--from', 'yesterday'], {}, /--from must be a time with its zone/],
    [['history', 'export', '--from', isoAt(1), '--to', isoAt(1)], {}, /--to must be later than --from/],
  ];
  const results = await Promise.all(cases.map(([args, env]) => runCommand(args, { DATA_DIR, ...env })));
  for (const [i, { exitCode, err }] of results.entries()) {
    assert.equal(exitCode, 2);
    assert.match(err.join('\n'), cases[i][2]);
  }
});

kafkaTest('the history of another Kafka cluster is set aside, not shown, and kept', async (t) => {
  const { DATA_DIR, history } = await keptInFolder();
  await history.claim('another');
  await history.close();
  const { brokers } = (await kafkaConnection()).config;
  const served = await serve({ DATA_DIR, KAFKA_BROKERS: brokers.join(), TIDEWATCH_API_KEY: KEY });
  t.after(() => stop(served));
  const answer = async (path: string) => {
    const response = await fetch(`${served.url}${path}`, { headers: { authorization: `Bearer ${KEY}` } });
    return (await response.json()) as { readonly total?: number; readonly other_clusters?: readonly string[] };
  };
  await until(
    'the other cluster is named',
    async () => (await answer('/v1/freshness')).other_clusters?.[0] === 'another',
  );
  await until('nothing of it is listed', async () => (await answer('/v1/series')).total === 0);
  assert.equal(existsSync(join(DATA_DIR, 'history-another.duckdb')), true);
});
