/**
 * What releases kept outside of the changelog, whose formats changelog.test.ts has: the store and the history as SQL,
 * the alerts as entries of their topic. The present version reads each of them and goes on with it.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { openDuckdb } from '../../src/history/duckdb-history.ts';
import { openHistory } from '../../src/history/kept-history.ts';
import { MIGRATIONS } from '../../src/store/database/migrations.ts';
import { openDatabase } from '../../src/store/database/open-store.ts';
import { findApiKey } from '../../src/store/keys/api-keys.ts';
import { keyOfSession } from '../../src/store/keys/console-sessions.ts';
import { reviewsOf } from '../../src/store/reviews/event-reviews.ts';
import { KeptAlerts, saidBy } from '../fixture/alerts/kept-alerts.ts';
import { revisionsOf } from '../fixture/alerts/notification.ts';
import { routesOf } from '../fixture/alerts/routes.ts';
import { freshFolder } from '../fixture/fresh-folder.ts';
import { anomalyEvent, batchOf, keptEvent, keptScore } from '../fixture/history/kept-records.ts';

const FOLDER = new URL('./', import.meta.url);
const releases = readdirSync(FOLDER).flatMap((name) => /^release-(.+)$/.exec(name)?.[1] ?? []);
const written = (release: string, file: string) => readFileSync(new URL(`release-${release}/${file}`, FOLDER), 'utf8');
/** When the releases wrote it. */
const WRITTEN_MS = Date.UTC(2026, 10, 23);
const MEMORY = { memoryMb: 256 };
const BOUNDS = { bounds: { days: 3_650, gb: 1 } };

for (const release of releases) {
  test(`the store of ${release} is migrated: its keys, sessions and reviews continue`, async () => {
    const dataDir = freshFolder();
    const file = new DatabaseSync(join(dataDir, 'tidewatch.db'));
    file.exec(written(release, 'store.sql'));
    file.close();
    const store = await openDatabase({ dataDir, url: null });
    const key = await findApiKey(store, `a-secret-of-release-${release}`);
    assert.deepEqual([key?.id, key?.role, key?.credits], ['key-1', 'admin', 500]);
    assert.equal(await keyOfSession(store, `a-token-of-release-${release}`, WRITTEN_MS), 'key-1');
    const review = (await reviewsOf(store, ['event-1'])).get('event-1');
    assert.deepEqual([review?.acknowledged?.by, review?.acknowledged?.note], ['first', 'seen']);
    const versions = await store.query('SELECT version FROM schema_version');
    assert.equal(versions.length, MIGRATIONS.length);
    await store.close();
  });

  test(`the history of ${release} is read while more is stored, and nothing is stored twice`, async () => {
    const path = join(freshFolder(), 'history.duckdb');
    const database = await openDuckdb(path, MEMORY);
    await database.write(async (sql) => {
      for (const statement of written(release, 'history.sql').trim().split(';\n')) {
        await sql.query(statement.replace(/;$/, ''));
      }
    });
    const history = await openHistory(database, BOUNDS);
    assert.equal((await history.state()).scores, 6);
    assert.equal((await history.findEvent('event-1'))?.severity, 12);
    const closed = keptEvent(1, anomalyEvent('event-1', { type: 'closed', revision: 1 }));
    await history.append(batchOf({ scores: [keptScore(5, { series: 'b' }), keptScore(6)], events: [closed] }));
    assert.equal((await history.state()).scores, 7);
    assert.equal((await history.findEvent('event-1'))?.type, 'closed');
    await history.close();
  });

  test(`the alerts of ${release} continue: what waits is sent, and the end goes to who was notified of the start`, () => {
    const alerts = new KeptAlerts(
      routesOf(`allow_private: [127.0.0.1]
receivers: [{ name: hook, webhook: { url: "http://127.0.0.1:9" } }]
routes: [{ name: all, receivers: hook }]`),
    );
    const entries = written(release, 'alerts.jsonl').trim().split('\n');
    for (const [key, json] of entries.map((line) => JSON.parse(line) as [string, string])) alerts.kept.set(key, json);
    alerts.restart(WRITTEN_MS);
    assert.equal([...alerts.kept.keys()].filter((key) => key.startsWith('queued/')).length, 1);
    for (const number of [1, 2]) alerts.state.ingest(revisionsOf(number).closed, WRITTEN_MS);
    assert.deepEqual(saidBy(alerts.take()), ['hook closed series-1', 'hook closed series-2']);
  });
}

test('a history of a newer version is refused with both versions', async () => {
  const path = join(freshFolder(), 'history.duckdb');
  await (await openHistory(await openDuckdb(path, MEMORY), BOUNDS)).close();
  const newer = await openDuckdb(path, MEMORY);
  await newer.write((sql) => sql.query('UPDATE history_version SET version = version + 1'));
  await assert.rejects(openHistory(newer, BOUNDS), {
    code: 'configuration',
    message: /^The history is of version \d+, this release reads \d+: move it away to begin a new one$/,
  });
  await newer.close();
});
