import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RetentionSweeper } from '../../../../src/api/accounts/retention-sweeper.ts';
import { createLogger } from '../../../../src/ops/logger.ts';
import { recordAudit } from '../../../../src/store/keys/audit.ts';
import { FinetunedWeights } from '../../../../src/store/models/finetuned-weights.ts';
import { AUDIT_DAYS } from '../../../../src/store/retention.ts';
import { openMemoryStore } from '../../../fixture/store/memory-store.ts';
import { readAudit } from '../../../fixture/store/read-audit.ts';

const ENTRY = { happenedAtMs: 0, actor: 'a', owner: null, action: 'key-created', subject: 's', detail: null } as const;

test('a sweep deletes expired entries and logs it; an unavailable store is retried', async () => {
  const store = await openMemoryStore();
  const lines: string[] = [];
  const logger = createLogger('info', { write: (line: string) => lines.push(line) });
  const clock = { nowMs: 0 };
  const sweeper = new RetentionSweeper({
    store,
    kept: new FinetunedWeights(store, null),
    nowMs: () => clock.nowMs,
    logger,
  });
  await recordAudit(store, ENTRY);
  await sweeper.run();
  assert.deepEqual([(await readAudit(store)).length, lines.length], [1, 0]);
  clock.nowMs = AUDIT_DAYS * 86_400_000 + 1;
  await sweeper.run();
  assert.deepEqual(await readAudit(store), []);
  assert.equal(JSON.parse(lines[0]).auditEntries, 1);
  await store.close();
  await sweeper.run();
  assert.equal(JSON.parse(lines[1]).level, 'warn');
  await sweeper.close();
});
