import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { Client } from 'pg';
import { freePort } from '../../../../src/demo/local-kafka/free-port.ts';
import { openDatabase } from '../../../../src/store/database/open-store.ts';
import { debianProgram } from '../../../fixture/debian-program.ts';
import { freshFolder } from '../../../fixture/fresh-folder.ts';
import { whyWithoutPostgres } from '../../../fixture/store/postgres.ts';
import { sharedPostgres } from '../../../fixture/store/stores.ts';
import { until } from '../../../fixture/until.ts';

const program = await debianProgram('pgbouncer', ['pgbouncer', '/usr/sbin/pgbouncer']);
const skip = whyWithoutPostgres ?? (program.kind === 'none' ? program.why : false);
const NOBODY = 65_534;

test('behind PgBouncer in transaction mode the store opens, and its time-outs reach nobody else', {
  skip,
}, async (t) => {
  assert.ok(program.kind === 'program');
  const folder = freshFolder();
  await chmod(folder, 0o755);
  const { hostname, port: serverPort } = new URL((await sharedPostgres()).url('postgres'));
  const port = await freePort();
  const settings = `[databases]
postgres = host=${hostname} port=${serverPort} dbname=postgres user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 1
`;
  const file = join(folder, 'pgbouncer.ini');
  await writeFile(file, settings);
  const asUser = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  const [command, ...args] = program.command;
  const pooler = spawn(command, [...args, file], { stdio: ['ignore', 'ignore', 'pipe'], ...asUser });
  t.after(async () => {
    const ended = once(pooler, 'exit');
    pooler.kill('SIGKILL');
    await ended;
  });
  let said = '';
  pooler.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  await until('it listens', async () => said.includes('process up'));
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const database = await openDatabase({ dataDir: folder, url });
  const timeout = `SELECT current_setting('statement_timeout') AS statement,
    current_setting('idle_in_transaction_session_timeout') AS idle`;
  assert.deepEqual(await database.query(timeout), [{ statement: '30s', idle: '30s' }]);
  // There is one connection to the server: the second transaction waits for the first.
  const ids = await Promise.all(
    [1, 2, 3].map((id) =>
      database.transaction(async (sql) => {
        await sql.query('SELECT pg_advisory_xact_lock($1)', [7]);
        return (await sql.query<{ id: number }>('SELECT $1::int AS id', [id]))[0].id;
      }),
    ),
  );
  assert.deepEqual(ids, [1, 2, 3]);
  await database.close();
  const other = new Client(url);
  await other.connect();
  assert.deepEqual((await other.query(timeout)).rows, [{ statement: '0', idle: '0' }]);
  await other.end();
});
